"""What an apply would do, in words: said before the question, and by a dry run."""

from __future__ import annotations

from typing import Any

from engine.consolidation import Selection
from engine.proposal import Proposal
from engine.review import Verdict
from memui.context import Context, shown_path


def files(proposal: Proposal, selection: Selection) -> tuple[list[str], list[str]]:
    """(the paths that would be written, those that would vanish)."""
    edits = [edit for index in sorted(selection.chosen) for edit in proposal.changes[index].edits]
    return (
        [edit.path for edit in edits if edit.after is not None],
        [edit.path for edit in edits if edit.after is None],
    )


def dropped(proposal: Proposal, selection: Selection) -> int:
    """How many statements nothing would say any more."""
    accounts = proposal.account_if(selection.chosen)
    return sum(len(accounts[i].dropped) for i in selection.chosen if i in accounts)


def say(
    context: Context, proposal: Proposal, selection: Selection, *, bulk: bool, dry: bool
) -> None:
    """Name every verdict, every file that would be written or vanish, and what stands out.

    A dry run says it as facts, a question as a message.
    """
    out = context.console.say if dry else context.console.tell
    for index in proposal.rows():
        line = verdict_line(proposal, index)
        if line:
            out("Action {} {}.", index + 1, line)
    for skipped in selection.skipped:
        only_needs = skipped.action in proposal.approved  # one that does not run
        said = (
            "Action {} {}, so it is skipped." if only_needs else "Action {}: {}, so it is skipped."
        )
        out(said, skipped.action + 1, skipped.why)
    accounts = proposal.account_if(selection.chosen)
    for index in () if bulk else sorted(i for i in selection.chosen if proposal.owner(i) == i):
        needs = [n + 1 for n in sorted(accounts[index].needs) if n not in selection.chosen]
        if needs:
            out(
                "Action {} needs action {}, which does not run, so its facts are dropped.",
                index + 1,
                ", ".join(map(str, needs)),
            )
    written, vanishing = files(proposal, selection)
    if written:
        out("This would be written:")
        for path in written:
            out("  {}", path)
    if vanishing:
        out("This would vanish (kept, so that undo brings it back):")
        for path in vanishing:
            out("  {}", path)
    lost = dropped(proposal, selection)
    if lost:
        out("Statements that nothing would say any more: {}.", lost)
    if written or vanishing:
        now, then = proposal.listing.tokens, proposal.listing_if(selection.chosen).tokens
        out("The agent reads {} tokens a turn now, {} then.", now, then)


def verdict_line(proposal: Proposal, index: int) -> str:
    """How an action stands, as a clause; empty if nothing was said of it."""
    decision, said = proposal.saved.review.decisions[index], proposal.verdict(index)
    if index + 1 in proposal.applied or (said is Verdict.PENDING and not proposal.edited(index)):
        return ""
    parts = ["still to decide" if said is Verdict.PENDING else str(said)]
    if decision.content is not None:
        parts.append("edited")
    if decision.left:
        numbers = [str(block + 1) for block in decision.left]
        parts.append(f"without {'block' if len(numbers) == 1 else 'blocks'} {', '.join(numbers)}")
    reason = " ".join(decision.reason.split())
    told = f": {reason}" if reason and said is Verdict.REJECTED else ""
    return f"is {', '.join(parts)}{told}"


def to_json(proposal: Proposal, selection: Selection) -> dict[str, Any]:
    """The fields of a dry run beside those of an apply."""
    written, vanishing = files(proposal, selection)
    return {
        "written": [shown_path(path) for path in written],
        "deleted": [shown_path(path) for path in vanishing],
        "dropped": dropped(proposal, selection),
        "verdicts": [
            {
                "action": index + 1,
                "verdict": str(proposal.verdict(index)),
                "reason": proposal.saved.review.decisions[index].reason,
                "edited": proposal.saved.review.decisions[index].content is not None,
                "left": [block + 1 for block in proposal.saved.review.decisions[index].left],
            }
            for index in proposal.rows()
            if index + 1 not in proposal.applied
        ],
    }
