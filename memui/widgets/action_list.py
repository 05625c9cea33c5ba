"""The actions of a plan as rows: where each stands, what it does, what to beware of."""

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
from memui.presentation import Line, Run, count, fit, line, own
from memui.widgets.painting import COMPONENTS, paint, palette

WIDE: Final = 68
"""Cells from which an action takes one row; below it takes two."""
_VERB: Final = 7
_SEPARATOR: Final = " · "


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

    @property
    def quiet(self) -> bool:
        """Whether nothing is left to look at."""
        return self.word in {"applied", "rejected"}


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
    ActionList {
        overflow-x: hidden;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
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
        self._shape = Shape()

    @property
    def rows_shown(self) -> tuple[ActionRow, ...]:
        """The rows, in the order in which they stand."""
        return self._rows

    @property
    def index(self) -> int | None:
        """The action under the cursor."""
        return self._rows[self._cursor].index if self._rows else None

    @property
    def _columns(self) -> int:
        """Cells of a row, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def row_height(self) -> int:
        """Screen rows that an action takes."""
        return 1 if self._columns >= WIDE else 2

    def show(self, rows: Sequence[ActionRow]) -> None:
        """Show rows; the cursor stays on its action."""
        chosen = self.index
        self._rows, self._shape = tuple(rows), Shape.of(rows)
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
        self.virtual_size = Size(self._columns, len(self._rows) * self.row_height)
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
        """One row of the screen; the cursor is a bar and a ground, the colours stay."""
        width, height = self._columns, self.row_height
        styles = palette(self)
        at, part = divmod(y + round(self.scroll_offset.y), height)
        if at >= len(self._rows) or width < 2:
            return Strip.blank(width, styles["plain"])
        current = at == self._cursor
        draw = wide if height == 1 else lower if part else upper
        strip = paint(draw(self._rows[at], width - 1, self._shape), styles, width - 1)
        bar = Segment("▌" if current else " ", styles["accent"])
        if not current:
            return Strip([bar, *strip], width)
        cursor = styles["cursor" if self.has_focus else "cursor-blurred"]
        ground = Style(bgcolor=cursor.bgcolor)
        made = [Segment(s.text, (s.style or ground) + ground) for s in (bar, *strip)]
        return Strip(made, width)


@dataclass(frozen=True, slots=True)
class Shape:
    """The widths in cells of the columns that all rows share."""

    number: int = 1
    gain: int = 0
    loss: int = 0
    target: int = 0
    flags: int = 0

    @classmethod
    def of(cls, rows: Sequence[ActionRow]) -> Shape:
        """As wide as the widest row needs."""
        return cls(
            max((len(str(row.number)) for row in rows), default=1),
            max((len(_signed("+", row.gain)) for row in rows), default=0),
            max((len(_signed("−", row.loss)) for row in rows), default=0),
            max((cell_len(row.target) for row in rows), default=0),
            max((cell_len(_SEPARATOR.join(row.flags)) for row in rows), default=0),
        )

    @property
    def amount(self) -> int:
        """Gain and loss with a blank between them."""
        return self.gain + self.loss + bool(self.gain and self.loss)


def _signed(sign: str, number: int) -> str:
    return f"{sign}{number}" if number else ""


def wide(row: ActionRow, width: int, shape: Shape) -> Line:
    """An action in one row: mark, number, verb, files, gain and loss, flags."""
    head = f"{row.mark} {row.word:<9} {row.number:>{shape.number}} "
    free = max(0, width - cell_len(head) - _VERB - shape.amount - 4)
    target = max(min(shape.target, free // 2), free - shape.flags)
    return fit(
        line(
            (head, row.paint),
            (f"{row.verb:<{_VERB}}", "dim" if row.quiet else "bold"),
            (_padded(_middle(row.target, target), target), "dim" if row.quiet else "plain"),
            ("  ", "plain"),
            *_amount(row, shape),
            ("  ", "plain"),
            *_flags(row, free - target),
        ),
        width,
    )


def upper(row: ActionRow, width: int, shape: Shape) -> Line:
    """The first of two rows: mark, number, verb, files."""
    head = f"{row.mark} {row.number:>{shape.number}} "
    room = max(0, width - cell_len(head) - _VERB)
    return fit(
        line(
            (head, row.paint),
            (f"{row.verb:<{_VERB}}", "dim" if row.quiet else "bold"),
            (_middle(row.target, room), "dim" if row.quiet else "plain"),
        ),
        width,
    )


def lower(row: ActionRow, width: int, shape: Shape) -> Line:
    """The second of two rows: the verdict in words, gain and loss, flags."""
    head = f"{'':{shape.number + 3}}{row.word:<9} "
    used = cell_len(head) + shape.amount + 2
    return fit(
        line(
            (head, "dim" if row.paint == "plain" else row.paint),
            *_amount(row, shape),
            ("  ", "plain"),
            *_flags(row, width - used),
        ),
        width,
    )


def _amount(row: ActionRow, shape: Shape) -> tuple[Run, ...]:
    """Gain and loss, each in its column."""
    return (
        Run(_signed("+", row.gain).rjust(shape.gain), "good"),
        Run(" " * bool(shape.gain and shape.loss)),
        Run(_signed("−", row.loss).rjust(shape.loss), "bad"),
    )


def _flags(row: ActionRow, width: int) -> tuple[Run, ...]:
    """As many flags as fit, the gravest first, and how many are left out."""
    if not row.flags:
        return ()
    shown = len(row.flags)
    while shown > 1 and cell_len(_flag_text(row.flags, shown)) > width:
        shown -= 1
    return (Run(_flag_text(row.flags, shown), "dim" if row.quiet else "warn"),)


def _flag_text(flags: Sequence[str], shown: int) -> str:
    left = len(flags) - shown
    return _SEPARATOR.join(flags[:shown]) + (f" +{left}" if left else "")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


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
        waits = f"  {counts.undecided} to decide" if counts.undecided else ""
        if counts.approved:
            said = f" Apply {count(counts.approved, 'approved action', 'approved actions')}…"
            self.update(Content.assemble(own(said, "bold"), own(waits, "$foreground-muted")))
        elif counts.undecided:
            self.update(own(" Nothing is approved yet", "$foreground-muted"))
        else:
            self.update(own(" Nothing is left to apply", "$foreground-muted"))

    def action_choose(self) -> None:
        self.post_message(self.Chosen())

    def action_back(self) -> None:
        self.post_message(self.Left())

    def on_click(self) -> None:
        self.post_message(self.Chosen())
