"""What one change does to the files, as a page: rows of a diff with what becomes of each statement.

The diff is of the bytes that would be written. Under a run of rows a note of ours says where they
live on, where they come from, or that they are dropped or new (the ledger's entries).
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from engine.changes import Change, Edit
from engine.characters import is_hidden
from engine.diff import Diff, Row, Spans, compare, hunks
from engine.ledger import Entry, Fate
from engine.plan import Merge, Move
from memui.presentation import Line, Run, count, line, runs
from memui.widgets.page_view import Later, Lines, Page

CONTEXT: Final = 3
"""Unchanged lines that are shown around a block."""
_AROUND: Final = 4
"""Cells of a gutter beside its digits."""
_GRAVITY: Final = (Fate.DROPPED, Fate.NEW, Fate.MOVED, Fate.REWORDED, Fate.KEPT)
_SIGNS: Final = {"same": " ", "removed": "-", "added": "+"}
_WORDS: Final = {"url": "address", "hidden": "hidden characters", "order": "word order"}

Made = list[Line | Later]


@dataclass(frozen=True, slots=True)
class Section:
    """One file of a change with its diff. `base` is the path of the old side, if it is another."""

    edit: Edit
    diff: Diff
    base: str | None = None


def sections(change: Change) -> tuple[Section, ...]:
    """The files of a change with their diffs.

    A merge into a new file is compared with the source that it shares the most lines with.
    """
    if isinstance(change.action, Move):
        return tuple(Section(e, compare(e.after, e.after)) for e in change.edits if e.after)
    return tuple(
        _closest(edit, change.edits)
        if isinstance(change.action, Merge) and edit.before is None
        else Section(edit, compare(edit.before, edit.after))
        for edit in change.edits
    )


def _closest(edit: Edit, edits: Sequence[Edit]) -> Section:
    best, most = Section(edit, compare(None, edit.after)), 0
    for other in edits:
        if other.after is None:
            diff = compare(other.before, edit.after)
            same = sum(1 for row in diff.rows if row.kind == "same" and row.text.strip())
            if same > most:
                best, most = Section(edit, diff, other.path), same
    return best


def gain_and_loss(change: Change, shown: Sequence[Section]) -> tuple[int, int]:
    """Lines that the change adds to the store and takes from it; a move does neither."""
    if isinstance(change.action, Move):
        return 0, 0
    bases = {section.base for section in shown}
    gain = sum(section.diff.added for section in shown)
    loss = sum(s.diff.removed for s in shown if s.edit.path not in bases)
    return gain, loss


def diff_page(change: Change, shown: Sequence[Section], entries: Sequence[Entry]) -> Page:
    """The diffs of a change, file by file, with notes."""
    lines: Made = []
    blocks: list[range] = []
    bases = {section.base for section in shown}
    notes = _Notes(entries)
    for section in shown:
        if lines:
            lines.append(line())
        lines.extend(_heading(change, section, vanished=section.edit.path in bases))
        if section.edit.path not in bases:
            start = len(lines)
            made, found = _rows(section, notes)
            lines.extend(made)
            blocks.extend(range(start + b.start, start + b.stop) for b in found)
    return Page(Lines(lines), tuple(blocks))


def edits_page(edits: Sequence[Edit]) -> Page:
    """The diffs of single files, without a ledger."""
    lines: Made = []
    blocks: list[range] = []
    for edit in edits:
        section = Section(edit, compare(edit.before, edit.after))
        lines.extend([line()] if lines else [])
        lines.extend(_edit_heading(section, vanished=False))
        start = len(lines)
        made, found = _rows(section, _Notes(()))
        lines.extend(made)
        blocks.extend(range(start + b.start, start + b.stop) for b in found)
    return Page(Lines(lines), tuple(blocks))


def _heading(change: Change, section: Section, *, vanished: bool) -> Iterator[Line]:
    if isinstance(change.action, Move):
        old = change.reads[0] if change.reads else change.action.from_
        yield line((old, "bold"), (" → ", "dim"), (section.edit.path, "bold"), gutter=" ")
        yield line(("The file moves; its bytes stay as they are.", "dim"), gutter=" ")
        yield line()
        return
    yield from _edit_heading(section, vanished=vanished)


def _edit_heading(section: Section, *, vanished: bool) -> Iterator[Line]:
    edit = section.edit
    if vanished:
        said = "vanishes: its text is the minus side above"
    elif edit.after is None:
        said = f"vanishes{_amount(section)}"
    elif edit.before is None:
        said = f"new file{_amount(section)}"
    else:
        said = f"rewritten{_amount(section)}"
    compared = [(", compared with ", "dim"), (section.base, "dim")] if section.base else []
    yield line((edit.path, "bold"), (f"  {said}", "dim"), *compared, gutter=" ")
    for end in section.diff.ends:
        yield line((end, "warn"), gutter=" ! ")


def _amount(section: Section) -> str:
    diff = section.diff
    numbers = (("+", diff.added), ("−", diff.removed))
    return "".join(f"  {sign}{number}" for sign, number in numbers if number)


def _rows(section: Section, notes: _Notes) -> tuple[Made, list[range]]:
    """The rows of one diff, unchanged ones folded, and the ranges of its blocks."""
    diff = section.diff
    digits = len(str(max((r.new or r.old or 0 for r in diff.rows), default=0)))
    lines: Made = []
    blocks: list[range] = []
    if not diff.blocks:
        return [_later(row, digits, "dim") for row in diff.rows], []
    starts = {block.start: block for block in diff.blocks}
    note_of = notes.of(section)
    last = 0
    for hunk in hunks(diff, CONTEXT):
        lines.extend(_gap(hunk.skipped, digits))
        at = hunk.rows.start
        while at < hunk.rows.stop:
            block = starts.get(at)
            if block is None:
                lines.append(_later(diff.rows[at], digits, "dim"))
                at += 1
                continue
            begin = len(lines)
            lines.extend(_block(diff.rows[block.start : block.stop], digits, note_of))
            blocks.append(range(begin, len(lines)))
            at = block.stop
        last = hunk.rows.stop
    lines.extend(_gap(len(diff.rows) - last, digits))
    return lines, blocks


def _gap(skipped: int, digits: int) -> Iterator[Line]:
    if skipped:
        said = f"⋯ {count(skipped, 'unchanged line', 'unchanged lines')}"
        yield line((said, "note"), gutter=" " * (digits + _AROUND))


def _later(row: Row, digits: int, style: str) -> Later:
    return Later(row.text, digits + _AROUND, partial(_line, row, digits, style))


def _line(row: Row, digits: int, style: str) -> Line:
    number = row.old if row.kind == "removed" else row.new
    gutter = f" {number:>{digits}} {_SIGNS[row.kind]} "
    plain = style == "dim"
    text = runs(row.text, style, whole_graphemes(row.text, row.words))
    if row.text and not row.text.strip() and not plain:
        text = tuple(Run(run.text.replace(" ", "·"), run.paint) for run in text)
    return Line(text, gutter, None if plain else style)


def whole_graphemes(text: str, spans: Spans) -> Spans:
    """Spans widened so that none begins or ends inside a sequence that is written together.

    Cut there, a joiner or a combining mark would stand alone and be marked as hidden.
    """
    if text.isascii() or not spans:
        return spans
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


@dataclass(frozen=True, slots=True)
class _Note:
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


NoteOf = Callable[[Row], _Note | None]


def _block(rows: Sequence[Row], digits: int, note_of: NoteOf) -> Made:
    """The rows of a block, each run of rows followed by the note that it shares."""
    lines: Made = []
    told: list[_Note] = []
    blank: Made = []  # blank rows after a run: the run may go on behind them
    kind = ""
    for row in rows:
        note = note_of(row)
        ends = row.kind != kind or note is None or (bool(told) and note.shared != told[-1].shared)
        waits = note is None and bool(told) and not row.text.strip() and row.kind == kind
        style = "lost" if note is not None and note.style == "note-lost" else row.kind
        made = _later(row, digits, style)
        if waits:
            blank.append(made)
            continue
        if ends:
            lines.extend(_noted(told, digits))
            told = []
        lines.extend(blank)
        blank = []
        lines.append(made)
        kind = row.kind
        if note is not None:
            told.append(note)
    lines.extend(_noted(told, digits))
    lines.extend(blank)
    return lines


def _noted(notes: Sequence[_Note], digits: int) -> Iterator[Line]:
    if not notes:
        return
    note = notes[0]
    parts = [(note.said, note.style)]
    if note.path:
        where = f":{note.line}" if note.line is not None and len(notes) == 1 else ""
        parts.append((note.path + where, note.style))
    if note.more:
        parts.append((note.more, note.style))
    yield line(*parts, gutter=" " * (digits + _AROUND))


class _Notes:
    """The ledger's entries, by the lines that they are about."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._sources: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        self._results: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        for entry in entries:
            if entry.source is not None:
                self._sources[entry.source.path, entry.source.line].append(entry)
            if entry.result is not None and entry.fate is not Fate.DROPPED:
                self._results[entry.result.path, entry.result.line].append(entry)

    def of(self, section: Section) -> NoteOf:
        """What the rows of one diff are told. A line that goes on a statement is told the same."""
        old_path = section.base or section.edit.path
        last: dict[str, _Note | None] = {"removed": None, "added": None}

        def note(row: Row) -> _Note | None:
            if not row.text.strip():
                last[row.kind] = None
                return None
            if row.kind == "removed":
                found = self._sources.get((old_path, row.old or 0), [])
                pair = None if row.pair is None else section.diff.rows[row.pair].new
                told = _removed(_worst(found), pair)
            else:
                found = self._results.get((section.edit.path, row.new or 0), [])
                told = _added(_worst(found), old_path)
            if not found:
                goes_on = not row.text.startswith("#") and any(map(str.isalnum, row.text))
                return last[row.kind] if goes_on else None
            last[row.kind] = told
            return told

        return note


