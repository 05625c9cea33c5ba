"""What the ledger says of the lines of a diff: short notes of ours below the rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from engine.diff import Block, Diff
from engine.ledger import Entry, Fate
from memui.presentation import Line, line

Check = Callable[[], None]
"""Called now and then while a long page is made; raises to leave off."""


def no_check() -> None:
    """Nobody leaves off."""


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


@dataclass(frozen=True, slots=True)
class Noted:
    """The rows of a block: the paint of each, and the notes that stand below some (by row)."""

    styles: Sequence[str]
    below: dict[int, Line]


def noted(diff: Diff, block: Block, notes: FileNotes | None, gutter: str, check: Check) -> Noted:
    """Each run of rows is told once what its rows share.

    A line that goes on a statement is told what its first line is.
    """
    styles = ["removed"] * len(block.old) + ["added"] * len(block.new)
    if notes is None or block.index in notes.left:
        return Noted(styles, {})
    below: dict[int, Line] = {}
    told: Note | None = None  # the note of the run, and how many of its rows have it
    times = 0
    before: Note | None = None
    last, split = block.start, block.start + len(block.old)
    for at, text in enumerate(diff.rows.texts(block.start, block.stop), block.start):
        if at % _OFTEN == 0:
            check()
        turns = at == split  # from what goes to what comes
        note, inked = None, bool(text.strip())
        if turns or not inked:
            before = None
        if inked:
            number = block.old[at - block.start] if at < split else block.new[at - split]
            found = notes.removed(at, number) if at < split else notes.added(number)
            if found:
                before = note = found[0]
            elif not text.startswith("#") and any(map(str.isalnum, text)):
                note = before
        if note is not None and note.style == "note-lost":
            styles[at - block.start] = "lost"
        if note is None and told is not None and not inked and not turns:
            continue  # the run may go on behind blank rows
        if told is not None and (turns or note is None or note.shared != told.shared):
            below[last] = _line(told, times, gutter)
            told, times = None, 0
        last = at
        if note is not None:
            told = told or note
            times += 1
    if told is not None:
        below[last] = _line(told, times, gutter)
    return Noted(styles, below)


def _line(note: Note, times: int, gutter: str) -> Line:
    parts = [(note.said, note.style)]
    if note.path:
        where = f":{note.line}" if note.line is not None and times == 1 else ""
        parts.append((note.path + where, note.style))
    if note.more:
        parts.append((note.more, note.style))
    return line(*parts, gutter=gutter)


class Notes:
    """The gravest of the ledger's entries for each line that they are about."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._sources: _Places = defaultdict(dict)
        self._results: _Places = defaultdict(dict)
        for entry in entries:
            if entry.source is not None:
                _put(self._sources[entry.source.path], entry.source.line, entry)
            if entry.result is not None and entry.fate is not Fate.DROPPED:
                _put(self._results[entry.result.path], entry.result.line, entry)

    def of(
        self, path: str, old_path: str, diff: Diff, left: Collection[int] = ()
    ) -> FileNotes | None:
        """What the rows of one diff are told; None if there is nothing to tell.

        The entries are about the result without the blocks that are left, the rows are those of
        the whole one.
        """
        sources, results = self._sources.get(old_path, {}), self._results.get(path, {})
        if not sources and not results:
            return None
        return FileNotes(sources, results, old_path, diff, left)


_Places = defaultdict[str, dict[int, Entry]]


def _put(lines: dict[int, Entry], number: int, entry: Entry) -> None:
    """Keep an entry for a line, unless a graver one is there."""
    there = lines.get(number)
    if there is None or _GRAVITY.index(entry.fate) < _GRAVITY.index(there.fate):
        lines[number] = entry


class FileNotes:
    """What the rows of one diff are told: nothing, or (a note or None)."""

    def __init__(
        self,
        sources: Mapping[int, Entry],
        results: Mapping[int, Entry],
        old_path: str,
        diff: Diff,
        left: Collection[int],
    ) -> None:
        self.left = left
        self._sources, self._results = sources, results
        self._old_path, self._diff = old_path, diff
        self._without = [block for block in diff.blocks if block.index in left]
        sizes = (len(block.old) - len(block.new) for block in self._without)
        self._shifts = list(accumulate(sizes, initial=0))

    def removed(self, at: int, number: int) -> tuple[Note | None] | None:
        """Of the row at a place, which is a line of the old side."""
        entry = self._sources.get(number)
        return None if entry is None else (_removed(entry, lambda: self._pair(at)),)

    def added(self, number: int) -> tuple[Note | None] | None:
        """Of a line of the new side."""
        entry = self._results.get(self._kept(number))
        return None if entry is None else (_added(entry, self._old_path),)

    def _pair(self, at: int) -> int | None:
        """The line of the result that a removed row is shown as a pair of."""
        pair = self._diff.rows[at].pair
        number = None if pair is None else self._diff.rows[pair].new
        return None if number is None else self._kept(number)

    def _kept(self, number: int) -> int:
        """The number of a line of the whole result in the one without the blocks that are left."""
        before = bisect_right(self._without, number, key=lambda block: block.new.stop)
        return number + self._shifts[before]


def _removed(entry: Entry, pair: Callable[[], int | None]) -> Note | None:
    """What a removed row is told. `pair` finds the line of the result that is shown beside it."""
    if entry.fate is Fate.DROPPED:
        return Note("note-lost", "✗ dropped", more=_lost_because(entry, pair))
    result = entry.result
    if result is None or (entry.fate is Fate.REWORDED and pair() is not None):
        return None
    if entry.fate is Fate.KEPT and entry.source and result.path == entry.source.path:
        return None
    says = {Fate.KEPT: "↳ kept in ", Fate.REWORDED: "↳ reworded in "}
    more = ", under another heading" if "heading" in entry.flags else ""
    if entry.needs is not None:
        more += f", which action {entry.needs + 1} writes"
    return Note("note", says.get(entry.fate, "↳ lives on in "), result.path, result.line, more)


def _added(entry: Entry, old_path: str) -> Note | None:
    if entry.fate is Fate.NEW:
        more = f" ({flag_words(entry.flags)})" if entry.flags else ""
        return Note("note-new", "+ new: no memory of this change says it", more=more)
    source = entry.source
    if source is None or source.path == old_path:
        return None
    says = "↳ rewords " if entry.fate is Fate.REWORDED else "↳ from "
    return Note("note", says, source.path, source.line)


def _lost_because(entry: Entry, pair: Callable[[], int | None]) -> str:
    if entry.needs is not None:
        return f", unless action {entry.needs + 1} is applied too"
    hard = [flag for flag in entry.flags if flag not in {"description", "field"}]
    if entry.result is None or not hard:
        return ""
    beside = pair()
    if beside == entry.result.line:
        return f": the {flag_words(hard)} changes"
    differs = f": line {entry.result.line} differs in {flag_words(hard)}"
    return differs if beside is None else ""


def flag_words(flags: Sequence[str]) -> str:
    """The ledger's flags in words for people."""
    return ", ".join(_WORDS.get(flag, flag) for flag in flags)
