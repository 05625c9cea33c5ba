"""Markdown as a person reads it, line by line: light, in linear time, and nothing is followed.

It formats what memories are made of: headings, lists, quotes, code, emphasis and links, which show
where they lead. Tables stay text. What is no such thing stays as it is spelled, and so does every
sign of it that is itself among the changed words: a change is never formatted away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memui.presentation import LINE_LIMIT, Line, Run, changed, expanded, runs

Kind = Literal["front", "heading", "item", "text", "quote", "code", "table", "rule", "blank"]
Tag = Literal["", "gone", "come"]
"""What became of a part of a text: it stays, it goes, it comes."""

_MARKER = re.compile(r"([ \t]{0,40})([-*+]|[0-9]{1,9}[.)])[ \t]{1,8}(?:\[([ xX])\][ \t])?")
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
_RULE = re.compile(r"[ \t]{0,3}(?:(?:-[ \t]?){3,200}|(?:\*[ \t]?){3,200}|(?:_[ \t]?){3,200})$")
_FENCES: Final = ("```", "~~~")
_DEPTH: Final = 4
"""Signs inside signs that are read."""
_TRIES: Final = 16
"""Signs that are looked at to close one, so that time stays linear."""
_TARGET: Final = 1_000
"""Characters of a link's text and of its target, at most."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What Markdown shows as one: a heading, an item or a paragraph with all of its lines.

    `text` is its lines in one, `first` and `last` are their 1-based numbers.
    """

    kind: Kind
    text: str
    first: int
    last: int


def units(lines: Sequence[str]) -> list[Unit]:
    """The units of a text. Lines of a paragraph or an item that go on are joined by blanks."""
    found: list[Unit] = []
    fence = ""
    front = bool(lines) and lines[0].removeprefix("\ufeff") == "---"
    for number, text in enumerate(lines, 1):
        kind: Kind
        bare = text.strip()
        if front:
            kind = "front"
            front = number == 1 or bare != "---"
        elif fence:
            kind = "code"
            fence = "" if bare.startswith(fence) else fence
        elif bare.startswith(_FENCES):
            kind, fence = "code", bare[:3]
        else:
            kind = _kind(text, bare)
        last = found[-1] if found else None
        if kind == "text" and last is not None and _goes_on(last, bare):
            found[-1] = Unit(last.kind, f"{last.text.rstrip()} {bare}", last.first, number)
        else:
            found.append(Unit(kind, text, number, number))
    return found


def _kind(text: str, bare: str) -> Kind:
    if not bare:
        return "blank"
    if _HEADING.match(text):
        return "heading"
    if len(text) <= 400 and _RULE.match(text):
        return "rule"
    if _MARKER.match(text):
        return "item"
    if bare.startswith("|"):
        return "table"
    return "quote" if bare.startswith(">") else "text"


def _goes_on(last: Unit, bare: str) -> bool:
    """Whether a line goes on the unit before it. Two blanks or a backslash end a line for good."""
    if last.kind not in {"text", "item", "quote"} or last.text.endswith(("  ", "\\")):
        return False
    return len(last.text) + len(bare) < LINE_LIMIT


def tagged(pieces: Sequence[tuple[str, Tag]], kind: Kind) -> tuple[tuple[Run, ...], int]:
    """(runs, cells of its indent) of a unit whose parts have tags. Gone parts are shown too."""
    text = "".join(piece for piece, _ in pieces)
    tags = bytearray()
    for piece, tag in pieces:
        tags += bytes([_TAGS.index(tag)]) * len(piece)
    made: list[Run] = []
    start, indent = 0, 0
    base = ""
    if kind in {"front", "code"}:
        atoms: Iterator[_Atom] = iter([_Atom(0, len(text), "code" if kind == "code" else "dim")])
        return tuple(_painted(text, tags, atoms, "")), 0
    if kind == "heading":
        match = _HEADING.match(text)
        start = match.end() if match else 0
        made.extend(_painted(text, tags, iter([_Atom(0, start, "faint")]), ""))
        base, indent = "title", start + 1
    elif kind == "item" and (item := _MARKER.match(text)):
        if any(tags[: item.end()]):
            made.extend(_painted(text, tags, iter([_Atom(0, item.end(), "")]), ""))
        else:
            made.append(Run(_bullet(item)))
        start = item.end()
        indent = sum(len(run.text) for run in made)
    elif kind == "quote" and not any(tags[:1]) and text.startswith(">"):
        made.append(Run("▏", "faint"))
        start, indent, base = 1, 2, "dim"
    elif kind == "rule" and not any(tags):
        return (Run("─" * 24, "faint"),), 0
    elif kind == "table":
        return tuple(_painted(text, tags, iter([_Atom(0, len(text), "")]), "")), 0
    made.extend(_painted(text, tags, _inline(text, tags, start, len(text), "", 0), base))
    return tuple(expanded(made)), indent


_TAGS: Final[tuple[Tag, ...]] = ("", "gone", "come")


def _bullet(item: re.Match[str]) -> str:
    indent = item[1].expandtabs(4)
    sign = "•" if item[2] in "-*+" else item[2]
    box = "" if item[3] is None else "☐ " if item[3] == " " else "☑ "
    return f"{indent}{sign} {box}"


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of a text that is shown, its formats with blanks between; `own` stands in for it."""

    start: int
    end: int
    formats: str
    own: str = ""


