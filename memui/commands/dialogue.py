"""`memui review --plain`: the review as a dialogue of lines, for screen readers and pipes.

Every line says what it is about in words, never by place or colour alone; what the screen can do,
a word here can. Each verdict is on disk before the next line is read; the end of the input stops
as `quit` does, and never applies.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Final

from engine import decisions
from engine.blocks import count_blocks
from engine.consolidation import apply, examine, select
from engine.documents import decode
from engine.errors import Conflict, EngineError, Refused
from engine.plans import OpenedPlan, reopen, write_review
from engine.proposal import Standing
from engine.review import Review, Verdict
from engine.store import Store
from memui.commands import dialogue_pages as pages
from memui.commands import given, intent
from memui.commands.reports import say_rows
from memui.commands.verbs import is_text
from memui.context import Context
from memui.editor import edit_text, rescue
from memui.ending import EXIT_OK, UsageError
from memui.report.words import tally
from memui.spans import numbers

_HELP: Final = """\
To look:
  show, enter          this action in words
  diff, d              its changes, line by line, with the numbers of its blocks
  ledger, l            what it keeps, drops and says anew
  result, w            its files afterwards, whole
  agent, g             what the agent would see each turn
  list, s              all actions
  next, n              the next action
  previous, p          the one before
  7                    action 7
To decide:
  approve, a           approve this action as it is shown
  reject, r WHY        reject it; why may be left out
  block, b 2,3         leave blocks of its result, or take them again
  edit, e              edit its result in your editor
  edit FILE            its result is the text in FILE
  reset, x             undecided, and as it was planned
  lossless, A          approve every action that loses and adds nothing
  undo, u              take back the last step
