"""What an apply would do, everything that it would do; then what it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from engine.changes import Change, Edit
from engine.consolidation import Applied, Selection, select
from engine.errors import Conflict, Drift, EngineError, InvalidPlan, run_number
from engine.injected import Injected
from engine.ledger import Account, Entry
from engine.plan import Merge, Move
from engine.proposal import Proposal
from memui.presentation import Line, count, line
from memui.presentation.pages import Lines, Page, Part, Stretch

Made = tuple[tuple[tuple[str, str], ...], str]
"""The parts of a line (text, paint) and its gutter: a line that nobody made yet."""
_CLOSED: Final = "  ▸ "
_OPEN: Final = "  ▾ "


@dataclass(frozen=True, slots=True)
class Intent:
    """What an apply would do, worked out once so that a page of it is cheap.

    `proposal` is what it would be done to, and `selection` exactly what `apply` would run. Of
    `edits` and `losses` the first is the action (0-based) that has the row. `listings` are what the
    agent sees each turn, now and then.
    """

    proposal: Proposal
    selection: Selection
    edits: tuple[tuple[int, Edit], ...]
    losses: tuple[tuple[int, tuple[Entry, ...]], ...]
    accounts: Mapping[int, Account]
    listings: tuple[Injected, Injected]

    @property
    def stale(self) -> frozenset[int]:
        """The approved actions (0-based) that are not as they were approved.

        What is skipped besides them only needs one of them.
        """
        skipped = (s.action for s in self.selection.skipped)
        return frozenset(i for i in skipped if i not in self.proposal.approved)

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions (0-based) that run, without the deletes folded into them."""
        proposal = self.proposal
        return tuple(i for i in sorted(self.selection.chosen) if proposal.owner(i) == i)


def intent(proposal: Proposal) -> Intent:
    """What applying what is approved, and not stale, would do. Pure, but not cheap."""
    stale = bool(select(proposal).drifts)
    selection = select(proposal, skip=stale)
    chosen = selection.chosen
    accounts = proposal.account_if(chosen)
    owners = [i for i in sorted(chosen) if proposal.owner(i) == i]
    return Intent(
        proposal,
        selection,
        tuple((i, edit) for i in owners for edit in proposal.changes[i].edits),
        tuple((i, lost) for i in owners if (lost := accounts[i].dropped)),
        accounts,
        (proposal.listing, proposal.listing_if(chosen)),
    )


# Before


def intent_page(
    found: Intent, opened: AbstractSet[int] | None = None, *, below: Sequence[Line] = ()
) -> Page:
    """Everything that an apply would do, what is lost first.

    Its blocks are the actions that drop statements, each a line; of those that are `opened`
    (0-based among them) the statements follow; None says that they cannot be opened here. `below`
    stands at the end.
    """
    head = [*_stale_lines(found), *_summary(found), line()]
    losses, blocks = _losses(found, opened, len(head))
    rest = [*left_alone(found.proposal), *([line()] if below else []), *below]
    return Page(Lines([*head, *losses, *_files(found), *rest]), blocks)


def _summary(found: Intent) -> Iterator[Line]:
    written = sum(edit.after is not None for _, edit in found.edits)
    gone = len(found.edits) - written
    lost = sum(len(entries) for _, entries in found.losses)
    said = [f"{written} written", f"{gone} {'vanishes' if gone == 1 else 'vanish'}"]
    dropped = f"{count(lost, 'statement', 'statements')} dropped"
    yield line(
        (f"{count(len(found.edits), 'file', 'files')}: {', '.join(said)} · ", "bold"),
        (dropped, "note-lost") if lost else ("no statement dropped", "good"),
    )
    before, after = found.listings
    more = after.tokens - before.tokens
    sign = "+" if more > 0 else "−" if more < 0 else "±"
    memories = f"{len(before.lines)} → {count(len(after.lines), 'memory', 'memories')}"
    yield line(
        ("The agent reads ", "dim"),
        (f"{before.tokens} → {after.tokens} tokens", "plain"),
        (f" a turn ({sign}{abs(more)}) · {memories}", "dim"),
    )


