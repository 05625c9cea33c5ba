"""The rows of one diff as parts of a page: one below the other, side by side, or the result alone.

Unchanged rows away from the changes are folded. Lines are made when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Final, Literal

from engine.diff import Block, Diff, Row, hunks
from memui.presentation import Line, Run, count, line, runs
from memui.presentation.pages import Drawn, Pair, Part, Stretch
from memui.widgets.diff_notes import Check, FileNotes, Noted, noted

Shape = Literal["unified", "split", "result"]
_AROUND: Final = 5
"""Cells of a gutter beside its digits: two for marks, a blank, the sign and a blank."""
_SIGNS: Final = {"same": " ", "removed": "-", "added": "+"}


@dataclass(frozen=True, slots=True)
class Made:
    """Parts of a page, and which lines of it each block of a diff takes (from 0 on)."""

    parts: tuple[Part, ...]
    blocks: tuple[range, ...]


def digits_of(diff: Diff) -> int:
    """Cells of the largest line number."""
    return len(str(max(diff.rows.before(len(diff.rows)))))


def gutter_of(digits: int, number: int | None = None, sign: str = " ") -> str:
    """A gutter, with a line's number and sign or blank."""
    return f"  {'' if number is None else number:>{digits}} {sign} "


def made(
    shape: Shape,
    diff: Diff,
    *,
    context: int,
    notes: FileNotes | None,
    check: Check,
) -> Made:
    """One diff in a shape, with so many unchanged rows around each block."""
    blank = gutter_of(digits_of(diff))
    if not diff.blocks:
        return Made((_same(shape, diff, range(len(diff.rows))),), ())
    parts: list[Part] = []
    ranges: list[range] = []
    length = last = 0
    blocks = {block.start: block for block in diff.blocks}
    for hunk in hunks(diff, context):
        check()
        parts.extend(_gap(hunk.skipped, blank))
        length += bool(hunk.skipped)
        at = hunk.rows.start
        while at < hunk.rows.stop:
            block = blocks.get(at)
            if block is None:
                end = at
                while end < hunk.rows.stop and end not in blocks:
                    end += 1
                found: Sequence[Part] = (_same(shape, diff, range(at, end)),)
                at = end
            else:
                found = tuple(_block(shape, diff, block, notes, blank, check))
                at = block.stop
            size = sum(len(part) if isinstance(part, Stretch) else 1 for part in found)
            if block is not None:
                ranges.append(range(length, length + size))
            parts.extend(found)
            length += size
        last = hunk.rows.stop
    parts.extend(_gap(len(diff.rows) - last, blank))
    return Made(tuple(parts), tuple(ranges))


def _gap(skipped: int, blank: str) -> Iterator[Line]:
    if skipped:
        said = f"⋯ {count(skipped, 'unchanged line', 'unchanged lines')}"
        yield line((said, "note"), gutter=blank)


def _same(shape: Shape, diff: Diff, at: range) -> Stretch:
    """Unchanged rows."""
    style = "plain" if shape == "result" else "dim"
    if shape != "split":
        return _stretch(diff, at, lambda _: style)
    digits = digits_of(diff)
    texts = diff.rows.texts(at.start, at.stop)

    def make(place: int) -> Drawn:
        row = diff.rows[at.start + place]
        return Pair(row_line(row, digits, style, old=True), row_line(row, digits, style))

    return Stretch(make, (texts, texts), len(gutter_of(digits)))


def _stretch(diff: Diff, at: range, style_of: Callable[[int], str]) -> Stretch:
    """Rows one below the other; `style_of` is asked for the paint of a row by its place."""
    digits = digits_of(diff)
    texts = diff.rows.texts(at.start, at.stop)

    def make(place: int) -> Line:
        return row_line(diff.rows[at.start + place], digits, style_of(at.start + place))

    return Stretch(make, (texts,), len(gutter_of(digits)))


