"""A delete beside the memories that say what it says: line by line, what nothing covers is lit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engine.changes import Change
from engine.documents import decode
from engine.ledger import Account, Entry, Fate
from memui.presentation import Line, line, runs
from memui.presentation.pages import Drawn, Lines, Page, Pair, Stretch
from memui.widgets.diff_notes import Check

_OFTEN: Final = 2_000


def cover_page(change: Change, account: Account, *, check: Check) -> Page:
    """What vanishes on the left; on the right where each statement stands, or that none does."""
    parts: list[Line | Pair | Stretch] = []
    blocks: list[range] = []
    length = 0
    for edit in change.edits:
        if edit.before is None or edit.after is not None:
            continue
        if parts:
            parts.append(line())
            length += 1
        by_line: dict[int, list[Entry]] = {}
        for entry in account.entries:
            if entry.source is not None and entry.source.path == edit.path:
                by_line.setdefault(entry.source.line, []).append(entry)
        lost = sum(e.fate is Fate.DROPPED for found in by_line.values() for e in found)
        right = f"{lost} of its statements stand nowhere else" if lost else "all of it stands here"
        parts.append(
            Pair(
                line((edit.path, "bold"), ("  vanishes", "dim"), gutter=" "),
                line((right, "note-lost" if lost else "good"), gutter=" "),
            )
        )
        made = _stretch(decode(edit.before)[0], by_line, check)
        parts.append(made)
        blocks.append(range(length, length + 1 + len(made)))
        length += 1 + len(made)
    return Page(Lines(parts), tuple(blocks))


def _stretch(text: str, by_line: Mapping[int, Sequence[Entry]], check: Check) -> Stretch:
    lines = text.removesuffix("\n").split("\n")
    digits = len(str(len(lines)))
    told: list[Sequence[Entry]] = []
    for number in range(1, len(lines) + 1):
        if number % _OFTEN == 0:
            check()
        told.append(by_line.get(number, ()))

    def make(at: int) -> Drawn:
        found = told[at]
        lost = next((e for e in found if e.fate is Fate.DROPPED), None)
        kept = next((e for e in found if e.result is not None), None)
        style = "lost" if lost is not None else "plain" if found else "dim"
        left = Line(
            runs(lines[at].rstrip("\r"), style),
            f"  {at + 1:>{digits}} - ",
            style if lost is not None else None,
        )
        return Pair(left, _right(lost, kept))

    return Stretch(make, (lines, ["\n"] * len(lines)), digits + 5)


def _right(lost: Entry | None, kept: Entry | None) -> Line | None:
    if lost is not None:
        if lost.needs is not None:
            return line(
                (f"✗ nowhere, unless action {lost.needs + 1} runs", "note-lost"), gutter="  "
            )
        return line(("✗ nowhere", "note-lost"), gutter="  ")
    if kept is None or kept.result is None:
        return None
    at = kept.result
    text = " ".join(at.text.split())
    return line((text, "plain"), (f"  {at.path}:{at.line}", "dim"), gutter="  ")
