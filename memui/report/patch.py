"""A review as a patch for `git apply` or `patch -p1`, run in the folder of the memories."""

from __future__ import annotations

from engine.characters import visible
from engine.diff import patch
from engine.plan import Move
from engine.proposal import Proposal, Standing
from engine.review import Verdict
from memui.report.words import described


def patches(proposal: Proposal) -> bytes:
    """What is approved; if nothing is, everything that is open and not rejected."""
    chosen = [i for i in proposal.rows() if i in proposal.approved] or [
        i
        for i in proposal.rows()
        if proposal.standing(i) is Standing.OPEN and proposal.verdict(i) is not Verdict.REJECTED
    ]
    saved = proposal.saved
    # git and patch pass over what stands before the first file.
    parts = [f"# Review of plan {saved.id} for {visible(saved.store.name)}\n"]
    for index in chosen:
        action, change = proposal.plan.actions[index], proposal.changes[index]
        parts.append(f"# {index + 1} {action.action} {visible(described(proposal, index))}\n")
        if isinstance(action, Move):
            new = next((e for e in change.edits if e.after is not None), None)
            if new is not None and change.reads:
                parts.append(patch(change.reads[0], new.path, new.after, new.after))
            continue
        parts += [patch(e.path, e.path, e.before, e.after) for e in change.edits]
    return "".join(parts).encode("utf-8", "surrogateescape")
