"""What a report says of a proposal, apart from how it is marked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.changes import Edit
from engine.diff import Diff, Row, compare, hunks
from engine.errors import run_number
from engine.injected import Injected, injected
from engine.plan import Move
from engine.proposal import Proposal, Standing


@dataclass(frozen=True, slots=True)
class Gap:
    """Unchanged lines that are not shown."""

    lines: int


def shown_rows(diff: Diff) -> Iterator[Row | Gap]:
    """The rows of a diff with their context; what is left out is counted."""
    last = 0
    for hunk in hunks(diff):
        if hunk.skipped:
            yield Gap(hunk.skipped)
        yield from diff.rows[hunk.rows.start : hunk.rows.stop]
        last = hunk.rows.stop
    if len(diff.rows) > last:
        yield Gap(len(diff.rows) - last)


def diffs(proposal: Proposal, index: int) -> Iterator[tuple[Edit, Diff]]:
    """Every file of an action with its diff; of a move its new path alone."""
    change = proposal.changes[index]
    for edit in change.edits:
        if isinstance(change.action, Move):
            if edit.after is not None:
                yield edit, compare(edit.after, edit.after)
        else:
            yield edit, compare(edit.before, edit.after)


def becomes(edit: Edit, diff: Diff) -> str:
    """What an edit does to its file."""
    if edit.after is None:
        return f"vanishes, −{diff.removed}"
    return f"new, +{diff.added}" if edit.before is None else f"+{diff.added} −{diff.removed}"


def stands(proposal: Proposal, index: int) -> str:
    """How an action stands: its verdict, or why it has none."""
    standing = proposal.standing(index)
    if standing is Standing.APPLIED:
        return f"applied in run {run_number(proposal.applied[index + 1])}"
    if standing is not Standing.OPEN:
        return str(standing)
    return str(proposal.verdict(index))


def tally(proposal: Proposal) -> str:
    """How the plan stands, in one line."""
    counts = proposal.counts()
    said = [f"{counts.total} {'action' if counts.total == 1 else 'actions'}"]
    for number, word in (
        (counts.undecided, "to decide"),
        (counts.approved, "approved"),
        (counts.rejected, "rejected"),
        (counts.applied, "applied"),
        (counts.invalid, "invalid"),
        (counts.stale, "changed on disk"),
    ):
        if number:
            said.append(f"{number} {word}")
    return ", ".join(said)


def listings(proposal: Proposal) -> tuple[Injected, Injected]:
    """What the agent sees each turn, now and if exactly what is approved were applied."""
    return injected(proposal.snapshot), injected(proposal.after())


def described(proposal: Proposal, index: int) -> str:
    """What an action does to which paths, as one text."""
    action = proposal.plan.actions[index]
    if action.action == "merge":
        target = proposal.changes[index].target or action.target
        return f"{' + '.join(action.sources)} → {target}"
    if action.action == "move":
        return f"{action.from_} → {proposal.changes[index].target or action.to}"
    return action.path
