"""Where the terminal is too small to be of use: the screen says what it needs."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from memui.presentation import own

MIN_COLUMNS: Final = 60
MIN_ROWS: Final = 15


class TooSmall(ModalScreen[None]):
    """The terminal is too small; comes and goes by itself, with everything kept."""

    def compose(self) -> ComposeResult:
        yield Static()

    def on_mount(self) -> None:
        self._draw()

    def on_screen_resume(self) -> None:
        if not is_small(self.app.size):
            self.dismiss()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        has = f"{self.app.size.width} × {self.app.size.height}"
        text = f"memui needs {MIN_COLUMNS} × {MIN_ROWS}.\nThis terminal has {has}."
        self.query_one(Static).update(own(text))


def is_small(size: Size) -> bool:
    """Whether a terminal is too small for any screen."""
    return size.width < MIN_COLUMNS or size.height < MIN_ROWS
