"""What a person can say of an action of a proposal, and the review that comes of it.

Each verb takes the proposal that was looked at and gives the next `Review`, or raises `Refused`
with the reason in words. Whoever writes it (`engine.plans.write_review`) shows it only then.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine import keeping
from engine.blocks import count_blocks
from engine.errors import Refused, run_number
from engine.ledger import Entry
from engine.plan import Merge, Update
from engine.proposal import Proposal, Standing
from engine.review import Review, Verdict


def verdict(proposal: Proposal, index: int, said: Verdict, reason: str = "") -> Review:
    """The verdict on an action (0-based) as it is shown now."""
    _may(proposal, index, said)
    review = proposal.saved.review
    return review.decide(index, said, seen=proposal.seen(index), reason=reason)


def lossless(proposal: Proposal) -> tuple[Review, tuple[int, ...]]:
    """Approve what is undecided and lossless: the review, and which actions (0-based)."""
    review, found = proposal.saved.review, tuple(sorted(proposal.lossless()))
    for index in found:
        review = review.decide(index, Verdict.APPROVED, seen=proposal.seen(index))
    return review, found


def last(proposal: Proposal) -> tuple[Review, int]:
    """Reopen what was decided last, among what was not applied since: the review, and which."""
    review = proposal.saved.review
    index = next((i for i in reversed(review.order) if i + 1 not in proposal.applied), None)
    if index is None:
        raise Refused("There is no verdict to take back.")
    return review.decide(index, Verdict.PENDING, seen=""), index


def block(proposal: Proposal, index: int, number: int) -> tuple[Review, bool]:
    """Leave a block (0-based) or take it again: the review, and whether it is taken now."""
    _waits(proposal, index)
    blocks = count_blocks(proposal.whole_changes[index])
    if not blocks:
        verb = proposal.plan.actions[index].action
        raise Refused(f"A {verb} has no blocks to take or leave: it is done whole, or not.")
    if not 0 <= number < blocks:
        raise Refused(f"This action has {blocks} {'block' if blocks == 1 else 'blocks'}.")
    taken = number in proposal.saved.review.decisions[index].left
    return proposal.saved.review.take(index, number, taken=taken), taken


def text(proposal: Proposal, index: int) -> str:
    """The result of an action as it would be written, for an editor."""
    _waits(proposal, index)
    action = proposal.plan.actions[index]
    if not isinstance(action, Merge | Update):
        raise Refused(f"A {action.action} has no text to edit.")
    return action.content


def edit(proposal: Proposal, index: int, content: str | None) -> Review:
    """Make a text the result of an action; the planner's own again with None, or if it is that."""
    text(proposal, index)
    original = proposal.saved.plan.actions[index]
    same = isinstance(original, Merge | Update) and original.content == content
    return proposal.saved.review.edit(index, None if same else content)


def keep(proposal: Proposal, index: int, entries: Iterable[Entry]) -> Review:
    """Add statements that an action drops to its result, each where it stood.

    Raises `Refused` at the first that has no place, and then none is added.
    """
    _waits(proposal, index)
    return edit(proposal, index, keeping.keep(proposal.changes[index], entries))


def settled(proposal: Proposal) -> Review | None:
    """The review without approvals that hold no more, as the rows show them; None if all hold."""
    review = proposal.saved.review
    for index in proposal.rows():
        approved = review.decisions[index].verdict is Verdict.APPROVED
        if approved and index not in proposal.approved and index + 1 not in proposal.applied:
            review = review.decide(index, Verdict.PENDING, seen="")
    return None if review is proposal.saved.review else review


def _waits(proposal: Proposal, index: int) -> None:
    """Raises `Refused` for an action that was applied."""
    run = proposal.applied.get(index + 1)
    if run is not None:
        raise Refused(f"Action {index + 1} is applied, in run {run_number(run)}.")


def _may(proposal: Proposal, index: int, said: Verdict) -> None:
    """Raises `Refused` where a verdict cannot be given."""
    _waits(proposal, index)
    if said is not Verdict.APPROVED:
        return
    standing = proposal.standing(index)
    if standing is Standing.INVALID:
        editable = isinstance(proposal.plan.actions[index], Merge | Update)
        raise Refused(
            f"Action {index + 1} breaks a rule and cannot be approved.",
            hint="Edit it, or reject it." if editable else "It can be rejected.",
        )
    if standing is Standing.STALE:
        path = proposal.stale[index][0].path
        raise Refused(
            f"{path} is not as the plan saw it, so this cannot be approved.", hint="Plan again."
        )
