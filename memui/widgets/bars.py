"""The lines at the edges of a screen: what is open, what just happened, which keys there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from memui.presentation import content, own

Key = tuple[str, str]


class Header(Static):
    """One line: the place on the left, counts on the right."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._left = Content("")
        self._right = Content("")

    def show(self, name: str, where: str, right: str) -> None:
        """Say what is open."""
        self._left = Content.assemble(
            own(" memui ", "bold $text on $primary"),
            Content(" "),
            content(name, "bold"),
            Content("  "),
            content(where, "$foreground-muted"),
        )
        self._right = content(right, "$foreground-muted")
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        room = max(0, self.size.width - self._right.cell_length - 2)
        left = self._left.truncate(room, ellipsis=True, pad=True) if room else Content("")
        self.update(Content.assemble(left, Content(" "), self._right, Content(" ")))


class Notice(Static):
    """One line about what just happened; empty most of the time."""

    def show(self, text: str, *, bad: bool = False) -> None:
        """Say it. Newlines and marks in the text are shown, not obeyed."""
        self.update(content(text, "$text-error" if bad else "$text-success"))
        self.display = bool(text)

    def clear_notice(self) -> None:
        """Say nothing."""
        self.update(Content(""))
        self.display = False


class KeyBar(Static):
    """The keys that matter here, as many as fit; the most important come first."""

    def __init__(self, keys: Sequence[Key], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keys = tuple(keys)

    def show(self, keys: Sequence[Key]) -> None:
        """Other keys."""
        self._keys = tuple(keys)
        self._draw()

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        parts: list[Content] = []
        used = 0
        for key, says in self._keys:
            cells = cell_len(key) + cell_len(says) + 3
            if used + cells > self.size.width:
                break
            parts += [own(f" {key}", "bold $accent"), own(f" {says} ", "$foreground-muted")]
            used += cells
        self.update(Content.assemble(*parts))
