"""Review: each action as a diff with what it keeps and drops; nothing runs before apply."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, Final

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from engine import decisions
from engine.blocks import result_of
from engine.consolidation import examine, select
from engine.errors import Conflict, EngineError, NoPlan, Refused
from engine.ledger import Entry
from engine.plans import OpenedPlan, reopen, write_review
from engine.proposal import Proposal
from engine.review import Review, Verdict
from memui.presentation import count, line
from memui.screens.apply_dialog import ApplyDialog, Result
from memui.screens.dialogs import Asked, Confirm
from memui.screens.keep_dialog import KeepDialog
from memui.screens.live import Live, Woken, applying
from memui.screens.plans import PlansScreen
from memui.screens.replanning import Planned, ask_feedback
from memui.screens.result_editing import Desk, edit_here, edit_outside
from memui.screens.session import Session, failure
from memui.widgets.action_list import ActionList, ApplyRow
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.change_page import no_plan_page, tally_counts, words_page
from memui.widgets.diff_view import gain_and_loss, sections, size_of
from memui.widgets.review_panes import ReviewPanes

PASTE_SECONDS: Final = 0.05
"""After a paste no key gives a verdict for this long: pasted text is data."""
_KEYS: Final = (
    ("a", "approve"), ("r", "reject"), ("] [", "block"), ("space", "leave"), ("e", "edit"),
    ("t", "view"), ("u", "undo"), ("P", "apply"), ("?", "help"), ("A", "all lossless"),
    ("J", "next"), ("+ -", "context"), ("R", "reject, why"), ("l", "ledger"), ("i", "keep"),
    ("v", "versions"), ("f", "plan again"), ("o", "other plans"), ("1", "browse"), ("q", "quit"),
)  # fmt: skip
_KEYS_WITHOUT: Final = (
    (".", "look again"), ("o", "plans"), ("1", "browse"), ("3", "history"), ("q", "quit"),
)  # fmt: skip


class ReviewScreen(Screen[None]):
    """One plan under review. Every verdict is written before it is shown."""

    CSS_PATH = "../review.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "approve", "Approve"),
        Binding("r", "reject", "Reject"),
        Binding("R", "reject_because", "Reject with a reason"),
        Binding("u", "take_back", "Take back the last verdict, block or edit"),
        Binding("e", "edit", "Edit the result"),
        Binding("E", "edit_outside", "Edit the result in $EDITOR"),
        Binding("A", "approve_lossless", "Approve all that is lossless"),
        Binding("P", "apply", "Apply what is approved"),
        Binding("t", "view(1)", "Diff, side by side, prose, result, ledger, agent"),
        Binding("T", "view(-1)", show=False),
        Binding("space", "take_or_leave", "Leave the block, or take it again"),
        Binding("plus,equals_sign", "context(1)", "More unchanged lines around the changes"),
        Binding("minus", "context(-1)", "Fewer unchanged lines around the changes"),
        Binding("l", "ledger", "Ledger"),
        Binding("i", "keep", "Keep a statement that is dropped"),
        Binding("v", "version", "Versions: what is compared with what"),
        Binding("right_square_bracket", "block(1)", show=False),
        Binding("left_square_bracket", "block(-1)", show=False),
        Binding("J", "undecided(1)", show=False),
        Binding("K", "undecided(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("f", "feedback", "Feedback, and plan again"),
        Binding("o", "plans", "Other plans that wait"),
        Binding("full_stop", "rescan", "Rescan"),
        Binding("escape", "leave", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.proposal: Proposal | None = None
        self._past: list[tuple[Review, int]] = []
        self._order: tuple[int, ...] = ()
        self._pasted = float("-inf")
        self._writes = 0
        self._said_at: int | None = None
        self._covered = False
        self._live = Live(session)

    @property
    def opened(self) -> OpenedPlan | None:
        """The plan under review, as it was last read or written."""
        return self._session.opened

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield ReviewPanes(id="review")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._header("reading …")

    def on_screen_suspend(self) -> None:
        self._covered = self in self.app.screen_stack  # by a dialog: another mode has its own stack
        if not self._covered:
            self._panes.stop()
            self._live.stop()

    def on_screen_resume(self) -> None:
        if self._session.watches:
            self._live.start(self)
        if not self._covered:
            self.action_rescan()
        self._covered = False

    def on_unmount(self) -> None:
        self._live.stop()

    def on_woken(self, _event: Woken) -> None:
        """Read anew what changed on disk; while a run is at work that is its own doing."""
        dialog = applying(self.app)
        if dialog is None or dialog.asks:
            self._live.woken()
            self._read()

    def on_paste(self, _event: events.Paste) -> None:
        self._pasted = monotonic()

    # Reading

    def action_rescan(self) -> None:
        """Open the plan again and hold it against the store as it is now."""
        self._read()

    @work(thread=True, exclusive=True, group="read")
    def _read(self) -> None:
        store, writes = self._session.store, self._writes
        # A large plan is some million objects: to look through them for garbage again and again
        # would hold the first row and every key up for half a second.
        gc.unfreeze()
        gc.disable()
        try:
            opened = reopen(store, self._session.opened)
            proposal = examine(store, opened.saved, self.proposal)
            order = tuple(sorted(proposal.rows(), key=lambda i: (*proposal.risk(i), i)))
        except EngineError as error:
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show_nothing, error)
            return
        finally:
            gc.enable()
        gc.freeze()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._was_read, opened, proposal, order, writes)
            self._measure(proposal, order)

    def _measure(self, proposal: Proposal, order: tuple[int, ...]) -> None:
        """Count the lines of every action, the small ones first, and show them at once."""
        worker = get_current_worker()
        amounts: dict[int, tuple[int, int]] = {}
        by_size = sorted(order, key=lambda index: size_of(proposal.changes[index]))
        for index in by_size:
            if worker.is_cancelled:
                return
            change = proposal.changes[index]
            amounts[index] = gain_and_loss(change, sections(change))
        self.app.call_from_thread(self._panes.show_amounts, amounts)

    def _was_read(
        self,
        opened: OpenedPlan,
        proposal: Proposal,
        order: tuple[int, ...],
        writes: int,
    ) -> None:
        if writes != self._writes:
            self._read()  # a verdict was given meanwhile: what was read lacks it
            return
        dialog = applying(self.app)
        if dialog is not None and not dialog.asks:
            return  # a run is at work, or was: all is read when the dialog closes
        note = self._live.take_note(self.proposal, proposal, self.opened, opened)
        if self.opened is None or opened.seen != self.opened.seen:
            self._past.clear()  # somebody else gave verdicts: steps back would take theirs away
        self._session.opened = opened
        self.proposal, self._order = proposal, order
        self.query_one("#keys", KeyBar).show(_KEYS if order else _KEYS_WITHOUT)
        self._show()
        if note.text:
            self._say(note.text, bad=note.bad)
        if dialog is not None:
            dialog.renew(proposal)

    # Showing

    @property
    def _panes(self) -> ReviewPanes:
        return self.query_one("#review", ReviewPanes)

    def _header(self, right: str) -> None:
        store, opened = self._session.store, self.opened
        where = self._session.where() if opened is None else f"plan {opened.saved.id}"
        self.query_one("#header", Header).show(store.name, where, right)

    def _show(self) -> None:
        """Show everything as it stands now."""
        proposal = self.proposal
        if proposal is None:
            return
        self._header(tally_counts(proposal.counts()))
        self._panes.show(proposal, self._order)

    def _show_nothing(self, error: EngineError) -> None:
        """There is no plan, or it cannot be read."""
        dialog = applying(self.app)
        if dialog is not None:
            dialog.fail(error)
        self.proposal, self._order = None, ()
        self.query_one("#keys", KeyBar).show(_KEYS_WITHOUT)
        if isinstance(error, NoPlan):
            self._session.opened = None
            self._header("no plan")
            self._panes.show_words(
                "No plan is waiting", no_plan_page(self._session.command("plan"))
            )
        else:
            self._header("not read")
            self._panes.show_words("The plan was not read", words_page(failure(error)))

    def _say(self, text: str, *, bad: bool = False) -> None:
        """Say what just happened, until the cursor goes elsewhere."""
        self._said_at = self._panes.cursor
        self.query_one("#notice", Notice).show(text, bad=bad)

    def _say_how(self, text: str, bad: bool) -> None:
        self._say(text, bad=bad)

    # Moving

    def on_action_list_moved(self, event: ActionList.Moved) -> None:
        if event.index != self._said_at:
            self.query_one("#notice", Notice).clear_notice()

    def on_apply_row_chosen(self, _event: ApplyRow.Chosen) -> None:
        self.action_apply()

    def action_view(self, step: int) -> None:
        """The next view: diff, side by side where there is room, prose, result, ledger, agent."""
        self._panes.turn(step)

    def action_context(self, step: int) -> None:
        """More or fewer unchanged lines around the changes."""
        if self._panes.more(step):
            self._say(f"{self._panes.context.capitalize()} around each change.")
        else:
            self._say("There are no more to show." if step > 0 else "There are no fewer to show.")

    def action_ledger(self) -> None:
        """The ledger, or back to the diff."""
        self._panes.ledger()

    def action_version(self) -> None:
        """The next pair of states that can be compared: the planner's and yours, then and now."""
        said = self._panes.turn_version()
        if said:
            self._say(said)

    def action_block(self, step: int) -> None:
        """The next or the previous block of changes."""
        if not self._panes.jump(step):
            self._say("There is no further block.")

    def action_page(self, step: int) -> None:
        """Scroll what the action shows."""
        self._panes.scroll_page(step)

    def action_undecided(self, step: int) -> None:
        """The next or the previous action that wants a verdict."""
        self._panes.go_on(step)

    def action_leave(self) -> None:
        """Back to the list, then to the memories."""
        if not self._panes.back():
            self.app.switch_mode("browse")

    # Other plans

    def action_feedback(self) -> None:
        """Hand what was rejected, and words, to the planner; open the plan that it makes."""

        def planned(made: Planned | None) -> None:
            if made is not None:
                self._switch(made.opened, made.told)

        if self.proposal is None:
            self._say("There is no plan here to plan again from.", bad=True)
        elif not self._is_paste():
            ask_feedback(self, self._session, self.proposal, self._say_how, planned)

    def action_plans(self) -> None:
        """The plans that wait for this store."""

        def chosen(opened: OpenedPlan | None) -> None:
            if opened is None:
                self.action_rescan()
            else:
                self._switch(opened, "")

        self.app.push_screen(PlansScreen(self._session), chosen)

    def _switch(self, opened: OpenedPlan, said: str) -> None:
        """Review another plan from its beginning."""
        self._session.opened = opened
        self._past.clear()
        self.proposal, self._order = None, ()
        self._panes.show_words(f"Plan {opened.saved.id}", words_page("reading …"))
        self._live.say(said)
        self.action_rescan()

    # Deciding

    def _is_paste(self) -> bool:
        return monotonic() - self._pasted < PASTE_SECONDS

    def _keep(self, review: Review, at: int | None = None) -> bool:
        """Write the review, then show it; False if it could not be written.

        `at` is the action that a step back returns to, None for what is no step of a person.
        """
        proposal, opened = self.proposal, self.opened
        if proposal is None or opened is None:
            return False
        try:
            self._session.opened = write_review(
                self._session.store, opened, proposal.saved.reviewed(review)
            )
        except Conflict as conflict:
            self._ask_reload(conflict)
            return False
        except EngineError as error:
            self._say(f"It was not saved. {failure(error)}", bad=True)
            return False
        self._writes += 1
        if at is not None:
            self._past.append((proposal.saved.review, at))
        self.proposal = proposal.reviewed(review)
        self._show()
        return True

    def _ask_reload(self, conflict: Conflict) -> None:
        lines = [
            *(line((drift.path, "bold"), (f" {drift.why}.", "plain")) for drift in conflict.drifts),
            line(("Somebody else gave verdicts, or the plan was taken away.", "plain")),
            line(("What you pressed last was not saved; everything before is.", "plain")),
            line(),
            line(("Load it again, and go on from what it says now?", "plain")),
        ]

        def answered(yes: bool | None) -> None:
            if yes:
                self.action_rescan()

        self.app.push_screen(Confirm("This plan changed meanwhile", lines, "Load"), answered)

    def _decide(self, verdict: Verdict, reason: str = "") -> None:
        proposal, index = self.proposal, self._panes.chosen
        if proposal is None or index is None:
            return
        again = proposal.verdict(index) is verdict and not reason
        wanted = Verdict.PENDING if again else verdict
        try:
            review = decisions.verdict(proposal, index, wanted, reason)
        except Refused as refused:
            self._say(failure(refused), bad=True)
            return
        if not self._keep(review, index):
            return
        if not again:
            self._panes.go_on(1)
        self._say(self._said(index, wanted))

    def _said(self, index: int, verdict: Verdict) -> str:
        """What a verdict means, in one line."""
        if verdict is Verdict.PENDING:
            return f"Action {index + 1} is to decide again."
        said = f"Action {index + 1} is {verdict}."
        account = self.proposal.accounts.get(index) if self.proposal is not None else None
        if verdict is Verdict.APPROVED and account is not None and account.dropped:
            said += f" {count(len(account.dropped), 'statement', 'statements')} will be dropped."
        return f"{said} u takes it back."

    def action_approve(self) -> None:
        """Approve the action as it is shown, or take that back."""
        if not self._is_paste():
            self._decide(Verdict.APPROVED)

    def action_reject(self) -> None:
        """Reject the action, or take that back."""
        if not self._is_paste():
            self._decide(Verdict.REJECTED)

    def action_reject_because(self) -> None:
        """Reject the action and say why."""
        index = self._panes.chosen
        if self.proposal is None or index is None or self._is_paste():
            return

        def answered(reason: str | None) -> None:
            if reason is not None:
                self._decide(Verdict.REJECTED, reason.strip())

        question = f"Why reject action {index + 1}?"
        self.app.push_screen(Asked(question, "enter rejects · esc goes back"), answered)

    def action_take_back(self) -> None:
        """Take back the last step; after a restart, the verdict that was given last."""
        proposal = self.proposal
        if proposal is None or self._is_paste():
            return
        try:
            review, at = self._past[-1] if self._past else decisions.last(proposal)
        except Refused as refused:
            self._say(failure(refused), bad=True)
            return
        if self._keep(review):
            del self._past[-1:]
            self._panes.put(proposal.owner(at))
            self._say(f"Taken back: action {at + 1} is {self._stands(at)}.")

    def _stands(self, index: int) -> str:
        """How an action stands, in words."""
        said = self.proposal.verdict(index) if self.proposal is not None else Verdict.PENDING
        return "to decide again" if said is Verdict.PENDING else str(said)

    def action_approve_lossless(self) -> None:
        """Approve what drops, adds and rewords nothing; say how many need a look."""
        proposal = self.proposal
        if proposal is None or self._is_paste():
            return
        review, found = decisions.lossless(proposal)
        left = proposal.counts().undecided - len(found)
        rest = f" {count(left, 'action needs', 'actions need')} a look." if left else ""
        if not found:
            self._say(f"Nothing that is to decide is lossless.{rest}", bad=True)
        elif self._keep(review, found[0]):
            said = count(len(found), "lossless action", "lossless actions")
            self._say(f"Approved {said}.{rest}")

    def action_take_or_leave(self) -> None:
        """Leave the block under the cursor out of the result, or take it again."""
        proposal, index = self.proposal, self._panes.chosen
        if proposal is None or index is None or self._is_paste():
            return
        place, result = self._panes.place, result_of(proposal.whole_changes[index])
        if place is None and result is not None:
            self._say(
                "Blocks are left and taken in the diff; t turns the views, v turns the versions.",
                bad=True,
            )
            return
        if place is not None and result is not None and place.path != result.path:
            self._say(f"{place.path} goes whole, or not at all: r rejects the action.", bad=True)
            return
        try:
            review, taken = decisions.block(proposal, index, place.block if place else 0)
        except Refused as refused:
            self._say(failure(refused), bad=True)
            return
        if not self._keep(review, index) or place is None:
            return
        said = (
            f"Block {place.block + 1} is {'taken again' if taken else 'left as the file has it'}."
        )
        problems = self.proposal.violations(index) if self.proposal is not None else ()
        if problems:
            broken = count(len(problems), "rule", "rules")
            self._say(f"{said} The result breaks {broken} like this.", bad=True)
        else:
            self._say(f"{said} The action wants a verdict; u takes this back.")

    def action_keep(self) -> None:
        """Keep a statement that the action drops: at once if it is one, else ask which."""
        proposal, index = self.proposal, self._panes.chosen
        if proposal is None or index is None or self._is_paste():
            return
        account = proposal.accounts.get(index)
        dropped = account.dropped if account is not None else ()
        if not dropped:
            self._say("This action drops nothing.")
        elif len(dropped) == 1 or result_of(proposal.changes[index]) is None:
            self._add(index, dropped)
        else:
            dialog = KeepDialog(f"Which of these is action {index + 1} to keep?", dropped)
            self.app.push_screen(dialog, lambda chosen: self._add(index, chosen or ()))

    def _add(self, index: int, entries: Sequence[Entry]) -> None:
        """Add statements to the result of an action."""
        if self.proposal is None or not entries:
            return
        try:
            review = decisions.keep(self.proposal, index, entries)
        except Refused as refused:
            self._say(failure(refused), bad=True)
            return
        if self._keep(review, index):
            number = count(len(entries), "statement is", "statements are")
            self._say(f"{number} added to the result. The action wants a verdict; u undoes this.")

    # Editing

    def action_edit(self) -> None:
        """Edit the result of a merge or an update here."""
        self._edit(edit_here)

    def action_edit_outside(self) -> None:
        """Edit the result of a merge or an update in the person's editor."""
        self._edit(edit_outside)

    def _edit(self, edit: Callable[[Desk, int], None]) -> None:
        index = self._panes.chosen
        if self.proposal is None or index is None or self._is_paste():
            return
        said = self.query_one("#notice", Notice)
        desk = Desk(
            self, self._session, lambda: self.proposal, self._keep, self._say, lambda: said.said
        )
        edit(desk, index)

    # Applying

    def action_apply(self) -> None:
        """Ask, naming everything; the dialog applies what is approved."""
        proposal = self.proposal
        if proposal is None or self._is_paste():
            return
        if not proposal.approved and not select(proposal).drifts:
            self._say("Nothing is approved.", bad=True)
            return
        if not self._session.store.place.writable:
            self._say("The store is read-only: nothing can be applied.", bad=True)
            return
        self.app.push_screen(ApplyDialog(self._session, proposal), self._applied)

    def _applied(self, result: Result | None) -> None:
        proposal = self.proposal
        if result is None or proposal is None:
            return
        self._past.clear()  # what was applied is not taken back by a step here
        if result.undone or result.left_out:
            review = proposal.saved.review
            for index in sorted(result.undone | result.left_out):
                review = review.decide(proposal.owner(index), Verdict.PENDING, seen="")
            self._keep(review)
        if result.changed:
            self.query_one("#notice", Notice).clear_notice()
        else:
            self._say("Nothing was changed.")
        self.action_rescan()
