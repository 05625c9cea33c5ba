"""One action of a plan in words and pages: what it is, what stands in its way, its three views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, get_args

from textual.content import Content

from engine.changes import Change, Edit
from engine.diff import compare
from engine.errors import Violation, run_number
from engine.plan import Delete
from engine.proposal import Counts, Proposal, Standing
from memui.presentation import Line, count, line, own
from memui.presentation.applying import intent, intent_page
from memui.widgets.agent_page import agent_page
from memui.widgets.cover_page import cover_page
from memui.widgets.diff_notes import Check
from memui.widgets.diff_view import (
    CONTEXT,
    Section,
    diff_page,
    prose_page,
    result_page,
    sections,
)
from memui.widgets.ledger_view import ledger_page, tally
from memui.widgets.page_view import Lines, Page

View = Literal["diff", "split", "prose", "result", "ledger", "agent"]
VIEWS: Final[tuple[View, ...]] = get_args(View)
NAMES: Final[dict[View, str]] = {
    "diff": "diff", "split": "side by side", "prose": "prose", "result": "result",
    "ledger": "ledger", "agent": "agent",
}  # fmt: skip
"""The views in words."""
SPLIT: Final = 150
"""Columns from which both sides have room beside each other."""
CONTEXTS: Final = (0, 1, 3, 10, 30, 1 << 30)
"""Unchanged lines around a block, from less to more; the last is all of them."""
MUTED: Final = "$foreground-muted"
_PROBLEMS: Final = 3
"""Violations and drifts that are named beside the diff."""


def tally_counts(counts: Counts) -> str:
    """How the plan stands, in one line."""
    said = [f"{counts.undecided} to decide", f"{counts.approved} approved"]
    for number, word in (
        (counts.rejected, "rejected"),
        (counts.applied, "applied"),
        (counts.stale, "changed"),
        (counts.invalid, "invalid"),
    ):
        if number:
            said.append(f"{number} {word}")
    return " · ".join(said)


def title(words: str, number: str = "", flags: Sequence[str] = ()) -> Content:
    """A heading in words of ours: an action's number and verb, and what to beware of."""
    head = own(f"{number} ", MUTED) if number else Content("")
    flagged = own(f"  {' · '.join(flags)}" if flags else "", "$text-warning")
    return Content.assemble(head, own(words, "bold"), flagged)


def fact_lines(proposal: Proposal, index: int) -> list[Line]:
    """What the files say of an action: its ledger, and what stands in its way."""
    found: list[Line] = []
    run = proposal.applied.get(index + 1)
    if run is not None:
        found.append(line((f"applied in run {run_number(run)}", "good")))
    account = proposal.accounts.get(index)
    if account is not None and proposal.changes[index].edits:
        found.append(tally(account))
    found.extend(_problems(proposal, index))
    unmet = proposal.unmet(index)
    if unmet:
        names = ", ".join(str(n + 1) for n in unmet)
        said = f"needs action {names}, which is not approved: what it carries counts as dropped"
        found.append(line((said, "warn")))
    folded = proposal.changes[index].folded
    if folded:
        names = ", ".join(str(n + 1) for n in folded)
        found.append(line((f"decides action {names} too, which deletes what this merges", "dim")))
    note = proposal.saved.review.decisions[index].reason
    if note:
        found.append(line(("you said: ", "dim"), (_one_line(note), "plain")))
    return found


def _problems(proposal: Proposal, index: int) -> Iterator[Line]:
    found = [
        line(("breaks a rule: ", "bad"), (_one_line(violation.message), "plain"))
        for violation in _broken(proposal, index)
    ]
    found.extend(
        line((drift.path, "bold"), (f" {drift.why}", "bad"))
        for drift in proposal.stale.get(index, ())
    )
    yield from found[:_PROBLEMS]
    if len(found) > _PROBLEMS:
        yield line((f"and {len(found) - _PROBLEMS} more", "bad"))
    if proposal.standing(index) is Standing.STALE:
        yield line(
            (
                "v compares what the plan saw, what is on disk, and the proposal; or plan again",
                "dim",
            )
        )


def _broken(proposal: Proposal, index: int) -> tuple[Violation, ...]:
    folded = proposal.changes[index].folded
    return tuple(v for i in (index, *folded) for v in proposal.violations(i))


