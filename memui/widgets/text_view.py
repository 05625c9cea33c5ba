"""A text of any length, wrapped and scrolled; only what is on screen is painted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memui.presentation import Line, wrap
from memui.widgets.painting import COMPONENTS, paint, palette


class TextView(ScrollView, can_focus=True):
    """Shows lines. `places` are indexes of lines that the keys for blocks or hits jump to."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "line(1)", show=False),
        Binding("k,up", "line(-1)", show=False),
        Binding("g,home", "edge(0)", show=False),
        Binding("G,end", "edge(1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
    ]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._lines: tuple[Line, ...] = ()
        self._wrapped: list[Line] = []
        self._starts: list[int] = []
        self._places: tuple[int, ...] = ()
        self._width = 0

    def show(self, lines: Sequence[Line], places: Sequence[int] = (), *, top: bool = True) -> None:
        """Show other lines, from the top unless they are a new state of the same text."""
        self._lines, self._places = tuple(lines), tuple(places)
        self._width = 0
        self._layout_lines()
        if top:
            self.scroll_to(0, 0, animate=False)
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self._layout_lines()

    def _layout_lines(self) -> None:
        width = self.scrollable_content_region.width or self.size.width
        if not width or width == self._width:
            return
        self._width = width
        self._wrapped, self._starts = [], []
        for line in self._lines:
            self._starts.append(len(self._wrapped))
            self._wrapped.extend(wrap(line, width))
        self.virtual_size = Size(width, len(self._wrapped))

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        at = y + round(self.scroll_offset.y)
        width = self.size.width
        styles = palette(self)
        if at >= len(self._wrapped):
            return Strip.blank(width, styles["plain"])
        return paint(self._wrapped[at], styles, width)

    def jump(self, step: int) -> None:
        """Scroll to the next (1) or the previous (-1) place."""
        if not self._places or not self._starts:
            return
        rows = [self._starts[place] for place in self._places if place < len(self._starts)]
        top = round(self.scroll_offset.y)
        after = [row for row in rows if row > top + 1]
        before = [row for row in rows if row < top]
        target = (after[0] if after else None) if step > 0 else (before[-1] if before else None)
        if target is not None:
            self.scroll_to(0, max(0, target - 1), animate=False)

    def action_line(self, step: int) -> None:
        self.scroll_relative(y=step, animate=False)

    def action_edge(self, end: int) -> None:
        self.scroll_to(0, self.max_scroll_y if end else 0, animate=False)

    def action_page(self, step: int) -> None:
        self.scroll_relative(y=step * max(1, self.size.height - 2), animate=False)

    def scroll_to_line(self, index: int) -> None:
        """Bring a line into view."""
        if index < len(self._starts):
            row = self._starts[index]
            self.scroll_to_region(Region(0, row, 1, 1), animate=False)