def stale_title(found: Intent) -> str:
    """How many approved actions are not as they were approved."""
    old = found.stale
    said = count(len(old), "approved action", "approved actions")
    if all(index in found.proposal.stale for index in old):
        return f"{said} changed on disk"
    return f"{said} {'is' if len(old) == 1 else 'are'} not as you approved"


def _stale_lines(found: Intent) -> Iterator[Line]:
    if not found.selection.skipped:
        return
    yield line(("Not among what would run:", "warn"))
    for skipped in found.selection.skipped:
        yield line((f"action {skipped.action + 1}  ", "dim"), (skipped.why, "plain"), gutter="  ! ")
    yield line()
    if found.actions:
        many = "action" if len(found.actions) == 1 else f"{len(found.actions)} actions"
        yield line((f"The other {many}:", "dim"))


def _losses(
    found: Intent, opened: AbstractSet[int] | None, above: int
) -> tuple[list[Part], tuple[range, ...]]:
    if not found.losses:
        return [], ()
    actions = count(len(found.losses), "action drops", "actions drop")
    keys = "" if opened is None else "  → shows them"
    opened = opened or frozenset()
    head = line((f"{actions} statements", "note-lost"), (keys, "dim"))
    made: list[Made] = []
    blocks: list[range] = []
    for at, (index, entries) in enumerate(found.losses):
        start = above + 1 + len(made)
        made.append(_loss(found, index, len(entries), opened=at in opened))
        if at in opened:
            made += [_lost(entry) for entry in entries]
        blocks.append(range(start, above + 1 + len(made)))
    return [head, _stretch(made), line()], tuple(blocks)


def _loss(found: Intent, index: int, number: int, *, opened: bool) -> Made:
    change = found.proposal.changes[index]
    needs = [n for n in found.accounts[index].needs if n not in found.selection.chosen]
    names = ", ".join(str(n + 1) for n in needs)
    why = f"; needs action {names}, which does not run" if needs else ""
    parts = (
        (_about(change), "plain"),
        (f"  drops {number}", "note-lost"),
        (f"  action {index + 1}{why}", "dim"),
    )
    return parts, _OPEN if opened else _CLOSED


def _lost(entry: Entry) -> Made:
    source = entry.source
    if source is None:
        return (), "    "
    return ((source.text, "plain"), (f"  {source.path}:{source.line}", "dim")), "    ✗ "


def _about(change: Change) -> str:
    """An action by its verb and its file."""
    where = _goes_to(change)
    paths = ", ".join(edit.path for edit in change.edits)
    return f"{change.action.action} {paths if where is None else f'→ {where}'}"


def _goes_to(change: Change) -> str | None:
    """Where what a merge or a move takes away is afterwards."""
    match change.action:
        case Merge():
            return change.target or change.action.target
        case Move():
            return change.target or change.action.to
    return None


def _files(found: Intent) -> Iterator[Part]:
    written = [(i, e) for i, e in found.edits if e.after is not None]
    vanish = [(i, e) for i, e in found.edits if e.after is None]
    if written:
        yield line((f"Written: {count(len(written), 'file', 'files')}", "bold"))
        yield _stretch([_written(found, i, edit) for i, edit in written])
    if vanish:
        kept = "kept, and back again with undo"
        yield line((f"Vanish: {count(len(vanish), 'file', 'files')}", "bold"), (f"  {kept}", "dim"))
        yield _stretch([_vanishing(found, i, edit) for i, edit in vanish])


def _written(found: Intent, index: int, edit: Edit) -> Made:
    change = found.proposal.changes[index]
    moved = isinstance(change.action, Move)
    note = "" if edit.before is not None else "  moved" if moved else "  new"
    return ((edit.path, "good"), (f"{note}  action {index + 1}", "dim")), "  + "


def _vanishing(found: Intent, index: int, edit: Edit) -> Made:
    change = found.proposal.changes[index]
    carriers = found.accounts[index].carriers
    target = _goes_to(change)
    if target is not None:
        where = f"  → {target}"
    elif carriers and not found.accounts[index].dropped:
        more = f" and {len(carriers) - 1} more" if len(carriers) > 1 else ""
        where = f"  said in {carriers[0]}{more}"
    else:
        where = ""
    return ((edit.path, "bad"), (f"{where}  action {index + 1}", "dim")), "  − "


