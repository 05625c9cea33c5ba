"""Dialogs. Focus starts on the safe button; the key that confirms is not the one that asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from memui.presentation import Line, content, own, wrap
from memui.widgets.line_input import LineInput
from memui.widgets.page_view import Page, PageView

_WIDTH = 72
"""Cells of the lines in a dialog, where the terminal has so many."""


def show_lines(view: PageView, lines: Sequence[Line], around: int) -> None:
    """Show lines, in as many rows as they need or the terminal has beside `around`."""
    room = min(_WIDTH, view.app.size.width - 8)
    rows = sum(len(wrap(line, room)) for line in lines)
    view.styles.height = max(2, min(rows, view.app.size.height - around))
    view.show(Page(tuple(lines)))


class Confirm(ModalScreen[bool]):
    """A question whose lines name everything that would change. Dismisses with the answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,q", "answer(False)", show=False),
        Binding("left,right,h,l", "other", show=False),
        Binding("j,down", "scroll_lines(1)", show=False),
        Binding("k,up", "scroll_lines(-1)", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("home,g", "scroll_edge(0)", show=False),
        Binding("end,G", "scroll_edge(1)", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Line], does: str) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)
        self._does = does

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(content(self._title, "bold"), classes="dialog--title")
            yield PageView(classes="dialog--lines")
            with Horizontal(classes="dialog--buttons"):
                yield Button(own("Back"), id="back")
                yield Button(own(f"{self._does}  y"), id="do")

    def on_mount(self) -> None:
        show_lines(self.query_one(PageView), self._lines, 8)
        self.query_one("#back", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "do")

    def action_answer(self, answer: bool) -> None:
        """Close with the answer."""
        self.dismiss(answer)

    def action_other(self) -> None:
        """Focus the other button."""
        self.focus_next(Button)

    def action_scroll_lines(self, step: int) -> None:
        """Scroll what would change."""
        self.query_one(PageView).action_line(step)

    def action_scroll_page(self, step: int) -> None:
        """Scroll what would change by a page."""
        self.query_one(PageView).action_page(step)

    def action_scroll_edge(self, end: int) -> None:
        """The top or the end of what would change."""
        self.query_one(PageView).action_edge(end)


class Told(ModalScreen[str]):
    """Something to read; any of its keys closes it and is the answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "close('')", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Line], foot: str) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)
        self._foot = foot

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(content(self._title, "bold"), classes="dialog--title")
            yield PageView(classes="dialog--lines")
            yield Static(own(self._foot, "$foreground-muted"), classes="dialog--foot")

    def on_mount(self) -> None:
        view = self.query_one(PageView)
        show_lines(view, self._lines, 7)
        view.focus()

    def action_close(self, answer: str) -> None:
        """Close."""
        self.dismiss(answer)


class Asked(ModalScreen[str | None]):
    """One line of text from the person; None if they went back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", show=False)]

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title = title
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(content(self._title, "bold"), classes="dialog--title")
            yield LineInput()
            yield Static(own(self._hint, "$foreground-muted"), classes="dialog--foot")

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        self.dismiss(event.value)

    def action_back(self) -> None:
        """Close without an answer."""
        self.dismiss(None)
