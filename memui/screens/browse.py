"""Browse: every memory with its description, its text beside it, search as you type."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import get_current_worker

from engine.documents import WARNINGS, Document, digest, parse
from engine.errors import Conflict, EngineError
from engine.search import Hit, Searched, fold, search, words
from engine.storage.walk import Other
from engine.store import Listing, Memory
from memui.editor import edit_text, rescue
from memui.presentation import Line, body_lines, count, line, pad, runs, size, when
from memui.screens.session import Session, failure
from memui.screens.undoing import ask_undo
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.row_list import RowList
from memui.widgets.text_view import TextView

_KEYS = (
    ("/", "search"), ("tab", "text"), ("2", "review"), ("3", "history"), ("e", "edit"),
    ("u", "undo"), ("h", "its history"), ("?", "help"), ("q", "quit"), (".", "rescan"),
)  # fmt: skip
_SEARCH_KEYS = (("enter", "to the hits"), ("esc", "all memories"))
_HIT_KEYS = (
    ("n N", "next, previous"), ("/", "change search"), ("esc", "all memories"), ("e", "edit"),
    ("?", "help"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    memories: int


_Item = Memory | Other | _Folder | Hit


class BrowseScreen(Screen[None]):
    """The memories of a store."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search"),
        Binding("escape", "leave_search", show=False),
        Binding("n", "hit(1)", show=False),
        Binding("N", "hit(-1)", show=False),
        Binding("e", "edit", "Edit in $EDITOR"),
        Binding("u", "undo", "Undo the last run"),
        Binding("h", "history", "History of this memory"),
        Binding("y", "copy_path", "Copy the path"),
        Binding("full_stop", "rescan", "Rescan"),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._listing: Listing | None = None
        self._items: list[_Item] = []
        self._texts: list[Searched] | None = None
        self._query = ""
        self._hits: tuple[Hit, ...] = ()

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield Input(placeholder="search names, descriptions and texts", id="search")
        with Container(id="panes"):
            yield RowList(id="rows")
            yield TextView(id="text")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#search", Input).display = False
        self.query_one("#notice", Notice).clear_notice()
        self.query_one("#header", Header).show(
            self._session.store.name, self._session.where(), "reading ..."
        )
        self.query_one("#rows", RowList).focus()
        self.action_rescan()

    def on_screen_resume(self) -> None:
        if self._session.notices:
            self.say(self._session.notices.pop(0), False)
        if self._listing is not None:
            self.action_rescan()

    # Reading

    def action_rescan(self) -> None:
        """Read the folder again."""
        self._scan()

    @work(thread=True, exclusive=True, group="scan")
    def _scan(self) -> None:
        try:
            listing = self._session.store.listing()
        except EngineError as error:
            self.app.call_from_thread(self.say, failure(error), True)
            return
        worker = get_current_worker()
        if not worker.is_cancelled:
            self.app.call_from_thread(self._listed, listing)
        texts = list(self._session.store.searched())
        if not worker.is_cancelled:
            self.app.call_from_thread(self._read, texts)

    def _listed(self, listing: Listing) -> None:
        chosen = self._chosen_path()
        self._listing = listing
        store = self._session.store
        parts = [count(len(listing.memories), "memory", "memories")]
        if waiting := len(store.plans()):
            parts.append(f"{count(waiting, 'plan', 'plans')} waiting")
        if unfinished := len(store.unfinished()):
            parts.append(f"{count(unfinished, 'run', 'runs')} unfinished: memui recover")
        self.query_one("#header", Header).show(store.name, self._session.where(), " · ".join(parts))
        if not self._query:
            self._show_all(chosen)

    def _read(self, texts: list[Searched]) -> None:
        self._texts = texts
        if self._query:
            self._find(self._query)

    def _show_all(self, chosen: str | None) -> None:
        listing = self._listing
        if listing is None:
            return
        self._items = list(_items(listing))
        rows = [self._row(item) for item in self._items]
        at = next((n for n, item in enumerate(self._items) if _path(item) == chosen), None)
        if at is None:
            at = next((n for n, item in enumerate(self._items) if isinstance(item, Memory)), 0)
        self.query_one("#rows", RowList).show(rows, at)
        self._preview()

    def _row(self, item: _Item) -> Line:
        width = 26 if self.size.width < 100 else 24
        if isinstance(item, _Folder):
            return line((f"{item.path}/", "accent"), (f"  {item.memories}", "dim"))
        if isinstance(item, Hit):
            return line(
                (pad(_short(item.path), width), "bold"),
                (f"{item.line or '':>5} ", "dim"),
                *_lit(item.snippet, words(self._query)),
            )
        indent = "  " if "/" in item.path else ""
        name = item.path.rsplit("/", 1)[-1]
        if isinstance(item, Other):
            return line((pad(f"{indent}{name}", width), "dim"), (f" {item.why}", "dim"))
        odd = set(item.warnings) - {"no-description", "no-final-newline"}
        return line(
            (pad(f"{indent}{name.removesuffix('.md')}", width), "bold"),
            ("! " if odd else "  ", "warn"),
            (item.description, "dim" if item.description else "warn"),
        )

    def _chosen(self) -> _Item | None:
        rows = self.query_one("#rows", RowList)
        return self._items[rows.cursor] if rows.cursor < len(self._items) else None

    def _chosen_path(self) -> str | None:
        item = self._chosen()
        return None if item is None else _path(item)

    def _preview(self) -> None:
        view = self.query_one("#text", TextView)
        item = self._chosen()
        if item is None:
            view.show(self._empty())
        elif isinstance(item, _Folder):
            view.show([line((f"{item.path}/", "title")), _memories(item.memories)])
        elif isinstance(item, Other):
            view.show([line((item.path, "title")), line((f"Not a memory: {item.why}.", "dim"))])
        else:
            self._preview_memory(item.path, item if isinstance(item, Hit) else None)

    def _empty(self) -> list[Line]:
        if self._query:
            return [line((f"Nothing holds {self._query}.", "dim"))]
        return [
            line(("No memories yet.", "title")),
            line((f"An agent that uses {self._session.store.place.folder}", "dim")),
            line(("writes them as it learns; memui add writes one by hand.", "dim")),
        ]

    def _preview_memory(self, path: str, hit: Hit | None) -> None:
        view = self.query_one("#text", TextView)
        try:
            data = self._session.store.read(path)
            changed = self._session.store.modified(path)
        except EngineError as error:
            view.show([line((path, "title")), line((failure(error), "bad"))])
            return
        document = parse(data)
        head = _head(path, document, len(data), changed)
        body = body_lines(document.body, first=document.body_line)
        if hit is not None:
            body = [_lit_line(found, words(self._query)) for found in body]
        view.show([*head, *body])
        if hit is not None and hit.line >= document.body_line:
            view.scroll_to_line(len(head) + hit.line - document.body_line)

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._preview()

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        self.query_one("#text", TextView).focus()

    def on_resize(self, _event: events.Resize) -> None:
        if self._listing is not None and not self._query:
            self._show_all(self._chosen_path())

    # Searching

    def action_search(self) -> None:
        """Open the search line."""
        line_ = self.query_one("#search", Input)
        line_.display = True
        line_.focus()
        self.query_one("#keys", KeyBar).show(_SEARCH_KEYS)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._query = event.value.strip()
        if not self._query:
            self._show_all(None)
        else:
            self._find(self._query)

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self.query_one("#rows", RowList).focus()
        if self._query:
            self.query_one("#keys", KeyBar).show(_HIT_KEYS)
        else:
            self.action_leave_search()

    @work(thread=True, exclusive=True, group="search")
    def _find(self, query: str) -> None:
        texts = self._texts
        if texts is None:
            return  # still being read; the query runs when they are
        worker = get_current_worker()
        hits = search(query, (text for text in texts if not worker.is_cancelled))
        if not worker.is_cancelled:
            self.app.call_from_thread(self._found, query, hits)

    def _found(self, query: str, hits: tuple[Hit, ...]) -> None:
        if query != self._query:
            return
        self._hits = hits
        self._items = list(hits)
        self.query_one("#rows", RowList).show([self._row(hit) for hit in hits], 0)
        self.query_one("#notice", Notice).show(
            count(len(hits), "memory holds it", "memories hold it")
        )
        self._preview()

    def action_leave_search(self) -> None:
        """Back to all memories, at the one that was found."""
        chosen = self._chosen_path()
        line_ = self.query_one("#search", Input)
        line_.display = False
        self._query = ""
        with line_.prevent(Input.Changed):
            line_.value = ""
        self.query_one("#keys", KeyBar).show(_KEYS)
        self.query_one("#notice", Notice).clear_notice()
        self._show_all(chosen)
        self.query_one("#rows", RowList).focus()

    def action_hit(self, step: int) -> None:
        """The next or the previous hit."""
        if self._query:
            rows = self.query_one("#rows", RowList)
            rows.put(rows.cursor + step)

    # Doing

    def say(self, text: str, bad: bool) -> None:
        """Say what just happened, and look at the folder again."""
        self.query_one("#notice", Notice).show(text, bad=bad)
        self._scan()

    def action_undo(self) -> None:
        """Take back the last run, after asking."""
        ask_undo(self, self._session, "last", self.say)  # type: ignore[arg-type]

    def action_history(self) -> None:
        """The runs that touched this memory."""
        path = self._chosen_path()
        if path is not None:
            self._session.path = path
            self.app.switch_mode("history")

    def action_copy_path(self) -> None:
        """Copy the path to the clipboard, if it is one that a terminal may be sent."""
        path = self._chosen_path()
        if path is not None and path.isprintable():
            self.app.copy_to_clipboard(os.path.join(self._session.store.place.folder, path))
            self.query_one("#notice", Notice).show("The path is copied.")

    def action_edit(self) -> None:
        """Edit the memory in the person's editor."""
        path = self._chosen_path()
        item = self._chosen()
        if path is None or not isinstance(item, Memory | Hit):
            return
        store = self._session.store
        try:
            before = store.read(path)
            if not parse(before).editable:
                self.say(f"{path} is not UTF-8: it is not edited as text.", True)
                return
            with self.app.suspend():
                after = edit_text(before, path, _Terminal())
        except EngineError as error:
            self.say(failure(error), True)
            return
        if after == before:
            self.query_one("#notice", Notice).show("Nothing was changed.")
            return
        try:
            outcome = store.edit(path, after, base=digest(before), who=self._session.who)
        except EngineError as error:
            kept = rescue(after, path)
            what = "It changed meanwhile. " if isinstance(error, Conflict) else ""
            self.say(f"{what}{failure(error)} Your text is kept in {kept}", True)
            return
        self.say(f"Wrote {path} as run {outcome.run}. u takes it back.", False)