def _stretch(made: Sequence[Made]) -> Stretch:
    """Lines that are made when somebody looks at them."""

    def make(at: int) -> Line:
        parts, gutter = made[at]
        return line(*parts, gutter=gutter)

    texts = ["".join(text for text, _ in parts) for parts, _ in made]
    return Stretch(make, (texts,), max((len(gutter) for _, gutter in made), default=0))


def left_alone(proposal: Proposal) -> Iterator[Line]:
    """What an apply would not touch, in one line."""
    counts = proposal.counts()
    said = [
        f"{number} {word}"
        for number, word in (
            (counts.undecided, "to decide"),
            (counts.rejected, "rejected"),
            (counts.stale, "changed on disk"),
            (counts.invalid, "invalid"),
        )
        if number
    ]
    if said:
        yield line()
        yield line((f"Left alone: {', '.join(said)}.", "dim"))


def promise_lines(state: str, undo: str, *, exact: bool) -> Iterator[Line]:
    """What the store promises: all of it or nothing, what is kept where, and how to go back."""
    yield line(
        ("All of it or nothing, even if the power fails. Kept for undo in ", "dim"),
        (state, "dim"),
    )
    if exact:
        yield line(("Take it all back: ", "dim"), (undo, "bold"))
    else:
        yield line(("Take it all back by u in History (3): no command names this store.", "dim"))


# After


def done_parts(done: Applied, found: Intent) -> list[Part]:
    """What was applied, skipped and rejected."""
    if not done.run:
        return [
            line(("The files already are what the plan makes of them.", "dim")),
            *_skipped(done),
        ]
    actions = count(len(found.actions), "action was", "actions were")
    return [
        line((f"{actions} applied.", "bold")),
        *_steps(done, found),
        line(),
        *_skipped(done),
        _stretch([(((path, "plain"),), " wrote   ") for path in done.written]),
        _stretch([(((path, "plain"),), " removed ") for path in done.deleted]),
        *left_alone(found.proposal),
    ]


def _skipped(done: Applied) -> Iterator[Line]:
    for skipped in done.skipped:
        said = f"action {skipped.action + 1}: {skipped.why}"
        yield line((said, "warn"), gutter=" skipped ")


def _steps(done: Applied, found: Intent) -> Iterator[Line]:
    """What an apply did, in its order."""
    logged = {
        "written": ", and in the changelog",
        "pending": "; the changelog cannot be written now, the next run writes it",
    }
    for step in (
        f"checked that {count(len(found.edits), 'file is', 'files are')} what you saw",
        "kept what they held",
        f"written {len(done.written)}, removed {len(done.deleted)}",
        f"recorded as run {run_number(done.run)}{logged.get(done.changelog, '')}",
    ):
        yield line((step, "plain"), gutter=" ✓ ")


def failure_lines(error: EngineError, said: str) -> Iterator[Line]:
    """What happened, that nothing was changed, and what to do next. `said` is it in one line."""
    if isinstance(error, Conflict):
        yield line(("These files are not what you approved:", "plain"))
        yield from drift_lines(error.drifts)
        yield line()
        yield line(("Nothing was changed. s looks again, and leaves out what changed.", "plain"))
        return
    if isinstance(error, InvalidPlan):
        yield line(("What is approved breaks a rule:", "plain"))
        for broken in error.violations:
            where = "" if broken.action is None else f"action {broken.action + 1}: "
            yield line((f"{where}{broken.message}", "bad"), gutter=" ✗ ")
        yield line()
        yield line(("Nothing was changed. Reject or edit these actions.", "plain"))
        return
    yield line((said, "bad"))
    yield line()
    yield line(("Your verdicts are kept: P tries again.", "plain"))


def drift_lines(drifts: Sequence[Drift]) -> Iterator[Line]:
    """Files that are not as a run relied on them."""
    for drift in drifts:
        yield line((drift.path, "bold"), (f" {drift.why}", "bad"), gutter=" ✗ ")


def renewed_lines(drifts: Sequence[Drift]) -> Iterator[Line]:
    """Why a question does not stand any more."""
    yield from drift_lines(drifts)
    if not drifts:
        yield line(("The plan or the memories are not what they were when it was asked.", "plain"))
    yield line()
    yield line(("Nothing was changed. s asks anew, for what it is now.", "plain"))
