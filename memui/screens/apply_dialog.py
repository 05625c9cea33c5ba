"""Applying: what will change, file by file; then what was done, and how to take it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from engine.commit import Phase as RunPhase
from engine.commit import Progress
from engine.commit.progress import ORDER
from engine.consolidation import Applied, apply
from engine.errors import Conflict, Drift, EngineError, Holder, InvalidPlan
from engine.proposal import Proposal
from memui.presentation import Line, count, line, own
from memui.screens.session import Session, failure
from memui.widgets.change_page import intent_lines, left_alone
from memui.widgets.page_view import Facts, Lines, Page, PageView

WAIT: Final = 10.0
"""Seconds that an apply waits for another run; the holder is shown meanwhile."""
_LOOK: Final = 0.1
"""Seconds between two looks at how far a run is."""
_STEPS: Final = {
    RunPhase.LOCK: "lock the store",
    RunPhase.CHECK: "check that every file is what you saw",
    RunPhase.KEEP: "keep what they hold",
    RunPhase.WRITE: "write",
    RunPhase.BARRIER: "make it durable",
    RunPhase.REMOVE: "remove",
    RunPhase.CHANGELOG: "note it in the changelog",
    RunPhase.DONE: "done",
}
_CHROME: Final = 8
"""Rows of the dialog and the screen around its lines."""

Phase = Literal["asking", "working", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Result:
    """How the dialog ended. `undone` are the actions (0-based) that were applied and taken back."""

    changed: bool = False
    undone: frozenset[int] = frozenset()


class ApplyDialog(ModalScreen[Result]):
    """Names everything that would change; `y` does it, everything else goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "confirm", show=False),
        Binding("n,escape,q", "back", show=False),
        Binding("left,right", "other", show=False),
        Binding("u", "undo", show=False),
        Binding("3", "history", show=False),
        Binding("pagedown", "scroll(1)", show=False),
        Binding("pageup", "scroll(-1)", show=False),
    ]

    def __init__(self, session: Session, proposal: Proposal) -> None:
        super().__init__()
        self._session = session
        self._proposal = proposal
        self._phase: Phase = "asking"
        self._run = ""
        self._progress: Progress | None = None
        self._drawn: Progress | None = None
        self._changed = False
        self._undone: frozenset[int] = frozenset()

    @property
    def phase(self) -> Phase:
        """How far it is."""
        return self._phase

    def compose(self) -> ComposeResult:
        number = _applied_count(self._proposal)
        title = f"Apply {count(number, 'approved action', 'approved actions')}?"
        with Vertical(classes="dialog"):
            yield Static(own(title, "bold"), classes="dialog--title", id="apply-title")
            yield PageView(classes="dialog--lines", id="apply-lines")
            yield Facts(id="apply-kept")
            with Horizontal(classes="dialog--buttons", id="apply-buttons"):
                yield Button(own("Back"), id="back")
                yield Button(own("Apply (y)"), id="do", variant="warning")

    def on_mount(self) -> None:
        intent = list(intent_lines(self._proposal))
        self._show(intent, kept=list(kept_lines(self._session)))
        self.query_one("#back", Button).focus()
        self.set_interval(_LOOK, self._draw_progress)

    def _on_step(self, progress: Progress) -> None:
        """Called by the thread that commits: only noted, so that the run never waits for us."""
        self._progress = progress

    def _draw_progress(self) -> None:
        progress = self._progress
        if self._phase == "working" and progress is not None and progress is not self._drawn:
            self._drawn = progress
            self._show(list(progress_lines(progress)))

    def _show(self, lines: Sequence[Line], title: str = "", kept: Sequence[Line] = ()) -> None:
        self.query_one("#apply-kept", Facts).show_facts(kept, None)
        view = self.query_one("#apply-lines", PageView)
        room = max(3, self.app.size.height - _CHROME - 2 * len(kept))
        view.show(Page(Lines(lines)))
        view.styles.max_height = room
        if title:
            self.query_one("#apply-title", Static).update(own(title, "bold"))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "back":
            self.action_back()
        elif self._phase == "asking":
            self.action_confirm()
        else:
            self.action_undo()

    def action_back(self) -> None:
        """Close. While a run is at work it says that it cannot: it ends whole in a moment."""
        if self._phase != "working":
            self.dismiss(Result(self._changed, self._undone))
            return
        title = "It cannot be left halfway. It ends in a moment, then says what it did."
        self.query_one("#apply-title", Static).update(own(title, "bold"))

    def action_history(self) -> None:
        """Close, and show the runs."""
        if self._phase in {"done", "failed"}:
            self.dismiss(Result(self._changed, self._undone))
            self.app.switch_mode("history")

    def action_other(self) -> None:
        """The other button."""
        self.focus_next(Button)

    def action_scroll(self, step: int) -> None:
        """Scroll the names."""
        self.query_one("#apply-lines", PageView).action_page(step)

    # Doing

    def action_confirm(self) -> None:
        """Apply, if it was not yet."""
        if self._phase == "asking":
            self._work("Applying…", list(step_lines(None, self._proposal)))
            self._apply()

    def action_undo(self) -> None:
        """Take back what was done here."""
        if self._phase == "done" and self._run:
            self._work("Taking it back…", [line(("One moment.", "dim"))])
            self._take_back(self._run)

    def renew(self, proposal: Proposal) -> None:
        """The store was read anew. What would change stays as it was read here, or is not done.

        A question that a person has read is never exchanged for another below their finger.
        """
        if self._phase != "asking":
            return
        before = self._proposal
        asked, now = list(intent_lines(before)), list(intent_lines(proposal))
        if asked == now and all(before.seen(i) == proposal.seen(i) for i in before.approved):
            self._proposal = proposal
            return
        gone = before.approved - proposal.approved
        drifts = {d.path: d for i in gone for d in proposal.stale.get(i, ())}
        self._end(
            "failed", "What you were asked has changed", list(renewed_lines([*drifts.values()]))
        )

    def fail(self, error: EngineError) -> None:
        """The plan or the store cannot be read any more."""
        if self._phase == "asking":
            self._failed(error)

    def _work(self, title: str, lines: Sequence[Line]) -> None:
        self._phase = "working"
        self._progress = None
        self.query_one("#apply-buttons", Horizontal).display = False
        self._show(lines, title)

    @work(thread=True)
    def _apply(self) -> None:
        store = self._session.store
        store.waiting = self._wait
        try:
            done = apply(
                store, self._proposal, who=self._session.who, wait=WAIT, on_step=self._on_step
            )
        except EngineError as error:
            self.app.call_from_thread(self._failed, error)
        else:
            self.app.call_from_thread(self._applied, done)
        finally:
            store.waiting = None

    @work(thread=True)
    def _take_back(self, run: str) -> None:
        store = self._session.store
        store.waiting = self._wait
        try:
            outcome = store.undo(run, who=self._session.who, wait=WAIT)
        except EngineError as error:
            self.app.call_from_thread(self._failed, error)
        else:
            self.app.call_from_thread(self._taken_back, run, outcome.run)
        finally:
            store.waiting = None

    def _wait(self, holder: Holder | None) -> None:
        said = str(holder) if holder else "another run"
        lines = [line(("Waiting for ", "plain"), (said, "plain"), (" …", "plain"))]
        self.app.call_from_thread(self._show, lines)

    def _applied(self, done: Applied) -> None:
        self._run = done.run
        self._changed = bool(done.run)
        lines = list(done_lines(done, self._proposal))
        title = f"Applied as run {done.run}" if done.run else "Nothing had to change"
        self._end("done", title, lines, run=done.run)

    def _taken_back(self, run: str, undo: str) -> None:
        self._changed = True
        # Taking back twice is applying again: then nothing is undone any more.
        self._undone = frozenset() if self._undone else self._proposal.approved
        self._run = undo
        lines = [line(("Every file is as it was before that run.", "plain"))]
        self._end("done", f"Run {run} is taken back, as run {undo}", lines, run=undo)

    def _failed(self, error: EngineError) -> None:
        self._end("failed", "Nothing was changed", list(failure_lines(error)))

    def _end(self, phase: Phase, title: str, lines: Sequence[Line], *, run: str = "") -> None:
        self._phase = phase
        recovered = self._session.told_recovered()
        told = [line((recovered, "warn")), line()] if recovered else []
        self._show([*told, *lines], title, list(undo_lines(self._session, run)) if run else ())
        self.query_one("#apply-buttons", Horizontal).display = True
        back = self.query_one("#back", Button)
        back.label = own("Close")
        other = self.query_one("#do", Button)
        other.label = own("Undo (u)")
        other.display = bool(run)
        back.focus()


