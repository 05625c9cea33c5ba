"""Browse: every memory with its description, its text beside it, search as you type."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import get_current_worker

from engine.characters import hidden
from engine.documents import parse
from engine.errors import EngineError
from engine.journal import Run
from engine.listing import Listing, Memory
from engine.search import Hit, Searched, search, words
from engine.storage.walk import Other
from engine.watch import overwritten
from memui.presentation import Line, count, line, own
from memui.presentation.history import touches
from memui.presentation.memories import (
    Heading,
    Item,
    Seen,
    facts,
    longest_name,
    path_of,
    row,
    shelve,
)
from memui.screens.editing import edit
from memui.screens.repairing import ask_repair, warning
from memui.screens.session import Session, failure
from memui.screens.undoing import ask_undo
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.line_input import LineInput
from memui.widgets.memory_view import MemoryView
from memui.widgets.page_view import Page, PageView
from memui.widgets.row_list import RowList

_KEYS = (
    ("/", "search"), ("enter", "read"), ("e", "edit"), ("u", "undo"), ("?", "help"),
    ("q", "quit"), ("h", "its history"), ("y", "copy path"), (".", "rescan"), (":", "commands"),
)  # fmt: skip
_TYPING_KEYS = (("enter", "to the hits"), ("↓", "next"), ("esc", "all memories"))
_HIT_KEYS = (
    ("n N", "next, previous hit"), ("enter", "read"), ("/", "change search"),
    ("esc", "all memories"), ("e", "edit"), ("?", "help"),
)  # fmt: skip
_READING_KEYS = (
    ("j k", "scroll"), ("esc", "back to the list"), ("e", "edit"), ("h", "its history"),
    ("n N", "hits"), ("?", "help"),
)  # fmt: skip


class BrowseScreen(Screen[None]):
    """The memories of a store."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search"),
        Binding("escape", "back", show=False),
        Binding("n", "hit(1)", "Next hit", show=False),
        Binding("N", "hit(-1)", "Previous hit", show=False),
        Binding("e", "edit", "Edit in $EDITOR"),
        Binding("u", "undo", "Undo the last run"),
        Binding("w", "repair", "Merge in what another writer overwrote"),
        Binding("h", "history", "History of this memory"),
        Binding("y", "copy_path", "Copy the path"),
        Binding("full_stop", "rescan", "Read the folder again"),
        Binding("tab", "swap", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._listing: Listing | None = None
        self._items: tuple[Item, ...] = ()
        self._runs: tuple[Run, ...] = ()
        self._texts: tuple[Searched, ...] | None = None
        self._query = ""
        self._shown: str | None = None
        self._warned = ""

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Horizontal(id="searchbar"):
            yield Static(own("/"), id="slash")
            yield LineInput(placeholder="names, descriptions and texts", id="search")
            yield Static(id="found")
        with Container(id="panes", classes="browse"):
            yield RowList(id="rows")
            yield MemoryView(id="memory")
            yield PageView(id="rail")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    @property
    def _rows(self) -> RowList:
        return self.query_one("#rows", RowList)

    @property
    def _memory(self) -> MemoryView:
        return self.query_one("#memory", MemoryView)

    def on_mount(self) -> None:
        self.query_one("#searchbar").display = False
        self.query_one("#notice", Notice).clear_notice()
        self.query_one("#rail", PageView).can_focus = False
        self._tell_header("reading …")
        self._rows.focus()
        self._scan()

    def on_screen_resume(self) -> None:
        for text, bad in self._session.take_notices():
            self._notice(text, bad=bad)
        if self._listing is not None:
            self._scan()

    def on_descendant_focus(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        reading = self._memory.page.has_focus
        self.query_one("#panes").set_class(reading, "reading")
        keys: tuple[tuple[str, str], ...] = _HIT_KEYS if self._query else _KEYS
        if reading:
            keys = _READING_KEYS
        elif self.query_one("#search", LineInput).has_focus:
            keys = _TYPING_KEYS
        self.query_one("#keys", KeyBar).show(keys)

    def _notice(self, text: str, *, bad: bool = False) -> None:
        self.query_one("#notice", Notice).show(text, bad=bad)

    def _tell_header(self, right: str) -> None:
        self.query_one("#header", Header).show(
            self._session.store.name, self._session.where(), right
        )

    # Reading the folder

    def action_rescan(self) -> None:
        """Read the folder again."""
        self._notice("Read again.")
        self._scan()

    @work(thread=True, exclusive=True, group="scan")
    def _scan(self) -> None:
        store, worker = self._session.store, get_current_worker()
        try:
            listing, runs = store.listing(), store.runs()
            waiting, stuck = len(store.plans()), len(store.unfinished())
            gone = warning(overwritten(store))
        except EngineError as error:
            self.app.call_from_thread(self._notice, failure(error), bad=True)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._listed, listing, runs, waiting, stuck, gone)

    def _listed(
        self, listing: Listing, runs: tuple[Run, ...], waiting: int, unfinished: int, gone: str
    ) -> None:
        changed = self._listing is None or self._listing != listing
        self._listing, self._runs = listing, runs
        if gone != self._warned:  # said once, not at every look
            self._warned = gone
            if gone:
                self._notice(gone, bad=True)
        self._tell_header(
            self._session.counted(
                count(len(listing.memories), "memory", "memories"),
                count(waiting, "plan waits", "plans wait") if waiting else "",
                count(unfinished, "run unfinished", "runs unfinished") if unfinished else "",
            )
        )
        if changed:
            self._texts = None
            if self._query:
                self._find(self._query)
            else:
                self._show_all(self._chosen_path(), keep_place=True)
        else:
            self._show_facts(None)

    def _show_all(self, chosen: str | None, *, keep_place: bool = False) -> None:
        if self._listing is not None:
            self._show_items(shelve(self._listing), chosen, keep_place=keep_place)

    def _show_items(
        self, items: tuple[Item, ...], chosen: str | None, *, keep_place: bool = False
    ) -> None:
        """Other rows; the cursor goes to a path if one of them has it, else to where it stood."""
        self._items = items
        at = next((n for n, item in enumerate(items) if path_of(item) == chosen), None)
        if chosen is None:
            at = 0
        longest, wanted = longest_name(items), words(self._query)
        self._rows.show(
            len(items),
            lambda index, cells: row(items[index], cells, longest, wanted),
            at,
            headings=[n for n, item in enumerate(items) if isinstance(item, Heading)],
        )
        self._preview(keep_place=keep_place)

    # One memory

    def _chosen(self) -> Item | None:
        at = self._rows.cursor
        return self._items[at] if at < len(self._items) else None

    def _chosen_path(self) -> str | None:
        return path_of(self._chosen())

    def _preview(self, *, keep_place: bool = False) -> None:
        item = self._chosen()
        if isinstance(item, Memory | Hit):
            self._read(item.path, keep_place and item.path == self._shown)
            return
        self._shown = None
        self.workers.cancel_group(self, "read")
        self.query_one("#rail", PageView).show(Page())
        if isinstance(item, Other):
            lines = [line((item.path, "bold")), line((f"Not a memory: {item.why}.", "dim"))]
            lines.append(line(("memui leaves it alone.", "dim")))
            self._memory.explain(lines)
        else:
            self._memory.explain(self._nothing())

    def _nothing(self) -> list[Line]:
        if self._query:
            return [line(("Nothing holds ", "dim"), (self._query, "bold"), (".", "dim"))]
        if self._listing is None:
            return []
        folder = self._session.store.place.folder
        return [
            line(("No memories yet.", "heading")),
            line(("", "plain")),
            line(("An agent that keeps its memory in ", "dim"), (folder, "plain")),
            line(("writes them as it learns. By hand:", "dim")),
            line(("", "plain")),
            line((self._session.command("add"), "plain")),
        ]

    @work(thread=True, exclusive=True, group="read")
    def _read(self, path: str, keep_place: bool) -> None:
        store, worker = self._session.store, get_current_worker()
        try:
            data, modified = store.read(path), store.modified(path)
        except EngineError as error:
            if not worker.is_cancelled:
                lines = [line((path, "bold")), line((failure(error), "bad"))]
                self.app.call_from_thread(self._memory.explain, lines)
            return
        links = {m.path: m.link for m in self._listing.memories} if self._listing else {}
        seen = Seen(path, parse(data), len(data), modified, links.get(path))
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_memory, seen, keep_place)

    def _show_memory(self, seen: Seen, keep_place: bool) -> None:
        if seen.path == self._chosen_path():
            self._shown = seen.path
            self._memory.show(seen, words(self._query), keep_place=keep_place)
            self._show_facts(seen)

    def _show_facts(self, seen: Seen | None) -> None:
        seen = seen or self._memory.seen
        if seen is not None:
            touched = [run for run in reversed(self._runs) if touches(run, seen.path)]
            self.query_one("#rail", PageView).show(Page(tuple(facts(seen, touched))))

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._preview()

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        self._memory.page.focus()

    def action_swap(self) -> None:
        """From the list to the text, and back."""
        (self._rows if self._memory.page.has_focus else self._memory.page).focus()

    def action_back(self) -> None:
        """From the text to the list, from the hits to all memories."""
        if self._memory.page.has_focus:
            self._rows.focus()
        elif self.query_one("#searchbar").display:
            self._leave_search()
        else:
            self.query_one("#notice", Notice).clear_notice()

    # Searching

    def action_search(self) -> None:
        """Open the search line."""
        self.query_one("#searchbar").display = True
        self.query_one("#search", LineInput).focus()

    def on_input_changed(self, event: LineInput.Changed) -> None:
        self._query = event.value.strip()
        self.query_one("#found", Static).update(own(""))
        if self._query:
            self._find(self._query)
        else:
            self._show_all(None)

    def on_input_submitted(self, _event: LineInput.Submitted) -> None:
        if self._query:
            self._rows.focus()
        else:
            self._leave_search()

    def on_line_input_down(self, _event: LineInput.Down) -> None:
        self._rows.focus()

    @work(thread=True, exclusive=True, group="search")
    def _find(self, query: str) -> None:
        """Names and descriptions at once, then texts too; the next key cancels."""
        worker, listing = get_current_worker(), self._listing
        if listing is None:
            return
        texts = self._texts
        if texts is None:
            named = (Searched(m.path, m.description, "") for m in listing.memories)
            hits = search(query, (one for one in named if not worker.is_cancelled))
            if not worker.is_cancelled:
                self.app.call_from_thread(self._found, query, hits, final=False)
            texts = self._read_texts(lambda: worker.is_cancelled)
        if texts is not None:
            hits = search(query, (text for text in texts if not worker.is_cancelled))
            if not worker.is_cancelled:
                self.app.call_from_thread(self._found, query, hits, final=True)

    def _read_texts(self, is_over: Callable[[], bool]) -> tuple[Searched, ...] | None:
        """Every text, read once and kept until the folder changes; None if it is over before."""
        found: list[Searched] = []
        try:
            for text in self._session.store.searched():
                if is_over():
                    return None
                found.append(text)
        except EngineError as error:
            self.app.call_from_thread(self._notice, failure(error), bad=True)
        self._texts = tuple(found)
        return self._texts

    def _found(self, query: str, hits: tuple[Hit, ...], *, final: bool) -> None:
        if query != self._query:
            return
        said = count(len(hits), "hit", "hits") if final else "reading …"
        self.query_one("#found", Static).update(own(said, "$foreground-muted"))
        if hits or final:
            self._show_items(tuple(hits), None)

    def _leave_search(self) -> None:
        """Back to all memories, at the one that was found."""
        chosen = self._chosen_path()
        field = self.query_one("#search", LineInput)
        self._query = ""
        with field.prevent(LineInput.Changed):
            field.value = ""
        self.query_one("#searchbar").display = False
        self._show_all(chosen)
        self._rows.focus()
        self._show_keys()

    def action_hit(self, step: int) -> None:
        """The next or the previous place that holds the query, in this memory or another."""
        if self._query and not self._memory.page.jump(step):
            self._rows.put(self._rows.cursor + step)

    # Doing

    def said(self, text: str, bad: bool) -> None:
        """Say what just happened, and look at the folder again."""
        self._notice(text, bad=bad)
        self._scan()

    def action_edit(self) -> None:
        """Edit the memory in the person's editor."""
        item = self._chosen()
        if isinstance(item, Memory | Hit):
            edit(self, self._session, item.path, self.said)
        elif isinstance(item, Other):
            self._notice(f"{item.path} is not a memory: {item.why}.", bad=True)

    def action_undo(self) -> None:
        """Take back the last run, after asking."""
        ask_undo(self, self._session, "last", self.said)

    def action_repair(self) -> None:
        """Merge in again what another writer overwrote from a stale read, after asking."""
        ask_repair(self, self._session, self.said)

    def action_history(self) -> None:
        """The runs that touched this memory."""
        path = self._chosen_path()
        if path is not None:
            self._session.path = path
            self.app.switch_mode("history")

    def action_copy_path(self) -> None:
        """Copy the path, unless it holds what a shell or a terminal would act on."""
        path = self._chosen_path()
        if path is None:
            return
        whole = os.path.join(self._session.store.place.folder, path)
        if hidden(whole) or not whole.isprintable():
            self._notice("The path holds hidden characters, so it was not copied.", bad=True)
            return
        self.app.copy_to_clipboard(whole)
        self._notice("The path is copied.")
