"""Painting lines: from the values of `memui.presentation` to what Textual draws."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from memui.presentation import PAINTS, Line

COMPONENTS: Final = {f"paint--{name}" for name in PAINTS}
"""What a widget that paints declares as its component classes."""


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
