"""The store: odd files never break their neighbours; what is found, and what the doctor names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.doctor import examine_store
from engine.documents import digest
from engine.errors import Conflict, InvalidPlan, StorageError
from engine.search import Searched, search
from engine.store import Store, open_store


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, data in {
        "good.md": b'---\ndescription: "good"\n---\n\n# Good\n',
        "invalid.md": b"---\ndescription: a: b: c\n---\nx\n",
        "bomb.md": b"---\na: &a [x]\nb: [*a, *a]\n---\nx\n",
        "bom.md": b"\xef\xbb\xbf# Bom\n",
        "crlf.md": b"# Crlf\r\n",
        "utf16.md": "# Wide\n".encode("utf-16"),
        "latin.md": b"caf\xe9\n",
        "nul.md": b"a\0b\n",
        "empty.md": b"",
        "long.md": b"x" * 2_000_000,
        "UPPER.MD": b"# Upper\n",
        "emoji-\xf0\x9f\x8d\xb5.md": b"# Tea\n",
        "new\nline.md": b"# Newline\n",
        "[@click=app.quit]x[/].md": b"# Markup\n",
        "a/b/c/d/e/f/g/h/deep.md": b"# Deep\n",
        "x" * 175 + ".md": b"# Long name\n",
        "picture.png": b"\x89PNG",
        ".hidden.md": b"# Hidden\n",
        ".git/config.md": b"# Git\n",
        ".obsidian/x.md": b"# App\n",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (folder / "inside.md").symlink_to("good.md")
    (folder / "outside.md").symlink_to("/etc/hostname")
    (folder / "dangling.md").symlink_to("nothing.md")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "folder-loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.md")
    with open(os.fsencode(folder) + b"/caf\xe9.md", "wb") as bytes_named:
        bytes_named.write(b"# Bytes\n")
    return folder


def test_every_odd_file_is_listed_and_none_breaks_its_neighbours(nasty: Path) -> None:
    listing = open_store(str(nasty)).listing()
    memories = {memory.path: memory for memory in listing.memories}
    assert memories["good.md"].description == "good"
    assert memories["inside.md"].link == "good.md"
    assert memories["inside.md"].description == "good"
    for path, code in {
        "invalid.md": "frontmatter-invalid",
        "bomb.md": "frontmatter-invalid",
        "bom.md": "bom",
        "crlf.md": "crlf",
        "utf16.md": "utf-16",
        "latin.md": "not-utf-8",
        "nul.md": "nul",
        "empty.md": "empty",
        "long.md": "large",
    }.items():
        assert code in memories[path].warnings, path
    for path in ("UPPER.MD", "new\nline.md", "a/b/c/d/e/f/g/h/deep.md", "caf\udce9.md"):
        assert path in memories
    whys = {other.path: other.why for other in listing.others}
    assert "leaves the store" in whys["outside.md"]
    assert "to nothing" in whys["dangling.md"]
    assert "loop" in whys["loop.md"]
    assert "FIFO" in whys["pipe.md"]
    assert whys["picture.png"] == "not Markdown"
    assert whys[".hidden.md"] == "hidden file"
    assert whys[".obsidian"] == "hidden folder"
    assert not any(path.startswith(".git") for path in {**memories, **whys})


def test_every_memory_can_be_read_searched_and_put_in_a_snapshot(nasty: Path) -> None:
    store = open_store(str(nasty))
    for memory in store.listing().memories:
        assert isinstance(store.read(memory.path), bytes)
    assert "inside.md" not in store.snapshot()
    assert store.read("inside.md") == store.read("good.md")
    assert [hit.path for hit in store.search("deep")] == ["a/b/c/d/e/f/g/h/deep.md"]


def test_the_doctor_names_what_is_odd_and_explains_it(nasty: Path) -> None:
    found = {(p.path, p.code) for p in examine_store(open_store(str(nasty)))}
    assert ("invalid.md", "frontmatter-invalid") in found
    assert ("outside.md", "link") in found
    assert ("pipe.md", "special") in found
    assert not any(path == "good.md" for path, _ in found)


def test_the_doctor_names_twins_that_are_one_file_elsewhere(tmp_path: Path) -> None:
    for name in ("Net.md", "net.md"):
        (tmp_path / name).write_text(f'---\ndescription: "{name}"\n---\nx\n')
    found = [(p.path, p.code) for p in examine_store(open_store(str(tmp_path)))]
    assert found == [("Net.md", "alias"), ("net.md", "alias")]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/tea.md").write_text('---\ndescription: "tea"\n---\n\nGreen.\n')
    return open_store(str(tmp_path / "notes"))


def test_a_missing_memory_is_answered_with_the_closest_names(store: Store) -> None:
    with pytest.raises(StorageError) as caught:
        store.read("teas.md")
    assert "tea.md" in caught.value.hint
    assert store.resolve("TEA.md") == "tea.md"


def test_an_edit_of_what_changed_meanwhile_is_refused_and_nothing_written(store: Store) -> None:
    seen = digest(store.read("tea.md"))
    path = Path(store.place.folder, "tea.md")
    path.write_text("theirs\n")
    with pytest.raises(Conflict, match="changed on disk"):
        store.edit("tea.md", b'---\ndescription: "x"\n---\n\nmine\n', base=seen, who="tests")
    assert path.read_text() == "theirs\n"


@pytest.mark.parametrize("text", ["", "two\nlines", "\u200b"])
def test_a_description_that_cannot_stand_is_refused(store: Store, text: str) -> None:
    with pytest.raises(InvalidPlan):
        store.describe("tea.md", text, who="tests")


def test_an_added_memory_never_overwrites_and_takes_the_next_free_name(store: Store) -> None:
    first = store.add("Tea", who="tests")
    second = store.add("Tea", who="tests")
    assert (first.path, second.path) == ("tea-1.md", "tea-2.md")
    with pytest.raises(Conflict):
        store.add("x", {"path": "tea"}, who="tests")
    assert b"Green." in store.read("tea.md")


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Größe & Maß", "große-maß.md"),
        ("日本語のメモ", "日本語のメモ.md"),
        ("con", "con-1.md"),
        ("a" * 80, "a" * 50 + ".md"),
    ],
)
def test_a_title_of_any_script_becomes_a_name(store: Store, title: str, path: str) -> None:
    assert store.add("x", {"title": title}, who="tests").path == path


def found(query: str, text: str, path: str = "a.md", description: str = "") -> list[int]:
    return [hit.line for hit in search(query, [Searched(path, description, text)])]


@pytest.mark.parametrize(
    ("query", "text", "lines"),
    [
        ("net", "x\nThe NET\n", [2]),
        ("cafe", "Café\n", [1]),
        ("CAFÉ", "cafe\n", [1]),
        ("本語", "日本語\n", [1]),
        ("two words", "two\nand words\n", [1]),
        ("two missing", "two\n", []),
        ('"*:(', 'a "*:( b\n', [1]),
        ("", "x\n", []),
        ("a.md", "x\n", [0]),
    ],
)
def test_words_are_found_without_case_and_accents_and_literally(
    query: str, text: str, lines: list[int]
) -> None:
    assert found(query, text) == lines


def test_a_name_ranks_over_a_description_over_a_body() -> None:
    memories = [
        Searched("body.md", "", "net\n"),
        Searched("described.md", "net", "x\n"),
        Searched("net.md", "", "x\n"),
    ]
    assert [hit.path for hit in search("net", memories)] == ["net.md", "described.md", "body.md"]
