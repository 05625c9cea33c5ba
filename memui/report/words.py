"""What a report says of a proposal, apart from how it is marked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.blocks import old_side, result_of
from engine.changes import Edit
from engine.diff import Diff, Row, compare, hunks
from engine.errors import run_number
from engine.injected import Injected
from engine.ledger import Account, Entry, Fate
from engine.plan import Move
from engine.proposal import Proposal, Standing


@dataclass(frozen=True, slots=True)
class Gap:
    """Unchanged lines that are not shown."""

    lines: int


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a block of a result that can be left: its number, 1-based."""

    number: int
    left: bool

    @property
    def text(self) -> str:
        """The block in words."""
        return f"block {self.number}{', left: the file stays as it is here' if self.left else ''}"


@dataclass(frozen=True, slots=True)
class Shown:
    """One file of an action with its diff.

    `base` is the source that it is compared with, if that is another file. Where `has_blocks`, the
    blocks of the diff are those that a person takes or leaves; `left` are left (0-based).
    """

    edit: Edit
    diff: Diff
    base: str = ""
    has_blocks: bool = False
    left: frozenset[int] = frozenset()
    moved: bool = False

    @property
    def old(self) -> str:
        """The file that it is compared with; empty if there is none."""
        return self.base or ("" if self.edit.before is None else self.edit.path)

    def counts(self) -> tuple[int, int]:
        """Lines (added, removed) by the blocks that are taken."""
        taken = [block for block in self.diff.blocks if block.index not in self.left]
        return sum(len(block.new) for block in taken), sum(len(block.old) for block in taken)


def shown_rows(shown: Shown) -> Iterator[Row | Gap | Head]:
    """The rows of a diff with their context; what is left out is counted."""
    diff = shown.diff
    starts = {block.start: block.index for block in diff.blocks} if shown.has_blocks else {}
    last = 0
    for hunk in hunks(diff):
        if hunk.skipped:
            yield Gap(hunk.skipped)
        for at in hunk.rows:
            if at in starts:
                yield Head(starts[at] + 1, starts[at] in shown.left)
            yield diff.rows[at]
        last = hunk.rows.stop
    if len(diff.rows) > last:
        yield Gap(len(diff.rows) - last)


def diffs(proposal: Proposal, index: int) -> Iterator[Shown]:
    """Every file of an action with its diff; of a move its new path alone.

    A result that a person takes in part is shown whole, with what is left.
    """
    left = frozenset(proposal.saved.review.decisions[index].left)
    change = proposal.whole_changes[index] if left else proposal.changes[index]
    result = result_of(change)
    for edit in change.edits:
        if isinstance(change.action, Move):
            if edit.after is not None:
                yield Shown(edit, compare(edit.after, edit.after), moved=True)
        elif edit is result:
            base, old = old_side(change)
            against = old if base else edit.before
            other = "" if base == edit.path else base
            yield Shown(edit, compare(against, edit.after), other, has_blocks=True, left=left)
        else:
            yield Shown(edit, compare(edit.before, edit.after))


def becomes(shown: Shown) -> str:
    """What an edit does to its file."""
    edit, (added, removed) = shown.edit, shown.counts()
    if shown.moved:
        return "moved here, not a byte of it changes"
    if edit.after is None:
        return f"vanishes, −{removed}"
    if shown.base:
        return f"new, +{added} −{removed} against {shown.base}"
    return f"new, +{added}" if edit.before is None else f"+{added} −{removed}"


def obstacles(proposal: Proposal, index: int) -> Iterator[str]:
    """What stands in an action's way, or hangs on it, one sentence each."""
    for at in (index, *proposal.changes[index].folded):
        for found in proposal.violations(at):
            yield f"It breaks a rule: {found.message} [{found.code}]."
    for drift in proposal.stale.get(index, ()):
        yield f"{drift.path} {drift.why}."
    if unmet := proposal.unmet(index):
        yield f"It needs {actions(unmet)}, not approved: what is kept there counts as dropped."
    if folded := proposal.changes[index].folded:
        yield f"It decides {actions(folded)} too, which deletes what this one takes up."


def of_the_plan(proposal: Proposal) -> Iterator[str]:
    """What the plan breaks as a whole, and what it is warned of."""
    for found in proposal.verdicts.violations:
        if found.action is None:
            yield f"The plan breaks a rule: {found.message} [{found.code}]."
    for found in proposal.verdicts.warnings:
        of = "" if found.action is None else f"Action {found.action + 1}: "
        yield f"{of}{found.message} [{found.code}]."


def actions(indexes: Sequence[int]) -> str:
    """Actions (0-based) by their numbers."""
    numbers = ", ".join(str(index + 1) for index in indexes)
    return f"action{'s' if len(indexes) > 1 else ''} {numbers}"


@dataclass(frozen=True, slots=True)
class Told:
    """One statement of the ledger that does not stay as it is; `where` is its place.

    `becomes` is what it is reworded to, what stands in its place, or where it is moved to.
    """

    fate: Fate
    text: str
    where: str
    becomes: str = ""
    more: str = ""

    @property
    def link(self) -> str:
        """What stands between a statement and what it becomes."""
        return " · in its place: " if self.fate is Fate.DROPPED else " → "


def ledger(account: Account) -> Iterator[Told]:
    """What an action drops, says anew, rewords and moves, the gravest first."""
    for fate in (Fate.DROPPED, Fate.NEW, Fate.REWORDED, Fate.MOVED):
        for entry in account.of(fate):
            yield _told(entry)


def _told(entry: Entry) -> Told:
    said = entry.source or entry.result
    if said is None:
        raise ValueError("an entry of the ledger has a statement")
    more = [", ".join(entry.flags)] if entry.flags else []
    if entry.fate is Fate.DROPPED and entry.needs is not None:
        more.append(f"action {entry.needs + 1} would keep it")
    changed, result = "", entry.result
    if entry.source is not None and result is not None:
        place = f"{result.path}:{result.line}"
        changed = place if entry.fate is Fate.MOVED else result.text
        if entry.fate is Fate.MOVED and entry.needs is not None:
            more.append(f"action {entry.needs + 1} writes it")
    return Told(entry.fate, said.text, f"{said.path}:{said.line}", changed, "; ".join(more))


def account_line(account: Account) -> str:
    """The ledger in one line."""
    return (
        f"kept {account.kept} · reworded {account.reworded} · moved {account.moved}"
        f" · dropped {len(account.dropped)} · new {len(account.new)}"
        f"{' · lossless' if account.lossless else ''}"
    )


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


def listings(proposal: Proposal, index: int | None = None) -> tuple[Injected, Injected]:
    """What the agent sees each turn, now and if exactly what is approved ran, and one action."""
    more = frozenset() if index is None else frozenset([index])
    return proposal.listing, proposal.listing_if(proposal.approved | more)


def described(proposal: Proposal, index: int) -> str:
    """What an action does to which paths, as one text."""
    action = proposal.plan.actions[index]
    if action.action == "merge":
        target = proposal.changes[index].target or action.target
        return f"{' + '.join(action.sources)} → {target}"
    if action.action == "move":
        return f"{action.from_} → {proposal.changes[index].target or action.to}"
    return action.path
