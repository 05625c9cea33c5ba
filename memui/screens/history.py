"""History: every run, what it did and what was said of it, and taking it back."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from engine.errors import EngineError
from engine.journal import Run, read_file, undone_by
from memui.presentation import Line, body_lines, count, line, pad, when
from memui.screens.session import Session, failure
from memui.screens.undoing import ask_undo
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.row_list import RowList
from memui.widgets.text_view import TextView

_KEYS = (
    ("u", "undo or redo this run"), ("c", "changelog"), ("esc", "all runs"), ("tab", "text"),
    ("1", "browse"), ("2", "review"), ("?", "help"), ("q", "quit"),
)  # fmt: skip


class HistoryScreen(Screen[None]):
    """The runs of a store, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Take back this run"),
        Binding("c", "changelog", "Changelog"),
        Binding("escape", "all", show=False),
        Binding("full_stop", "reload", "Rescan"),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._runs: tuple[Run, ...] = ()
        self._undone: dict[str, str] = {}
        self._log = False

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Container(id="panes"):
            yield RowList(id="rows")
            yield TextView(id="text")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self.query_one("#rows", RowList).focus()

    def on_screen_resume(self) -> None:
        self.action_reload()

    def action_reload(self) -> None:
        """Read the journal again."""
        try:
            known = self._session.store.runs()
        except EngineError as error:
            self._say(failure(error), True)
            return
        self._undone = undone_by(known)
        path = self._session.path
        self._runs = tuple(
            run
            for run in reversed(known)
            if path is None
            or any(step.path == path for step in run.steps)
            or any(path in action.paths for action in run.actions)
        )
        where = f"runs that touched {path}" if path else self._session.where()
        self.query_one("#header", Header).show(
            self._session.store.name, where, count(len(self._runs), "run", "runs")
        )
        self.query_one("#rows", RowList).show([self._row(run) for run in self._runs])
        self._detail()

    def _row(self, run: Run) -> Line:
        state, paint = self._state(run)
        what = f"undo of {run.undoes.partition('-')[0]}" if run.undoes else str(run.kind)
        return line(
            (f"{run.seq:>4} ", "bold"),
            (f"{when(run.time)} ", "dim"),
            (pad(what, 10), "accent"),
            (f" {state}", paint),
            (f"  {_summary(run)}", "plain"),
        )

    def _state(self, run: Run) -> tuple[str, str]:
        if run.id in self._undone:
            return f"undone by {self._undone[run.id].partition('-')[0]}", "warn"
        if run.state == "done":
            return "done", "good"
        return ("taken back", "warn") if run.state == "taken-back" else ("unfinished", "bad")

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self._log = False
        self._detail()

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        self.query_one("#text", TextView).focus()

    def _chosen(self) -> Run | None:
        at = self.query_one("#rows", RowList).cursor
        return self._runs[at] if at < len(self._runs) else None

    def _detail(self) -> None:
        view = self.query_one("#text", TextView)
        run = self._chosen()
        if self._log:
            view.show(self._changelog())
        elif run is None:
            view.show(
                [
                    line(("Nothing was done yet.", "title")),
                    line(("Every apply, edit and undo appears here; each can be undone.", "dim")),
                ]
            )
        else:
            view.show(self._lines(run))

    def _lines(self, run: Run) -> list[Line]:
        state, paint = self._state(run)
        found = [
            line((f"Run {run.id}", "title"), (f"  {state}", paint)),
            line(
                (f"{run.kind}, {when(run.time)}, by {run.who}, decided by {run.decided_by}", "dim")
            ),
        ]
        if run.plan:
            found.append(line((f"plan {run.plan}: ", "dim"), (run.summary, "plain")))
        found.append(line(("", "plain")))
        for action in run.actions:
            good = action.verdict in {"approved", "edited"}
            target = f" → {action.target}" if action.target else ""
            found.append(
                line(
                    (f"{action.verdict:<9}", "good" if good else "bad"),
                    (f"{action.number} {action.verb} ", "bold"),
                    (f"{' + '.join(action.sources)}{target}", "plain"),
                )
            )
            if action.reason:
                says = "planner says: " if run.plan else "says: "
                found.append(line((f"         {says}", "dim"), (action.reason, "dim")))
        found.append(line(("", "plain")))
        for step in run.steps:
            word, paint = (
                ("wrote  ", "good") if step.old is None else ("removed", "bad")
                if step.new is None else ("changed", "warn")
            )  # fmt: skip
            found.append(line((f"{word} ", paint), (step.path, "plain")))
        if run.changelog == "pending":
            found.append(line(("The changelog could not be written yet.", "warn")))
        if run.state == "done" and run.id not in self._undone:
            found += [line(("", "plain")), line((self._session.undo_command(run.id), "dim"))]
        return found

    def action_changelog(self) -> None:
        """The changelog, as it lies on disk."""
        self._log = not self._log
        self._detail()

    def _changelog(self) -> list[Line]:
        place = self._session.store.place
        head = [line((place.changelog, "title")), line(("", "plain"))]
        try:
            data = read_file(place.changelog)
        except EngineError as error:
            return [*head, line((failure(error), "bad"))]
        if data is None:
            return [*head, line(("Nothing is written in it yet.", "dim"))]
        return [*head, *body_lines(data.decode("utf-8", "surrogateescape"))]

    def action_all(self) -> None:
        """All runs again."""
        self._session.path = None
        self._log = False
        self.action_reload()

    def action_undo(self) -> None:
        """Take back the run under the cursor, after asking."""
        run = self._chosen()
        if run is not None:
            ask_undo(self, self._session, run.id, self._say)  # type: ignore[arg-type]

    def _say(self, text: str, bad: bool) -> None:
        self.query_one("#notice", Notice).show(text, bad=bad)
        if not bad:
            self.query_one("#rows", RowList).cursor = 0
            self.action_reload()


def _summary(run: Run) -> str:
    parts = []
    if run.written:
        parts.append(f"{len(run.written)} written")
    if run.deleted:
        parts.append(f"{len(run.deleted)} removed")
    return ", ".join(parts)
