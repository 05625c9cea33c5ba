"""What an apply would run, and what it leaves out: said once, for before it and while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import Conflict, Drift
from engine.proposal import Proposal
from engine.review import Verdict


@dataclass(frozen=True, slots=True)
class Skipped:
    """An approved action (0-based) that was not applied, and why, as a clause."""

    action: int
    why: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What an apply runs: actions (0-based) with the deletes folded into them, and what it skips.

    `drifts` are the files of approved actions that are not as they were approved.
    """

    chosen: frozenset[int]
    skipped: tuple[Skipped, ...] = ()
    drifts: tuple[Drift, ...] = ()

    @property
    def conflict(self) -> Conflict:
        """Why nothing runs, where what is stale stops the apply."""
        return Conflict(self.drifts, hint="Plan again, or apply the rest with --on-stale skip.")


def select(proposal: Proposal, *, skip: bool = False, bulk: bool = False) -> Selection:
    """What `apply` would run. Pure: front ends show it before they ask.

    With `skip` what needs an action that is skipped is skipped too; with `bulk` (verdicts that were
    not given one by one) so is what needs any other action that does not run.
    """
    review = proposal.saved.review
    wanted = [
        i
        for i in proposal.rows()
        if review.decisions[i].verdict is Verdict.APPROVED
        and i + 1 not in proposal.applied
        and not proposal.reopened(i)
    ]
    stale = {i: proposal.stale[i] for i in wanted if i in proposal.stale}
    changed = [i for i in wanted if i not in proposal.approved and i not in stale]
    drifts = {d.path: d for found in stale.values() for d in found}
    for index in changed:
        for path in proposal.changes[index].paths or ("",):
            drifts.setdefault(path, Drift(path, "is not what was approved"))
    skipped = [Skipped(i, _why(stale[i])) for i in stale]
    skipped += [Skipped(i, "is not what was approved") for i in changed]
    chosen = frozenset(proposal.approved)
    if bulk or skip:
        chosen, unmet = _with_needs_met(proposal, chosen)
        skipped += unmet
    return Selection(chosen, tuple(sorted(skipped, key=_by_action)), tuple(drifts.values()))


def is_same(before: Proposal, after: Proposal) -> bool:
    """Whether what an apply would run, drop and leave out is the same after a store was read anew.

    Only then an answer to the question that was asked before may stand.
    """
    return (
        before.approved == after.approved
        and select(before) == select(after)
        and all(
            before.seen(i) == after.seen(i)
            and before.accounts[i].entries == after.accounts[i].entries
            for i in before.approved
        )
    )


def _by_action(skipped: Skipped) -> int:
    return skipped.action


def _why(drifts: Sequence[Drift]) -> str:
    return "; ".join(f"{drift.path} {drift.why}" for drift in drifts)


def _with_needs_met(
    proposal: Proposal, chosen: frozenset[int]
) -> tuple[frozenset[int], list[Skipped]]:
    """Leave out what needs an action that does not run, until nothing does."""
    skipped: list[Skipped] = []
    while True:
        accounts = proposal.account_if(chosen)
        unmet = {
            i: missing
            for i in chosen
            if proposal.owner(i) == i
            and (missing := [n for n in accounts[i].needs if n not in chosen])
        }
        if not unmet:
            return chosen, skipped
        for index, missing in unmet.items():
            names = ", ".join(str(n + 1) for n in sorted(missing))
            skipped.append(Skipped(index, f"needs action {names}, which does not run"))
        chosen = frozenset(i for i in chosen if i not in unmet and proposal.owner(i) not in unmet)
