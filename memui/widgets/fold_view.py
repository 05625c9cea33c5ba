"""A page some of whose lines stand for more: each of its blocks opens and folds."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from memui.widgets.page_view import Page, PageView

Folded = Callable[[AbstractSet[int]], Page]
"""Makes the page in which these of its blocks (0-based) are open."""


class FoldView(PageView):
    """Shows a page of folds. One fold that is in view is marked; keys and clicks open it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "fold(None)", show=False),
    ]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._folded: Folded | None = None
        self._opened: frozenset[int] = frozenset()

    @property
    def opened(self) -> frozenset[int]:
        """The blocks that are open."""
        return self._opened

    def show_folded(self, folded: Folded) -> None:
        """Show a page with everything folded, from its top, its first fold marked."""
        self._folded, self._opened = folded, frozenset()
        self.show(folded(self._opened))
        if self.page.blocks:
            self._mark(0)

    def show_again(self, folded: Folded) -> None:
        """Show a page made anew, with what is open and where it stands."""
        self._folded = folded
        self.show(folded(self._opened), keep_place=True)

    def action_line(self, step: int) -> None:
        """To the next or the previous fold if it is in view, else a line on."""
        near = self._near(step)
        if near is None:
            super().action_line(step)
        else:
            self._mark(near)

    def _near(self, step: int) -> int | None:
        """The fold beside the marked one, if its first row is in view."""
        if self.block is None:
            return None
        beside = self.block + step
        if not 0 <= beside < len(self.page.blocks):
            return None
        start = self.page.blocks[beside].start
        top = round(self.scroll_offset.y)
        known = start < len(self._tops)
        return beside if known and top <= self._tops[start] < top + self.size.height else None

    def _mark(self, block: int) -> None:
        self._block = block
        self.refresh()

    def action_fold(self, open_it: bool | None = None) -> None:
        """Open the marked fold or close it; None turns it round."""
        marked = self.block
        if self._folded is None or marked is None:
            return
        wanted = marked not in self._opened if open_it is None else open_it
        if wanted == (marked in self._opened):
            return
        self._opened ^= {marked}
        self.show(self._folded(self._opened), keep_place=True)

    def on_click(self, event: events.Click) -> None:
        """Open or fold the block whose first row is clicked on."""
        row = round(self.scroll_offset.y) + event.y
        for number in self._in_view():
            start = self.page.blocks[number].start
            if self._tops[start] <= row < self._tops[start + 1]:
                self._mark(number)
                self.action_fold()
                return
