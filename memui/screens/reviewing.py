"""What the review screen works out without drawing: which plan, which verdicts are allowed."""

from __future__ import annotations

from dataclasses import replace

from engine.documents import digest
from engine.errors import NoPlan
from engine.plan import Merge, Update
from engine.plans import OpenedPlan, open_plan
from engine.proposal import Proposal, Standing
from engine.review import Review, Verdict, parse_saved_plan
from engine.store import Store


def reopen(store: Store, opened: OpenedPlan | None) -> OpenedPlan:
    """A plan as it lies on disk now. Raises `NoPlan` if none waits, or it was taken away."""
    if opened is None:
        return open_plan(store, None)
    if opened.file is not None:
        return open_plan(store, opened.file)
    if opened.seen is None:
        return opened
    data = store.load_plan(opened.name)
    if data is None:
        raise NoPlan("The plan is not in the state folder any more.")
    return replace(opened, saved=parse_saved_plan(data), seen=digest(data))


def refused(proposal: Proposal, index: int, verdict: Verdict) -> str:
    """Why a verdict cannot be given; empty if it can."""
    standing = proposal.standing(index)
    if standing is Standing.APPLIED:
        return f"Action {index + 1} is applied, in run {proposal.applied[index + 1]}."
    if verdict is not Verdict.APPROVED:
        return ""
    if standing is Standing.INVALID:
        editable = isinstance(proposal.plan.actions[index], Merge | Update)
        more = "; e edits it" if editable else ""
        return f"Action {index + 1} breaks a rule and cannot be approved. r rejects it{more}."
    if standing is Standing.STALE:
        path = proposal.stale[index][0].path
        return f"{path} is not as the plan saw it, so this cannot be approved. Plan again."
    return ""


def settled(proposal: Proposal) -> Review | None:
    """The review without approvals that hold no more, as the rows show them; None if all hold."""
    review = proposal.saved.review
    for index in proposal.rows():
        approved = review.decisions[index].verdict is Verdict.APPROVED
        if approved and index not in proposal.approved and index + 1 not in proposal.applied:
            review = review.decide(index, Verdict.PENDING, seen="")
    return None if review is proposal.saved.review else review