class _Terminal:
    """Asks on the suspended terminal."""

    def ask(self, question: str) -> str:
        """The person's answer."""
        return input(question)


def _items(listing: Listing) -> list[_Item]:
    """Folders in front of what they hold, files of the folder itself first, others last."""
    found: list[_Item] = []
    folders: dict[str, list[Memory]] = {}
    for memory in listing.memories:
        folders.setdefault(memory.path.rpartition("/")[0], []).append(memory)
    for folder, memories in sorted(folders.items()):
        if folder:
            found.append(_Folder(folder, len(memories)))
        found.extend(memories)
    found.extend(listing.others)
    return found


def _path(item: Any) -> str | None:
    return None if isinstance(item, _Folder) else item.path


def _short(path: str) -> str:
    return path.removesuffix(".md")


def _memories(number: int) -> Line:
    return line((count(number, "memory", "memories"), "dim"))


def _head(path: str, document: Document, length: int, changed: str) -> list[Line]:
    said = document.description or "no description"
    found = [
        line((path, "title")),
        line((said, "accent" if document.described_by == "frontmatter" else "dim")),
        line((f"{size(length)} · changed {when(changed)} · {document.encoding}", "dim")),
    ]
    odd = [WARNINGS[code] for code in document.warnings]
    if odd:
        found.append(line((f"! {'; '.join(odd)}", "warn")))
    return [*found, line(("", "plain"))]


def _lit(text: str, wanted: tuple[str, ...]) -> tuple[Any, ...]:
    """A text with the words of a query marked. Only where folding keeps offsets."""
    folded = fold(text)
    if len(folded) != len(text):
        return runs(text, "plain")
    spans: list[tuple[int, int]] = []
    for word in wanted:
        at = folded.find(word)
        while at >= 0 and len(spans) < 100:
            spans.append((at, at + len(word)))
            at = folded.find(word, at + len(word))
    found: list[Any] = []
    at = 0
    for start, end in sorted(spans):
        if start >= at:
            found += [*runs(text[at:start]), *runs(text[start:end], "hit")]
            at = end
    return (*found, *runs(text[at:]))


def _lit_line(shown: Line, wanted: tuple[str, ...]) -> Line:
    if not any(word in fold(shown.plain) for word in wanted):
        return shown
    return Line(_lit(shown.plain, wanted), shown.gutter)
