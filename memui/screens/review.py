"""Review: each action as a diff with what it keeps and drops; nothing runs before apply."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from engine.consolidation import Applied, apply, examine
from engine.documents import decode
from engine.errors import Conflict, EngineError, NoPlan
from engine.plan import Merge, Update
from engine.plans import open_plan, write_review
from engine.proposal import Proposal, Standing
from engine.review import Review, Verdict, fingerprint
from memui.editor import edit_text, rescue
from memui.presentation import Line, count, line, own
from memui.presentation.review import (
    action_row,
    apply_lines,
    apply_row,
    diff_lines,
    ledger_line,
    ledger_lines,
    order,
    reason_lines,
    whole_lines,
)
from memui.screens.dialogs import Asked, Confirm, Told
from memui.screens.session import Session, failure
from memui.screens.undoing import ask_undo
from memui.widgets.bars import Header, KeyBar, Notice
from memui.widgets.row_list import RowList
from memui.widgets.text_view import TextView

_KEYS = (
    ("a", "approve"), ("r", "reject"), ("u", "take back"), ("e", "edit"), ("P", "apply"),
    ("l", "ledger"), ("t", "view"), ("] [", "blocks"), ("J K", "undecided"), ("A", "all lossless"),
    ("?", "help"), ("1", "browse"),
)  # fmt: skip
_VIEWS: Final = ("diff", "result", "ledger")
PASTE_SECONDS: Final = 0.05
"""After a paste no key gives a verdict for this long: pasted text is data."""


class ReviewScreen(Screen[None]):
    """One plan under review."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "approve", "Approve"),
        Binding("r", "reject", "Reject"),
        Binding("R", "reject_because", "Reject with a reason"),
        Binding("u", "take_back", "Take back the last verdict"),
        Binding("e,E", "edit", "Edit the result in $EDITOR"),
        Binding("A", "approve_lossless", "Approve all that is lossless"),
        Binding("P", "apply", "Apply what is approved"),
        Binding("t", "view", "Diff, result, ledger"),
        Binding("l", "ledger", "Ledger"),
        Binding("right_square_bracket", "block(1)", show=False),
        Binding("left_square_bracket", "block(-1)", show=False),
        Binding("J", "undecided(1)", show=False),
        Binding("K", "undecided(-1)", show=False),
        Binding("space", "page(1)", show=False),
        Binding("full_stop", "reload", "Rescan"),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.proposal: Proposal | None = None
        self._order: tuple[int, ...] = ()
        self._view = "diff"
        self._pasted = 0.0
        self._applying = False

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Container(id="panes", classes="review"):
            yield RowList(id="rows")
            with Vertical(id="detail"):
                yield Static(id="reason")
                yield TextView(id="text")
            yield TextView(id="rail")
        yield Static(id="ledger")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self.query_one("#rows", RowList).focus()

    def on_screen_resume(self) -> None:
        self.action_reload()

    def on_paste(self, _event: events.Paste) -> None:
        self._pasted = time.monotonic()

    # Showing

    def action_reload(self) -> None:
        """Open the plan again and look at the store as it is now."""
        session = self._session
        try:
            if session.opened is None:
                session.opened = open_plan(session.store, None)
            elif session.opened.file is not None:
                session.opened = open_plan(session.store, session.opened.file)
            elif session.opened.seen is not None:
                session.opened = open_plan(session.store, session.opened.saved.id)
            self.proposal = examine(session.store, session.opened.saved)
        except NoPlan as error:
            self._show_empty(str(error))
            return
        except EngineError as error:
            self._show_empty(failure(error))
            return
        self._order = order(self.proposal)
        self._show(self.query_one("#rows", RowList).cursor)

    def _show_empty(self, why: str) -> None:
        self.proposal = None
        self._order = ()
        self._session.opened = None
        self.query_one("#header", Header).show(
            self._session.store.name, self._session.where(), "no plan"
        )
        self.query_one("#rows", RowList).show([])
        self.query_one("#reason", Static).update(own(""))
        self.query_one("#ledger", Static).update(own(""))
        self.query_one("#rail", TextView).show([])
        self.query_one("#text", TextView).show(
            [
                line((why, "title")),
                line(("", "plain")),
                line(("A plan proposes what to merge, update, delete and move.", "plain")),
                line(("Make one:  memui plan", "plain")),
                line(("Nothing changes before you approve it here and press P.", "dim")),
            ]
        )

    def _show(self, cursor: int) -> None:
        proposal = self.proposal
        if proposal is None:
            return
        counts = proposal.counts()
        parts = [f"{counts.undecided} to decide", f"{counts.approved} approved"]
        for number, word in (
            (counts.rejected, "rejected"),
            (counts.applied, "applied"),
            (counts.stale, "changed on disk"),
            (counts.invalid, "invalid"),
        ):
            if number:
                parts.append(f"{number} {word}")
        self.query_one("#header", Header).show(
            self._session.store.name, f"plan {proposal.saved.id}", " · ".join(parts)
        )
        rows = [action_row(proposal, index) for index in self._order]
        self.query_one("#rows", RowList).show([*rows, apply_row(proposal)], cursor)
        self._show_action()

    def _chosen(self) -> int | None:
        at = self.query_one("#rows", RowList).cursor
        return self._order[at] if at < len(self._order) else None

    def _show_action(self, *, top: bool = True) -> None:
        proposal = self.proposal
        if proposal is None:
            return
        index = self._chosen()
        reason, ledger = self.query_one("#reason", Static), self.query_one("#ledger", Static)
        view, rail = self.query_one("#text", TextView), self.query_one("#rail", TextView)
        if index is None:
            reason.update(own(""))
            ledger.update(own(""))
            rail.show([])
            view.show(self._finish_lines(proposal))
            return
        shown = reason_lines(proposal, index)[:3]
        reason.update(_static(shown))
        ledger.update(_static([ledger_line(proposal.accounts.get(index))]))
        make = {"diff": diff_lines, "result": whole_lines, "ledger": ledger_lines}[self._view]
        lines, places = make(proposal, index)
        view.show(lines, places, top=top)
        rail.show(ledger_lines(proposal, index)[0])

    def _finish_lines(self, proposal: Proposal) -> list[Line]:
        if not proposal.changes:
            return [
                line(("The plan has nothing to do.", "title")),
                line((proposal.saved.plan.summary, "plain")),
            ]
        if proposal.approved:
            head = line(("Press Enter or P to apply; you are asked once more.", "title"))
            return [head, line(("", "plain")), *apply_lines(proposal)]
        counts = proposal.counts()
        if counts.applied and not counts.undecided:
            return [line(("Everything that was approved is applied.", "title"))]
        return [
            line(("Nothing is approved yet.", "title")),
            line(("a approves the action under the cursor, r rejects it.", "dim")),
            line(("A approves everything that loses nothing.", "dim")),
        ]

    def on_row_list_moved(self, _event: RowList.Moved) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._show_action()

    def on_row_list_chosen(self, _event: RowList.Chosen) -> None:
        if self._chosen() is None:
            self.action_apply()
        else:
            self.query_one("#text", TextView).focus()

    def action_view(self) -> None:
        """The next of diff, whole result and ledger."""
        self._view = _VIEWS[(_VIEWS.index(self._view) + 1) % len(_VIEWS)]
        self.query_one("#notice", Notice).show(f"view: {self._view}")
        self._show_action()

    def action_ledger(self) -> None:
        """The ledger, or back to the diff."""
        self._view = "diff" if self._view == "ledger" else "ledger"
        self._show_action()

    def action_block(self, step: int) -> None:
        """The next or the previous block of changes."""
        self.query_one("#text", TextView).jump(step)

    def action_page(self, step: int) -> None:
        """Scroll what the action shows."""
        self.query_one("#text", TextView).action_page(step)

    def action_undecided(self, step: int) -> None:
        """The next or the previous action that wants a verdict."""
        proposal, rows = self.proposal, self.query_one("#rows", RowList)
        if proposal is None:
            return
        at = rows.cursor + step
        while 0 <= at < len(self._order):
            index = self._order[at]
            undecided = proposal.verdict(index) is Verdict.PENDING
            if proposal.standing(index) is Standing.OPEN and undecided:
                rows.put(at)
                return
            at += step
        if step > 0:
            rows.put(len(self._order))

    # Deciding

    def _is_paste(self) -> bool:
        return time.monotonic() - self._pasted < PASTE_SECONDS

    def _keep(self, review: Review, said: str, *, move: bool = False) -> None:
        """Write the review at once, then show it."""
        session, proposal = self._session, self.proposal
        if proposal is None or session.opened is None:
            return
        saved = proposal.saved.reviewed(review)
        try:
            if session.store.place.writable or session.opened.file is not None:
                session.opened = write_review(session.store, session.opened, saved)
        except Conflict as error:
            self.action_reload()
            self._say(failure(error), bad=True)
            return
        except EngineError as error:
            self._say(f"The verdict is not kept: {failure(error)}", bad=True)
            return
        self.proposal = proposal.reviewed(review)
        cursor = self.query_one("#rows", RowList).cursor
        self._show(cursor)
        if move:
            self.action_undecided(1)
        self._say(said)

    def _decide(self, verdict: Verdict, reason: str = "") -> None:
        proposal, index = self.proposal, self._chosen()
        if proposal is None or index is None or self._is_paste():
            return
        standing = proposal.standing(index)
        if standing is Standing.APPLIED:
            self._say(f"Action {index + 1} is applied already.", bad=True)
            return
        if verdict is Verdict.APPROVED and standing is Standing.INVALID:
            self._say("It breaks a rule and cannot be approved; e edits its result.", bad=True)
            return
        if verdict is Verdict.APPROVED and standing is Standing.STALE:
            self._say("Its files changed since the plan was made: plan again.", bad=True)
            return
        review = proposal.saved.review.decide(
            index, verdict, seen=fingerprint(proposal.changes[index]), reason=reason
        )
        self._keep(review, f"Action {index + 1} is {verdict}. u takes it back.", move=True)

    def action_approve(self) -> None:
        """Approve the action as it is shown."""
        self._decide(Verdict.APPROVED)

    def action_reject(self) -> None:
        """Reject the action."""
        self._decide(Verdict.REJECTED)

    def action_reject_because(self) -> None:
        """Reject the action and say why."""
        if self._chosen() is None or self._is_paste():
            return

        def answered(reason: str | None) -> None:
            if reason is not None:
                self._decide(Verdict.REJECTED, reason)

        self.app.push_screen(Asked("Why not?", "enter rejects · esc goes back"), answered)

    def action_take_back(self) -> None:
        """Reopen the action that was decided last."""
        proposal = self.proposal
        if proposal is None or self._is_paste():
            return
        review, index = proposal.saved.review.take_back()
        if index is None:
            self._say("There is no verdict to take back.", bad=True)
            return
        self._keep(review, f"Action {index + 1} is undecided again.")
        row = proposal.owner(index)
        if row in self._order:
            self.query_one("#rows", RowList).put(self._order.index(row))
            self._say(f"Action {index + 1} is undecided again.")

    def action_approve_lossless(self) -> None:
        """Approve what drops, adds and rewords nothing; say how many need a look."""
        proposal = self.proposal
        if proposal is None or self._is_paste():
            return
        found = sorted(proposal.lossless())
        review = proposal.saved.review
        for index in found:
            seen = fingerprint(proposal.changes[index])
            review = review.decide(index, Verdict.APPROVED, seen=seen)
        left = proposal.counts().undecided - len(found)
        rest = f"{count(left, 'action needs', 'actions need')} a look." if left else ""
        if not found:
            self._say(f"No undecided action is lossless. {rest}".strip(), bad=True)
            return
        said = count(len(found), "lossless action is approved", "lossless actions are approved")
        self._keep(review, f"{said}. {rest}".strip())

    def action_edit(self) -> None:
        """Edit the result of a merge or an update in the person's editor."""
        proposal, index = self.proposal, self._chosen()
        if proposal is None or index is None:
            return
        action = proposal.plan.actions[index]
        if proposal.standing(index) is Standing.APPLIED:
            self._say(f"Action {index + 1} is applied already.", bad=True)
            return
        if not isinstance(action, Merge | Update):
            self._say(f"A {action.action} has no text to edit.", bad=True)
            return
        before = action.content.encode("utf-8", "surrogatepass")
        name = proposal.changes[index].target or "result.md"
        try:
            with self.app.suspend():
                after = edit_text(before, name, _Terminal())
        except EngineError as error:
            self._say(failure(error), bad=True)
            return
        if after == before:
            self._say("Nothing was changed.")
            return
        text, encoding = decode(after)
        if encoding != "utf-8":
            self._say(f"The result is not UTF-8; it is kept in {rescue(after, name)}", bad=True)
            return
        original = proposal.saved.plan.actions[index]
        same = isinstance(original, Merge | Update) and original.content == text
        review = proposal.saved.review.edit(index, None if same else text)
        self._keep(review, f"Action {index + 1} is edited, and wants a verdict.")
        if self.proposal is not None:
            problems = self.proposal.violations(index)
            if problems:
                said = "; ".join(problem.message for problem in problems)
                self._say(f"Edited, but it breaks a rule: {said}", bad=True)

    # Applying

    def action_apply(self) -> None:
        """Ask, naming everything; then apply what is approved."""
        proposal = self.proposal
        if proposal is None or self._applying or self._is_paste():
            return
        if not proposal.approved:
            self._say("Nothing is approved.", bad=True)
            return
        if not self._session.store.place.writable:
            self._say("The store is read-only: nothing can be applied.", bad=True)
            return
        number = sum(proposal.owner(i) == i for i in proposal.approved)
        title = f"Apply {count(number, 'action', 'actions')}?"

        def answered(yes: bool | None) -> None:
            if yes:
                self._applying = True
                self._say("Checking, keeping, writing, recording ...")
                self._apply(proposal)
            else:
                self._say("Nothing was changed.")

        self.app.push_screen(Confirm(title, apply_lines(proposal), "Apply"), answered)

    @work(thread=True, exclusive=True, group="apply")
    def _apply(self, proposal: Proposal) -> None:
        try:
            done = apply(
                self._session.store,
                proposal,
                who=self._session.who,
                decided_by="person",
                on_stale="skip",
                wait=5.0,
            )
        except EngineError as error:
            self.app.call_from_thread(self._failed, failure(error))
            return
        self.app.call_from_thread(self._applied, done)

    def _failed(self, why: str) -> None:
        self._applying = False
        self.action_reload()
        self._say(f"Nothing was changed. {why}", bad=True)

    def _applied(self, done: Applied) -> None:
        self._applying = False
        recovered = self._session.told_recovered()
        self.action_reload()
        if not done.run:
            self._say("Nothing had to change.")
            return
        lines = [line((recovered, "warn"))] if recovered else []
        for word, paint, paths in (
            ("wrote   ", "good", done.written),
            ("removed ", "bad", done.deleted),
        ):
            lines += [line((word, paint), (path, "plain")) for path in paths]
        for skipped in done.skipped:
            why = f"skipped action {skipped.action + 1}: "
            lines.append(line((why, "warn"), (skipped.why, "plain")))
        if self.proposal is not None and (rejected := self.proposal.counts().rejected):
            lines.append(line((f"{count(rejected, 'action', 'actions')} rejected", "dim")))
        lines += [
            line(("", "plain")),
            line(("checked · kept · written · recorded", "dim")),
            line(("Undo: ", "dim"), (self._session.undo_command(done.run), "bold")),
        ]
        if done.changelog == "pending":
            lines.append(line(("The changelog is written at the next run.", "warn")))

        def closed(answer: str | None) -> None:
            if answer == "u":
                ask_undo(self, self._session, done.run, self._said)  # type: ignore[arg-type]

        title = f"Applied as run {done.run}"
        self.app.push_screen(Told(title, lines, "enter goes on · u takes it back"), closed)

    def _said(self, text: str, bad: bool) -> None:
        self.action_reload()
        self._say(text, bad=bad)

    def _say(self, text: str, *, bad: bool = False) -> None:
        self.query_one("#notice", Notice).show(text, bad=bad)


class _Terminal:
    """Asks on the suspended terminal."""

    def ask(self, question: str) -> str:
        """The person's answer."""
        return input(question)


_STATIC = {
    "dim": "$foreground-muted", "bad": "$text-error", "warn": "$text-warning", "good": "$text-success",
    "accent": "$text-accent", "title": "bold", "bold": "bold", "mark": "bold reverse $warning",
}  # fmt: skip


def _static(lines: list[Line]) -> Content:
    """Painted lines as one content, for places that are too small for a view."""
    parts: list[Content] = []
    for number, painted in enumerate(lines):
        if number:
            parts.append(Content("\n"))
        parts.extend(Content.styled(run.text, _STATIC.get(run.paint, "")) for run in painted.runs)
    return Content.assemble(*parts)
