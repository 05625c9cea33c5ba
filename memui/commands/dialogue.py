"""`memui review --plain`: the review as a dialogue of lines, for screen readers and pipes.

Every line says what it is about in words, never by place or colour alone; what the screen can do,
a word here can. Each verdict is on disk before the next line is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine import decisions
from engine.blocks import count_blocks
from engine.consolidation import apply, examine, select
from engine.documents import decode
from engine.errors import EngineError, run_number
from engine.ledger import Entry
from engine.plans import OpenedPlan, write_review
from engine.proposal import Standing
from engine.review import Review, Verdict
from engine.store import Store
from memui.commands.reports import say_rows
from memui.context import Context
from memui.editor import edit_text
from memui.ending import EXIT_OK
from memui.report.words import Gap, becomes, described, diffs, listings, shown_rows, stands, tally

_HELP: Final = """\
a            approve this action        r [WHY]      reject it, and say why
n  p         next, previous             N            a number goes to that action
d            its diff                   f            its result, whole
l            what it keeps and drops    b N          take or leave block N of its result
e            edit its result            o            back to the planner's result
s            all actions                v            what the agent will see
A            approve all lossless ones  u            take back the last verdict
P            apply what is approved     q            quit; every verdict is saved"""
_SIGNS: Final = {"same": "  ", "removed": "- ", "added": "+ "}


class Dialogue:
    """One review by lines."""

    def __init__(self, context: Context, store: Store, opened: OpenedPlan) -> None:
        self._context = context
        self._console = context.console
        self._store = store
        self._opened = opened
        self._proposal = examine(store, opened.saved)
        self._at = self._first()

    def _first(self) -> int:
        rows = self._proposal.rows()
        open_ = [i for i in rows if self._waits(i)]
        return (open_ or list(rows) or [0])[0]

    def _waits(self, index: int) -> bool:
        return (
            self._proposal.standing(index) is Standing.OPEN
            and self._proposal.verdict(index) is Verdict.PENDING
        )

    def run(self) -> int:
        """Read lines until the end."""
        console = self._console
        console.say("Plan {} for {}: {}.", self._opened.saved.id, self._store.name, self._tally())
        if self._opened.saved.plan.summary:
            console.say("The planner says: {}", self._opened.saved.plan.summary)
        if not self._proposal.rows():
            console.say("The plan has nothing to do.")
            return EXIT_OK
        console.say("A line is one word; ? lists them.")
        self._show()
        while True:
            said = console.line("review> ")
            if said is None or said.strip() in {"q", "quit"}:
                console.say("{}. Every verdict is saved.", self._tally())
                return EXIT_OK
            try:
                if self._take(said.strip()):
                    return EXIT_OK
            except EngineError as error:
                console.say("{} {}", str(error), error.hint)

    def _tally(self) -> str:
        return tally(self._proposal)

    def _take(self, said: str) -> bool:
        """Do what a line says; whether that ends the dialogue."""
        word, _, rest = said.partition(" ")
        plain: dict[str, Callable[[], object]] = {
            "": self._show, "a": self._approve, "n": lambda: self._go(1),
            "p": lambda: self._go(-1), "d": self._diff, "f": self._result, "l": self._ledger,
            "e": self._edit, "o": lambda: self._keep_edit(None), "s": self._all,
            "v": self._agent, "A": self._lossless, "u": self._take_back,
            "?": self._help, "h": self._help,
        }  # fmt: skip
        if word == "P":
            return self._apply()
        if word == "r":
            self._reject(rest.strip())
        elif word == "b":
            self._block(rest.strip())
        elif word.isdigit():
            self._go_to(int(word) - 1)
        elif word in plain and not rest:
            plain[word]()
        else:
            self._console.say("{} is no word here. ? lists them.", said)
        return False

    def _help(self) -> None:
        for line in _HELP.split("\n"):
            self._console.say("{}", line)

    # Looking

    def _show(self) -> None:
        """The action one is at, in words."""
        proposal, index = self._proposal, self._at
        action = proposal.plan.actions[index]
        flags = "".join(f", {flag}" for flag in proposal.flags(index))
        self._console.say(
            "Action {} of {}: {} {} ({}{}).",
            index + 1,
            len(proposal.plan.actions),
            action.action,
            described(proposal, index),
            stands(proposal, index),
            flags,
        )
        if action.reason:
            self._console.say("The planner says: {}", action.reason)
        for found in proposal.violations(index):
            self._console.say("Breaks a rule: {} [{}]", found.message, found.code)
        for drift in proposal.stale.get(index, ()):
            self._console.say("Changed on disk: {} {}", drift.path, drift.why)

    def _all(self) -> None:
        say_rows(self._context, self._proposal)

    def _diff(self) -> None:
        index, left = self._at, set(self._proposal.saved.review.decisions[self._at].left)
        for edit, diff in diffs(self._proposal, index):
            self._console.say("{}: {}", edit.path, becomes(edit, diff))
            for note in diff.ends:
                self._console.say("! {}", note)
            for row in shown_rows(diff):
                if isinstance(row, Gap):
                    self._console.say("  ({} unchanged lines)", row.lines)
                else:
                    self._console.say("{}{}", _SIGNS[row.kind], row.text)
        blocks = count_blocks(self._proposal.whole_changes[index])
        if blocks:
            said = ", ".join(str(n + 1) for n in sorted(left)) or "none"
            self._console.say("Blocks of the whole result: {}; left: {}.", blocks, said)

    def _result(self) -> None:
        for edit in self._proposal.changes[self._at].edits:
            if edit.after is None:
                self._console.say("{} vanishes.", edit.path)
            else:
                self._console.say("{}:", edit.path)
                for line in decode(edit.after)[0].rstrip("\n").split("\n"):
                    self._console.say("  {}", line)

    def _ledger(self) -> None:
        account = self._proposal.accounts.get(self._at)
        if account is None:
            self._console.say("It is applied already.")
            return
        self._console.say(
            "Kept {}, reworded {}, moved {}, dropped {}, new {}.",
            account.kept,
            account.reworded,
            account.moved,
            len(account.dropped),
            len(account.new),
        )
        for entry in (*account.dropped, *account.new):
            self._entry(entry)
        if account.needs:
            needed = ", ".join(str(need + 1) for need in account.needs)
            self._console.say("It needs action {}: without it more is dropped.", needed)

    def _entry(self, entry: Entry) -> None:
        flags = f" [{', '.join(entry.flags)}]" if entry.flags else ""
        if entry.source is not None:
            where = f"{entry.source.path} line {entry.source.line}"
            self._console.say("Dropped, {}: {}{}", where, entry.source.text, flags)
        elif entry.result is not None:
            self._console.say("New: {}{}", entry.result.text, flags)

    def _agent(self) -> None:
        now, then = listings(self._proposal)
        self._console.say(
            "The agent's listing costs about {} tokens a turn now, {} with what is approved.",
            now.tokens,
            then.tokens,
        )
        before = now.by_path()
        for path, line in then.by_path().items():
            if line != before.get(path):
                flags = f" [{', '.join(line.flags)}]" if line.flags else ""
                self._console.say("+ {}{}", line.text.removeprefix("- "), flags)
        for path in before.keys() - then.by_path().keys():
            self._console.say("- {}", before[path].text.removeprefix("- "))

    # Moving

    def _go(self, step: int) -> None:
        rows = self._proposal.rows()
        at = rows.index(self._at) + step
        if not 0 <= at < len(rows):
            self._console.say("There is no further action. P applies, q quits.")
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
            self._console.say("Everything is decided: {}. P applies, q quits.", self._tally())

    # Deciding

    def _keep(self, review: Review) -> None:
        """Write the review; only then it holds. Raises `EngineError`."""
        self._opened = write_review(
            self._store, self._opened, self._proposal.saved.reviewed(review)
        )
        self._proposal = self._proposal.reviewed(review)

    def _decide(self, verdict: Verdict, reason: str = "") -> None:
        review = decisions.verdict(self._proposal, self._at, verdict, reason)
        self._keep(review)
        account = self._proposal.accounts.get(self._at)
        lost = len(account.dropped) if account and verdict is Verdict.APPROVED else 0
        said = f" {lost} {'statement' if lost == 1 else 'statements'} will be dropped." * bool(lost)
        self._console.say("Action {} is {}.{}", self._at + 1, str(verdict), said)
        self._go_on()

    def _approve(self) -> None:
        self._decide(Verdict.APPROVED)

    def _reject(self, reason: str) -> None:
        self._decide(Verdict.REJECTED, reason)

    def _lossless(self) -> None:
        review, found = decisions.lossless(self._proposal)
        if found:
            self._keep(review)
        self._console.say("Approved {} lossless actions. {}.", len(found), self._tally())

    def _take_back(self) -> None:
        review, index = decisions.last(self._proposal)
        self._keep(review)
        self._at = self._proposal.owner(index)
        self._console.say("Action {} is to decide again.", index + 1)

    # The result

    def _block(self, word: str) -> None:
        blocks = count_blocks(self._proposal.whole_changes[self._at])
        if not word.isdigit() or not 1 <= int(word) <= blocks:
            self._console.say("This action has {} blocks; say b and one of them.", blocks)
            return
        review, taken = decisions.block(self._proposal, self._at, int(word) - 1)
        self._keep(review)
        self._console.say("Block {} is {}.", word, "taken" if taken else "left")
        self._show()

    def _edit(self) -> None:
        before = decisions.text(self._proposal, self._at).encode("utf-8", "surrogatepass")
        name = self._proposal.changes[self._at].target or "result.md"
        after = edit_text(before, name, self._console)
        text, encoding = decode(after)
        if encoding != "utf-8":
            self._console.say("What you wrote is not UTF-8. Nothing was changed.")
            return
        self._keep_edit(text)

    def _keep_edit(self, text: str | None) -> None:
        self._keep(decisions.edit(self._proposal, self._at, text))
        self._show()

    # Applying

    def _apply(self) -> bool:
        """Name everything, ask, and do it; whether it was done."""
        proposal, selection = self._proposal, select(self._proposal)
        if not proposal.approved and not selection.drifts:
            self._console.say("Nothing is approved.")
            return False
        skip = bool(selection.drifts)
        selection = select(proposal, skip=skip)
        for skipped in selection.skipped:
            self._console.say("Action {} is left out: {}.", skipped.action + 1, skipped.why)
        if not selection.chosen:
            self._console.say("Nothing else is approved. Nothing was changed.")
            return False
        for index in sorted(i for i in selection.chosen if proposal.owner(i) == i):
            self._console.say(
                "{} {}", proposal.plan.actions[index].action, described(proposal, index)
            )
            for edit in proposal.changes[index].edits:
                does = "written" if edit.after is not None else "vanishes"
                self._console.say("  {} {}", edit.path, does)
        accounts = proposal.account_if(selection.chosen)
        lost = sum(len(accounts[i].dropped) for i in selection.chosen if i in accounts)
        self._console.say("{} statements will be dropped.", lost)
        answer = self._console.line("Say yes to apply this: ")
        if answer is None or answer.strip() != "yes":
            self._console.say("Nothing was changed.")
            return False
        holds = decisions.settled(proposal)
        done = apply(
            self._store,
            proposal,
            who=self._context.who,
            on_stale="skip" if skip else "stop",
            wait=self._context.wait,
        )
        self._context.tell_after(self._store, done.run)
        for path in done.written:
            self._console.say("wrote {}", path)
        for path in done.deleted:
            self._console.say("removed {}", path)
        if done.run:
            self._console.say("Applied as run {}.", run_number(done.run))
            self._console.say("Undo: {}", self._context.undo_command(self._store, done.run))
        else:
            self._console.say("The files already are what the plan makes of them.")
        if holds is not None:
            self._keep(holds)
        return True