def row_line(row: Row, digits: int, style: str, *, old: bool = False) -> Line:
    """One row. `old` says which number an unchanged one has."""
    number = row.old if old or row.kind == "removed" else row.new
    gutter = gutter_of(digits, number, _SIGNS[row.kind])
    changed = style not in {"dim", "plain"}
    text = runs(row.text, style, row.words)
    if changed and row.text and not row.text.strip():
        text = tuple(Run(run.text.replace(" ", "·"), run.paint) for run in text)
    return Line(text, gutter, style if changed else None)


def _block(
    shape: Shape,
    diff: Diff,
    block: Block,
    notes: FileNotes | None,
    blank: str,
    check: Check,
) -> Iterator[Part]:
    told = noted(diff, block, notes, blank, check)
    if shape == "unified":
        yield from _below(diff, block, block.rows, told)
    elif shape == "split":
        yield from _beside(diff, block, told, check)
    elif block.new:
        yield from _below(diff, block, range(block.start + len(block.old), block.stop), told)
    else:
        said = f"⋯ {count(len(block.old), 'line is', 'lines are')} gone here"
        yield line((said, "note"), gutter=blank[:-2] + "- ")


def _below(diff: Diff, block: Block, rows: range, told: Noted) -> Iterator[Part]:
    """Rows one below the other, each run of them above its note."""

    def style_of(at: int) -> str:
        return told.styles[at - block.start]

    start = rows.start
    for at in sorted(told.below):
        if at in rows:
            yield _stretch(diff, range(start, at + 1), style_of)
            yield told.below[at]
            start = at + 1
    yield _stretch(diff, range(start, rows.stop), style_of)


def _beside(diff: Diff, block: Block, told: Noted, check: Check) -> Iterator[Part]:
    """Rows side by side, pairs in one line; below each its notes."""
    digits = digits_of(diff)
    hollow = Line((), gutter_of(digits))

    def side(at: int | None) -> Line | None:
        if at is None:
            return None
        return row_line(diff.rows[at], digits, told.styles[at - block.start])

    def stretch(gone: Sequence[int | None], come: Sequence[int | None]) -> Stretch:
        return Stretch(
            lambda n: Pair(side(gone[n]), side(come[n])),
            tuple(
                [None if at is None else diff.rows.text(at) for at in column]
                for column in (gone, come)
            ),
            len(gutter_of(digits)),
        )

    if not block.old or not block.new:
        start = block.start
        for at in [*sorted(told.below), block.stop - 1]:
            rows, gaps = range(start, at + 1), [None] * (at + 1 - start)
            yield stretch(gaps, rows) if block.new else stretch(rows, gaps)
            note = told.below.get(at) if start <= at else None
            if note is not None:
                yield Pair(hollow, note) if block.new else Pair(note, hollow)
            start = at + 1
        return
    places = list(aligned(diff, block))
    check()
    for has_note, group in groupby(places, key=lambda pair: any(at in told.below for at in pair)):
        if not has_note:
            gone, come = zip(*group, strict=True)
            yield stretch(gone, come)
            continue
        for pair in group:
            yield stretch(pair[:1], pair[1:])
            left, right = (None if at is None else told.below.get(at) for at in pair)
            yield Pair(left or hollow, right or hollow)


def steps(diff: Diff, block: Block) -> Iterator[tuple[range, range]]:
    """A block from the top down: removed and added rows that are no pairs, then a pair, by turns.

    A pair is two ranges of one row; either range of others may be empty.
    """
    split = block.start + len(block.old)
    gone, come = block.start, split
    for at, row in enumerate(diff.rows[block.start : split], block.start):
        if row.pair is not None:
            yield range(gone, at), range(come, row.pair)
            yield range(at, at + 1), range(row.pair, row.pair + 1)
            gone, come = at + 1, row.pair + 1
    yield range(gone, split), range(come, block.stop)


def aligned(diff: Diff, block: Block) -> Iterator[tuple[int | None, int | None]]:
    """The (removed, added) rows of a block side by side; None where the other side has more."""
    for gone, come in steps(diff, block):
        yield from zip_longest(gone, come)
