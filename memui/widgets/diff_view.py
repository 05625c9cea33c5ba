"""What one change does to the files, as pages: diffs of several kinds, whole results.

Every diff is of the bytes that would be written. Under a run of rows a note of ours says where they
live on, where they come from, or that they are dropped or new (the ledger's entries).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.blocks import old_side
from engine.changes import Change, Edit
from engine.diff import Diff, compare
from engine.ledger import Entry
from engine.plan import Merge, Move
from memui.presentation import Line, line
from memui.presentation.pages import Lines, Page, Part, Place, Stretch
from memui.widgets.diff_notes import Check, Notes, no_check
from memui.widgets.diff_rows import Made, Shape, made
from memui.widgets.prose_view import prose

__all__ = [
    "CONTEXT", "Section", "diff_page", "edit_lines", "edits_page", "gain_and_loss", "heavy",
    "prose_page", "result_page", "sections", "size_of",
]  # fmt: skip

CONTEXT: Final = 3
"""Unchanged lines that are shown around a block, if nobody asks for more or less."""
_EVERYTHING: Final = 1 << 40
_HEAVY: Final = 1_500
"""Changed lines from which a page takes so long to make that a person would wait."""


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
    return tuple(_section(change, edit) for edit in change.edits)


def _section(change: Change, edit: Edit) -> Section:
    if isinstance(change.action, Merge) and edit.before is None:
        base, old = old_side(change)
        if base:
            return Section(edit, compare(old, edit.after), base)
    return Section(edit, compare(edit.before, edit.after))


def gain_and_loss(change: Change, shown: Sequence[Section]) -> tuple[int, int]:
    """Lines that the change adds to the store and takes from it; a move does neither."""
    if isinstance(change.action, Move):
        return 0, 0
    bases = {section.base for section in shown}
    gain = sum(section.diff.added for section in shown)
    loss = sum(s.diff.removed for s in shown if s.edit.path not in bases)
    return gain, loss


def size_of(change: Change) -> int:
    """Bytes that its diffs are made from."""
    return sum(len(e.before or b"") + len(e.after or b"") for e in change.edits)


def heavy(shown: Sequence[Section], entries: int = 0) -> bool:
    """Whether the pages of a change are to be made beside the screen's own work."""
    changed = sum(section.diff.added + section.diff.removed for section in shown)
    rows = sum(len(section.diff.rows) for section in shown)
    return changed + entries > _HEAVY or rows > 20 * _HEAVY


@dataclass
class _Sheet:
    """A page while it is made."""

    parts: list[Part]
    blocks: list[range]
    places: list[Place]
    length: int = 0

    def add(self, *parts: Part) -> None:
        """Lines below what is there."""
        self.parts.extend(parts)
        self.length += sum(len(part) if isinstance(part, Stretch) else 1 for part in parts)

    def put(self, path: str, found: Made, *, takes: bool) -> None:
        """A diff below what is there; its blocks are those of the file's diff if it `takes`."""
        start = self.length
        self.add(*found.parts)
        self.blocks.extend(range(start + b.start, start + b.stop) for b in found.blocks)
        if takes:
            self.places.extend(Place(path, index) for index in range(len(found.blocks)))

    def page(self, left: Collection[int] | None = None, path: str = "") -> Page:
        """The page; `left` are the blocks of one file that are not taken."""
        marked = None
        if left:
            marked = frozenset(
                at
                for at, place in enumerate(self.places)
                if place.path == path and place.block in left
            )
        return Page(Lines(self.parts), tuple(self.blocks), tuple(self.places), marked)


def diff_page(
    change: Change | None,
    shown: Sequence[Section],
    entries: Sequence[Entry],
    *,
    shape: Shape = "unified",
    context: int = CONTEXT,
    left: Collection[int] = (),
    check: Check = no_check,
) -> Page:
    """The diffs of a change, file by file, with notes. None: of files that no action changes.

    `left` are the blocks of the result that a person leaves: the sections show them, the entries
    are about the result without them.
    """
    sheet = _Sheet([], [], [])
    bases = {section.base for section in shown}
    notes = Notes(entries)
    result = next((s.edit.path for s in shown if s.edit.after is not None), "")
    for section in shown:
        if sheet.parts:
            sheet.add(line())
        path = section.edit.path
        sheet.add(*_heading(change, section, vanished=path in bases))
        if path not in bases:
            told = notes.of(
                path, section.base or path, section.diff, left if path == result else ()
            )
            sheet.put(
                path,
                made(shape, section.diff, context=context, notes=told, check=check),
                takes=True,
            )
    return sheet.page(left, result)


def prose_page(
    change: Change | None,
    shown: Sequence[Section],
    *,
    context: int = CONTEXT,
    check: Check = no_check,
) -> Page:
    """The diffs of a change as formatted prose, changed words marked where they stand."""
    sheet = _Sheet([], [], [])
    bases = {section.base for section in shown}
    for section in shown:
        if sheet.parts:
            sheet.add(line())
        path = section.edit.path
        sheet.add(*_heading(change, section, vanished=path in bases))
        if path not in bases:
            sheet.put(path, prose(section.diff, context=context, check=check), takes=False)
    return sheet.page()


def result_page(
    shown: Sequence[Section], below: Sequence[Line] = (), check: Check = no_check
) -> Page:
    """Every file that is there afterwards, whole, its changed lines marked; then more lines."""
    sheet = _Sheet([], [], [])
    for section in shown:
        edit = section.edit
        if edit.after is not None:
            said = "stays as it is" if edit.before == edit.after else "as it would be"
            sheet.add(line((edit.path, "bold"), (f"  {said}", "dim"), gutter=" "))
            found = made("result", section.diff, context=_EVERYTHING, notes=None, check=check)
            sheet.put(edit.path, found, takes=True)
            sheet.add(line())
    sheet.add(*below)
    return sheet.page()


def edits_page(edits: Sequence[Edit]) -> Page:
    """The diffs of single files, without a ledger."""
    sheet = _Sheet([], [], [])
    for edit in edits:
        section = Section(edit, compare(edit.before, edit.after))
        sheet.add(*([line()] if sheet.parts else []))
        sheet.add(*_edit_heading(section, vanished=False))
        found = made("unified", section.diff, context=CONTEXT, notes=None, check=no_check)
        sheet.put(edit.path, found, takes=True)
    return sheet.page()


def edit_lines(edits: Sequence[Edit]) -> list[Line]:
    """The lines of `edits_page`, for a dialog."""
    return [made for made in edits_page(edits).lines if isinstance(made, Line)]


def _heading(change: Change | None, section: Section, *, vanished: bool) -> Iterator[Line]:
    if change is not None and isinstance(change.action, Move):
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