def reason_line(proposal: Proposal, index: int) -> Line | None:
    """What the planner says of its own action, labelled as its claim."""
    reason = _one_line(proposal.plan.actions[index].reason)
    return line(("planner says: ", "dim"), (reason, "model")) if reason else None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def views(columns: int) -> tuple[View, ...]:
    """The views that there is room for."""
    return tuple(view for view in VIEWS if view != "split" or columns >= SPLIT)


def shown_change(proposal: Proposal, index: int) -> Change:
    """The change that is looked at: with the blocks that are left, so that they can be taken."""
    left = proposal.saved.review.decisions[index].left
    return proposal.whole_changes[index] if left else proposal.changes[index]


def change_page(
    view: View,
    proposal: Proposal,
    index: int,
    shown: Sequence[Section],
    *,
    context: int = CONTEXT,
    check: Check,
) -> Page:
    """One of the views of an action. `shown` are the sections of its `shown_change`."""
    change = shown_change(proposal, index)
    account = proposal.accounts.get(index)
    if view == "agent":
        return agent_page(proposal, index)
    if view == "ledger":
        if account is None:
            return words_page("The ledger is worked out for what waits; this was applied.")
        return ledger_page(account, proposal.approved, check=check)
    if not change.edits:
        return _without_edits(proposal, index)
    if view == "result":
        return _result_page(proposal, index, shown, check)
    if view == "split" and isinstance(change.action, Delete) and account is not None:
        return cover_page(change, account, check=check)
    if view == "prose":
        return prose_page(change, shown, context=context, check=check)
    return diff_page(
        change,
        shown,
        account.entries if account is not None else (),
        shape="split" if view == "split" else "unified",
        context=context,
        left=proposal.saved.review.decisions[index].left,
        check=check,
    )


def _without_edits(proposal: Proposal, index: int) -> Page:
    if proposal.standing(index) in {Standing.INVALID, Standing.STALE}:
        return words_page("What it would change cannot be worked out: a file is missing.")
    return words_page("It changes nothing: the files are already so.")


def _result_page(proposal: Proposal, index: int, shown: Sequence[Section], check: Check) -> Page:
    """Every file that is there afterwards, whole; then what is not."""
    change = proposal.changes[index]
    if proposal.saved.review.decisions[index].left:
        shown = sections(change)
    gone = [edit.path for edit in change.edits if edit.after is None]
    if all(section.edit.after is None for section in shown):
        files = proposal.snapshot.files
        account = proposal.accounts.get(index)
        known = (*change.reads, *(account.carriers if account is not None else ()))
        paths = dict.fromkeys(path for path in known if path in files and path not in gone)
        stays = [(path, files[path]) for path in paths]
        shown = [Section(Edit(path, data, data), compare(data, data)) for path, data in stays]
    below: list[Line] = []
    if gone:
        number = count(len(gone), "file vanishes", "files vanish")
        below.append(line((f"{number}:", "dim"), gutter=" "))
        below.extend(line((path, "plain"), gutter="   ") for path in gone)
    return result_page(shown, below, check)


def words_page(text: str) -> Page:
    """A page that says one thing."""
    return Page(Lines([line((text, "dim"), gutter=" ")]))


def end_page(proposal: Proposal) -> tuple[str, Page]:
    """(heading, page) behind the last action: what an apply would do, or why there is none."""
    counts = proposal.counts()
    if not proposal.changes:
        summary = _one_line(proposal.saved.plan.summary)
        said = line(("planner says: ", "dim"), (summary, "model"), gutter=" ")
        return "The plan has nothing to do", Page([said] if summary else [])
    if counts.approved:
        return "Enter asks once more, then does this", intent_page(intent(proposal))
    if counts.undecided:
        return "Nothing is approved yet", _helped(
            "a approves the action under the cursor, r rejects it.",
            "A approves everything that loses nothing.",
        )
    if counts.applied:
        return "Everything that was approved is applied", _helped(
            "3 shows the runs; u there takes one back."
        )
    return "Everything is decided, and nothing is approved", _helped("u takes back a verdict.")


def _helped(*texts: str) -> Page:
    return Page([line((text, "dim"), gutter=" ") for text in texts])


def no_plan_page(command: str) -> Page:
    """How to get a plan, where none waits: the command that makes one."""
    return Page(
        [
            line(("A plan proposes what to merge, update, delete and move.", "plain"), gutter=" "),
            line(("Make one, then press . here:", "plain"), gutter=" "),
            line(),
            line((command, "bold"), gutter="     "),
            line(),
            line(("Nothing changes before you approve it and apply it.", "dim"), gutter=" "),
        ]
    )
