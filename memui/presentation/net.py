"""The net under the one door: what no text should ever bring to the terminal."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class Net(LineFilter):
    """Deletes control characters that reached a segment, and counts them.

    Nothing should: `memui.presentation` replaces them all. The count fails tests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.leaked = 0

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments without C0 and C1."""
        if all(s.control or s.text.isprintable() for s in segments):
            return segments
        cleaned: list[Segment] = []
        for segment in segments:
            text = segment.text
            kept = "".join(c for c in text if not (c < " " or "\x7f" <= c <= "\x9f"))
            if kept != text and not segment.control:
                self.leaked += len(text) - len(kept)
                cleaned.append(Segment(kept, segment.style))
            else:
                cleaned.append(segment)
        return cleaned
