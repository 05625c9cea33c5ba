"""The actions of a plan as rows: where each stands, what it does to which file, what to beware of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from engine.plan import Merge, Move
from engine.proposal import Counts, Proposal, Standing
from engine.review import Verdict
from memui.presentation import Line, Run, count, fit, line, own, pad
from memui.widgets.painting import COMPONENTS, paint, palette

WIDE: Final = 68
"""Cells from which an action takes one row; below it takes two."""
_FLAGS_ROOM: Final = 0.42
"""Share of a wide row that the flags may take from the paths."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """One action. `number` is that of the plan; `mark` and `word` say where it stands."""

    index: int
    mark: str
    word: str
    paint: str
    verb: str
    target: str
    gain: int
    loss: int
    flags: tuple[str, ...]

    @property
    def number(self) -> int:
        """The action's number in the plan."""
        return self.index + 1


def action_row(proposal: Proposal, index: int, gain: int, loss: int) -> ActionRow:
    """The row of one action as it stands now."""
    mark, word, style = _standing(proposal, index)
    folded = len(proposal.changes[index].folded)
    extra = (f"with {count(folded, 'delete', 'deletes')}",) if folded else ()
    said = {"changed on disk", "invalid"}
    flags = tuple(flag for flag in proposal.flags(index) if flag not in said)
    return ActionRow(
        index,
        mark,
        word,
        style,
        proposal.plan.actions[index].action,
        target_text(proposal, index),
        gain,
        loss,
        (*flags, *extra),
    )


def _standing(proposal: Proposal, index: int) -> tuple[str, str, str]:
    match proposal.standing(index):
        case Standing.APPLIED:
            return "=", "applied", "dim"
        case Standing.INVALID if proposal.verdict(index) is not Verdict.REJECTED:
            return "!", "invalid", "bad"
        case Standing.STALE if proposal.verdict(index) is not Verdict.REJECTED:
            return "!", "changed", "warn"
    match proposal.verdict(index):
        case Verdict.APPROVED:
            return "✓", "approved", "good"
        case Verdict.REJECTED:
            return "✗", "rejected", "bad"
    return "·", "to decide", "plain"


def target_text(proposal: Proposal, index: int) -> str:
    """The files of an action, as one text: what is read, and what becomes of it."""
    action = proposal.plan.actions[index]
    written = proposal.changes[index].target
    if isinstance(action, Move):
        return f"{action.from_} → {written or action.to}"
    if isinstance(action, Merge):
        return f"{' + '.join(action.sources)} → {written or action.target}"
    return action.path


