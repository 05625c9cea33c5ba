"""The only door from text to renderables.

Text from outside passes `engine.characters.visible` here and becomes a `Content` or a painted line.
Marks of ours have a style that nothing else has, so that content cannot imitate them.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, split_graphemes
from textual.content import Content, Span

from engine.characters import is_hidden, visible

MARK: Final = "bold reverse $warning"
LINE_LIMIT: Final = 2000
"""Cells of a line that are shown; a mark says how much more there is."""
TAB: Final = 4
"""Cells from one tab stop to the next."""
_SHORT: Final = LINE_LIMIT // 20
"""Characters of which no mark makes more cells than a line may have."""

PAINTS: Final = (
    "plain", "dim", "faint", "bold", "heading", "title", "accent", "good", "bad", "warn", "mark",
    "added", "removed", "word-added", "word-removed", "gutter", "hit", "cursor", "cursor-blurred",
)  # fmt: skip
"""The styles by name; widgets look them up as component classes, `paint--NAME`."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of shown text in one paint."""

    text: str
    paint: str = "plain"


@dataclass(frozen=True, slots=True)
class Line:
    """One line to paint: a gutter in our own style, then runs. `fill` paints the whole width.

    The rows that it is wrapped to begin `indent` cells behind the gutter, but for the first.
    """

    runs: tuple[Run, ...]
    gutter: str = ""
    fill: str | None = None
    indent: int = 0

    @property
    def plain(self) -> str:
        """The text without its gutter."""
        return "".join(run.text for run in self.runs)


def content(text: str, style: str = "", *, keep: str = "") -> Content:
    """Untrusted text as a `Content`: never markup, its hidden characters marked."""
    shown = visible(text, keep=keep)
    spans = [Span(start, end, MARK) for start, end in shown.marks]
    if style:
        spans.insert(0, Span(0, len(shown), style))
    return Content(str(shown), spans)


def own(text: str, style: str = "") -> Content:
    """Words of ours as a `Content`; they are shown like any other text, never parsed."""
    return content(text, style, keep="\n")


def runs(text: str, paint: str = "plain", words: Sequence[tuple[int, int]] = ()) -> tuple[Run, ...]:
    """Untrusted text of one line as runs: tabs expanded, cut, hidden characters marked.

    `words` are spans of the text that get the paint `word-` + `paint` (offsets in `text`); they are
    widened to what is written together. The mark of a cut says if any of them lies behind it.
    """
    whole = len(text)
    end = _cut_at(text)
    words = whole_graphemes(text, words)
    found: list[Run] = []
    at = 0
    for start, stop in words:
        if start >= end:
            break
        found.extend(_shown(text[at:start], paint))
        found.extend(changed(text[start : min(stop, end)], f"word-{paint}"))
        at = min(stop, end)
    found.extend(_shown(text[at:end], paint))
    if "\t" in text:
        found = list(expanded(found))
    if end < whole:
        more = ", changed ones among them" if words and words[-1][1] > end else ""
        found.append(Run(f" … {whole - end} more characters{more}", "mark"))
    return tuple(found)


def changed(text: str, paint: str) -> tuple[Run, ...]:
    """Changed text of a line. If it is nothing but blanks, signs of ours say which blanks."""
    if not text or text.strip(" \t"):
        return _shown(text, paint)
    signs = "".join("→\t" if char == "\t" else "·" for char in text)
    return (Run(signs, f"{paint} dim"),)


def _cut_at(text: str) -> int:
    """How many characters of a line are shown: as many as fill the cells that a line may have."""
    if len(text) <= _SHORT:
        return len(text)
    head = text[:LINE_LIMIT]
    if head.isascii() and head.isprintable():
        return len(head)

    def cells(size: int) -> int:
        return cell_len(visible(head[:size], keep="\t").replace("\t", " " * TAB))

    if cells(len(head)) <= LINE_LIMIT:
        return len(head)
    return max(1, bisect_right(range(len(head)), LINE_LIMIT, key=cells) - 1)


