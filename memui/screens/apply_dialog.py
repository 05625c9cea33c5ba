"""Applying: what will change, file by file; then what was done, and how to take it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from engine.commit import OnStep, Outcome
from engine.consolidation import Applied, apply, examine
from engine.errors import Conflict, EngineError, run_number
from engine.proposal import Proposal
from engine.reversal import Reversal
from engine.selection import is_same
from memui.presentation import Line, content, count, line, own, wrap
from memui.presentation.applying import (
    Intent,
    done_parts,
    failure_lines,
    intent,
    intent_page,
    promise_lines,
    renewed_lines,
    stale_title,
)
from memui.presentation.pages import Lines, Page, Part
from memui.presentation.reversals import done_lines
from memui.screens.session import Session, failure
from memui.screens.undoing import ask_undo
from memui.screens.working import WAIT, Working
from memui.widgets.fold_view import FoldView
from memui.widgets.page_view import Facts

_CHROME: Final = 6
"""Rows of the dialog around its lines and what is promised: border, title, foot, buttons."""
_LEAST: Final = 8
"""Rows of the lines under which what is promised scrolls with them."""
_ASIDE: Final = 4
"""Cells of the dialog beside its lines."""
_WIDEST: Final = 78

Below = Callable[[AbstractSet[int], Sequence[Line]], Page]
"""A page by which of its folds are open, with lines at its end."""
Phase = Literal["reading", "choosing", "asking", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Result:
    """How the dialog ended. Actions are 0-based.

    `undone` were applied and taken back; `left_out` were approved, and the person left them out.
    """

    changed: bool = False
    undone: frozenset[int] = frozenset()
    left_out: frozenset[int] = frozenset()


class ApplyDialog(ModalScreen[Result]):
    """Names everything that would change; `y` does it, everything else goes back.

    Approved actions that are not as they were approved stop it until the person leaves them out.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "confirm", show=False),
        Binding("n,escape,q", "back", show=False),
        Binding("s", "leave_out", show=False),
        Binding("u", "undo", show=False),
        Binding("3", "history", show=False),
        Binding("right", "side(1)", show=False),
        Binding("left", "side(-1)", show=False),
        Binding("down,j", "line(1)", show=False),
        Binding("up,k", "line(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def __init__(self, session: Session, proposal: Proposal) -> None:
        super().__init__()
        self._session = session
        self._proposal = proposal
        self._intent: Intent | None = None
        self._phase: Phase = "reading"
        self._conflict = False
        self._run = ""
        self._changed = False
        self._undone: frozenset[int] = frozenset()
        self._skip = False
        self._left_out: frozenset[int] = frozenset()
        self._below: Below = lambda _, __: Page()
        self._promises: tuple[Line, ...] = ()
        self._fixed = True
        self._said = ""

    @property
    def phase(self) -> Phase:
        """How far it is."""
        return self._phase

    @property
    def asks(self) -> bool:
        """Whether it waits for an answer, and nothing runs."""
        return self._phase in {"asking", "choosing"}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(own("Apply …", "bold"), classes="dialog--title", id="apply-title")
            yield FoldView(classes="dialog--lines", id="apply-lines")
            yield Facts(id="apply-kept")
            yield Static(own(""), id="apply-foot")
            with Horizontal(classes="dialog--buttons"):
                yield Button(own("Back"), id="back")
                yield Button(own("Leave out (s)"), id="leave-out")
                yield Button(own("Apply (y)"), id="do", variant="warning")
                yield Button(own("Undo (u)"), id="undo")
                yield Button(own("History (3)"), id="history")

    def on_mount(self) -> None:
        self._buttons()
        self._weigh(self._proposal)

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        """Fit again; what is open and where one stands stay."""
        fixed = self._fixed
        self._fit()
        if self._fixed is not fixed:
            self._lines.show_again(self._folded)

    # Showing

    @property
    def _lines(self) -> FoldView:
        return self.query_one("#apply-lines", FoldView)

    def _title(self, text: str) -> None:
        self.query_one("#apply-title", Static).update(own(text, "bold"))

    def _say(self, text: str, bad: bool = False) -> None:
        """Say something below the lines."""
        foot = self.query_one("#apply-foot", Static)
        foot.update(content(text, "$text-warning" if bad else "$foreground-muted"))
        foot.display = bool(text)
        self._said = text
        self._lay_out()

    def _buttons(self, *shown: str, safe: str = "Back") -> None:
        """Show these buttons beside the safe one, which has the focus."""
        back = self.query_one("#back", Button)
        back.label = own(safe)
        back.refresh(layout=True)
        for button in self.query(Button):
            button.display = button.id in {"back", *shown}
        back.focus()

    def _show(self, folded: Below, title: str, promises: Sequence[Line] = ()) -> None:
        """Show lines and what is promised below them."""
        self._below, self._promises = folded, tuple(promises)
        self._title(title)
        self._say("")
        self._fit()
        self._lines.show_folded(self._folded)

    def _folded(self, opened: AbstractSet[int]) -> Page:
        return self._below(opened, () if self._fixed else self._promises)

    def _fit(self) -> None:
        """Give the lines what room there is. On a low terminal what is promised scrolls along."""
        if not self.is_mounted:
            return
        width = min(_WIDEST, self.app.size.width * 96 // 100) - _ASIDE
        rows = sum(len(wrap(made, width)) for made in self._promises)
        foot = len(wrap(line((self._said, "plain")), width)) if self._said else 0
        room = self.app.size.height * 96 // 100 - _CHROME - foot
        self._fixed = room - rows >= _LEAST
        kept = self.query_one("#apply-kept", Facts)
        kept.display = self._fixed and rows > 0
        kept.show_facts(self._promises if self._fixed else (), None)
        self._lines.styles.max_height = room - rows if self._fixed else max(3, room)

    def _ask(self) -> None:
        """Name everything, and ask."""
        found = self._intent
        if found is None:
            return
        actions = count(len(found.actions), "approved action", "approved actions")
        if not found.actions:
            self._phase = "choosing" if found.stale else "failed"
            title = f"Nothing can be applied: {stale_title(found)}"
        elif found.stale and not self._skip:
            self._phase = "choosing"
            title = stale_title(found)
        else:
            self._phase = "asking"
            title = f"Apply {actions}?"
        undo, exact = self._session.undo_command("last"), self._session.names_store
        promises = promise_lines(self._session.store.place.state, undo, exact=exact)
        self._show(
            lambda opened, below: intent_page(found, opened, below=below), title, list(promises)
        )
        them = "it" if len(found.stale) == 1 else "them"
        if self._phase == "choosing":
            if found.actions:
                self._say(f"s leaves {them} out and asks for the rest; esc stops.", True)
            else:
                self._say(f"s has you decide {them} again; esc goes back.", True)
            self._buttons("leave-out")
        else:
            self._buttons("do")

    # Keys

    def on_button_pressed(self, event: Button.Pressed) -> None:
        does = {
            "back": self.action_back,
            "leave-out": self.action_leave_out,
            "do": self.action_confirm,
            "undo": self.action_undo,
            "history": self.action_history,
        }
        does[event.button.id or "back"]()

    def action_back(self) -> None:
        """Close."""
        self.dismiss(Result(self._changed, self._undone, self._left_out))

    def action_history(self) -> None:
        """Close, and show the runs."""
        if self._phase in {"done", "failed"}:
            self.action_back()
            self.app.switch_mode("history")

    def action_side(self, step: int) -> None:
        """Open or fold what is marked; where nothing folds, the other button."""
        if self._lines.page.blocks:
            self._lines.action_fold(step > 0)
        elif step > 0:
            self.focus_next(Button)
        else:
            self.focus_previous(Button)

    def action_line(self, step: int) -> None:
        """Go on among what is named."""
        self._lines.action_line(step)

    def action_page(self, step: int) -> None:
        """Scroll what is named."""
        self._lines.action_page(step)

    def action_edge(self, end: int) -> None:
        """The top or the end of what is named."""
        self._lines.action_edge(end)

    # Weighing

    @work(thread=True)
    def _weigh(self, proposal: Proposal, *, again: bool = False) -> None:
        """Work out what would be done; `again` against the store as it is now."""
        try:
            if again:
                proposal = examine(self._session.store, proposal.saved)
            found = intent(proposal)
        except EngineError as error:
            self.app.call_from_thread(self._failed, error)
        else:
            self.app.call_from_thread(self._weighed, found)

    def _weighed(self, found: Intent) -> None:
        if not self.is_attached:
            return  # the person went back meanwhile
        self._intent = found
        self._proposal = found.proposal
        self._ask()

    def action_leave_out(self) -> None:
        """Leave out what is stale; after a conflict, look first what is."""
        found = self._intent
        if self._phase == "choosing" and found is not None:
            self._skip = True
            if found.actions:
                self._ask()
            else:
                self._left_out = found.stale
                self.action_back()
        elif self._phase == "failed" and self._conflict:
            self._phase, self._skip = "reading", False
            self._weigh(self._proposal, again=True)

    def renew(self, proposal: Proposal) -> None:
        """The store was read anew. What would change stays as it was read here, or is not done.

        A question that a person has read is never exchanged for another below their finger.
        """
        before, found = self._proposal, self._intent
        if not self.asks or found is None:
            return
        if is_same(before, proposal):
            self._proposal, self._intent = proposal, replace(found, proposal=proposal)
            return
        gone = before.approved - proposal.approved
        drifts = {d.path: d for i in gone for d in proposal.stale.get(i, ())}
        self._conflict, self._proposal = True, proposal
        lines = list(renewed_lines([*drifts.values()]))
        self._end("failed", "What you were asked has changed", lines)

    def fail(self, error: EngineError) -> None:
        """The plan or the store cannot be read any more."""
        if self.asks:
            self._failed(error)

    # Doing

    def action_confirm(self) -> None:
        """Apply, if it was not yet."""
        if self._phase == "choosing":
            self._say("Choose first: s leaves out what changed, esc stops.", True)
        if self._phase != "asking":
            return
        session, proposal = self._session, self._proposal
        self._phase = "reading"

        def does(on_step: OnStep) -> Applied:
            return apply(
                session.store,
                proposal,
                who=session.who,
                on_stale="skip" if self._skip else "stop",
                wait=WAIT,
                on_step=on_step,
            )

        self.app.push_screen(Working[Applied](session, "Applying …", does), self._ended)

    def _ended(self, done: Applied | EngineError | None) -> None:
        found = self._intent
        if isinstance(done, EngineError):
            self._failed(done)
        elif done is not None and found is not None:
            self._run, self._changed = done.run, bool(done.run)
            self._left_out = found.stale
            title = (
                f"Applied as run {run_number(done.run)}" if done.run else "Nothing had to change"
            )
            self._end("done", title, done_parts(done, found))

    def _failed(self, error: EngineError) -> None:
        if not self.is_attached:
            return
        self._conflict = isinstance(error, Conflict)
        lines = list(failure_lines(error, failure(error)))
        self._run = ""
        self._end("failed", "Nothing was changed" if error.unchanged else "It stopped", lines)

    def _end(self, phase: Phase, title: str, parts: Sequence[Part]) -> None:
        self._phase = phase
        recovered = self._session.told_recovered()
        told = [line((recovered, "warn")), line()] if recovered else []
        undo = line(
            ("Take it back: u, or ", "dim"), (self._session.undo_command(self._run), "bold")
        )
        self._show(
            lambda _, below: Page(Lines([*told, *parts, *([line()] if below else []), *below])),
            title,
            [undo] if self._run else [],
        )
        if self._run:
            self._buttons("undo", "history", safe="Close")
        else:
            again = ["leave-out"] if self._conflict and phase == "failed" else []
            self._buttons(*again, safe="Close")

    # Taking back

    def action_undo(self) -> None:
        """Take back what was done here, after a question that names the files."""
        if self._phase == "done" and self._run:
            ask_undo(self, self._session, self._run, self._say, then=self._taken_back)

    def _taken_back(self, found: Reversal, outcome: Outcome) -> None:
        self._changed = True
        actions = frozenset(action.number - 1 for action in found.taken_back)
        # Taking back an undo is applying again: then nothing of it is undone any more.
        self._undone = self._undone - actions if found.run.undoes else self._undone | actions
        self._run = outcome.run or self._run
        by = run_number(outcome.run)
        part = "in part " if found.partial else ""
        title = (
            f"Run {run_number(found.run.undoes)} is done again, as run {by}"
            if found.run.undoes
            else f"Run {found.run.seq} is {part}taken back, as run {by}"
        )
        self._end("done", title, list(done_lines(found)))
