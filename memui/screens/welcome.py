"""Where to begin: no store, or several. Creates nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from engine.store import Store
from memui.presentation import line, own, pad
from memui.screens.dialogs import Asked
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.row_list import RowList
from memui.widgets.text_view import TextView

DEMO = "\0demo"
"""What the welcome answers when the demo is wanted: no path can be spelled so."""


class WelcomeScreen(Screen[str]):
    """No store is open. Dismisses with the path to open, or `DEMO`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "demo", "Demo"),
        Binding("o", "open", "Open a folder"),
        Binding("escape", "app.quit", show=False),
    ]

    def __init__(self, why: str) -> None:
        super().__init__()
        self._why = why

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield TextView(id="text")
        yield KeyBar((("d", "demo"), ("o", "open a folder"), ("q", "quit")), id="keys")

    def on_mount(self) -> None:
        self.query_one("#header", Header).show("", "no store is open", "")
        self.query_one("#text", TextView).show(
            [
                line(("Stay in charge of what your agents remember.", "title")),
                line(("", "plain")),
                line((self._why, "warn")),
                line(("", "plain")),
                line(("d  ", "accent"), ("try the demo: no key, no network", "plain")),
                line(("o  ", "accent"), ("open a folder of memories", "plain")),
                line(("", "plain")),
                line(("Where is my agent's memory?", "bold")),
                line(("  Strands         .strands/ beside the agent, or ~/.strands", "dim")),
                line(("  Claude Code     the memory/ folder of a project", "dim")),
                line(("  any other       the folder that holds its Markdown notes", "dim")),
                line(("", "plain")),
                line(("Nothing is created by looking.", "dim")),
            ]
        )
        self.query_one("#text", TextView).focus()

    def action_demo(self) -> None:
        self.dismiss(DEMO)

    def action_open(self) -> None:
        """Ask for a folder."""

        def answered(path: str | None) -> None:
            if path:
                self.dismiss(path)

        self.app.push_screen(Asked("Which folder?", "enter opens it · esc goes back"), answered)


class PickScreen(Screen[int]):
    """Several stores lie below the root. Dismisses with the index of one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.quit", show=False)]

    def __init__(self, stores: Sequence[Store]) -> None:
        super().__init__()
        self._stores = tuple(stores)

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield Static(own(" Which store?", "bold"))
        yield RowList(id="rows")
        yield Notice(id="notice")
        yield KeyBar((("enter", "open"), ("q", "quit")), id="keys")

    def on_mount(self) -> None:
        self.query_one("#header", Header).show(
            "", self._stores[0].root, f"{len(self._stores)} stores"
        )
        rows = []
        for store in self._stores:
            waiting = len(store.plans())
            rows.append(
                line(
                    (pad(store.name, 24), "bold"),
                    (pad(str(store.layout), 12), "dim"),
                    (f"{sum(1 for _ in store.searched())} memories", "dim"),
                    (f"  {waiting} waiting plans" if waiting else "", "warn"),
                )
            )
        self.query_one("#rows", RowList).show(rows, 0)
        self.query_one("#rows", RowList).focus()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        self.dismiss(event.index)