def _applied_count(proposal: Proposal) -> int:
    return sum(proposal.owner(i) == i for i in proposal.approved)


def kept_lines(session: Session) -> Iterator[Line]:
    """How what is replaced is kept, and how to take it all back."""
    state, undo = session.store.place.state, session.undo_command("last")
    yield line(("What is replaced is kept in ", "dim"), (state, "dim"))
    yield line(("Take it all back: ", "dim"), (undo, "bold"))


def progress_lines(progress: Progress) -> Iterator[Line]:
    """The steps of a run as a list that fills: what is done, what is at work, what is to come."""
    if progress.phase is RunPhase.BACK:
        yield line(("It cannot go on: everything is put back as it was.", "warn"))
        return
    now = ORDER.index(progress.phase)
    for at, phase in enumerate(ORDER):
        sign, paint = ("✓", "plain") if at < now else ("›", "bold") if at == now else ("·", "dim")
        counted = f"  {progress.done} of {progress.total}" if at == now and progress.total else ""
        yield line((f"{_STEPS[phase]}{counted}", paint), gutter=f" {sign} ")


def step_lines(done: Applied | None, proposal: Proposal) -> Iterator[Line]:
    """What an apply does, in its order; with `done`, what came of it."""
    files = sum(len(proposal.changes[i].edits) for i in proposal.approved)
    steps = [
        f"checked that {count(files, 'file is', 'files are')} what you saw",
        "kept what they held",
        "written and removed"
        if done is None
        else f"written {len(done.written)}, removed {len(done.deleted)}",
        "recorded" if done is None else f"recorded as run {done.run}{_logged(done)}",
    ]
    for step in steps:
        paint, sign = ("dim", "·") if done is None else ("plain", "✓")
        yield line((step, paint), gutter=f" {sign} ")


