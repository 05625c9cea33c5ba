"""Planning again: what is handed to the planner, the words of the person, and what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from engine.consolidation import examine
from engine.errors import Cancelled, EngineError
from engine.plan import Delete, Merge, Move, Update
from engine.planner import Planner
from engine.plans import OpenedPlan, keep_plan, reopen
from engine.proposal import Proposal
from engine.replanning import Again, feedback, plan_again, planner_of
from engine.review import Feedback, Verdict
from memui.presentation import Line, count, line, own
from memui.screens.dialogs import show_lines
from memui.screens.session import Session, failure
from memui.widgets.line_input import LineInput
from memui.widgets.page_view import PageView

Said = Callable[[str, bool], None]


@dataclass(frozen=True, slots=True)
class Planned:
    """A new plan that waits now. `carried` counts the actions whose verdicts were carried over."""

    opened: OpenedPlan
    carried: int

    @property
    def told(self) -> str:
        """What came of it, in one line."""
        saved = self.opened.saved
        over = ""
        if self.carried:
            over = (
                f" What you decided of {count(self.carried, 'action', 'actions')} is carried over."
            )
        return f"Plan {saved.id} is new.{over} Plan {saved.replaces} still waits: o shows both."


def ask_feedback(
    screen: Screen[None],
    session: Session,
    proposal: Proposal,
    said: Said,
    planned: Callable[[Planned | None], None],
) -> None:
    """Ask what to tell the planner, plan again, and hand on the new plan (None: there is none)."""
    if not session.store.place.writable:
        command = session.command("plan", "--again", proposal.saved.id, "-o", "FILE")
        said(f"The store is read-only: a new plan cannot wait in it. {command} writes it.", True)
        return
    try:
        planner = planner_of(proposal.saved)
    except EngineError as error:
        said(failure(error), True)
        return
    screen.app.push_screen(FeedbackDialog(session, proposal, planner), planned)


class FeedbackDialog(ModalScreen[Planned | None]):
    """Shows what is handed over and takes a line of words; enter plans again, esc goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        Binding("pagedown", "scroll(1)", show=False),
        Binding("pageup", "scroll(-1)", show=False),
    ]

    def __init__(self, session: Session, proposal: Proposal, planner: Planner) -> None:
        super().__init__()
        self._session = session
        self._proposal = proposal
        self._planner = planner
        self._left = threading.Event()
        self.phase: Literal["asking", "working", "over"] = "asking"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(own("Plan again?", "bold"), classes="dialog--title", id="again-title")
            yield PageView(classes="dialog--lines", id="again-lines")
            yield LineInput(placeholder="your words for the planner, if any", id="again-words")
            yield Static(own(""), classes="dialog--foot", id="again-foot")

    def on_mount(self) -> None:
        lines = list(handed_over(self._proposal, self._planner))
        self._show("Plan again?", lines, "enter plans again · esc goes back")
        self.query_one(LineInput).focus()

    def on_unmount(self) -> None:
        self._left.set()

    def _show(self, title: str, lines: Sequence[Line], foot: str) -> None:
        self.query_one("#again-title", Static).update(own(title, "bold"))
        show_lines(self.query_one("#again-lines", PageView), lines, 9)
        self.query_one("#again-foot", Static).update(own(foot, "$foreground-muted"))

    def action_back(self) -> None:
        """Close. What is being planned is left off, and nothing of it is kept."""
        self._left.set()
        self.dismiss(None)

    def action_scroll(self, step: int) -> None:
        """Scroll what is handed over."""
        self.query_one("#again-lines", PageView).action_page(step)

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Plan again, once."""
        if self.phase == "asking":
            self.phase = "working"
            event.input.display = False
            self._doing("reading the memories")
            self._plan(event.value)

    def _doing(self, words: str) -> None:
        if self.phase == "working":
            self._show("Planning again …", [line((f"{words} …", "dim"))], "esc cancels")

    @work(thread=True)
    def _plan(self, words: str) -> None:
        store = self._session.store

        def tell(doing: str) -> None:
            if self._left.is_set():
                raise Cancelled("Planning was left off. Nothing was kept.")
            self.app.call_from_thread(self._doing, doing)

        try:
            old = examine(store, reopen(store, self._session.opened).saved)
            made = plan_again(store, old, self._planner, words=words, tell=tell)
        except Cancelled:
            return
        except EngineError as error:
            if not self._left.is_set():
                self.app.call_from_thread(self._failed, error)
            return
        if not self._left.is_set():
            self.app.call_from_thread(self._came, made)

    def _came(self, made: Again | None) -> None:
        """Keep the plan, unless somebody left off in the last moment."""
        if self._left.is_set():
            return
        if made is None or made.result != "new":
            self._over("Nothing new", list(_nothing(made)))
            return
        try:
            opened = keep_plan(self._session.store, made.proposal.saved)
        except EngineError as error:
            self._failed(error)
            return
        self._left.set()
        self.dismiss(Planned(opened, made.carried))

    def _failed(self, error: EngineError) -> None:
        lines = [line((failure(error), "bad")), line()]
        self._over("No plan was made", [*lines, line(("The old plan stays as it is.", "plain"))])

    def _over(self, title: str, lines: Sequence[Line]) -> None:
        self.phase = "over"
        self._show(title, lines, "esc closes")


def handed_over(proposal: Proposal, planner: Planner) -> Iterator[Line]:
    """What the planner is told, what becomes of the verdicts, and what it does not understand."""
    told = feedback(proposal)
    if told.rejected:
        rejected = count(len(told.rejected), "rejected action", "rejected actions")
        yield line((f"The {planner.name} planner is told of {rejected}:", "plain"))
        yield from said_lines(told)
    else:
        yield line((f"Nothing is rejected that the {planner.name} planner could be told.", "plain"))
        yield from said_lines(told)
    yield line()
    if proposal.saved.planner != planner.name:
        yield line(("The plan came from a file; this planner takes it from there.", "warn"))
    if not planner.reads_words:
        what = "It leaves out what you rejected, but does not read words: they are only kept."
        yield line((what, "warn"))
    if any(proposal.verdict(i) is not Verdict.PENDING for i in proposal.rows()):
        over = "What you decided is carried over to every action that comes again unchanged."
        yield line((over, "dim"))
    yield line(("This plan stays until you discard it. No memory is changed.", "dim"))


def said_lines(told: Feedback) -> Iterator[Line]:
    """What a person said of earlier plans: what they rejected and why, and their words."""
    for each in told.rejected:
        why = f"  {' '.join(each.reason.split())}" if each.reason else ""
        yield line((spelled(each.action), "plain"), (why, "dim"), gutter=" ✗ ")
    for words in told.words:
        yield line(("you said: ", "dim"), (" ".join(words.split()), "plain"), gutter="   ")


def spelled(action: Merge | Update | Delete | Move) -> str:
    """An action in a few words, its paths as the planner spells them."""
    match action:
        case Merge():
            return f"merge {' + '.join(action.sources)} → {action.target}"
        case Move():
            return f"move {action.from_} → {action.to}"
        case _:
            return f"{action.action} {action.path}"


def _nothing(made: Again | None) -> Iterator[Line]:
    if made is None:
        yield line(("The store holds no memories: there is nothing to plan for.", "plain"))
    elif made.result == "same":
        yield line(("The planner proposes the same actions again.", "plain"))
    else:
        summary = " ".join(made.proposal.saved.plan.summary.split())
        yield line(("The planner has nothing to propose.", "plain"))
        yield line(("planner says: ", "dim"), (summary, "model"))
    yield line()
    yield line(("The old plan stays as it is.", "plain"))
