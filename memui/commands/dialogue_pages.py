"""What a review by lines says of an action: each line is understood without the one beside it."""

from __future__ import annotations

from engine.blocks import count_blocks
from engine.documents import decode
from engine.ledger import Fate
from engine.proposal import Proposal, Standing
from memui.console import Console
from memui.report.words import (
    Gap,
    Head,
    actions,
    becomes,
    described,
    diffs,
    ledger,
    listings,
    obstacles,
    of_the_plan,
    shown_rows,
    stands,
)


def say_plan(console: Console, proposal: Proposal) -> None:
    """What is said of the plan as a whole."""
    for text in of_the_plan(proposal):
        console.say("{}", text)


def say_action(console: Console, proposal: Proposal, index: int) -> None:
    """One action in words."""
    action, decision = proposal.plan.actions[index], proposal.saved.review.decisions[index]
    flags = "".join(f", {flag}" for flag in proposal.flags(index))
    console.say(
        "Action {} of {}: {} {} ({}{}).",
        index + 1,
        len(proposal.plan.actions),
        action.action,
        described(proposal, index),
        stands(proposal, index),
        flags,
    )
    if decision.reason:
        console.say("You said: {}", decision.reason)
    if action.reason:
        console.say("The planner says: {}", action.reason)
    for text in obstacles(proposal, index):
        console.say("{}", text)


def say_diff(console: Console, proposal: Proposal, index: int) -> None:
    """Every file of an action, its changed lines and the numbers of its blocks."""
    found = list(diffs(proposal, index))
    for shown in found:
        console.say("{}: {}.", shown.edit.path, becomes(shown))
        for note in shown.diff.ends:
            console.say("{}", note)
        for row in shown_rows(shown):
            if isinstance(row, Gap):
                console.say("{} unchanged", _count(row.lines))
            elif isinstance(row, Head):
                console.say("{}:", row.text)
            else:
                console.say("{}: {}", str(row.kind), row.text)
    if not found:
        console.say("{}", without_edits(proposal, index))
    blocks = count_blocks(proposal.whole_changes[index])
    if blocks:
        left = sorted(proposal.saved.review.decisions[index].left)
        said = ", ".join(str(n + 1) for n in left) or "none"
        console.say("Blocks: {}; left: {}.", blocks, said)


def without_edits(proposal: Proposal, index: int) -> str:
    """Why an action has nothing to show."""
    if proposal.standing(index) in {Standing.INVALID, Standing.STALE}:
        return "What it would change cannot be worked out: a file is missing."
    return "It changes nothing: the files are already so."


def say_result(console: Console, proposal: Proposal, index: int) -> None:
    """The files of an action as they would be, whole."""
    change = proposal.changes[index]
    for edit in change.edits:
        if edit.after is None:
            console.say("{} vanishes.", edit.path)
        else:
            console.say("{}, {}:", edit.path, _lines(edit.after))
            _say_text(console, edit.after)
    if not change.edits:
        console.say("{}", without_edits(proposal, index))
        return
    gone = {edit.path for edit in change.edits}
    for path in change.reads:
        if path not in gone and path in proposal.snapshot:
            data = proposal.snapshot.files[path]
            console.say("{} stays as it is, {}:", path, _lines(data))
            _say_text(console, data)


def _say_text(console: Console, data: bytes) -> None:
    for line in _text(data):
        console.say("  {}", line)


def _text(data: bytes) -> list[str]:
    return decode(data)[0].rstrip("\n").split("\n")


def say_ledger(console: Console, proposal: Proposal, index: int) -> None:
    """What an action drops, says anew, rewords and moves."""
    account = proposal.accounts.get(index)
    if account is None:
        console.say("It is applied already.")
        return
    console.say(
        "Kept {}, reworded {}, moved {}, dropped {}, new {}{}.",
        account.kept,
        account.reworded,
        account.moved,
        len(account.dropped),
        len(account.new),
        ": it is lossless" if account.lossless else "",
    )
    for told in ledger(account):
        path, _, line = told.where.rpartition(":")
        where = f"{path} line {line}"
        if told.fate in {Fate.REWORDED, Fate.MOVED}:
            console.say("{}, {}: {}", str(told.fate).capitalize(), where, told.text)
            console.say("  {} {}", "to" if told.fate is Fate.MOVED else "now:", told.becomes)
        else:
            console.say("{}, {}: {}", str(told.fate).capitalize(), where, told.text)
            if told.becomes:
                console.say("  in its place: {}", told.becomes)
        if told.more:
            console.say("  beware: {}", told.more)
    if account.needs:
        needed = actions(account.needs)
        console.say("It needs {}: without it more is dropped.", needed)


def say_listing(console: Console, proposal: Proposal, index: int) -> None:
    """What the agent sees each turn, and what is approved and this action make of it."""
    now, then = listings(proposal, index)
    console.say(
        "The agent's listing costs about {} tokens a turn now, {} with what is approved{}.",
        now.tokens,
        then.tokens,
        "" if index in proposal.approved else " and this action",
    )
    before, after = now.by_path(), then.by_path()
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and old.text == new.text:
            continue
        if old is not None:
            console.say("gone: {}", old.text.removeprefix("- "))
        if new is not None:
            flags = f" [{', '.join(new.flags)}]" if new.flags else ""
            console.say("new: {}{}", new.text.removeprefix("- "), flags)


def _lines(data: bytes) -> str:
    return _count(len(_text(data)))


def _count(number: int) -> str:
    return f"{number} line" if number == 1 else f"{number} lines"
