"""A page of lines, wrapped to the width and drawn only where one looks.

How tall lines are is worked out from the top down, as far as one has looked, and guessed below:
a page of 200,000 lines is shown as fast as one of twenty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from time import monotonic
from typing import Any, ClassVar, Final

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from memui.presentation import Line, fit, own, wrap
from memui.presentation.pages import Lines, Page, Pair, Place, half
from memui.widgets.painting import (
    COMPONENTS,
    PAGE_COMPONENTS,
    State,
    page_palette,
    paint_pair,
    paint_row,
)

__all__ = ["Facts", "Lines", "Page", "PageTitle", "PageView", "cut_rows"]

_AHEAD: Final = 256
"""Lines that are measured at once."""
_SLICE: Final = 0.03
"""Seconds of measuring between two looks at the keys."""
_REST: Final = 0.001
"""Seconds until the next slice: what has come meanwhile is handled first."""


class PageView(ScrollView, can_focus=True):
    """Shows a page. A gutter has a style of its own, which no text can have."""

    class BlockChanged(Message):
        """The view jumped to another block (0-based)."""

        def __init__(self, view: PageView, block: int) -> None:
            super().__init__()
            self.view = view
            self.block = block

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "line(1)", show=False),
        Binding("up,k", "line(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {*COMPONENTS, *PAGE_COMPONENTS}
    # Grounds are teal and red, which the common kinds of colour blindness keep apart, and never
    # the only sign: signs stand in the gutter, words are underlined or struck.
    DEFAULT_CSS = """
    PageView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .paint--added { background: #2a9d8f 20%; }
        & > .paint--removed { background: #e5484d 17%; }
        & > .paint--word-added { background: #2a9d8f 58%; text-style: bold underline; }
        & > .paint--word-removed { background: #e5484d 48%; text-style: bold underline; }
        & > .page--come { background: #2a9d8f 48%; text-style: bold underline; }
        & > .page--gone { background: #e5484d 36%; text-style: strike; }
        & > .page--lost { background: #e5484d 32%; text-style: bold; }
        & > .page--word-lost { background: #e5484d 62%; text-style: bold underline; }
        & > .page--word-plain, & > .page--word-dim { text-style: bold underline; }
        & > .page--left { color: $foreground 50%; }
        & > .page--note { color: $foreground 60%; text-style: italic; }
        & > .page--note-lost { color: $text-error; text-style: bold italic; }
        & > .page--note-new { color: $text-warning; text-style: italic; }
        & > .page--model { color: $foreground 60%; text-style: italic; }
        & > .page--strong { text-style: bold; }
        & > .page--emphasis { text-style: italic; }
        & > .page--struck { text-style: strike; }
        & > .page--code { color: $text-accent; }
        & > .page--link { color: $accent; }
        & > .page--gap { color: $foreground 18%; }
        & > .page--gutter-removed { color: $text-error; background: #e5484d 17%; }
        & > .page--gutter-added { color: $text-success; background: #2a9d8f 20%; }
        & > .page--gutter-lost { color: $text-error; background: #e5484d 32%; text-style: bold; }
        & > .page--gutter-mixed { color: $text-warning; text-style: bold; }
        & > .page--gutter-current { color: $accent; text-style: bold; }
    }
    PageView:nocolor {
        & > .page--gone { text-style: reverse strike; }
        & > .page--left { text-style: dim; }
        & > .page--code { text-style: italic; }
        & > .page--link { text-style: italic; }
        & > .page--gutter-removed, & > .page--gutter-added,
        & > .page--gutter-mixed { text-style: reverse; }
        & > .page--gutter-lost { text-style: reverse bold; }
    }
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._page = Page()
        self._tops: list[int] = [0]  # where line n begins; known for a prefix of the lines
        self._heights_for = 0
        self._block: int | None = None
        self._arrive: Callable[[], None] | None = None
        self._styles: dict[str, Style] = {}

    @property
    def page(self) -> Page:
        """What is shown."""
        return self._page

    @property
    def block(self) -> int | None:
        """The block that was jumped to last."""
        return self._block

    @property
    def place(self) -> Place | None:
        """Which block of a diff is under the cursor: the marked one, or else the first in view."""
        at = self._block
        if at is None:
            at = next(iter(self._in_view()), None)
        return self._page.places[at] if at is not None and at < len(self._page.places) else None

    def show(self, page: Page, *, keep_place: bool = False) -> None:
        """Show a page from its top, or from where the last one stood."""
        self._page = page
        if not keep_place or (self._block or 0) >= len(page.blocks):
            self._block = None
        place = round(self.scroll_offset.y) if keep_place else 0
        self._forget_heights(place + self.size.height)
        self._go(place)
        self.refresh()

    def jump(self, step: int) -> bool:
        """Go to the next (1) or the previous (-1) block; False if there is none."""
        blocks = self._page.blocks
        if not blocks:
            return False
        if self._block is None:
            self.put(0 if step > 0 else len(blocks) - 1)
        elif 0 <= self._block + step < len(blocks):
            self.put(self._block + step)
        else:
            return False
        return True

    def put(self, block: int) -> None:
        """Go to a block of the page (0-based), and mark it."""
        self._block = block
        self.refresh()
        self.post_message(self.BlockChanged(self, block))
        line = self._page.blocks[block].start

        def arrive() -> None:
            self._go(self._tops[line] - min(3, self.size.height // 4))
            self._block = block  # a block that stands above the last rows may not come to the top
            self.refresh()

        self._seek(line + self.size.height + 1, arrive)

    @property
    def seeking(self) -> bool:
        """Whether the view is on its way to a line far down."""
        return self._arrive is not None

    def _seek(self, line: int, arrive: Callable[[], None]) -> None:
        """Measure up to a line, a slice at a time so that keys go on working, then arrive."""
        self._arrive = arrive
        self._seek_on(line, arrive)

    def _seek_on(self, line: int, arrive: Callable[[], None]) -> None:
        if self._arrive is not arrive:
            return  # somebody went elsewhere meanwhile
        until = monotonic() + _SLICE
        wanted = min(line, len(self._page.lines))
        while self._known < wanted and monotonic() < until:
            self._measure_to_line(min(wanted, self._known + _AHEAD), tell=False)
        self._tell_size()
        if self._known < wanted:
            self.set_timer(_REST, lambda: self._seek_on(line, arrive))
            return
        self._arrive = None
        arrive()

    def _in_view(self) -> range:
        """The blocks of which some row is in view."""
        top = round(self.scroll_offset.y)
        first = bisect_right(self._tops, top) - 1
        last = bisect_right(self._tops, top + self.size.height - 1) - 1
        blocks = self._page.blocks
        start = bisect_right(blocks, first, key=lambda block: block.stop - 1)
        if start and first in blocks[start - 1]:
            start -= 1
        return range(start, bisect_right(blocks, last, key=lambda block: block.start))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The mark stays with a block that is in view."""
        super().watch_scroll_y(old_value, new_value)
        seen = self._in_view()
        if self._block is None or not seen or self._block in seen:
            return
        self._block = seen[0] if new_value > old_value else seen[-1]
        self.refresh()
        self.post_message(self.BlockChanged(self, self._block))

    def on_click(self, event: events.Click) -> None:
        """Mark the block that is clicked on."""
        line = bisect_right(self._tops, round(self.scroll_offset.y) + event.y) - 1
        for block in self._in_view():
            if line in self._page.blocks[block]:
                self._block = block
                self.refresh()
                self.post_message(self.BlockChanged(self, block))

    def action_line(self, step: int) -> None:
        """Scroll by a line."""
        self._go(round(self.scroll_offset.y) + step)

    def action_page(self, step: int) -> None:
        """Scroll by a page; two lines of it stay."""
        self._go(round(self.scroll_offset.y) + step * max(1, self.size.height - 2))

    def action_edge(self, end: int) -> None:
        """Go to the top or to the end."""
        if end:
            self._seek(len(self._page.lines), lambda: self._go(self._tops[-1]))
        else:
            self._go(0)

    def _go(self, y: int) -> None:
        self._arrive = None
        self.scroll_to(0, max(0, y), animate=False, immediate=True, force=True)

    @property
    def _columns(self) -> int:
        """Cells of a row, without the scrollbar."""
        return self.scrollable_content_region.width

    # How tall the lines are

    @property
    def _known(self) -> int:
        return len(self._tops) - 1

    def _forget_heights(self, rows: int) -> None:
        self._tops = [0]
        self._heights_for = self._columns
        self._measure_to_row(rows)

    def _measure_to_row(self, row: int) -> None:
        """Know where lines begin until one begins after a row."""
        while self._tops[-1] <= row and self._known < len(self._page.lines):
            self._measure_to_line(self._known + _AHEAD, tell=False)
        self._tell_size()

    def _measure_to_line(self, wanted: int, *, tell: bool = True) -> None:
        """Know where each line before `wanted` begins and ends."""
        width, lines, tops = self._columns, self._page.lines, self._tops
        start, stop = self._known, min(wanted, len(lines))
        if start < stop:
            quick: Iterator[int | None] = repeat(None)
            if isinstance(lines, Lines):
                quick = lines.heights(start, stop, width)
            top = tops[-1]
            for at, height in zip(range(start, stop), quick, strict=False):
                top += height or (_height(lines[at], width) if width else 1)
                tops.append(top)
        if tell:
            self._tell_size()

    def _tell_size(self) -> None:
        rest = len(self._page.lines) - self._known
        self.virtual_size = Size(self._columns, self._tops[-1] + rest)

    def on_resize(self, _event: events.Resize) -> None:
        """Wrap anew; the line at the top stays there."""
        row = round(self.scroll_offset.y)
        if self._columns == self._heights_for:
            self._measure_to_row(row + self.size.height)
            return
        top = max(0, min(bisect_right(self._tops, row), self._known) - 1)
        self._forget_heights(self.size.height)
        self._measure_to_line(top + self.size.height + 1)
        if top:
            self._go(self._tops[top])
        self.refresh()

    # Drawing

    def notify_style_update(self) -> None:
        """Forget the colours of another theme."""
        self._styles = {}
        super().notify_style_update()

    def _paints(self) -> dict[str, Style]:
        if not self._styles:
            self._styles = page_palette(self)
        return self._styles

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        width, styles = self._columns, self._paints()
        row = y + round(self.scroll_offset.y)
        self._measure_to_row(row)
        at = bisect_right(self._tops, row) - 1
        if at >= len(self._page.lines) or not width:
            return Strip.blank(width, styles["plain"])
        made, within, state = self._page.lines[at], row - self._tops[at], self._state(at)
        if isinstance(made, Pair):
            return paint_pair(made, within, styles, width, state)
        wrapped = wrap(made, width)
        return paint_row(wrapped[min(within, len(wrapped) - 1)], styles, width, state)

    def _state(self, at: int) -> State:
        """How a line is marked: whether its block is the current one, and whether it is taken."""
        page = self._page
        block = bisect_right(page.blocks, at, key=lambda block: block.start) - 1
        if block < 0 or at not in page.blocks[block]:
            return State()
        taken = None if page.left is None else block not in page.left
        return State(current=block == self._block, taken=taken)


def _height(made: Line | Pair, width: int) -> int:
    """Rows of a line at a width."""
    if isinstance(made, Line):
        return len(wrap(made, width))
    sides = zip((made.left, made.right), half(width), strict=True)
    return max(len(wrap(side, cells)) if side else 1 for side, cells in sides)


class Facts(PageView, can_focus=False):
    """A few lines, all in view: as tall as they are. The last one is cut to two rows."""

    DEFAULT_CSS = """
    Facts { overflow-y: hidden; scrollbar-gutter: auto; height: auto; }
    """
    ROWS: ClassVar[int] = 2

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._lines: tuple[Line, ...] = ()
        self._last: Line | None = None

    def show_facts(self, lines: Sequence[Line], last: Line | None) -> None:
        """Show lines, and one last line that may be long."""
        self._lines, self._last = tuple(lines), last
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """Cut anew."""
        super().on_resize(event)
        self._lay_out()

    def _lay_out(self) -> None:
        width = self._columns
        if not width:
            return
        shown = list(self._lines)
        if self._last is not None:
            shown += cut_rows(self._last, width, self.ROWS)
        self.show(Page(shown))
        self.styles.height = sum(_height(made, width) for made in shown)


def cut_rows(made: Line, width: int, rows: int) -> list[Line]:
    """A line wrapped to at most some rows, with `…` where more of it follows."""
    wrapped = list(wrap(made, width))
    if len(wrapped) <= rows:
        return wrapped
    over = Line((*wrapped[rows - 1].runs, *wrapped[rows].runs), wrapped[rows - 1].gutter)
    return [*wrapped[: rows - 1], fit(over, width)]


class PageTitle(Static):
    """One line above a page: what it is about, which view of how many, and where one is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._about = Content("")
        self._views: tuple[str, ...] = ()
        self._current = ""
        self._place = ""

    def show(self, about: Content, views: Sequence[str], current: str, place: str) -> None:
        """Say it. `views` are words of ours, one of them the current one."""
        self._about, self._views = about, tuple(views)
        self._current, self._place = current, place
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        parts = [own(f"{self._place}  ", "$foreground-muted")] if self._place else []
        for view in self._views:
            style = "bold $text-accent" if view == self._current else "$foreground-muted"
            mark = "▸" if view == self._current else " "
            parts.append(own(f"{mark}{view} ", style))
        right = Content.assemble(*parts)
        room = self.size.width - right.cell_length - 1
        if room < 8:
            self.update(self._about.truncate(max(0, self.size.width), ellipsis=True))
            return
        left = self._about.truncate(room, ellipsis=True, pad=True)
        self.update(Content.assemble(left, Content(" "), right))