def _logged(done: Applied) -> str:
    says = {
        "written": ", and in the changelog",
        "pending": "; the changelog cannot be written now, the next run writes it",
    }
    return says.get(done.changelog, "")


def undo_lines(session: Session, run: str) -> Iterator[Line]:
    """How to take back a run."""
    yield line(("Take it back: u, or ", "dim"), (session.undo_command(run), "bold"))


def done_lines(done: Applied, proposal: Proposal) -> Iterator[Line]:
    """What was applied, skipped and rejected."""
    if done.run:
        yield from step_lines(done, proposal)
        yield line()
    for path in done.written:
        yield line((path, "plain"), gutter=" wrote   ")
    for path in done.deleted:
        yield line((path, "plain"), gutter=" removed ")
    for skipped in done.skipped:
        yield line((f"action {skipped.action + 1}: {skipped.why}", "warn"), gutter=" skipped ")
    if not done.run:
        yield line(("The files already are what the plan makes of them.", "dim"))
        return
    yield from left_alone(proposal)


def renewed_lines(drifts: Sequence[Drift]) -> Iterator[Line]:
    """Why a question does not stand any more."""
    for drift in drifts:
        yield line((drift.path, "bold"), (f" {drift.why}", "bad"), gutter=" ✗ ")
    if not drifts:
        yield line(("The plan or the memories are not what they were when it was asked.", "plain"))
    yield line()
    yield line(("Nothing was changed. Look at the rows again; P asks anew.", "plain"))


def failure_lines(error: EngineError) -> Iterator[Line]:
    """What happened, that nothing was changed, and what to do next."""
    if isinstance(error, Conflict):
        yield line(("These files are not what you approved:", "plain"))
        for drift in error.drifts:
            yield line((drift.path, "bold"), (f" {drift.why}", "bad"), gutter=" ✗ ")
        yield line()
        yield line(
            ("Nothing was changed. The rows that they touch are marked: look again.", "plain")
        )
        return
    if isinstance(error, InvalidPlan):
        yield line(("What is approved breaks a rule:", "plain"))
        for found in error.violations:
            where = "" if found.action is None else f"action {found.action + 1}: "
            yield line((f"{where}{found.message}", "bad"), gutter=" ✗ ")
        yield line()
        yield line(("Nothing was changed. Reject or edit these actions.", "plain"))
        return
    yield line((failure(error), "bad"))
    yield line()
    yield line(("Your verdicts are kept: P tries again.", "plain"))
