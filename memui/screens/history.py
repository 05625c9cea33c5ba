"""History: every run, what it did and what was said of it, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.worker import get_current_worker

from engine.documents import parse
from engine.errors import EngineError
from engine.journal import Run, undone_by
from engine.plans import read_file
from memui.presentation import Line, count, line
from memui.presentation.history import detail, row, touches
from memui.presentation.memories import Source
from memui.screens.repairing import ask_repair
from memui.screens.session import Session, failure
from memui.screens.undoing import ask_restore, ask_undo
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.page_view import Page, PageView
from memui.widgets.row_list import RowList

_KEYS = (
    ("u", "undo this run"), ("U", "part of it"), ("enter", "read"), ("c", "changelog"),
    ("?", "help"), ("q", "quit"), (".", "rescan"), (":", "commands"),
)  # fmt: skip
_ONE_KEYS = (("b", "bring back"), ("esc", "all runs"), *_KEYS)
_READING_KEYS = (
    ("j k", "scroll"), ("esc", "back to the list"), ("u", "undo this run"), ("c", "changelog"),
    ("?", "help"),
)  # fmt: skip


class HistoryScreen(Screen[None]):
    """The runs of a store, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Take back this run"),
        Binding("U", "undo_part", "Take back part of this run"),
        Binding("b", "restore", "Bring back this memory from before this run"),
        Binding("w", "repair", "Merge in what another writer overwrote"),
        Binding("c", "changelog", "Show the changelog"),
        Binding("escape", "back", show=False),
        Binding("full_stop", "rescan", "Read the journal again"),
        Binding("tab", "swap", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._known: tuple[Run, ...] = ()
        self._runs: tuple[Run, ...] = ()
        self._undone: dict[str, str] = {}
        self._log = False

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Container(id="panes", classes="history"):
            yield RowList(id="rows")
            yield PageView(id="text")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    @property
    def _rows(self) -> RowList:
        return self.query_one("#rows", RowList)

    @property
    def _text(self) -> PageView:
        return self.query_one("#text", PageView)

    def on_mount(self) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._rows.focus()

    def on_screen_resume(self) -> None:
        for text, bad in self._session.take_notices():
            self._notice(text, bad=bad)
        self._read()

    def on_descendant_focus(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        reading = self._text.has_focus
        self.query_one("#panes").set_class(reading, "reading")
        keys = _ONE_KEYS if self._session.path else _KEYS
        self.query_one("#keys", KeyBar).show(_READING_KEYS if reading else keys)

    def _notice(self, text: str, *, bad: bool = False) -> None:
        self.query_one("#notice", Notice).show(text, bad=bad)

    def action_rescan(self) -> None:
        """Read the journal again."""
        self._notice("Read again.")
        self._read()

    @work(thread=True, exclusive=True, group="read")
    def _read(self) -> None:
        worker = get_current_worker()
        try:
            known = self._session.store.runs()
        except EngineError as error:
            self.app.call_from_thread(self._notice, failure(error), bad=True)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._listed, known)

    def _listed(self, known: tuple[Run, ...]) -> None:
        chosen = self._chosen()
        newest = bool(self._known) and known[-1:] != self._known[-1:]
        self._known, self._undone = known, undone_by(known)
        path = self._session.path
        self._runs = tuple(run for run in reversed(known) if path is None or touches(run, path))
        where = f"only {path}" if path else self._session.where()
        self.query_one("#header", Header).show(
            self._session.store.name,
            where,
            self._session.counted(count(len(self._runs), "run", "runs")),
        )
        at = 0
        if chosen is not None and not newest:
            at = next((n for n, run in enumerate(self._runs) if run.id == chosen.id), 0)
        runs, undone = self._runs, self._undone
        self._rows.show(len(runs), lambda index, cells: row(runs[index], undone, cells), at)
        self._show_keys()
        self._detail()

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._log = False
        self._detail()

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        self._text.focus()

    def _chosen(self) -> Run | None:
        at = self._rows.cursor
        return self._runs[at] if at < len(self._runs) else None

    def _detail(self) -> None:
        run = self._chosen()
        if self._log:
            lines: Sequence[Line] = self._changelog()
        elif run is None:
            lines = self._nothing()
        else:
            command = self._session.undo_command(run.id)
            lines = tuple(detail(run, self._undone, command))
        self._text.show(Page(lines))

    def _nothing(self) -> list[Line]:
        path = self._session.path
        if path is not None:
            return [
                line(("No run touched ", "dim"), (path, "bold"), (".", "dim")),
                line(("memui never wrote it. esc shows all runs.", "dim")),
            ]
        return [
            line(("Nothing was done yet.", "heading")),
            line(("", "plain")),
            line(("Every apply, edit and undo appears here, and can be taken back.", "dim")),
        ]

    def action_changelog(self) -> None:
        """The changelog, as it lies on disk; or the run again."""
        self._log = not self._log
        self._detail()

    def _changelog(self) -> Sequence[Line]:
        path = self._session.store.place.changelog
        try:
            return Source(parse(read_file(path)))
        except EngineError as error:
            missing = not self._known
            said = "Nothing is written in it yet." if missing else failure(error)
            return [line((path, "heading")), line((said, "dim" if missing else "bad"))]

    def action_swap(self) -> None:
        """From the list to the text, and back."""
        (self._rows if self._text.has_focus else self._text).focus()

    def action_back(self) -> None:
        """From the text to the list, from one memory to all runs."""
        if self._text.has_focus:
            self._rows.focus()
        elif self._session.path is not None:
            self._session.path = None
            self._read()
        else:
            self._log = False
            self.query_one("#notice", Notice).clear_notice()
            self._detail()

    def action_undo(self, *, choose: bool = False) -> None:
        """Take back the run under the cursor, after asking."""
        run = self._chosen()
        if run is None:
            self._notice("There is no run to take back.", bad=True)
        else:
            ask_undo(self, self._session, run.id, self._said, choose=choose)

    def action_undo_part(self) -> None:
        """Take back some actions of the run under the cursor, file by file."""
        self.action_undo(choose=True)

    def action_restore(self) -> None:
        """Give the memory whose runs are shown the version from before the run under the cursor."""
        run, path = self._chosen(), self._session.path
        if run is None or path is None:
            self._notice("h on a memory shows its runs; b there brings back a version.", bad=True)
        else:
            ask_restore(self, self._session, path, run, self._said)

    def action_repair(self) -> None:
        """Merge in again what another writer overwrote from a stale read, after asking."""
        ask_repair(self, self._session, self._said)

    def _said(self, text: str, bad: bool) -> None:
        self._notice(text, bad=bad)
        self._read()
