"""Which two states of an action's files can be compared, and what each pair is called."""

from __future__ import annotations

from dataclasses import dataclass

from engine.changes import Change, Edit, resolve
from engine.plan import Merge, Update
from engine.proposal import Proposal, Standing


@dataclass(frozen=True, slots=True)
class Version:
    """Two states of some files: `edits` lead from the first to the second.

    `title` names both in words of ours. `change` is the action that makes these edits, None where
    no action does.
    """

    title: str
    edits: tuple[Edit, ...]
    change: Change | None = None


def versions(proposal: Proposal, index: int) -> tuple[Version, ...]:
    """What can be compared of an action (0-based); first what a verdict on it is about."""
    standing = proposal.standing(index)
    now = proposal.changes[index]
    said = "as it is → result"
    if standing is Standing.APPLIED:
        said = "as it was → result"
    elif index in proposal.stale:
        said = "on disk → proposal"
    found = [Version(said, now.edits, now)]
    found += _edited(proposal, index)
    if index in proposal.stale and not forgotten(proposal, index):
        found += _drifted(proposal, index)
    return tuple(found)


def forgotten(proposal: Proposal, index: int) -> tuple[str, ...]:
    """The files of an action whose bytes are not kept any more as the plan saw them."""
    drifts = proposal.stale.get(index, ())
    return tuple(drift.path for drift in drifts if not proposal.knows(drift.path))


def _edited(proposal: Proposal, index: int) -> list[Version]:
    """The planner's result, and what the person made of it."""
    planned, made = proposal.saved.plan.actions[index], proposal.plan.actions[index]
    if not isinstance(planned, Merge | Update) or not isinstance(made, Merge | Update):
        return []
    if planned.content == made.content:
        return []
    spelled = made.target if isinstance(made, Merge) else made.path
    before, after = (each.content.encode("utf-8", "surrogatepass") for each in (planned, made))
    path = proposal.changes[index].target or spelled
    return [Version("planner's → yours", (Edit(path, before, after),))]


def _drifted(proposal: Proposal, index: int) -> list[Version]:
    """What other writers did since, and what the planner had proposed before that."""
    edits = []
    for drift in proposal.stale[index]:
        stored = next(iter(proposal.snapshot.spellings(drift.path)), drift.path)
        before, after = proposal.base.files.get(drift.path), proposal.snapshot.files.get(stored)
        edits.append(Edit(drift.path, before, after))
    then = resolve(proposal.plan, proposal.base)[index]
    return [
        Version("as the plan saw it → on disk", tuple(edits)),
        Version("as the plan saw it → proposal", then.edits, then),
    ]
