"""Statements: the smallest things that a memory says, each with the headings that it stands under.

List items, sentences, table rows, lines of code, headings, the description and every other
frontmatter key. Nothing that a person wrote is in no statement.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from engine.documents import parse

Kind = Literal["description", "field", "item", "sentence", "row", "heading", "code"]

LINE_LIMIT: Final = 4096
"""Characters of a line that are cut into sentences; the rest of a longer line is one statement."""
WRAPPED: Final = 60
"""Characters from which a line may be one of wrapped prose."""
_ITEM: Final = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.*)")
_RULE: Final = re.compile(r"[ \t]*(?:[-*_=|:+][ \t]*){3,}")
_ENDS: Final = re.compile(r"[.!?][\"')\]]*[ \t]+(?=[^a-z\s])|[。！？]")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|ca|no|nr|vol|fig|dr|mr|mrs|ms|st|[A-Za-z])\.$",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(r"[*_`~]+")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. `line` is 1-based in its file; `key` is what is compared, `heading` the path.

    The text is as written, without list mark; the key is without case, accents of form, markup,
    spacing and final stop.
    """

    path: str
    line: int
    text: str
    key: str
    heading: tuple[str, ...]
    kind: Kind


def normalise(text: str) -> str:
    """What two spellings of one statement share: NFC, case-folded, spaces and markup folded.

    Emphasis marks go only at the edges of words, so that `snake_case` and `2*3` keep theirs.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    words = []
    for word in folded.split():
        bare = word
        start = _MARKUP.match(bare)
        if start and start.end() < len(bare):
            bare = bare[start.end() :]
        stripped = bare.rstrip("*_`~")
        words.append(stripped or bare)
    return " ".join(words).rstrip(".。;,").strip()


def statements(path: str, data: bytes) -> tuple[Statement, ...]:
    """Every statement of a file, in order. Total, in time linear in its size."""
    document = parse(data)
    found: list[Statement] = []
    front = document.frontmatter
    if front is not None:
        for field in front.fields():
            if field.key == "description":
                text = document.description if document.described_by == "frontmatter" else ""
                if text:
                    found.append(
                        Statement(path, field.line, text, normalise(text), (), "description")
                    )
            else:
                text = f"{field.key}: {field.raw}"
                found.append(Statement(path, field.line, text, normalise(text), (), "field"))
    found.extend(_body(path, document.body, document.body_line))
    return tuple(found)


def _body(path: str, body: str, first_line: int) -> Iterator[Statement]:
    headings: list[tuple[int, str]] = []
    pending: Statement | None = None  # a heading that nothing has been said under yet
    block: list[tuple[int, str]] = []  # the lines of an item or a paragraph
    kind: Kind = "sentence"
    fence = ""

    def path_of() -> tuple[str, ...]:
        return tuple(text for _, text in headings)

    def flush() -> Iterator[Statement]:
        nonlocal block
        yield from _cut(path, block, path_of(), kind)
        block = []

    for number, raw in enumerate(body.split("\n"), start=first_line):
        line = raw.rstrip("\r")
        mark = line.lstrip()[:3]
        if fence or mark in {"```", "~~~"}:
            yield from flush()
            if not fence:
                fence = mark
            elif mark == fence:
                fence = ""
            elif line.strip():
                pending = None
                yield Statement(path, number, line.strip(), normalise(line), path_of(), "code")
            continue
        heading = _HEADING.match(line) if line.startswith("#") else None
        if heading is not None:
            yield from flush()
            if pending is not None and len(heading[1]) <= headings[-1][0]:
                yield pending
            text = heading[2].rstrip().rstrip("#").rstrip()
            level = len(heading[1])
            while headings and headings[-1][0] >= level:
                headings.pop()
            above = path_of()
            headings.append((level, normalise(text)))
            pending = (
                Statement(path, number, text, normalise(text), above, "heading") if text else None
            )
            continue
        if not line.strip() or (len(line) <= 512 and _RULE.fullmatch(line)):
            yield from flush()
            continue
        pending = None
        item = _ITEM.match(line[:256])
        if item is not None:
            yield from flush()
            kind = "item"
            block = [(number, line[item.end() :])]
        elif line.lstrip().startswith("|"):
            yield from flush()
            yield Statement(path, number, line.strip(), normalise(line), path_of(), "row")
        else:
            text = line.strip().removeprefix("> ").removeprefix(">")
            if block and _is_a_line_of_its_own(block[-1][1], text):
                yield from flush()
            if not block:
                kind = "sentence"
            block.append((number, text))
    yield from flush()
    if pending is not None:
        yield pending


def _is_a_line_of_its_own(above: str, line: str) -> bool:
    """Whether a line goes on a list of facts, one a line, rather than wrapped prose.

    Wrapped prose fills its lines and goes on in lower case; the shipped SDK writes short facts.
    """
    return len(above) < WRAPPED and not line[:1].islower() and not above.endswith((",", ";"))


def _cut(
    path: str, block: list[tuple[int, str]], heading: tuple[str, ...], kind: Kind
) -> Iterator[Statement]:
    """A paragraph or an item, cut into its sentences; each stands on the line that it starts on."""
    if not block:
        return
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for _, line in block:
        starts.append(length)
        parts.append(line.strip())
        length += len(parts[-1]) + 1
    text = " ".join(parts)
    at = 0
    for start, end in _sentences(text):
        while at + 1 < len(starts) and starts[at + 1] <= start:
            at += 1
        said = text[start:end].strip()
        key = normalise(said)
        if key:
            yield Statement(path, block[at][0], said, key, heading, kind)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _ENDS.finditer(text[:LINE_LIMIT]):
        if _ABBREVIATION.search(text[max(start, match.start() - 12) : match.start() + 1]):
            continue
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)