def _worst(entries: Sequence[Entry]) -> Entry | None:
    return min(entries, key=lambda entry: _GRAVITY.index(entry.fate), default=None)


def _removed(entry: Entry | None, pair: int | None) -> _Note | None:
    """What a removed row is told. `pair` is the line of the result that is shown as its pair."""
    if entry is None:
        return None
    if entry.fate is Fate.DROPPED:
        return _Note("note-lost", "✗ dropped", more=_lost_because(entry, pair))
    result = entry.result
    if result is None or (entry.fate is Fate.REWORDED and pair is not None):
        return None
    if entry.fate is Fate.KEPT and entry.source and result.path == entry.source.path:
        return None
    says = {Fate.KEPT: "↳ kept in ", Fate.REWORDED: "↳ reworded in "}
    more = ", under another heading" if "heading" in entry.flags else ""
    if entry.needs is not None:
        more += f", which action {entry.needs + 1} writes"
    return _Note("note", says.get(entry.fate, "↳ lives on in "), result.path, result.line, more)


def _added(entry: Entry | None, old_path: str) -> _Note | None:
    if entry is None:
        return None
    if entry.fate is Fate.NEW:
        more = f" ({flag_words(entry.flags)})" if entry.flags else ""
        return _Note("note-new", "+ new: no memory of this change says it", more=more)
    source = entry.source
    if source is None or source.path == old_path:
        return None
    says = "↳ rewords " if entry.fate is Fate.REWORDED else "↳ from "
    return _Note("note", says, source.path, source.line)


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