def _painted(text: str, tags: bytearray, atoms: Iterator[_Atom], base: str) -> Iterator[Run]:
    """The atoms as runs, cut where tags change."""
    for atom in atoms:
        if atom.own:
            yield Run(atom.own, atom.formats)
            continue
        at = atom.start
        while at < atom.end:
            end = at + 1
            while end < atom.end and tags[end] == tags[at]:
                end += 1
            names = " ".join(name for name in (base, atom.formats, _TAGS[tags[at]]) if name)
            if tags[at]:  # what changes is never pale
                names = " ".join(name for name in names.split() if name not in {"dim", "faint"})
            if tags[at]:
                if _TAGS[tags[at]] == "come" and at and _TAGS[tags[at - 1]] == "gone":
                    yield Run(" ")
                yield from changed(text[at:end], names)
            else:
                yield from runs(text[at:end], names or "plain")
            at = end


def _inline(
    text: str, tags: bytearray, start: int, end: int, formats: str, depth: int
) -> Iterator[_Atom]:
    """The parts of a stretch of text. A sign that is not closed, or changes, stays as it is."""
    at = plain = start
    while at < end:
        found = _sign(text, tags, at, end) if text[at] in "*_`[!~\\" and depth < _DEPTH else None
        if found is None:
            at += 1
            continue
        if plain < at:
            yield _Atom(plain, at, formats)
        inside, name, after, target = found
        both = f"{formats} {name}".strip()
        if name in {"code", ""}:
            yield _Atom(inside.start, inside.stop, both)
        else:
            yield from _inline(text, tags, inside.start, inside.stop, both, depth + 1)
        if target is not None:
            yield _Atom(0, 0, "faint", " ‹")
            yield _Atom(target.start, target.stop, "faint")
            yield _Atom(0, 0, "faint", "›")
        at = plain = after
    if plain < end:
        yield _Atom(plain, end, formats)


_Sign = tuple[range, str, int, range | None]
"""(what it is about, its format, where the text goes on, where a link leads)"""


def _sign(text: str, tags: bytearray, at: int, end: int) -> _Sign | None:
    """The sign that begins at an offset, if it is one and none of it changes."""
    char = text[at]
    found: _Sign | None = None
    if char == "\\":
        if at + 1 < end and text[at + 1] in "\\`*_{}[]()#+-.!|<>~":
            found = range(at + 1, at + 2), "", at + 2, None
    elif char == "`":
        found = _closed(text, at, end, _run(text, at, end), "code")
    elif char in "[!":
        found = _link(text, at, end)
    else:
        mark = _run(text, at, end)
        name = {"**": "strong", "__": "strong", "*": "emphasis", "_": "emphasis", "~~": "struck"}
        if mark in name and not (char == "_" and at and text[at - 1].isalnum()):
            found = _closed(text, at, end, mark, name[mark])
    if found is None:
        return None
    inside, _, after, target = found
    signs = [(at, inside.start), (inside.stop, after if target is None else target.start)]
    if target is not None:
        signs.append((target.stop, after))
    return None if any(any(tags[start:stop]) for start, stop in signs) else found


def _run(text: str, at: int, end: int) -> str:
    stop = at
    while stop < end and text[stop] == text[at] and stop - at < 4:
        stop += 1
    return text[at:stop]


def _closed(text: str, at: int, end: int, mark: str, name: str) -> _Sign | None:
    """What stands between two equal signs, neither of them beside a blank inside."""
    start = at + len(mark)
    if start >= end or (name != "code" and text[start].isspace()):
        return None
    close = text.find(mark, start, end)
    for _ in range(_TRIES):
        if close <= start:
            return None
        stop = close + len(mark)
        longer = stop < end and text[stop] == mark[0]
        blank = name != "code" and text[close - 1].isspace()
        inword = mark[0] == "_" and stop < end and text[stop].isalnum()
        if not (longer or blank or inword):
            return range(start, close), name, stop, None
        while stop < end and text[stop] == mark[0]:
            stop += 1
        close = text.find(mark, stop, end)
    return None


def _link(text: str, at: int, end: int) -> _Sign | None:
    """`[text](target)` or `![text](target)`."""
    start = at + 1 if text[at] == "[" else at + 2
    if text[at] == "!" and text[at + 1 : at + 2] != "[":
        return None
    middle = text.find("](", start, min(end, start + _TARGET))
    close = text.find(")", middle + 2, min(end, middle + 2 + _TARGET)) if middle > start else -1
    if close <= middle + 2 or "[" in text[start:middle]:
        return None
    return range(start, middle), "link", close + 1, range(middle + 2, close)


def unit_line(
    pieces: Sequence[tuple[str, Tag]], kind: Kind, gutter: str, fill: str | None = None
) -> Line:
    """A unit as a line. One that is too long to be formatted is cut, as any line is."""
    size = sum(len(piece) for piece, _ in pieces)
    if size > LINE_LIMIT:
        text = "".join(piece for piece, _ in pieces)
        return Line(runs(text, fill or "plain"), gutter, fill)
    made, indent = tagged(pieces, kind)
    return Line(made, gutter, fill, indent)
