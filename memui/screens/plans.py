"""The plans that wait for a store: opening another one, discarding one, bringing it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from engine.consolidation import examine
from engine.errors import EngineError
from engine.plans import OpenedPlan, bring_back, discard, waiting_plans
from engine.proposal import Proposal
from memui.presentation import Line, Run, column, count, line, runs, when
from memui.report.words import described
from memui.screens.dialogs import Confirm
from memui.screens.replanning import said_lines
from memui.screens.session import Session, failure
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.change_page import tally_counts, title
from memui.widgets.page_view import Page, PageTitle, PageView
from memui.widgets.row_list import RowList

_KEYS: Final = (
    ("enter", "open"), ("d", "discard"), ("u", "bring back"), ("j k", "move"),
    ("tab", "its actions"), ("esc", "back"),
)  # fmt: skip


class PlansScreen(Screen[OpenedPlan | None]):
    """Dismisses with the plan to open; None goes on with what the session says is open."""

    CSS_PATH = "../plans.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "discard", "Discard this plan"),
        Binding("u", "bring_back", "Bring back the plan that was discarded last"),
        Binding("escape,q,o", "back", "Back to the review"),
        Binding("tab", "swap", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._plans: tuple[OpenedPlan, ...] = ()
        self._proposals: dict[str, Proposal] = {}
        self._discarded: list[str] = []

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield RowList(id="plans-rows")
        yield PageTitle(id="plans-title")
        yield PageView(id="plans-page")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    @property
    def _rows(self) -> RowList:
        return self.query_one("#plans-rows", RowList)

    @property
    def chosen(self) -> OpenedPlan | None:
        """The plan under the cursor."""
        return self._plans[self._rows.cursor] if self._rows.cursor < len(self._plans) else None

    def on_mount(self) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._read()
        at = next((n for n, plan in enumerate(self._plans) if self._is_open(plan)), 0)
        self._draw(at)
        self._rows.focus()

    def _say(self, text: str, *, bad: bool = False) -> None:
        self.query_one("#notice", Notice).show(text, bad=bad)

    def _is_open(self, plan: OpenedPlan) -> bool:
        """Whether a plan is the one under review."""
        opened = self._session.opened
        return opened is not None and opened.file == plan.file and opened.name == plan.name

    # Reading

    def _read(self) -> None:
        """List the plans; how they stand follows, one by one."""
        opened = self._session.opened
        own = (opened,) if opened is not None and opened.file is not None else ()
        self._plans = (*own, *waiting_plans(self._session.store))
        self._examine(self._plans)

    @work(thread=True, exclusive=True)
    def _examine(self, plans: tuple[OpenedPlan, ...]) -> None:
        worker, store = get_current_worker(), self._session.store
        try:
            snapshot = store.snapshot()
            for plan in plans:
                proposal = examine(store, plan.saved, snapshot=snapshot)
                proposal.counts()
                if worker.is_cancelled:
                    return
                self.app.call_from_thread(self._examined, plan, proposal)
        except EngineError as error:
            if not worker.is_cancelled:
                self.app.call_from_thread(self._say, failure(error), bad=True)

    def _examined(self, plan: OpenedPlan, proposal: Proposal) -> None:
        self._proposals[_key(plan)] = proposal
        self._draw()

    # Showing

    def _draw(self, cursor: int | None = None) -> None:
        waits = count(len(self._plans), "plan waits", "plans wait")
        store = self._session.store
        self.query_one("#header", Header).show(store.name, "plans", waits)
        self._rows.show(len(self._plans), self._row, cursor)
        self._rows.styles.height = max(1, min(len(self._plans), self.app.size.height // 3))
        self._detail()

    def _row(self, index: int, cells: int) -> Line:
        plan = self._plans[index]
        proposal = self._proposals.get(_key(plan))
        stands = "…" if proposal is None else tally_counts(proposal.counts())
        roomy = cells >= 70
        made = when(plan.saved.time) if roomy else when(plan.saved.time)[5:]
        return Line(
            (
                Run("▸ " if self._is_open(plan) else "  ", "accent"),
                *runs(f"{plan.saved.id}  "),
                *runs(f"{made}  ", "dim"),
                *column(runs(plan.saved.planner, "dim"), 8),
                *runs(stands),
            )
        )

    def _detail(self) -> None:
        plan = self.chosen
        if plan is None:
            command = self._session.command("plan")
            self.query_one("#plans-title", PageTitle).show(title("No plan is waiting"), (), "", "")
            lines = [line(("Make one: ", "dim"), (command, "bold"), gutter=" ")]
        else:
            self.query_one("#plans-title", PageTitle).show(
                title(f"plan {plan.saved.id}"), (), "", ""
            )
            lines = list(plan_lines(plan, self._proposals.get(_key(plan))))
        self.query_one("#plans-page", PageView).show(Page(lines))

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._detail()

    def action_swap(self) -> None:
        """From the list to the actions, and back."""
        page = self.query_one("#plans-page", PageView)
        (self._rows if page.has_focus else page).focus()

    # Doing

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        plan = self.chosen
        if plan is not None:
            self.dismiss(None if self._is_open(plan) else plan)

    def action_back(self) -> None:
        """Back to the review."""
        self.dismiss(None)

    def action_discard(self) -> None:
        """Ask, then take the plan from those that wait."""
        plan = self.chosen
        if plan is None:
            return
        if plan.file is not None:
            self._say(f"{plan.file} is a file of your own; it is yours to delete.", bad=True)
            return
        if not self._session.store.place.writable:
            self._say("The store is read-only. Nothing was changed.", bad=True)
            return
        lines = list(discard_lines(plan, self._proposals.get(_key(plan))))

        def answered(yes: bool | None) -> None:
            if yes:
                self._discard(plan)

        self.app.push_screen(Confirm(f"Discard plan {plan.saved.id}?", lines, "Discard"), answered)

    def _discard(self, plan: OpenedPlan) -> None:
        was_open = self._is_open(plan)
        try:
            discard(self._session.store, plan)
        except EngineError as error:
            self._say(failure(error), bad=True)
            self._read()
            self._draw()
            return
        if was_open:
            self._session.opened = None
        self._discarded.append(plan.name)
        self._read()
        self._draw()
        self._say(f"Plan {plan.saved.id} is discarded. u brings it back.")

    def action_bring_back(self) -> None:
        """Let the plan that was discarded last wait again."""
        aside = sorted(self._session.store.plans_aside(), key=lambda each: each[1])
        name = self._discarded[-1] if self._discarded else aside[-1][0] if aside else None
        if name is None:
            self._say("No plan was discarded.", bad=True)
            return
        try:
            back = bring_back(self._session.store, name)
        except EngineError as error:
            self._say(failure(error), bad=True)
            return
        self._discarded = [each for each in self._discarded if each != name]
        self._read()
        self._draw(next((n for n, plan in enumerate(self._plans) if plan.name == name), 0))
        self._say(f"Plan {back.saved.id} waits again.")


def _key(plan: OpenedPlan) -> str:
    return f"{plan.file}\0{plan.name}\0{plan.seen}"


def plan_lines(plan: OpenedPlan, proposal: Proposal | None) -> Iterator[Line]:
    """One plan: who made it and when, what was said of the one before, its actions."""
    saved = plan.saved
    by = f"{saved.planner} ({saved.model})" if saved.model else saved.planner
    yield line(("made ", "dim"), (when(saved.time), "plain"), (" by ", "dim"), (by, "plain"))
    if plan.file is not None:
        yield line(("from your file ", "dim"), (plan.file, "plain"))
    if saved.replaces:
        yield line(("replaces plan ", "dim"), (saved.replaces, "plain"))
    if saved.feedback is not None and (saved.feedback.rejected or saved.feedback.words):
        yield line(("made after you said:", "dim"))
        yield from said_lines(saved.feedback)
    summary = " ".join(saved.plan.summary.split())
    if summary:
        yield line(("planner says: ", "dim"), (summary, "model"))
    yield line()
    if proposal is None:
        yield line(("reading …", "dim"))
        return
    for index in proposal.rows():
        stands = proposal.standing(index)
        said = str(proposal.verdict(index)) if stands == "open" else str(stands)
        verb = proposal.plan.actions[index].action
        yield line(
            (f"{index + 1:>3}  {verb:<7}", "bold"),
            (described(proposal, index), "plain"),
            (f"  {'to decide' if said == 'pending' else said}", "dim"),
        )


def discard_lines(plan: OpenedPlan, proposal: Proposal | None) -> Iterator[Line]:
    """What becomes of a plan that is discarded, and of what was said of it."""
    if proposal is not None:
        yield line((tally_counts(proposal.counts()), "plain"))
    if plan.saved.plan.summary:
        summary = " ".join(plan.saved.plan.summary.split())
        yield line(("planner says: ", "dim"), (summary, "model"))
    yield line()
    yield line(("It is not listed any more. Its file is kept: u brings it back.", "plain"))
    if proposal is not None and proposal.applied:
        yield line(("What was applied stays applied, and can be taken back as before.", "plain"))
    else:
        yield line(("No memory is changed.", "plain"))
