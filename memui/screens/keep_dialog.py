"""Which of the statements that an action drops its result is to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.ledger import Entry
from memui.presentation import Line, content, line, own
from memui.widgets.row_list import RowList

_AROUND = 8
"""Rows of the terminal that the list leaves free."""


class KeepDialog(ModalScreen[tuple[Entry, ...] | None]):
    """A list of dropped statements. Dismisses with those to keep; None if the person went back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "all", show=False),
        Binding("escape,q", "back", show=False),
    ]

    def __init__(self, title: str, dropped: Sequence[Entry]) -> None:
        super().__init__()
        self._title = title
        self._dropped = tuple(dropped)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(content(self._title, "bold"), classes="dialog--title")
            yield RowList(classes="dialog--lines")
            foot = "enter keeps it · a keeps all · esc goes back"
            yield Static(own(foot, "$foreground-muted"), classes="dialog--foot")

    def on_mount(self) -> None:
        rows = self.query_one(RowList)
        rows.styles.height = max(2, min(len(self._dropped), self.app.size.height - _AROUND))
        rows.show(len(self._dropped), self._row)
        rows.focus()

    def _row(self, at: int, _cells: int) -> Line:
        source = self._dropped[at].source
        if source is None:
            return line()
        text = " ".join(source.text.split())
        return line((f"{source.path}:{source.line}  ", "dim"), (text, "plain"), gutter=" ")

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        self.dismiss((self._dropped[event.index],))

    def action_all(self) -> None:
        """Keep all that can be kept: of descriptions a memory has one."""
        self.dismiss(tuple(e for e in self._dropped if e.source and e.source.kind != "description"))

    def action_back(self) -> None:
        """Keep none."""
        self.dismiss(None)
