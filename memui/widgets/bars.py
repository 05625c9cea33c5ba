"""The lines at the edges of a screen: what is open, what just happened, which keys there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import Static

from memui.presentation import content, own

Key = tuple[str, str]

SECTIONS: Final = (
    ("1", "browse", "Browse"),
    ("2", "review", "Review"),
    ("3", "history", "History"),
)
"""Key, mode and name of the screens that the header leads to."""


class Header(Static):
    """One line: the screens on the left, what is open beside them, counts on the right.

    What does not fit goes: first where the store lies, then its name.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._store = self._where = self._right = ""

    def show(self, name: str, where: str, right: str) -> None:
        """Say what is open."""
        self._store, self._where, self._right = name, where, right
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        badge, *tabs = self._tabs()
        at = badge.cell_length
        for (_, mode, _), tab in zip(SECTIONS, tabs, strict=False):
            if at <= event.x < at + tab.cell_length:
                self.app.call_later(self.app.run_action, f"go('{mode}')")
            at += tab.cell_length

    def _tabs(self) -> list[Content]:
        mode = self.app.current_mode
        badge = own(" memui ", "bold $accent")
        if mode not in {section for _, section, _ in SECTIONS}:
            return [badge]
        here = "bold underline $foreground"
        return [
            badge,
            *(
                Content.assemble(
                    own(f" {key} ", "$accent"),
                    own(name, here if mode == section else "$foreground-muted"),
                    own(" "),
                )
                for key, section, name in SECTIONS
            ),
        ]

    def _draw(self) -> None:
        tabs = Content.assemble(*self._tabs(), Content("  "))
        right = content(f"{self._right} ", "$foreground-muted")
        room = self.size.width - tabs.cell_length - right.cell_length - 1
        name = content(self._store, "bold")
        gap = own("  " if self._store and self._where else "")
        middle = Content.assemble(name, gap, content(self._where, "$foreground-muted"))
        if name.cell_length + 8 > room:
            middle = name
        if room < 4:
            right = right.truncate(max(0, right.cell_length + room), ellipsis=True)
            room, middle = 0, Content("")
        middle = middle.truncate(room, ellipsis=True, pad=True) if room else middle
        self.update(Content.assemble(tabs, middle, own(" "), right))


class Notice(Static):
    """What just happened; takes no room most of the time. `said` is what it says now."""

    said = ""

    def show(self, text: str, *, bad: bool = False) -> None:
        """Say it. Newlines and marks in the text are shown, not obeyed."""
        self.said = text
        mark = own("! " if bad else "✓ ", "bold")
        said = content(text, "$text-error" if bad else "$text-success")
        self.update(Content.assemble(mark.stylize("$text-error" if bad else "$text-success"), said))
        self.display = bool(text)

    def clear_notice(self) -> None:
        """Say nothing."""
        self.said = ""
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
