"""One memory: what is known about it, then all of its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memui.presentation import Line
from memui.presentation.memories import Seen, Source, head
from memui.widgets.page_view import Page, PageView


class MemoryView(Vertical):
    """The text of a memory below its head. `page` scrolls and jumps."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._seen: Seen | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="memory--head")
        yield PageView(classes="memory--text")

    @property
    def seen(self) -> Seen | None:
        """The memory that is shown, None if it is something else."""
        return self._seen

    @property
    def page(self) -> PageView:
        """The text."""
        return self.query_one(PageView)

    def show(self, seen: Seen, wanted: Sequence[str] = (), *, keep_place: bool = False) -> None:
        """Show a memory, at the first line that holds the words which are wanted."""
        self._seen = seen
        self._draw_head()
        source = Source(seen.document, wanted)
        self.page.show(Page(source, source.blocks), keep_place=keep_place)
        if source.blocks and not keep_place:
            self.page.jump(1)

    def explain(self, lines: Sequence[Line]) -> None:
        """Show lines of ours instead of a memory."""
        self._seen = None
        self._draw_head()
        self.page.show(Page(tuple(lines)))

    def on_mount(self) -> None:
        self._draw_head()

    def on_resize(self) -> None:
        self._draw_head()

    def _draw_head(self) -> None:
        static = self.query_one(".memory--head", Static)
        static.display = self._seen is not None
        width = self.content_region.width - 2
        static.update(Content("") if self._seen is None else head(self._seen, width))
