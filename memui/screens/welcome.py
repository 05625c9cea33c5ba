"""Where to begin: no store, or several. Creates nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import EngineError
from engine.store import Store
from memui.presentation import Line, column, count, line, own, runs
from memui.screens.dialogs import Asked
from memui.widgets.bars import Header, KeyBar
from memui.widgets.page_view import Page, PageView
from memui.widgets.row_list import RowList

DEMO: Final = "\0demo"
"""What the welcome answers when the demo is wanted: no path can be spelled so."""


class WelcomeScreen(Screen[str]):
    """No store is open. Dismisses with the path to open, or `DEMO`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "demo", "Run the demo"),
        Binding("o", "open", "Open a folder"),
        Binding("escape", "app.quit", show=False),
    ]

    def __init__(self, why: str) -> None:
        super().__init__()
        self._why = why

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield PageView(id="welcome")
        yield KeyBar(
            (("d", "run the demo"), ("o", "open a folder"), ("q", "quit"), ("?", "help")), id="keys"
        )

    def on_mount(self) -> None:
        self.query_one("#header", Header).show("", "no store is open", "")
        view = self.query_one("#welcome", PageView)
        view.show(Page(tuple(_welcome(self._why))))
        view.focus()

    def action_demo(self) -> None:
        """A made store in a temporary folder."""
        self.dismiss(DEMO)

    def action_open(self) -> None:
        """Ask for a folder."""

        def answered(path: str | None) -> None:
            if path and path.strip():
                self.dismiss(path.strip())

        self.app.push_screen(Asked("Which folder?", "enter opens it · esc goes back"), answered)


def _welcome(why: str) -> list[Line]:
    return [
        line(("", "plain")),
        line(("Stay in charge of what your agents remember.", "heading")),
        line(("", "plain")),
        line((why, "warn")),
        line(("", "plain")),
        line(("d", "accent"), ("  try everything on a made store; no key, no network", "plain")),
        line(("o", "accent"), ("  open a folder of memories", "plain")),
        line(("", "plain")),
        line(("Where is my agent's memory?", "heading")),
        line(("  Strands        ", "plain"), (".strands beside the agent, or ~/.strands", "dim")),
        line(
            ("  Claude Code    ", "plain"), ("the folder memory of a project in ~/.claude", "dim")
        ),
        line(("  any other      ", "plain"), ("the folder that holds its Markdown notes", "dim")),
        line(("", "plain")),
        line(("Looking creates nothing and changes nothing.", "faint")),
    ]


class PickScreen(Screen[int]):
    """Several stores lie below the root. Dismisses with the index of one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.quit", show=False)]

    def __init__(self, stores: Sequence[Store]) -> None:
        super().__init__()
        self._stores = tuple(stores)

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield Static(own("Which store?", "bold"), id="question")
        yield RowList(id="rows")
        yield KeyBar((("j k", "move"), ("enter", "open"), ("q", "quit"), ("?", "help")), id="keys")

    def on_mount(self) -> None:
        root = self._stores[0].root
        stores = count(len(self._stores), "store", "stores")
        self.query_one("#header", Header).show("", root, stores)
        rows = self.query_one("#rows", RowList)
        shown = [_store_row(store) for store in self._stores]
        rows.show(len(shown), lambda index, _cells: shown[index], 0)
        rows.focus()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        self.dismiss(event.index)


def _store_row(store: Store) -> Line:
    try:
        held = count(len(store.listing().memories), "memory", "memories")
    except EngineError:
        held = "cannot be read"
    waiting = len(store.plans())
    return Line(
        (
            *column(runs(store.name), 28),
            *column(runs(str(store.layout), "dim"), 12),
            *column(runs(held, "dim"), 16),
            *runs(count(waiting, "plan waits", "plans wait") if waiting else "", "accent"),
        )
    )
