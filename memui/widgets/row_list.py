"""A list of rows of any length with a cursor; only what is on screen is made and painted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memui.presentation import Line, fit
from memui.widgets.painting import COMPONENTS, paint, palette

_BAR: Final = "▌"

Make = Callable[[int, int], Line]


def _no_row(_index: int, _cells: int) -> Line:
    return Line(())


class RowList(ScrollView, can_focus=True):
    """Shows rows; the cursor says which one is meant. It stands on any row but a heading."""

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
        """Enter or a double click on the row under the cursor."""

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
        self._count = 0
        self._make: Make = _no_row
        self._headings: Collection[int] = frozenset()
        self._styles: dict[str, Style] = {}
        self.cursor = 0

    @property
    def rows_shown(self) -> int:
        """How many rows there are."""
        return self._count

    def show(
        self,
        count: int,
        make: Make,
        cursor: int | None = None,
        *,
        headings: Collection[int] = (),
    ) -> None:
        """Show other rows: `make(index, cells)` makes one when it is looked at.

        The cursor stays where it is unless told otherwise.
        """
        self._count, self._make, self._headings = count, make, frozenset(headings)
        self.cursor = self._near(self.cursor if cursor is None else cursor, 1)
        self.virtual_size = Size(self.size.width, count)
        self._follow()
        self.refresh()

    def _near(self, index: int, step: int) -> int:
        """The row at an index, or the next one that is no heading."""
        last = self._count - 1
        index = max(0, min(index, last))
        for way in (step, -step):
            at = index
            while 0 <= at <= last:
                if at not in self._headings:
                    return at
                at += way
        return index

    def on_resize(self, _event: events.Resize) -> None:
        self.virtual_size = Size(self.size.width, self._count)
        self._follow()

    def notify_style_update(self) -> None:
        """Forget the colours of another theme."""
        self._styles = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if not self._styles:
            self._styles = palette(self)
        styles, width = self._styles, self.size.width
        at = y + round(self.scroll_offset.y)
        if at >= self._count or not width:
            return Strip.blank(width, styles["plain"])
        made = fit(self._make(at, width - 1), width - 1)
        if at != self.cursor:
            blank = Segment(" ", styles["plain"])
            return Strip([blank, *paint(made, styles, width - 1)], width)
        over = "cursor" if self.has_focus else "cursor-blurred"
        bar = styles["accent" if self.has_focus else "faint"] + Style(bgcolor=styles[over].bgcolor)
        return Strip([Segment(_BAR, bar), *paint(made, styles, width - 1, over)], width)

    def put(self, index: int, step: int = 1) -> None:
        """Put the cursor on a row and say so; from a heading it goes on in the step's direction."""
        if not self._count:
            return
        index = self._near(index, step)
        self.cursor = index
        self._follow()
        self.refresh()
        self.post_message(self.Moved(self, index))

    def _follow(self) -> None:
        if self._count:
            top = self.cursor
            while top > 0 and top - 1 in self._headings:
                top -= 1
            region = Region(0, top, 1, self.cursor - top + 1)
            self.scroll_to_region(region, animate=False, force=True)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.y + round(self.scroll_offset.y)
        if at < self._count and at not in self._headings:
            again = at == self.cursor and event.chain > 1
            self.put(at)
            if again:
                self.action_choose()

    def action_move(self, step: int) -> None:
        """Move the cursor by a row."""
        self.put(self.cursor + step, step)

    def action_edge(self, end: int) -> None:
        """Move the cursor to the first or the last row."""
        self.put(self._count - 1 if end else 0, -1 if end else 1)

    def action_page(self, step: int) -> None:
        """Move the cursor by a page."""
        self.put(self.cursor + step * max(1, self.size.height - 1), step)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        if self._count:
            self.post_message(self.Chosen(self, self.cursor))