class ActionList(ScrollView, can_focus=True):
    """The rows with a cursor. Arrows past the last row leave the list."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("g,home", "edge(0)", show=False),
        Binding("G,end", "edge(1)", show=False),
        Binding("enter", "choose", show=False),
    ]
    DEFAULT_CSS = """
    ActionList { overflow-x: hidden; scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
    """

    class Moved(Message):
        """The cursor is on another action (0-based index in the plan)."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Chosen(Message):
        """Enter on an action."""

    class Left(Message):
        """The cursor went on behind the last row."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rows: tuple[ActionRow, ...] = ()
        self._cursor = 0

    @property
    def rows_shown(self) -> tuple[ActionRow, ...]:
        """The rows, in the order in which they stand."""
        return self._rows

    @property
    def index(self) -> int | None:
        """The action under the cursor."""
        return self._rows[self._cursor].index if self._rows else None

    @property
    def row_height(self) -> int:
        """Screen rows that an action takes."""
        return 1 if self.size.width >= WIDE else 2

    def show(self, rows: Sequence[ActionRow]) -> None:
        """Show rows; the cursor stays on its action."""
        chosen = self.index
        self._rows = tuple(rows)
        at = next((n for n, row in enumerate(rows) if row.index == chosen), None)
        self._cursor = min(self._cursor, max(0, len(rows) - 1)) if at is None else at
        self._tell_size()
        self.refresh()

    def put(self, index: int) -> None:
        """Put the cursor on an action and say so."""
        for at, row in enumerate(self._rows):
            if row.index == index:
                self._place(at)

    def step(self, indexes: frozenset[int], by: int) -> bool:
        """Go to the next (1) or previous (-1) of some actions, round the end; False if none."""
        count_ = len(self._rows)
        for away in range(1, count_ + 1):
            at = (self._cursor + by * away) % count_
            if self._rows[at].index in indexes:
                self._place(at)
                return True
        return False

    def _place(self, at: int) -> None:
        moved = at != self._cursor
        self._cursor = at
        self._follow()
        self.refresh()
        if moved:
            self.post_message(self.Moved(self._rows[at].index))

    def _follow(self) -> None:
        height = self.row_height
        region = Region(0, self._cursor * height, 1, height)
        self.scroll_to_region(region, animate=False, force=True)

    def _tell_size(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._rows) * self.row_height)
        if self._rows:
            self._follow()

    def on_resize(self, _event: events.Resize) -> None:
        self._tell_size()
        self.refresh()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = (event.y + round(self.scroll_offset.y)) // self.row_height
        if at < len(self._rows):
            self._place(at)

    def action_move(self, step: int) -> None:
        if step > 0 and self._cursor >= len(self._rows) - 1:
            self.post_message(self.Left())
        elif self._rows:
            self._place(max(0, self._cursor + step))

    def action_edge(self, end: int) -> None:
        if self._rows:
            self._place(len(self._rows) - 1 if end else 0)

    def action_choose(self) -> None:
        if self._rows:
            self.post_message(self.Chosen())

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        width, height = self.size.width, self.row_height
        styles = palette(self)
        at, part = divmod(y + round(self.scroll_offset.y), height)
        if at >= len(self._rows):
            return Strip.blank(width, styles["plain"])
        current = at == self._cursor
        over = ("cursor" if self.has_focus else "cursor-blurred") if current else None
        digits = len(str(max(row.number for row in self._rows)))
        room = width - 1
        if height == 1:
            made = wide(self._rows[at], room, digits)
        else:
            made = (upper if part == 0 else lower)(self._rows[at], room, digits)
        strip = paint(made, styles, room, over)
        bar = Segment("▌" if current else " ", _bar(styles, over))
        return Strip([bar, *strip], width)


def _bar(styles: dict[str, Style], over: str | None) -> Style:
    return styles["plain"] if over is None else styles["accent"] + styles[over]


def wide(row: ActionRow, width: int, digits: int) -> Line:
    """An action in one row: mark, number, verb, files, gain and loss, flags at the right."""
    amount = _amount(row)
    amounts = sum(cell_len(run.text) for run in amount)
    flags = _flags(row, int(width * _FLAGS_ROOM))
    flagged = sum(cell_len(run.text) for run in flags)
    head = f"{row.mark} {row.word:<9} {row.number:>{digits}} "
    used = cell_len(head) + 7 + amounts + flagged + (2 if amount else 0) + (2 if flags else 0)
    target = pad(_middle(row.target, width - used), max(0, width - used))
    parts: list[tuple[str, str] | Run] = [
        (head, row.paint),
        (f"{row.verb:<7}", "dim" if row.word == "applied" else "bold"),
        Run(target, "dim" if row.word in {"applied", "rejected"} else "plain"),
    ]
    if amount:
        parts += [("  ", "plain"), *amount]
    if flags:
        parts += [("  ", "plain"), *flags]
    return fit(line(*parts), width)


def upper(row: ActionRow, width: int, digits: int) -> Line:
    """The first of two rows: mark, number, verb, files."""
    head = f"{row.mark} {row.number:>{digits}} "
    room = max(0, width - cell_len(head) - 7)
    quiet = row.word in {"applied", "rejected"}
    return fit(
        line(
            (head, row.paint),
            (f"{row.verb:<7}", "dim" if row.word == "applied" else "bold"),
            Run(_middle(row.target, room), "dim" if quiet else "plain"),
        ),
        width,
    )


def lower(row: ActionRow, width: int, digits: int) -> Line:
    """The second of two rows: the verdict in words, gain and loss, flags."""
    parts: list[tuple[str, str] | Run] = [
        (" " * (digits + 3), "plain"),
        (row.word, "dim" if row.paint == "plain" else row.paint),
    ]
    amount = _amount(row)
    if amount:
        parts += [("  ", "plain"), *amount]
    used = sum(cell_len(p.text if isinstance(p, Run) else p[0]) for p in parts)
    flags = _flags(row, width - used - 2)
    if flags:
        parts += [("  ", "plain"), *flags]
    return fit(line(*parts), width)


def _amount(row: ActionRow) -> tuple[Run, ...]:
    found: list[Run] = []
    if row.gain:
        found.append(Run(f"+{row.gain}", "good"))
    if row.loss:
        found += [Run(" ", "plain")] * bool(found) + [Run(f"−{row.loss}", "bad")]
    return tuple(found)


def _flags(row: ActionRow, width: int) -> tuple[Run, ...]:
    """As many flags as fit, the gravest first, and how many are left out."""
    style = "dim" if row.word in {"applied", "rejected"} else "warn"
    found: list[str] = []
    used = 0
    for n, flag in enumerate(row.flags):
        left = len(row.flags) - n - 1
        more = f" +{left}" if left else ""
        cells = cell_len(flag) + (3 if found else 0)
        if found and used + cells + len(more) > width:
            found[-1] += f" +{left + 1}"
            break
        found.append(flag)
        used += cells
    return (Run(" · ".join(found), style),) if found else ()


def _middle(text: str, width: int) -> str:
    """A text cut to a width at its front half, so that file names stay legible."""
    shown = line((text, "plain")).plain
    if cell_len(shown) <= width:
        return shown
    if width <= 1:
        return "…"[:width]
    keep = (width - 1) // 2
    head = _cut(shown, width - 1 - keep)
    tail = _cut(shown[::-1], keep)[::-1]
    return f"{head}…{tail}"


def _cut(text: str, width: int) -> str:
    used = 0
    for at, char in enumerate(text):
        used += cell_len(char)
        if used > width:
            return text[:at]
    return text


class ApplyRow(Static, can_focus=True):
    """The last row: what Enter would apply. It only asks; the dialog decides."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", show=False),
        Binding("up,k", "back", show=False),
    ]

    class Chosen(Message):
        """Enter or a click."""

    class Left(Message):
        """Back up to the list."""

    def show(self, counts: Counts) -> None:
        """Say how many actions would be applied, and what would wait."""
        waits = f"   {counts.undecided} to decide would wait" if counts.undecided else ""
        if counts.approved:
            said = f" Apply {count(counts.approved, 'approved action', 'approved actions')}…"
            self.update(Content.assemble(own(said, "bold"), own(waits, "$text-muted")))
        elif counts.undecided:
            self.update(own(" Nothing is approved yet", "$text-muted"))
        else:
            self.update(own(" Nothing is left to apply", "$text-muted"))

    def action_choose(self) -> None:
        self.post_message(self.Chosen())

    def action_back(self) -> None:
        self.post_message(self.Left())

    def on_click(self) -> None:
        self.post_message(self.Chosen())
