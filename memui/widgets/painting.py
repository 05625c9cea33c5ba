"""Painting lines: from the values of `memui.presentation` to what Textual draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from memui.presentation import PAINTS, Line, wrap
from memui.presentation.pages import Pair, half

COMPONENTS: Final = {f"paint--{name}" for name in PAINTS}
"""What a widget that paints declares as its component classes."""
PAGE_PAINTS: Final = (
    "lost", "word-lost", "word-plain", "word-dim", "come", "gone", "left", "gap", "mixed",
    "note", "note-lost", "note-new", "model",
    "strong", "emphasis", "struck", "code", "link",
    "gutter-added", "gutter-removed", "gutter-lost", "gutter-mixed", "gutter-current",
)  # fmt: skip
"""Paints that pages have beside those; component classes `page--NAME`."""
PAGE_COMPONENTS: Final = {f"page--{name}" for name in PAGE_PAINTS}
_FLAT: Final = frozenset(["added", "removed", "lost", "word-added", "word-removed", "word-lost"])
"""Paints that say what changes: a block that is left has none of them."""


def palette(widget: Widget) -> dict[str, Style]:
    """The styles of a widget's paints, by name. None of them is empty: Textual needs a style."""
    return {name: widget.get_component_rich_style(f"paint--{name}") for name in PAINTS}


def paint(line: Line, styles: dict[str, Style], width: int, over: str | None = None) -> Strip:
    """A line as a strip of a width; `over` is a paint laid below the text (the cursor).

    Of that only the ground and the weight count, so that marks and warnings stay what they are.
    """
    base = styles[line.fill] if line.fill else styles["plain"]
    top = styles[over] if over else None
    segments: list[Segment] = []
    used = 0
    if line.gutter:
        segments.append(Segment(line.gutter, styles["gutter"]))
        used += cell_len(line.gutter)
    for run in line.runs:
        style = base + styles[run.paint] if run.paint != "plain" else base
        segments.append(Segment(run.text, style))
        used += cell_len(run.text)
    if used < width:
        segments.append(Segment(" " * (width - used), base))
    if top is not None:
        ground = Style(bgcolor=top.bgcolor, bold=top.bold or None, underline=top.underline or None)
        segments = [Segment(s.text, (s.style or base) + ground) for s in segments]
    return Strip(segments, max(used, width)).crop(0, width)


@dataclass(frozen=True, slots=True)
class State:
    """How a row of a page is marked: in the current block, in one that is taken or is left."""

    current: bool = False
    taken: bool | None = None


class _Styles(dict[str, Style]):
    """Styles by name; `word-added strong` is the one laid over by the other."""

    def __missing__(self, name: str) -> Style:
        made = self[name] = Style.combine(self[part] for part in name.split())
        return made


def page_palette(widget: Widget) -> dict[str, Style]:
    """The styles of a page's paints, by name; names with a blank between them are combined.

    All but `plain` hold only what they change, so that one can be laid over another.
    """
    own = {name: widget.get_component_rich_style(f"page--{name}") for name in PAGE_PAINTS}
    styles = _Styles({**palette(widget), **own})
    plain = styles["plain"]
    for name, style in styles.items():
        if name != "plain":
            color = None if style.color == plain.color else style.color
            ground = None if style.bgcolor == plain.bgcolor else style.bgcolor
            attributes = style.without_color
            styles[name] = attributes + Style(color=color, bgcolor=ground)
    return styles


def paint_row(line: Line, styles: dict[str, Style], width: int, state: State) -> Strip:
    """One row of a page. A gutter and its marks have styles that no text can have."""
    left = state.taken is False
    fill = None if left and line.fill in _FLAT else line.fill
    plain = styles["plain"]
    base = plain + styles["left" if left else fill or "plain"]
    named = f"gutter-{fill}"
    segments = list(_gutter(line.gutter, styles, named if named in styles else "gutter", state))
    used = cell_len(line.gutter)
    for run in line.runs:
        flat = run.paint == "plain" or (left and run.paint in _FLAT)
        segments.append(Segment(run.text, base if flat else base + styles[run.paint]))
        used += cell_len(run.text)
    if used < width:
        segments.append(Segment(" " * (width - used), base))
    return Strip(segments, max(used, width)).crop(0, width)


def _gutter(gutter: str, styles: dict[str, Style], paint: str, state: State) -> Iterator[Segment]:
    """A gutter; its first cell tells the current block, the second what is taken and left."""
    plain = styles["plain"]
    if state.current and gutter:
        yield Segment("▌", plain + styles["gutter-current"])
        gutter = gutter[1:]
    if state.taken is not None and len(gutter) > 2 and gutter.strip():
        at = 0 if state.current else 1
        yield Segment(gutter[:at], plain + styles[paint])
        mark, tone = ("✓", "good") if state.taken else ("✗", "warn")
        yield Segment(mark, plain + styles[paint] + styles[tone])
        gutter = gutter[at + 1 :]
    if gutter:
        yield Segment(gutter, plain + styles[paint])


def paint_pair(pair: Pair, row: int, styles: dict[str, Style], width: int, state: State) -> Strip:
    """One of the rows of two lines side by side. Where a side has no line, that is seen."""
    sides: list[Strip] = []
    for side, cells, marked in zip(
        (pair.left, pair.right), half(width), (state, State(taken=state.taken)), strict=True
    ):
        if side is None:
            sides.append(Strip([Segment("╱" * cells, styles["plain"] + styles["gap"])], cells))
            continue
        wrapped = wrap(side, cells)
        made = (
            wrapped[row]
            if row < len(wrapped)
            else replace(wrapped[-1], runs=(), gutter=" " * cell_len(side.gutter))
        )
        sides.append(paint_row(made, styles, cells, marked))
    return Strip([*sides[0], Segment("│", styles["plain"] + styles["gutter"]), *sides[1]], width)
