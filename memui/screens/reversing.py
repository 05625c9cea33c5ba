"""Taking back part of a run: which of its actions, and what becomes of what changed since."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen

from engine.changes import Edit
from engine.errors import EngineError, run_number
from engine.reversal import Choice, Reversal, Reverted
from memui.presentation import count
from memui.presentation.reversals import choice_lines, file_row, reversal_lines
from memui.screens.dialogs import Confirm
from memui.screens.session import Session, failure
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.diff_view import edits_page
from memui.widgets.page_view import Facts, PageView
from memui.widgets.row_list import RowList

_KEYS = {
    Choice.KEEP: ("s", "it stays"),
    Choice.TAKE: ("t", "take earlier"),
    Choice.MERGE: ("m", "merge"),
}


class ReversalScreen(Screen[Reversal | None]):
    """The files of a run that is to be taken back. Dismisses with what was chosen and confirmed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('keep')", "Keep what is there"),
        Binding("t", "choose('take')", "Take the earlier version"),
        Binding("m", "choose('merge')", "Take only the run's lines out"),
        Binding("space", "leave_out", "Take back this action, or leave it"),
        Binding("U", "confirm", "Take back what is chosen"),
        Binding("escape,q", "back", "Back; nothing is changed"),
        Binding("tab", "swap", show=False),
    ]

    def __init__(self, session: Session, found: Reversal) -> None:
        super().__init__()
        self._session = session
        self._found = found
        self._left_out: set[int] = set()

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Container(id="panes"):
            yield RowList(id="rows")
            with Vertical(id="memory"):
                yield Facts(id="facts")
                yield PageView(id="diff")
        yield Notice(id="notice")
        yield KeyBar((), id="keys")

    @property
    def _rows(self) -> RowList:
        return self.query_one("#rows", RowList)

    def on_mount(self) -> None:
        run = self._found.run
        what = f"undo of run {run_number(run.undoes)}" if run.undoes else f"run {run.seq}"
        self.query_one("#header", Header).show(
            self._session.store.name,
            f"Take back {what}",
            count(len(self._found.files), "file", "files"),
        )
        notice = self.query_one("#notice", Notice)
        waiting = len(self._found.open)
        if waiting:
            notice.show(
                f"{count(waiting, 'file', 'files')} changed since: choose for each.", bad=True
            )
        else:
            notice.clear_notice()
        first = next((n for n, file in enumerate(self._found.files) if file.open), 0)
        self._draw(first)
        self._rows.focus()

    def _draw(self, cursor: int | None = None) -> None:
        files, out = self._found.files, frozenset(self._left_out)
        numbered = len({file.action for file in files}) > 1
        self._rows.show(
            len(files),
            lambda index, cells: file_row(
                files[index],
                left_out=files[index].action in out,
                numbered=numbered,
                cells=cells,
            ),
            cursor,
        )
        self._detail()

    @property
    def _file(self) -> Reverted | None:
        at = self._rows.cursor
        return self._found.files[at] if at < len(self._found.files) else None

    def _detail(self) -> None:
        file = self._file
        if file is None:
            return
        out = file.action in self._left_out
        facts = [] if out else list(choice_lines(file))
        after = file.here if out else file.result
        if file.open and Choice.TAKE in file.choices:
            after = file.before
        self.query_one("#facts", Facts).show_facts(facts, None)
        edits = [] if file.here is after is None else [Edit(file.path, file.here, after)]
        self.query_one("#diff", PageView).show(edits_page(edits))
        several = len({each.action for each in self._found.files}) > 1
        choices = () if out else tuple(_KEYS[choice] for choice in file.choices)
        space = (("space", "in or out"),) if several else ()
        keys = (*choices, *space, ("U", "take back"), ("esc", "back"), ("tab", "diff"))
        self.query_one("#keys", KeyBar).show(keys)

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self._detail()

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        self.action_confirm()

    def action_choose(self, name: str) -> None:
        """Choose for the file under the cursor, and go to the next one that waits."""
        file = self._file
        notice = self.query_one("#notice", Notice)
        if file is None or file.action in self._left_out:
            return
        try:
            self._found = self._found.choosing(file.path, Choice(name))
        except EngineError as error:
            notice.show(failure(error), bad=True)
            return
        waiting = [n for n, each in enumerate(self._found.files) if self._waits(each)]
        notice.show(f"{len(waiting)} to choose." if waiting else "All is chosen: U takes back.")
        later = [n for n in waiting if n > self._rows.cursor]
        self._draw((later or waiting or [self._rows.cursor])[0])

    def _waits(self, file: Reverted) -> bool:
        return file.open and file.action not in self._left_out

    def action_leave_out(self) -> None:
        """Take back the action of this file, or leave it as it is."""
        file = self._file
        if file is not None:
            self._left_out ^= {file.action}
            self._draw()

    def action_confirm(self) -> None:
        """Ask once more, then close with what was chosen."""
        notice = self.query_one("#notice", Notice)
        waiting = [n for n, file in enumerate(self._found.files) if self._waits(file)]
        if waiting:
            notice.show("This one changed since: choose s, t or m first.", bad=True)
            self._draw(waiting[0])
            return
        chosen = self._chosen()
        if chosen is None or not any(file.chosen for file in chosen.files):
            notice.show("Nothing would be taken back. esc goes back.", bad=True)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.dismiss(chosen)

        title = f"Take back {count(len(chosen.taken_back), 'action', 'actions')}?"
        self.app.push_screen(Confirm(title, list(reversal_lines(chosen)), "Take back"), answered)

    def _chosen(self) -> Reversal | None:
        """The reversal of the actions that were not left out; None if it cannot be, and said."""
        if not self._left_out:
            return self._found
        left = {f.action for f in self._found.files} - self._left_out
        choices = {f.path: f.choice for f in self._found.files if f.choice and f.action in left}
        if not left:
            return None
        try:
            return self._session.store.reversal(self._found.run.id, actions=left, choices=choices)
        except EngineError as error:
            self.query_one("#notice", Notice).show(failure(error), bad=True)
            return None

    def action_swap(self) -> None:
        """From the list to the diff, and back."""
        diff = self.query_one("#diff", PageView)
        (self._rows if diff.has_focus else diff).focus()

    def action_back(self) -> None:
        """Close; nothing was changed."""
        self.dismiss(None)
