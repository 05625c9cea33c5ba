"""Dialogs. Focus starts on the safe button; the key that confirms is not the one that asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from memui.presentation import Line, content, own
from memui.widgets.text_view import TextView


class Confirm(ModalScreen[bool]):
    """A question whose lines name everything that would change. Dismisses with the answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,q", "answer(False)", show=False),
        Binding("left,right,h,l", "other", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Line], does: str) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)
        self._does = does

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(own(self._title, "bold"), classes="dialog--title")
            yield TextView(classes="dialog--lines")
            with Horizontal(classes="dialog--buttons"):
                yield Button(own("Back"), id="back")
                yield Button(own(f"{self._does} (y)"), id="do", variant="warning")

    def on_mount(self) -> None:
        view = self.query_one(TextView)
        view.styles.height = min(len(self._lines) + 1, max(3, self.app.size.height - 9))
        view.show(self._lines)
        self.query_one("#back", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "do")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def action_other(self) -> None:
        self.focus_next(Button)


class Told(ModalScreen[str]):
    """Something to read; any of its keys closes it and is the answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "close('')", show=False),
        Binding("u", "close('u')", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Line], foot: str) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)
        self._foot = foot

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(own(self._title, "bold"), classes="dialog--title")
            yield TextView(classes="dialog--lines")
            yield Static(own(self._foot, "$foreground-muted"))

    def on_mount(self) -> None:
        view = self.query_one(TextView)
        view.styles.height = min(len(self._lines) + 1, max(3, self.app.size.height - 8))
        view.show(self._lines)
        view.focus()

    def action_close(self, answer: str) -> None:
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
            yield Input()
            yield Static(own(self._hint, "$foreground-muted"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_back(self) -> None:
        self.dismiss(None)