def whole_graphemes(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans widened so that none begins or ends inside a sequence that is written together.

    Cut there, a joiner or a combining mark would stand alone and be marked as hidden.
    """
    if not spans or text.isascii():
        return tuple(spans)
    found: list[tuple[int, int]] = []
    for start, end in spans:
        first, last = start, end
        while first > 0 and _sticks(text, first):
            first -= 1
        while last < len(text) and _sticks(text, last):
            last += 1
        if found and first <= found[-1][1]:
            first = found.pop()[0]
        found.append((first, last))
    return tuple(found)


def _sticks(text: str, at: int) -> bool:
    """Whether the character at an offset belongs to the one before it."""
    if is_hidden(text[at]) or is_hidden(text[at - 1]):
        return True
    char = text[at]
    if all("\U0001f1e6" <= each <= "\U0001f1ff" for each in (text[at - 1], char)):
        return True  # the two halves of a flag
    return unicodedata.category(char).startswith("M") or "\U0001f3fb" <= char <= "\U0001f3ff"


@lru_cache(maxsize=2048)
def _shown(text: str, paint: str) -> tuple[Run, ...]:
    shown = visible(text, keep="\t")
    found: list[Run] = []
    at = 0
    for start, end in shown.marks:
        if start > at:
            found.append(Run(shown[at:start], paint))
        found.append(Run(shown[start:end], "mark"))
        at = end
    if at < len(shown):
        found.append(Run(shown[at:], paint))
    return tuple(found)


def expanded(found: Sequence[Run], column: int = 0) -> Iterator[Run]:
    """Runs whose tabs are spaces up to the next stop; the first begins at a column."""
    for run in found:
        first, *rest = run.text.split("\t")
        made = [first]
        column += cell_len(first)
        for piece in rest:
            gap = TAB - column % TAB
            made.append(" " * gap + piece)
            column += gap + cell_len(piece)
        yield Run("".join(made), run.paint)


def line(*parts: tuple[str, str] | Run, gutter: str = "", fill: str | None = None) -> Line:
    """A line of parts (text, paint); every text is shown, never trusted."""
    found: list[Run] = []
    for part in parts:
        found.extend((part,) if isinstance(part, Run) else runs(*part))
    return Line(tuple(found), gutter, fill)


def help_lines(text: str) -> tuple[str, list[Line]]:
    """(title, lines) of a help page of ours: keys as they stand, paragraphs joined."""
    found: list[Line] = []
    title, said = "", ""
    for raw in [*text.split("\n"), ""]:
        if raw.startswith("# "):
            title = raw[2:]
        elif raw.startswith("## "):
            found += [line((raw[3:], "heading"))]
        elif raw.startswith("    "):
            found.append(line((raw[4:], "plain")))
        elif raw:
            said = f"{said} {raw}".strip()
        else:
            found += [line((said, "dim"))] * bool(said) + [Line(())]
            said = ""
    blank = Line(())
    kept = [n for n, made in enumerate(found) if made != blank or (n and found[n - 1] != blank)]
    while kept and found[kept[-1]] == blank:
        kept.pop()
    return title, [found[n] for n in kept]


@lru_cache(maxsize=1024)
def wrap(painted: Line, width: int) -> tuple[Line, ...]:
    """A line broken at words to a width in cells; a line that fits is returned as it is."""
    room = max(8, width - cell_len(painted.gutter))
    plain = painted.plain
    if _fits(plain, room):
        return (painted,)
    ends = _ends(plain)
    spans: list[tuple[int, int]] = []
    start = 0
    indent = min(painted.indent, room // 2)
    while start < len(plain):
        end = _break(plain, ends, start, room - indent * bool(spans))
        spans.append((start, end))
        start = end
        while start < len(plain) and plain[start] == " ":
            start += 1
    hanging = " " * cell_len(painted.gutter)
    aside = (Run(" " * indent),) if indent else ()
    return tuple(
        replace(painted, runs=(*aside, *cut), gutter=hanging, indent=0)
        if n
        else replace(painted, runs=cut)
        for n, cut in enumerate(_slices(painted.runs, spans))
    )


def rows_taken(text: str, room: int) -> int:
    """How many rows `wrap` makes of a line of printable ASCII, without making them."""
    taken = start = 0
    while len(text) - start > room:
        end = _break(text, None, start, room)
        taken += 1
        while end < len(text) and text[end] == " ":
            end += 1
        start = end
    return taken + (start < len(text)) or 1


def _fits(plain: str, room: int) -> bool:
    return len(plain) <= room if plain.isascii() else cell_len(plain) <= room


def _ends(plain: str) -> dict[int, tuple[int, int]] | None:
    """Start -> (end, cells) of every character as one sees it; None if each is one cell."""
    if plain.isascii():
        return None
    return {start: (end, cells) for start, end, cells in split_graphemes(plain)[0]}


def _reach(plain: str, ends: dict[int, tuple[int, int]] | None, start: int, room: int) -> int:
    """How far a row of so many cells goes: whole characters, never half of an emoji."""
    if ends is None:
        return min(len(plain), start + room)
    at = start
    while at < len(plain):
        end, cells = ends.get(at, (at + 1, 1))
        room -= cells
        if room < 0:
            break
        at = end
    return at


def _break(plain: str, ends: dict[int, tuple[int, int]] | None, start: int, room: int) -> int:
    """Where a row that starts at an offset has to end: after a space if there is one."""
    end = _reach(plain, ends, start, room)
    if end >= len(plain):
        return len(plain)
    space = plain.rfind(" ", start, end + 1)
    if space > start and not plain[start:space].isspace():
        return space + 1
    return max(end, start + 1)


def _slices(found: Sequence[Run], spans: Sequence[tuple[int, int]]) -> Iterator[tuple[Run, ...]]:
    """The runs of each span of their text, in one pass; spans are in order."""
    at, index = 0, 0  # the run that is looked at, and where it begins
    for start, end in spans:
        parts: list[Run] = []
        while index < len(found) and at < end:
            run = found[index]
            first, last = max(start - at, 0), min(end - at, len(run.text))
            if first < last:
                parts.append(Run(run.text[first:last], run.paint))
            if at + len(run.text) > end:
                break
            at += len(run.text)
            index += 1
        yield tuple(parts)


def fit(painted: Line, width: int) -> Line:
    """A line cut to a width in cells, with `…` if anything was cut."""
    room = width - cell_len(painted.gutter)
    if _fits(painted.plain, room):
        return painted
    cut = cut_runs(painted.runs, room - 1)
    return replace(painted, runs=(*cut, Run("…", cut[-1].paint if cut else "dim")))


def cut_runs(found: Sequence[Run], cells: int) -> tuple[Run, ...]:
    """The beginning of runs that takes at most so many cells."""
    plain = "".join(run.text for run in found)
    return next(_slices(found, [(0, _reach(plain, _ends(plain), 0, max(0, cells)))]))


def column(found: Sequence[Run], cells: int) -> tuple[Run, ...]:
    """Runs as a column of a table: cut with `…`, or filled up with spaces."""
    cut = fit(Line(tuple(found)), cells)
    used = cell_len(cut.plain)
    return (*cut.runs, Run(" " * (cells - used))) if used < cells else cut.runs


def pad(text: str, cells: int) -> str:
    """A shown text filled up with spaces, or cut, to a width in cells."""
    return "".join(run.text for run in column((Run(str(visible(text))),), cells))


def size(count: int) -> str:
    """Bytes as people read them."""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{count / 1024:.1f} KB"
    return f"{count / 1024 / 1024:.1f} MB"


def when(iso: str) -> str:
    """A UTC time in ISO 8601 as a short local one."""
    try:
        return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return "unknown"


def count(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"
