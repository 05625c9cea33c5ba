"""Planning again: what a person said of a plan goes to the planner, and what holds still goes on.

An action counts as proposed again if it is of the same kind and its files have the same bytes
before and after; a rejection also holds on an action that only says the same. An approval is
carried over only if the action would lose nothing that it did not lose when it was approved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.consolidation import examine, propose
from engine.errors import PlannerError
from engine.ledger import Account
from engine.plan import gist
from engine.planner import Planner, Tell, tell_nobody
from engine.planner.rules import RulesPlanner
from engine.proposal import Proposal, Standing
from engine.review import Feedback, Rejected, Review, SavedPlan, Verdict, fingerprint
from engine.store import Store

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Again:
    """What planning again gave.

    `same`: the planner proposes what it did before, so that the old plan stays. `nothing`: it has
    nothing to propose. `carried` counts the actions whose verdict or edit was carried over.
    """

    result: Literal["new", "same", "nothing"]
    proposal: Proposal
    carried: int


def feedback(proposal: Proposal, words: str = "") -> Feedback:
    """What a person said of a plan, and of those before it, for the planner.

    What was rejected earlier counts as long as no later plan proposed it again.
    """
    saved = proposal.saved
    before = saved.feedback or Feedback()
    proposed = {gist(action) for action in saved.plan.actions}
    found = [each for each in before.rejected if gist(each.action) not in proposed]
    for index in proposal.rows():
        rejected = proposal.verdict(index) is Verdict.REJECTED
        if rejected and index + 1 not in proposal.applied:
            reason = saved.review.decisions[index].reason
            found.append(Rejected(action=saved.plan.actions[index], reason=reason))
    # A command line that is not UTF-8 has lone surrogates, which no JSON reader takes.
    said = " ".join(words.encode("utf-8", "replace").decode().split())
    return Feedback(rejected=tuple(found), words=(*before.words, *([said] if said else [])))


def planner_of(saved: SavedPlan) -> Planner:
    """The planner that plans again after a plan.

    Nobody answers for a plan that came from a file: the rules planner takes it from there.
    Raises `PlannerError` for a planner that is not here.
    """
    if saved.planner in {RulesPlanner.name, "file"}:
        return RulesPlanner()
    raise PlannerError(
        f"The planner {saved.planner}, which made plan {saved.id}, is not here.",
        hint="memui plan makes a plan with the rules planner. Nothing was changed.",
    )


def plan_again(
    store: Store,
    old: Proposal,
    planner: Planner,
    *,
    words: str = "",
    operations: Sequence[str] | None = None,
    tell: Tell = tell_nobody,
) -> Again | None:
    """Ask for a plan once more, with what was said of an earlier one. Keeps nothing.

    None for a store without memories. Raises as `propose` does.
    """
    saved = propose(
        store,
        planner,
        operations=operations or [str(each) for each in old.saved.operations],
        limits=old.saved.limits,
        one_call=old.saved.one_call,
        feedback=feedback(old, words),
        replaces=old.saved.id,
        tell=tell,
    )
    if saved is None:
        return None
    if saved.id == old.saved.id:
        return Again("same", old, 0)
    tell("carrying over what you decided")
    new = examine(store, saved)
    if not saved.plan.actions:
        return Again("nothing", new, 0)
    review = carry_over(old, new)
    untouched = Review.of(saved.plan).decisions
    carried = sum(a != b for a, b in zip(review.decisions, untouched, strict=True))
    return Again("new", new.reviewed(review), carried)


def carry_over(old: Proposal, new: Proposal) -> Review:
    """The review of a new plan, as far as what was said of an earlier one still holds."""
    pairs = _pairs(old, new)
    review = _with_edits(pairs, old, new.saved.review)
    shown = new.reviewed(review)
    review = _with_rejections(pairs, old, shown)
    approved = _still_lose_no_more(pairs, old, new.reviewed(review))
    place = {index: at for at, index in enumerate(old.saved.review.order)}
    for index in sorted(approved, key=lambda each: place.get(pairs[each], -1)):
        reason = old.saved.review.decisions[pairs[index]].reason
        review = review.decide(index, Verdict.APPROVED, seen=shown.seen(index), reason=reason)
    return review


def _pairs(old: Proposal, new: Proposal) -> Mapping[int, int]:
    """Row of the new plan -> the row of the old one that proposed the same and still waits."""
    known: dict[Key, int] = {}
    for index, key in _keys(old).items():
        if index + 1 not in old.applied:
            known.setdefault(key, index)
    found: dict[int, int] = {}
    for index, key in _keys(new).items():
        before = known.pop(key, None)
        if before is not None and _same_base(old, before, new):
            found[index] = before
    return found


def _keys(proposal: Proposal) -> Mapping[int, Key]:
    """Row -> what the planner itself proposes there, before any edit of a person."""
    changes = proposal.reviewed(Review.of(proposal.saved.plan)).whole_changes
    found: dict[int, Key] = {}
    for index in proposal.rows():
        action = proposal.saved.plan.actions[index]
        # A change without edits shows nothing by which it could be told from another.
        shown = fingerprint(changes[index]) if changes[index].edits else gist(action)
        found[index] = action.action, shown
    return found


def _same_base(old: Proposal, index: int, new: Proposal) -> bool:
    """Whether the files of an action are as the old plan knew them.

    Bytes that nobody remembers stand in for themselves in a fingerprint: digests do not.
    """
    then, now = old.saved.base, new.saved.base
    return all(then.get(path) == now.get(path) for path in old.whole_changes[index].paths)


def _with_edits(pairs: Mapping[int, int], old: Proposal, review: Review) -> Review:
    for index, before in pairs.items():
        decision = old.saved.review.decisions[before]
        if decision.content is not None:
            review = review.edit(index, decision.content)
        for block in decision.left:
            review = review.take(index, block, taken=False)
    return review


def _with_rejections(pairs: Mapping[int, int], old: Proposal, shown: Proposal) -> Review:
    saved, review = shown.saved, shown.saved.review
    said = feedback(old)
    reasons = {gist(each.action): each.reason for each in said.rejected}
    for index in shown.rows():
        before = pairs.get(index)
        if before is not None and old.verdict(before) is Verdict.REJECTED:
            reason = old.saved.review.decisions[before].reason
        elif (known := reasons.get(gist(saved.plan.actions[index]))) is not None:
            reason = known
        else:
            continue
        review = review.decide(index, Verdict.REJECTED, seen=shown.seen(index), reason=reason)
    return review


def _still_lose_no_more(pairs: Mapping[int, int], old: Proposal, new: Proposal) -> frozenset[int]:
    """The rows whose approval holds: all of them together lose nothing that was not lost before."""
    found = frozenset(
        index
        for index, before in pairs.items()
        if old.verdict(before) is Verdict.APPROVED and new.standing(index) is Standing.OPEN
    )
    while found:
        together = frozenset(i for i in range(len(new.changes)) if new.owner(i) in found)
        accounts = new.account_if(together)
        kept = frozenset(
            index
            for index in found
            if _lost(accounts.get(index)) <= _lost(old.accounts.get(pairs[index]))
        )
        if kept == found:
            break
        found = kept
    return found


def _lost(account: Account | None) -> frozenset[tuple[str, str]]:
    """What an action drops: (path, text)."""
    if account is None:
        return frozenset()
    sources = [entry.source for entry in account.dropped if entry.source is not None]
    return frozenset((source.path, source.text) for source in sources)
