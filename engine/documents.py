"""Documents: what a memory file says, read leniently and written in place.

Bytes are the truth. Text is decoded for showing; a description is set by changing its line and
nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from engine.characters import hidden
from engine.frontmatter import FRONTMATTER_LIMIT, Frontmatter, read_frontmatter
from engine.paths import identity

BOM: Final = "\ufeff"
FALLBACK_LIMIT: Final = 200
"""Code points of a description that is taken from the body, where no field gives one."""

DescribedBy = Literal["frontmatter", "heading", "sentence", "nothing"]

WARNINGS: Final[Mapping[str, str]] = {
    "empty": "the file is empty",
    "not-utf-8": "not UTF-8: shown with marks, read-only, can be moved or deleted",
    "utf-16": "UTF-16: agents that expect UTF-8 cannot read it",
    "nul": "holds NUL bytes",
    "bom": "starts with a byte order mark",
    "crlf": "lines end in CRLF",
    "mixed-line-ends": "lines end in different ways",
    "no-final-newline": "the last line has no end",
    "no-description": "has no description in its frontmatter",
    "description-empty": "its description is empty",
    "description-not-text": "its description is not text",
    "description-lines": "its description spans several lines",
    "frontmatter-unclosed": "its frontmatter is never closed",
    "frontmatter-invalid": "its frontmatter is not valid YAML",
    "frontmatter-duplicate": "a frontmatter key stands twice",
    "frontmatter-too-large": f"its frontmatter is over {FRONTMATTER_LIMIT // 1024} KiB",
    "hidden-characters": "holds characters that a reader cannot see",
    "large": "larger than 1 MiB: only its beginning was looked at",
}
"""Code -> clause, for everything that can be odd about a document."""

_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def digest(data: bytes) -> str:
    """SHA-256 in hex: the name under which bytes are kept and compared."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says. `text` is all of it without a BOM, `body` what follows the frontmatter.

    `body_line` is the 1-based line of the file on which the body starts. `encoding` is `utf-8`,
    `utf-16` or `unknown`; bytes that do not decode are lone surrogates in `text`, as Python's
    `surrogateescape` makes them. Warnings are codes of `WARNINGS`.
    """

    description: str
    described_by: DescribedBy
    title: str
    text: str
    body: str
    body_line: int
    frontmatter: Frontmatter | None
    encoding: str
    warnings: tuple[str, ...]

    @property
    def editable(self) -> bool:
        """Whether the text can be written back without changing bytes that nobody touched."""
        return self.encoding == "utf-8"


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file and its encoding, without a BOM. Total: nothing is refused or replaced."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        try:
            return data.decode("utf-16").removeprefix(BOM), "utf-16"
        except UnicodeDecodeError:
            pass
    try:
        return data.decode().removeprefix(BOM), "utf-8"
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape").removeprefix(BOM), "unknown"


def parse(data: bytes, *, whole: bool = True) -> Document:
    """Read a file leniently. `whole` is False if `data` is only the beginning of a large file."""
    text, encoding = decode(data)
    front, body, body_line, closed = split(text)
    warnings = list(_byte_warnings(data, text, encoding, whole=whole))
    if not closed:
        warnings.append("frontmatter-unclosed")
    if front is not None:
        warnings.extend(front.warnings)
    if front is not None and front.description is not None:
        if not front.description.strip():
            warnings.append("description-empty")
        elif "\n" in front.description.strip():
            warnings.append("description-lines")
    elif data:
        warnings.append("no-description")
    description, by = _described(front, body)
    return Document(
        description=description,
        described_by=by,
        title=first_heading(body) or description,
        text=text,
        body=body,
        body_line=body_line,
        frontmatter=front,
        encoding=encoding,
        warnings=tuple(warnings),
    )


def description(data: bytes) -> str:
    """What `parse` gives as the description of a whole file."""
    front, body, _, _ = split(decode(data)[0])
    return _described(front, body)[0]


def _described(front: Frontmatter | None, body: str) -> tuple[str, DescribedBy]:
    """The description and what gives it: frontmatter, else the first heading or sentence."""
    found = ((front.description if front is not None else None) or "").strip()
    if found:
        return (" ".join(found.split()) if "\n" in found else found), "frontmatter"
    if heading := first_heading(body):
        return heading, "heading"
    if sentence := first_sentence(body):
        return sentence, "sentence"
    return "", "nothing"


def split(text: str) -> tuple[Frontmatter | None, str, int, bool]:
    """(frontmatter, body, 1-based line of the body, whether an opened frontmatter was closed).

    A frontmatter opens with a first line of exactly `---` and ends at the next such line, with LF
    or CRLF line ends. Without a closing line the whole text is the body.
    """
    if not text.startswith(("---\n", "---\r\n")):
        return None, text, 1, True
    start = text.index("\n") + 1
    at, line = start, 2
    while at < len(text):
        end = text.find("\n", at)
        stop = len(text) if end < 0 else end
        if text[at:stop].rstrip("\r") == "---" and stop - at <= 4:
            after = len(text) if end < 0 else end + 1
            return read_frontmatter(text[start:at]), text[after:], line + 1, True
        if at - start > FRONTMATTER_LIMIT and end < 0:
            break
        at, line = stop + 1, line + 1
    return None, text, 1, False


def _byte_warnings(data: bytes, text: str, encoding: str, *, whole: bool) -> Iterator[str]:
    if not data:
        yield "empty"
        return
    if not whole:
        yield "large"
    if encoding == "utf-16":
        yield "utf-16"
    elif encoding == "unknown":
        yield "not-utf-8"
    if "\0" in text:
        yield "nul"
    if data.startswith(b"\xef\xbb\xbf"):
        yield "bom"
    if "\r" in text:
        crlf = text.count("\r\n")
        pure = crlf == text.count("\n") and crlf == text.count("\r")
        yield "crlf" if pure else "mixed-line-ends"
    if whole and not text.endswith(("\n", "\r")):
        yield "no-final-newline"
    if encoding != "unknown" and any(found.char != "\0" for found in hidden(text)):
        yield "hidden-characters"


def first_heading(body: str) -> str:
    """The text of the first ATX heading outside fenced code, or an empty string."""
    for line, fenced in _lines(body):
        if not fenced and line.startswith("#") and (match := _HEADING.match(line)):
            heading = match[1].rstrip().rstrip("#").rstrip()
            if heading:
                return _clip(heading)
    return ""


def first_sentence(body: str) -> str:
    """The first sentence of the first line that says something, code only if there is no prose."""
    code = ""
    for line, fenced in _lines(body):
        said = line.strip().lstrip("-*+> ").strip()
        if not said:
            continue
        if fenced:
            code = code or said
            continue
        said = said[: FALLBACK_LIMIT * 4]
        end = _SENTENCE_END.search(said)
        return _clip(said[: end.start()] if end else said.rstrip("."))
    return _clip(code)


def _lines(body: str) -> Iterator[tuple[str, bool]]:
    """(line, whether it is code) for every line but the fences, cut at 4,096 characters."""
    at, fenced = 0, False
    while at < len(body):
        end = body.find("\n", at)
        stop = len(body) if end < 0 else end
        line = body[at : min(stop, at + 4096)].rstrip("\r")
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        else:
            yield line, fenced
        at = stop + 1


def _clip(text: str) -> str:
    return text if len(text) <= FALLBACK_LIMIT else text[: FALLBACK_LIMIT - 1].rstrip() + "…"


def quote(description: str) -> str:
    """A description as the double-quoted scalar that is both YAML and JSON.

    Characters that YAML calls not printable, or that break lines, are escaped.
    """
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        json.dumps(description, ensure_ascii=False),
    )


def set_description(data: bytes, description: str) -> bytes:
    """Change or insert the one line that holds the description; every other byte stays.

    Other keys, their order, comments, quotes, line ends, a BOM and a missing final newline are
    kept. Raises ValueError for a file that is not UTF-8 and for a description of several lines.
    """
    text, encoding = decode(data)
    if encoding != "utf-8":
        raise ValueError("the file is not UTF-8")
    if not description.strip() or re.search("[\n\r\x0b\x0c\x85\u2028\u2029]", description):
        raise ValueError("a description is one line of text")
    mark = data[: len(data) - len(text.encode())]
    end = "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"
    line = f"description: {quote(description)}"
    front, _, _, _ = split(text)
    if front is None:
        gap = "" if text.startswith(("\n", "\r\n")) or not text else end
        return mark + f"---{end}{line}{end}---{end}{gap}{text}".encode()
    start = text.index("\n") + 1
    if front.description_span is None:
        return mark + (text[:start] + line + end + text[start:]).encode()
    first, last = front.description_span
    return mark + (text[: start + first] + line + text[start + last :]).encode()


class Snapshot:
    """Every memory of a store at one moment: path -> bytes. Never changed once made."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files: Mapping[str, bytes] = dict(files)

    def __contains__(self, path: str) -> bool:
        return path in self.files

    def __len__(self) -> int:
        return len(self.files)

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """Path -> SHA-256 of its bytes."""
        return {path: digest(data) for path, data in self.files.items()}

    @cached_property
    def _spellings(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for path in self.files:
            key = identity(path)
            found[key] = (*found.get(key, ()), path)
        return found

    @cached_property
    def folders(self) -> Mapping[str, tuple[str, ...]]:
        """Identity of a folder that holds memories, at any depth -> its stored spellings."""
        found: dict[str, tuple[str, ...]] = {}
        for path in self.files:
            parts = path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                spellings = found.get(key := identity(folder), ())
                if folder not in spellings:
                    found[key] = (*spellings, folder)
        return found

    @cached_property
    def bytes_total(self) -> int:
        """Bytes of all files together."""
        return sum(map(len, self.files.values()))

    def spellings(self, path: str) -> tuple[str, ...]:
        """The stored paths that a spelling can mean: itself if stored so, else all aliases."""
        return (path,) if path in self.files else self._spellings.get(identity(path), ())
