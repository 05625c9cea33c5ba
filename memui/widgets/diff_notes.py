"""What the ledger says of the lines of a diff: short notes of ours below the rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from engine.diff import Block, Diff, Row
from engine.ledger import Entry, Fate
from memui.presentation import Line, line

Check = Callable[[], None]
"""Called now and then while a long page is made; raises to leave off."""
_OFTEN: Final = 2_000
"""Rows between two checks."""
_GRAVITY: Final = (Fate.DROPPED, Fate.NEW, Fate.MOVED, Fate.REWORDED, Fate.KEPT)
_WORDS: Final = {"url": "address", "hidden": "hidden characters", "order": "word order"}


@dataclass(frozen=True, slots=True)
class Note:
    """What a run of rows is told: `said` by us, then a path, then more by us."""

    style: str
    said: str
    path: str = ""
    line: int | None = None
    more: str = ""

    @property
    def shared(self) -> tuple[str, str, str, str]:
        """What rows that share one note have in common."""
        return self.style, self.said, self.path, self.more


NoteOf = Callable[[Row], Note | None]


@dataclass(frozen=True, slots=True)
class Noted:
    """The rows of a block: the paint of each, and the notes that stand below some (by row)."""

    styles: Sequence[str]
    below: dict[int, Line]


def noted(diff: Diff, block: Block, note_of: NoteOf | None, gutter: str, check: Check) -> Noted:
    """Each run of rows is told once what its rows share."""
    styles = ["removed"] * len(block.old) + ["added"] * len(block.new)
    if note_of is None:
        return Noted(styles, {})
    below: dict[int, Line] = {}
    told: list[Note] = []
    kind, last = "", block.start
    for at, row in enumerate(diff.rows[block.start : block.stop], block.start):
        if at % _OFTEN == 0:
            check()
        note = note_of(row)
        if note is not None and note.style == "note-lost":
            styles[at - block.start] = "lost"
        if note is None and told and not row.text.strip() and row.kind == kind:
            continue  # the run may go on behind blank rows
        if told and (row.kind != kind or note is None or note.shared != told[-1].shared):
            below[last] = _line(told, gutter)
            told = []
        kind, last = row.kind, at
        if note is not None:
            told.append(note)
    if told:
        below[last] = _line(told, gutter)
    return Noted(styles, below)


def _line(notes: Sequence[Note], gutter: str) -> Line:
    note = notes[0]
    parts = [(note.said, note.style)]
    if note.path:
        where = f":{note.line}" if note.line is not None and len(notes) == 1 else ""
        parts.append((note.path + where, note.style))
    if note.more:
        parts.append((note.more, note.style))
    return line(*parts, gutter=gutter)


class Notes:
    """The ledger's entries, by the lines that they are about."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._paths: set[str] = set()
        self._sources: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        self._results: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        for entry in entries:
            if entry.source is not None:
                self._paths.add(entry.source.path)
                self._sources[entry.source.path, entry.source.line].append(entry)
            if entry.result is not None and entry.fate is not Fate.DROPPED:
                self._paths.add(entry.result.path)
                self._results[entry.result.path, entry.result.line].append(entry)

    def of(self, path: str, old_path: str, diff: Diff, left: Collection[int] = ()) -> NoteOf | None:
        """What the rows of one diff are told; None if there is nothing to tell.

        A line that goes on a statement is told the same. The entries are about the result without
        the blocks that are left, the rows are those of the whole one.
        """
        if path not in self._paths and old_path not in self._paths:
            return None
        last: dict[str, Note | None] = {"removed": None, "added": None}
        kept = _Kept(diff, left)

        def note(row: Row) -> Note | None:
            if not row.text.strip() or kept.leaves(row):
                last[row.kind] = None
                return None
            if row.kind == "removed":
                found = self._sources.get((old_path, row.old or 0), [])
                pair = None if row.pair is None else diff.rows[row.pair].new
                told = _removed(_worst(found), None if pair is None else kept.line(pair))
            else:
                found = self._results.get((path, kept.line(row.new or 0)), [])
                told = _added(_worst(found), old_path)
            if not found:
                goes_on = not row.text.startswith("#") and any(map(str.isalnum, row.text))
                return last[row.kind] if goes_on else None
            last[row.kind] = told
            return told

        return note


class _Kept:
    """Where the lines of a result stand once some of its blocks are left."""

    def __init__(self, diff: Diff, left: Collection[int]) -> None:
        self._blocks = [block for block in diff.blocks if block.index in left]
        self._shifts = list(accumulate((len(b.old) - len(b.new) for b in self._blocks), initial=0))

    def leaves(self, row: Row) -> bool:
        """Whether a changed row is in a block that is left."""
        if row.new is not None:
            at = bisect_right(self._blocks, row.new, key=lambda block: block.new.start) - 1
            return at >= 0 and row.new in self._blocks[at].new
        old = row.old or 0
        at = bisect_right(self._blocks, old, key=lambda block: block.old.start) - 1
        return at >= 0 and old in self._blocks[at].old

    def line(self, new: int) -> int:
        """The number of a line of the whole result in the one without the blocks."""
        before = bisect_right(self._blocks, new, key=lambda block: block.new.stop)
        return new + self._shifts[before]


def _worst(entries: Sequence[Entry]) -> Entry | None:
    return min(entries, key=lambda entry: _GRAVITY.index(entry.fate), default=None)


def _removed(entry: Entry | None, pair: int | None) -> Note | None:
    """What a removed row is told. `pair` is the line of the result that is shown as its pair."""
    if entry is None:
        return None
    if entry.fate is Fate.DROPPED:
        return Note("note-lost", "✗ dropped", more=_lost_because(entry, pair))
    result = entry.result
    if result is None or (entry.fate is Fate.REWORDED and pair is not None):
        return None
    if entry.fate is Fate.KEPT and entry.source and result.path == entry.source.path:
        return None
    says = {Fate.KEPT: "↳ kept in ", Fate.REWORDED: "↳ reworded in "}
    more = ", under another heading" if "heading" in entry.flags else ""
    if entry.needs is not None:
        more += f", which action {entry.needs + 1} writes"
    return Note("note", says.get(entry.fate, "↳ lives on in "), result.path, result.line, more)


def _added(entry: Entry | None, old_path: str) -> Note | None:
    if entry is None:
        return None
    if entry.fate is Fate.NEW:
        more = f" ({flag_words(entry.flags)})" if entry.flags else ""
        return Note("note-new", "+ new: no memory of this change says it", more=more)
    source = entry.source
    if source is None or source.path == old_path:
        return None
    says = "↳ rewords " if entry.fate is Fate.REWORDED else "↳ from "
    return Note("note", says, source.path, source.line)


def _lost_because(entry: Entry, pair: int | None) -> str:
    if entry.needs is not None:
        return f", unless action {entry.needs + 1} is applied too"
    hard = [flag for flag in entry.flags if flag not in {"description", "field"}]
    if entry.result is None or not hard:
        return ""
    if pair == entry.result.line:
        return f": the {flag_words(hard)} changes"
    return f": line {entry.result.line} differs in {flag_words(hard)}" if pair is None else ""


def flag_words(flags: Sequence[str]) -> str:
    """The ledger's flags in words for people."""
    return ", ".join(_WORDS.get(flag, flag) for flag in flags)
