"""A page of lines, wrapped to the width and drawn only where one looks.

How tall lines are is worked out from the top down, as far as one has looked, and guessed below:
a page of 200,000 lines is shown as fast as one of twenty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, overload

from rich.cells import cell_len
from rich.segment import Segment
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
from memui.widgets.painting import COMPONENTS, palette

OWN_PAINTS: Final = (
    "lost", "word-lost", "word-plain", "word-dim", "note", "note-lost", "note-new", "model",
    "gutter-added", "gutter-removed", "gutter-lost", "gutter-current",
)  # fmt: skip
"""Paints beside those of `memui.presentation`; component classes `page--NAME`."""
_AHEAD: Final = 256
"""Lines that are measured at once."""


@dataclass(frozen=True, slots=True)
class Later:
    """A line that is made when somebody looks at it; its text and its gutter's cells tell now."""

    text: str
    gutter: int
    make: Callable[[], Line]


class Lines(Sequence[Line]):
    """Lines of which some are made when somebody looks at them."""

    def __init__(self, made: Iterable[Line | Later] = ()) -> None:
        self._made = list(made)

    def is_one_row(self, at: int, width: int) -> bool:
        """Whether a line is known to take one row, without making it."""
        made = self._made[at]
        return (
            isinstance(made, Later)
            and made.gutter + len(made.text) <= width
            and made.text.isascii()
            and made.text.isprintable()
        )

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, at: int) -> Line: ...

    @overload
    def __getitem__(self, at: slice) -> Lines: ...

    def __getitem__(self, at: int | slice) -> Line | Lines:
        if isinstance(at, slice):
            return Lines(self._made[at])
        line = self._made[at]
        return line if isinstance(line, Line) else line.make()


@dataclass(frozen=True, slots=True)
class Page:
    """What a view shows: lines, and the ranges of them that one can jump to."""

    lines: Sequence[Line] = ()
    blocks: tuple[range, ...] = ()


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
    COMPONENT_CLASSES: ClassVar[set[str]] = {*COMPONENTS, *(f"page--{n}" for n in OWN_PAINTS)}
    DEFAULT_CSS = """
    PageView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .paint--added { background: $success 14%; }
        & > .paint--removed { background: $error 14%; }
        & > .paint--word-added { background: $success 40%; text-style: bold underline; }
        & > .paint--word-removed { background: $error 40%; text-style: bold underline; }
        & > .page--lost { background: $error 30%; text-style: bold; }
        & > .page--word-lost { background: $error 55%; text-style: bold underline; }
        & > .page--word-plain, & > .page--word-dim { text-style: bold underline; }
        & > .page--note { color: $foreground 60%; text-style: italic; }
        & > .page--note-lost { color: $text-error; text-style: bold italic; }
        & > .page--note-new { color: $text-warning; text-style: italic; }
        & > .page--model { color: $foreground 60%; text-style: italic; }
        & > .page--gutter-removed { color: $text-error; background: $error 14%; }
        & > .page--gutter-added { color: $text-success; background: $success 14%; }
        & > .page--gutter-lost { color: $text-error; background: $error 30%; text-style: bold; }
        & > .page--gutter-current { color: $accent; text-style: bold; }
    }
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._page = Page()
        self._tops: list[int] = [0]  # where line n begins; known for a prefix of the lines
        self._heights_for = 0
        self._block: int | None = None
        self._styles: dict[str, Style] = {}

    @property
    def page(self) -> Page:
        """What is shown."""
        return self._page

    @property
    def block(self) -> int | None:
        """The block that was jumped to last."""
        return self._block

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
            self._block = 0 if step > 0 else len(blocks) - 1
        elif 0 <= self._block + step < len(blocks):
            self._block += step
        else:
            return False
        line = blocks[self._block].start
        self._measure_to_line(line + self.size.height + 1)
        self._go(self._tops[line] - min(3, self.size.height // 4))
        self.refresh()
        self.post_message(self.BlockChanged(self, self._block))
        return True

    def action_line(self, step: int) -> None:
        """Scroll by a line."""
        self._go(round(self.scroll_offset.y) + step)

    def action_page(self, step: int) -> None:
        """Scroll by a page; two lines of it stay."""
        self._go(round(self.scroll_offset.y) + step * max(1, self.size.height - 2))

    def action_edge(self, end: int) -> None:
        """Go to the top or to the end."""
        if end:
            self._measure_to_line(len(self._page.lines))
        self._go(self._tops[-1] if end else 0)

    def _go(self, y: int) -> None:
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
            self._measure_to_line(self._known + _AHEAD)
        self._tell_size()

    def _measure_to_line(self, wanted: int) -> None:
        """Know where each line before `wanted` begins and ends."""
        width, lines, tops = self._columns, self._page.lines, self._tops
        for at in range(self._known, min(wanted, len(lines))):
            quick = not width or (isinstance(lines, Lines) and lines.is_one_row(at, width))
            tops.append(tops[-1] + (1 if quick else len(wrap(lines[at], width))))
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
            own = {name: self.get_component_rich_style(f"page--{name}") for name in OWN_PAINTS}
            self._styles = {**palette(self), **own}
        return self._styles

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        width, styles = self._columns, self._paints()
        row = y + round(self.scroll_offset.y)
        self._measure_to_row(row)
        at = bisect_right(self._tops, row) - 1
        if at >= len(self._page.lines) or not width:
            return Strip.blank(width, styles["plain"])
        wrapped = wrap(self._page.lines[at], width)
        within = min(row - self._tops[at], len(wrapped) - 1)
        return _draw(wrapped[within], styles, width, current=self._is_current(at))

    def _is_current(self, at: int) -> bool:
        return self._block is not None and at in self._page.blocks[self._block]


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
        self.styles.height = sum(len(wrap(made, width)) for made in shown)


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


def _draw(line: Line, styles: dict[str, Style], width: int, *, current: bool) -> Strip:
    base = styles[line.fill] if line.fill else styles["plain"]
    segments: list[Segment] = []
    gutter = line.gutter
    if current and gutter:
        segments.append(Segment("▌", styles["gutter-current"]))
        gutter = gutter[1:]
    if gutter:
        style = styles.get(f"gutter-{line.fill}", styles["gutter"])
        segments.append(Segment(gutter, style))
    used = cell_len(line.gutter)
    for run in line.runs:
        style = base + styles[run.paint] if run.paint != "plain" else base
        segments.append(Segment(run.text, style))
        used += cell_len(run.text)
    if used < width:
        segments.append(Segment(" " * (width - used), base))
    return Strip(segments, max(used, width)).crop(0, width)
