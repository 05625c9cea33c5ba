"""The question of an editor that is left with a text that is not saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from memui.presentation import Line, line, own
from memui.screens.dialogs import show_lines
from memui.widgets.page_view import PageView

Leave = Literal["save", "copy", "discard", "go on"]


class Leaving(ModalScreen[Leave]):
    """Save, discard or go on. Where the text cannot be saved, a copy of it can be kept instead.

    `stops` says why it cannot; without it, it can. Discard has a capital letter: who types on
    after esc does not press it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,s", "answer('do')", show=False),
        Binding("D", "answer('discard')", show=False),
        Binding("n,g,escape", "answer('go on')", show=False),
        Binding("left,up,h,k", "app.focus_previous", show=False),
        Binding("right,down,l,j", "app.focus_next", show=False),
    ]

    def __init__(self, stops: Sequence[Line]) -> None:
        super().__init__()
        self._stops = tuple(stops)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(own("Your text is not saved", "bold"), classes="dialog--title")
            yield PageView(classes="dialog--lines")
            with Horizontal(classes="dialog--buttons"):
                yield Button(own("Go on"), id="go-on")
                yield Button(own("Discard  D"), id="discard")
                yield Button(own("Keep a copy  y" if self._stops else "Save  y"), id="do")

    def on_mount(self) -> None:
        view = self.query_one(PageView)
        view.can_focus = False
        if self._stops:
            said = line(("It cannot be saved like this:", "plain"))
            after = line(("A copy in a file of its own can be kept.", "plain"))
            show_lines(view, [said, *self._stops, after], 8)
        else:
            show_lines(view, [line(("Save it as the result of the action?", "plain"))], 8)
        self.query_one("#go-on", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.action_answer("go on" if event.button.id == "go-on" else event.button.id or "go on")

    def action_answer(self, answer: str) -> None:
        """Close with the answer."""
        if answer == "do":
            self.dismiss("copy" if self._stops else "save")
        else:
            self.dismiss("discard" if answer == "discard" else "go on")
