"""Documents: read leniently, written in place."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.documents import Snapshot, parse, quote, set_description
from engine.frontmatter import read_frontmatter


@pytest.mark.parametrize(
    ("data", "description", "warning"),
    [
        (b'---\ndescription: "a b"\n---\n\nx\n', "a b", None),
        (b"---\ndescription: plain words\n---\nx\n", "plain words", None),
        (b"---\ndescription: 'it''s'\n---\nx\n", "it's", None),
        (b"---\r\ndescription: crlf\r\n---\r\nx\r\n", "crlf", "crlf"),
        (b"\xef\xbb\xbf---\ndescription: bom\n---\nx\n", "bom", "bom"),
        (b"---\ndescription: >\n  folded\n  lines\n---\nx\n", "folded lines", None),
        (b"---\ndescription: |\n  one\n  two\n---\nx\n", "one two", "description-lines"),
        (b"---\ndescription: a: b: c\n---\nx\n", "a: b: c", "frontmatter-invalid"),
        (b"---\ndescription: yes\n---\nx\n", "yes", "description-not-text"),
        (b"---\ndescription: 2024-01-01\n---\nx\n", "2024-01-01", "description-not-text"),
        (b"---\ndescription: &a x\nb: *a\n---\nx\n", "&a x", "frontmatter-invalid"),
        (b"---\ndescription: !!python/x y\n---\nx\n", "!!python/x y", "frontmatter-invalid"),
        (b"---\na: {b: {c: {d: {e: 1}}}}\n---\n# T\n", "T", "frontmatter-invalid"),
        (b"---\ndescription: ''\n---\n# Head\n", "Head", "description-empty"),
        (b"---\ndescription:\n---\n# Head\n", "Head", "description-empty"),
        (b"---\na: 1\na: 2\n---\n# Head\n", "Head", "frontmatter-duplicate"),
        (b"---\nnever closed\n", "never closed", "frontmatter-unclosed"),
        (b"# Heading #\ntext\n", "Heading", "no-description"),
        (b"```\n# not a heading\n```\nFirst sentence. Second.\n", "First sentence", None),
        (b"- a point. more\n", "a point", None),
        (b"", "", "empty"),
        (b"\xff\xfe#\x00 \x00H\x00\n\x00", "H", "utf-16"),
        (b"caf\xe9\n", "caf\udce9", "not-utf-8"),
        (b"a\0b\n", "a\0b", "nul"),
        (b"no end", "no end", "no-final-newline"),
        (b"a\r\nb\n", "a", "mixed-line-ends"),
        ("zero\u200bwidth\n".encode(), "zero\u200bwidth", "hidden-characters"),
    ],
)
def test_any_file_reads(data: bytes, description: str, warning: str | None) -> None:
    document = parse(data)
    assert document.description == description
    if warning:
        assert warning in document.warnings


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    document = parse(data)
    assert document.text.endswith(document.body)


@given(st.text(max_size=80))
def test_no_frontmatter_breaks_the_reader(text: str) -> None:
    parse(f"---\n{text}\n---\nbody\n".encode("utf-8", "surrogatepass"))
    read_frontmatter(text)


words = st.text(st.sampled_from("abcZ09 _-./,()'\":#&*!%@`{}[]|>é日\t"), max_size=14)


@given(
    st.lists(st.tuples(st.sampled_from(["description", "title", "a-b", "x1"]), words), max_size=4)
)
def test_the_fast_path_agrees_with_the_yaml_loader(pairs: list[tuple[str, str]]) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in pairs)
    read = read_frontmatter(text)
    if read.warnings:
        return
    loaded = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if loaded is None:
        assert read.description is None
        return
    expected = loaded.get("description", None)
    assert read.description == ("" if "description" in loaded and expected is None else expected)


one_line = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\u2028\u2029\x85"),
    min_size=1,
    max_size=40,
).filter(str.strip)


@given(one_line)
def test_a_quoted_description_is_yaml_and_json(text: str) -> None:
    assert yaml.load(f"description: {quote(text)}", Loader=yaml.SafeLoader)["description"] == text
    assert json.loads(quote(text)) == text


HEADS = [
    b"",
    b"body only\n",
    b"no end",
    b"---\ndescription: old\ntags: [a, b] # keep\n---\n\nbody\n",
    b"---\r\ntags: x\r\ndescription: 'old'\r\n---\r\nbody\r\n",
    b"\xef\xbb\xbf---\ntitle: t\n---\nbody",
    b"---\ndescription: >\n  many\n  lines\ntitle: t\n---\nbody\n",
    b'---\ndescription: "two\n  lines"\ntitle: t\n---\nbody\n',
    b"---\ndescription: a: b\n---\nbody\n",
    b"---\nnever closed\n",
    b'---\n"description": quoted key\n---\nx\n',
]


@given(st.sampled_from(HEADS), one_line)
def test_setting_a_description_reads_back_and_keeps_every_other_byte(
    data: bytes, text: str
) -> None:
    after = set_description(data, text)
    document = parse(after)
    assert document.description == " ".join(text.split()) or document.description == text.strip()
    before = parse(data)
    assert document.body == before.body or document.body.endswith(before.body)
    if before.frontmatter is not None and document.frontmatter is not None:
        kept = {f.key: f.raw for f in before.frontmatter.fields() if f.key != "description"}
        assert kept == {
            f.key: f.raw for f in document.frontmatter.fields() if f.key != "description"
        }
    assert set_description(after, text) == after


def test_setting_a_description_changes_one_line() -> None:
    data = b"---\r\na: 1 # x\r\ndescription: old\r\nz: 'q'\r\n---\r\nbody"
    assert set_description(data, 'new "one"') == data.replace(
        b"description: old", b'description: "new \\"one\\""'
    )


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "a\u2028b", "a\rb"])
def test_a_description_of_several_lines_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        set_description(b"x\n", text)


def test_a_file_that_is_not_utf8_is_never_rewritten() -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        set_description(b"caf\xe9\n", "coffee")


def test_a_spelling_resolves_exactly_or_by_identity() -> None:
    snapshot = Snapshot({"facts/Net.md": b"", "facts/net.md": b"", "caf\u00e9.md": b""})
    assert snapshot.spellings("facts/net.md") == ("facts/net.md",)
    assert set(snapshot.spellings("facts/NET.md")) == {"facts/Net.md", "facts/net.md"}
    assert snapshot.spellings("cafe\u0301.md") == ("caf\u00e9.md",)
    assert snapshot.spellings("ghost.md") == ()
