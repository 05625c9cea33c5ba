"""The diff of a file as prose: formatted Markdown, its changed words marked where they stand.

What is compared are paragraphs, items and headings, not lines: a paragraph that is only wrapped
anew does not change. What that hides is counted and said.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.diff import Block, Diff, Row, Spans, compare_lines, hunks
from memui.presentation import Line, count, line, whole_graphemes
from memui.presentation.markdown import Tag, Unit, unit_line, units
from memui.presentation.pages import Part, Stretch
from memui.widgets.diff_notes import Check
from memui.widgets.diff_rows import Made, digits_of, gutter_of, steps

_MOST: Final = 0.7
"""Share of a unit that may change for its words to be marked in one line."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One line of the page: a unit that stays, goes, comes or changes (both rows)."""

    gone: int | None
    come: int | None


def prose(diff: Diff, *, context: int, check: Check) -> Made:
    """A diff as prose, with so many unchanged units around each change."""
    old, new = units(diff.rows.old), units(diff.rows.new)
    check()
    found = compare_lines([unit.text for unit in old], [unit.text for unit in new])
    check()
    made = _Prose(found, old, new, digits_of(diff))
    return made.page(diff, context, check)


class _Prose:
    """The units of both sides with their diff."""

    def __init__(self, diff: Diff, old: Sequence[Unit], new: Sequence[Unit], digits: int) -> None:
        self._diff, self._old, self._new = diff, old, new
        self._digits = digits

    def page(self, lines: Diff, context: int, check: Check) -> Made:
        """The page; its first line says how many blocks of the diff of lines it does not show."""
        parts: list[Part] = []
        ranges: list[range] = []
        unseen = self._unseen(lines)
        if unseen:
            said = count(unseen, "block changes", "blocks change")
            parts.append(
                line((f"{said} blanks or line breaks only: see the diff", "note"), gutter="  ! ")
            )
        if not self._diff.blocks:
            rows = range(len(self._diff.rows))
            parts.append(self._stretch([_Shown(None, at) for at in rows]))
            return Made(tuple(parts), ())
        blocks = {block.start: block for block in self._diff.blocks}
        length, last = len(parts), 0
        for hunk in hunks(self._diff, context):
            check()
            if hunk.skipped:
                parts.append(self._gap(hunk.skipped))
                length += 1
            at = hunk.rows.start
            while at < hunk.rows.stop:
                block = blocks.get(at)
                if block is None:
                    shown, at = [_Shown(None, at)], at + 1
                else:
                    shown, at = list(self._block(block)), block.stop
                    if shown:
                        ranges.append(range(length, length + len(shown)))
                parts.append(self._stretch(shown))
                length += len(shown)
            last = hunk.rows.stop
        if last < len(self._diff.rows):
            parts.append(self._gap(len(self._diff.rows) - last))
        return Made(tuple(parts), tuple(ranges))

    def _unseen(self, lines: Diff) -> int:
        """Blocks of the diff of lines of which no unit changes visibly."""
        gone: list[Unit] = []
        come: list[Unit] = []
        for block in self._diff.blocks:
            gone += self._old[block.old.start - 1 : block.old.stop - 1]
            come += self._new[block.new.start - 1 : block.new.stop - 1]
        sides = [[u for u in side if u.kind != "blank"] for side in (gone, come)]

        def seen(side: Sequence[Unit], rows: range) -> bool:
            at = bisect_right(side, rows.stop - 1, key=lambda unit: unit.first) - 1
            return bool(rows) and at >= 0 and side[at].last >= rows.start

        return sum(not (seen(sides[0], b.old) or seen(sides[1], b.new)) for b in lines.blocks)

    def _gap(self, skipped: int) -> Line:
        said = f"⋯ {count(skipped, 'unchanged paragraph', 'unchanged paragraphs')}"
        return line((said, "note"), gutter=gutter_of(self._digits))

    def _block(self, block: Block) -> Iterator[_Shown]:
        """The lines of a block; blank ones that go are left out."""
        rows = self._diff.rows
        for gone, come in steps(self._diff, block):
            pair = bool(gone and come) and rows[gone.start].pair == come.start
            if pair and merged(rows[gone.start], rows[come.start]) is not None:
                yield _Shown(gone.start, come.start)
                continue
            yield from (_Shown(at, None) for at in gone if rows.text(at).strip())
            yield from (_Shown(None, at) for at in come)

    def _stretch(self, shown: Sequence[_Shown]) -> Stretch:
        # What is formatted is no longer than its source, so that the source tells what fits. To
        # both rows of a change together that applies too: what they have in common counts twice.
        texts = [
            " ".join(self._diff.rows.text(at) for at in (one.gone, one.come) if at is not None)
            for one in shown
        ]
        gutter = len(gutter_of(self._digits))
        return Stretch(lambda at: self._line(shown[at]), (texts,), gutter, formatted=True)

    def _line(self, shown: _Shown) -> Line:
        rows = self._diff.rows
        if shown.gone is not None and shown.come is not None:
            pieces = merged(rows[shown.gone], rows[shown.come]) or []
            return self._made(rows[shown.come], pieces, "~", "mixed")
        at = shown.come if shown.gone is None else shown.gone
        row = rows[at or 0]
        sign = {"same": " ", "removed": "-", "added": "+"}[row.kind]
        fill = None if row.kind == "same" or not row.text.strip() else row.kind
        return self._made(row, [(row.text, "")], sign if fill or row.kind == "same" else " ", fill)

    def _made(
        self, row: Row, pieces: Sequence[tuple[str, Tag]], sign: str, fill: str | None
    ) -> Line:
        unit = self._old[(row.old or 1) - 1] if row.new is None else self._new[row.new - 1]
        gutter = gutter_of(self._digits, unit.first, sign)
        return unit_line(pieces, unit.kind, gutter, fill)


def merged(old: Row, new: Row) -> list[tuple[str, Tag]] | None:
    """Two paired rows as one text whose parts stay, go or come.

    None if that would be no help: most of it changes, or a change begins inside a sequence that is
    written together.
    """
    for row in (old, new):
        if whole_graphemes(row.text, row.words) != row.words:
            return None
    changed = sum(end - start for row in (old, new) for start, end in row.words)
    if changed > _MOST * (len(old.text) + len(new.text)):
        return None
    gone, come = _places(old.words, "gone"), _places(new.words, "come")
    found: list[tuple[str, Tag]] = []
    at = lost = 0  # in the text that both have, and how much of the old one is not in it
    for place, (start, end), tag in sorted(
        gone + come, key=lambda each: (each[0], each[2] != "gone")
    ):
        if place > at:
            found.append((old.text[at + lost : place + lost], ""))
            at = place
        if tag == "gone":
            found.append((old.text[start:end], "gone"))
            lost += end - start
        else:
            found.append((new.text[start:end], "come"))
    found.append((old.text[at + lost :], ""))
    return found


def _places(spans: Spans, tag: Tag) -> list[tuple[int, tuple[int, int], Tag]]:
    """Where each span lies in the text that both sides have, with the span."""
    found: list[tuple[int, tuple[int, int], Tag]] = []
    before = 0
    for start, end in spans:
        found.append((start - before, (start, end), tag))
        before += end - start
    return found