To end:
  apply, P             apply what is approved; you are asked first
  again, .             read the plan and the files again
  quit, q              stop; every verdict is saved"""


class Dialogue:
    """One review by lines."""

    def __init__(self, context: Context, store: Store, opened: OpenedPlan) -> None:
        self._context = context
        self._console = context.console
        self._store = store
        self._opened = opened
        self._proposal = examine(store, opened.saved)
        self._past: list[tuple[Review, int]] = []
        self._at = self._first()
        self._plain: dict[str, Callable[[], None]] = {}
        self._with: dict[str, Callable[[str], None]] = {}
        for names, does in (
            ("show", self._show), ("diff d", self._diff), ("ledger l", self._ledger),
            ("result w", self._result), ("agent g", self._agent), ("list s", self._all),
            ("next n", self._next), ("previous p", self._previous), ("approve a", self._approve),
            ("reset x", self._reset), ("lossless A", self._lossless), ("undo u", self._undo),
            ("again .", self._again), ("apply P", self._apply), ("help h ?", self._help),
        ):  # fmt: skip
            self._plain.update(dict.fromkeys(names.split(), does))
        for names, takes in (
            ("reject r", self._reject), ("block b", self._block), ("edit e", self._edit),
        ):  # fmt: skip
            self._with.update(dict.fromkeys(names.split(), takes))

    def _first(self) -> int:
        rows = self._proposal.rows()
        return next((i for i in rows if self._waits(i)), rows[0] if rows else 0)

    def _waits(self, index: int) -> bool:
        return (
            self._proposal.standing(index) is Standing.OPEN
            and self._proposal.verdict(index) is Verdict.PENDING
        )

    def run(self) -> int:
        """Read lines until the end."""
        console = self._console
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")  # a line that is no text is no end
        console.say("Plan {} for {}: {}.", self._opened.saved.id, self._store.name, self._tally())
        if self._opened.saved.plan.summary:
            console.say("The planner says: {}", self._opened.saved.plan.summary)
        pages.say_plan(console, self._proposal)
        if not self._proposal.rows():
            console.say("The plan has nothing to do.")
            return EXIT_OK
        console.say("Each line that you type is one word; help lists them.")
        self._show()
        while True:
            said = console.line("review> ")
            if said is None or said.strip() in {"q", "quit"}:
                console.say("{}. Every verdict is saved.", self._tally())
                return EXIT_OK
            try:
                self._take(said.strip())
            except Conflict as conflict:
                for drift in conflict.drifts:
                    console.say("{} {}.", drift.path, drift.why)
                console.say("Nothing was changed. The word again reads everything anew.")
            except (EngineError, UsageError) as error:
                console.say("{} {}", str(error), error.hint)

    def _tally(self) -> str:
        return tally(self._proposal)

    def _take(self, said: str) -> None:
        """Do what a line says."""
        word, _, rest = said.partition(" ")
        if word in self._with:
            self._with[word](rest.strip())
        elif word.isascii() and word.isdigit() and not rest:
            self._go_to(int(word[:7]) - 1)
        elif (word or "show") in self._plain and not rest:
            self._plain[word or "show"]()
        else:
            self._console.say("{} is no word here. help lists them.", said)

    def _help(self) -> None:
        for line in _HELP.split("\n"):
            self._console.say("{}", line)

    # Looking

    def _show(self) -> None:
        pages.say_action(self._console, self._proposal, self._at)

    def _all(self) -> None:
        say_rows(self._context, self._proposal)

    def _diff(self) -> None:
        pages.say_diff(self._console, self._proposal, self._at)

    def _result(self) -> None:
        pages.say_result(self._console, self._proposal, self._at)

    def _ledger(self) -> None:
        pages.say_ledger(self._console, self._proposal, self._at)

    def _agent(self) -> None:
        pages.say_listing(self._console, self._proposal, self._at)

    def _again(self) -> None:
        opened = reopen(self._store, self._opened)
        if opened.seen != self._opened.seen:
            self._past.clear()  # steps back would take away what somebody else said
        self._opened = opened
        self._proposal = examine(self._store, opened.saved)
        if self._at not in self._proposal.rows():
            self._at = self._first()
        self._console.say("Read again: {}.", self._tally())
        self._show()

    # Moving

    def _next(self) -> None:
        self._go(1)

    def _previous(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        rows = self._proposal.rows()
        at = rows.index(self._at) + step
        if not 0 <= at < len(rows):
            where = "after" if step > 0 else "before"
            self._console.say("There is no action {} this one.", where)
            return
        self._at = rows[at]
        self._show()

    def _go_to(self, index: int) -> None:
        if not 0 <= index < len(self._proposal.plan.actions):
            self._console.say("There is no action {}.", index + 1)
            return
        self._at = self._proposal.owner(index)
        self._show()

    def _go_on(self) -> None:
        """To the next action that wants a verdict."""
        rows = self._proposal.rows()
        at = rows.index(self._at)
        waiting = [i for i in (*rows[at + 1 :], *rows[:at]) if self._waits(i)]
        if waiting:
            self._at = waiting[0]
            self._show()
        else:
            self._console.say("Everything is decided: {}. apply or quit ends.", self._tally())

    # Deciding

    def _write(self, review: Review) -> None:
        """Write the review; only then it holds. Raises `EngineError`."""
        saved = self._proposal.saved.reviewed(review)
        self._opened = write_review(self._store, self._opened, saved)
        self._proposal = self._proposal.reviewed(review)

    def _keep(self, review: Review) -> None:
        """Write a step that `undo` takes back."""
        before = self._proposal.saved.review
        self._write(review)
        self._past.append((before, self._at))

    def _decide(self, verdict: Verdict, reason: str = "") -> None:
        self._keep(decisions.verdict(self._proposal, self._at, verdict, reason))
        account = self._proposal.accounts.get(self._at)
        lost = len(account.dropped) if account and verdict is Verdict.APPROVED else 0
        said = f" {lost} {'statement' if lost == 1 else 'statements'} will be dropped." * bool(lost)
        self._console.say(
            "Action {} is {}.{} undo takes it back.", self._at + 1, str(verdict), said
        )
        self._go_on()

    def _approve(self) -> None:
        self._decide(Verdict.APPROVED)

    def _reject(self, reason: str) -> None:
        if not is_text(reason):
            raise Refused("The reason is not UTF-8.", hint="Nothing was changed.")
        self._decide(Verdict.REJECTED, reason)

    def _lossless(self) -> None:
        review, found = decisions.lossless(self._proposal)
        if not found:
            self._console.say("No undecided action is lossless. {}.", self._tally())
            return
        self._keep(review)
        names = ", ".join(str(index + 1) for index in found)
        self._console.say("Approved what is lossless: {}. {}.", names, self._tally())
        self._go_on()

    def _undo(self) -> None:
        review, at = self._past[-1] if self._past else decisions.last(self._proposal)
        self._write(review)
        del self._past[-1:]
        self._at = self._proposal.owner(at)
        self._console.say("Taken back.")
        self._show()

    # The result

    def _block(self, words: str) -> None:
        blocks = count_blocks(self._proposal.whole_changes[self._at])
        if not words and blocks:
            self._console.say("This action has {} blocks: say block and their numbers.", blocks)
            return
        review, proposal, taken = self._proposal.saved.review, self._proposal, dict[int, bool]()
        for number in sorted(numbers(words or "1")):
            review, taken[number] = decisions.block(proposal, self._at, number)
            proposal = proposal.reviewed(review)
        self._keep(review)
        for number, is_taken in taken.items():
            self._console.say("Block {} is {}.", number + 1, "taken" if is_taken else "left")
        self._show()

    def _edit(self, file: str) -> None:
        before = decisions.text(self._proposal, self._at).encode("utf-8", "surrogatepass")
        if file and file != "-":
            after = given.read(file)
        elif not self._console.is_terminal:
            raise Refused(
                "There is no terminal for an editor.", hint="Say edit FILE. Nothing was changed."
            )
        else:
            name = self._proposal.changes[self._at].target or "result.md"
            after = edit_text(before, name, self._console)
        text, encoding = decode(after)
        if encoding != "utf-8":
            raise Refused("The text is not UTF-8.", hint="Nothing was changed.")
        try:
            self._keep(decisions.edit(self._proposal, self._at, text))
        except EngineError:
            self._console.say("It was not saved. Your text is in {}.", rescue(after, "result.md"))
            raise
        self._console.say("Action {} has the text that you gave.", self._at + 1)
        self._show()

    def _reset(self) -> None:
        decisions.verdict(self._proposal, self._at, Verdict.PENDING)  # refuses what was applied
        self._keep(self._proposal.saved.review.edit(self._at, None))
        self._console.say("Action {} is to decide, as it was planned.", self._at + 1)
        self._show()

    # Applying

    def _apply(self) -> None:
        """Name everything, ask, and do it; then what is left can be gone on with."""
        proposal, console = self._proposal, self._console
        skip = bool(select(proposal).drifts)
        selection = select(proposal, skip=skip)
        if not selection.chosen and not selection.skipped:
            console.say("Nothing is approved, so nothing would be applied.")
            return
        intent.say(self._context, proposal, selection, bulk=False, dry=True)
        if not selection.chosen:
            console.say("Nothing else is approved. Nothing was changed.")
            return
        answer = console.line("Say yes to apply this: ")
        if answer is None or answer.strip() != "yes":
            console.say("Nothing was changed.")
            return
        holds = decisions.settled(proposal)
        done = apply(
            self._store,
            proposal,
            who=self._context.who,
            on_stale="skip" if skip else "stop",
            wait=self._context.wait,
        )
        self._context.tell_after(self._store, done.run)
        if holds is not None:
            self._write(holds)
        self._past.clear()
        if not done.run:
            console.say("Nothing had to change: the files are already so.")
        else:
            console.say("Applied as run {}.", self._store.called(done.run))
            for path in done.written:
                console.say("wrote {}", path)
            for path in done.deleted:
                console.say("removed {}", path)
            console.say("Undo: {}", self._context.undo_command(self._store, done.run))
        self._proposal = examine(self._store, self._opened.saved, self._proposal)
        console.say("{}.", self._tally())
