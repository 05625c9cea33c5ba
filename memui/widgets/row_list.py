"""A list of rows of any length with a cursor; only what is on screen is painted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memui.presentation import Line, fit
from memui.widgets.painting import COMPONENTS, paint, palette


class RowList(ScrollView, can_focus=True):
    """Shows rows; the cursor says which one is meant."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("g,home", "edge(0)", show=False),
        Binding("G,end", "edge(1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    class Chosen(Message):
        """Enter or a click on the row under the cursor."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rows: tuple[Line, ...] = ()
        self.cursor = 0

    @property
    def rows_shown(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def show(self, rows: Sequence[Line], cursor: int | None = None) -> None:
        """Show other rows; the cursor stays where it is unless told otherwise."""
        self._rows = tuple(rows)
        wanted = self.cursor if cursor is None else cursor
        self.cursor = max(0, min(wanted, len(self._rows) - 1))
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._follow()
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._follow()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        at = y + round(self.scroll_offset.y)
        width = self.size.width
        styles = palette(self)
        if at >= len(self._rows):
            return Strip.blank(width, styles["plain"])
        over = None
        if at == self.cursor:
            over = "cursor" if self.has_focus else "cursor-blurred"
        return paint(fit(self._rows[at], width), styles, width, over)

    def put(self, index: int) -> None:
        """Put the cursor on a row and say so."""
        if not self._rows:
            return
        index = max(0, min(index, len(self._rows) - 1))
        self.cursor = index
        self._follow()
        self.refresh()
        self.post_message(self.Moved(self, index))

    def _follow(self) -> None:
        if self._rows:
            self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.y + round(self.scroll_offset.y)
        if at < len(self._rows):
            again = at == self.cursor and event.chain > 1
            self.put(at)
            if again:
                self.action_choose()

    def action_move(self, step: int) -> None:
        self.put(self.cursor + step)

    def action_edge(self, end: int) -> None:
        self.put(len(self._rows) - 1 if end else 0)

    def action_page(self, step: int) -> None:
        self.put(self.cursor + step * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        if self._rows:
            self.post_message(self.Chosen(self, self.cursor))
