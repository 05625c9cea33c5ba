"""The errand in the order in which it happens: propose, look, decide, apply."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.changes import resolve
from engine.commit import OnStep, Transaction, Write
from engine.documents import Snapshot, digest
from engine.errors import (
    AlreadyApplied,
    EngineError,
    InvalidPlan,
    Violation,
    run_number,
)
from engine.journal import ActionRecord, RunKind, read_object
from engine.ledger import Account
from engine.plan import Limits, Merge, Move, parse_limits, parse_operations
from engine.planner import Planner, Request, Tell, tell_nobody
from engine.plans import now, store_name
from engine.proposal import Proposal, Standing
from engine.review import Feedback, Review, SavedPlan, Verdict, base_of, plan_id
from engine.rules import admit, validate
from engine.selection import Selection, Skipped, select
from engine.store import Store


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did. `run` is empty if nothing changed."""

    result: Literal["applied", "nothing", "partial"]
    run: str
    written: tuple[str, ...]
    deleted: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    changelog: str


def propose(
    store: Store,
    planner: Planner,
    *,
    operations: Sequence[str] | None = None,
    limits: Mapping[str, Any] | Limits | None = None,
    one_call: bool = True,
    feedback: Feedback | None = None,
    replaces: str | None = None,
    tell: Tell = tell_nobody,
) -> SavedPlan | None:
    """Ask a planner for a plan. Changes nothing; None for a store without memories.

    `one_call` says that the answer is one call over the whole store, so that its limits bind.
    `feedback` is handed to the planner and kept with the plan, as is the id of the plan that this
    one `replaces`.
    Raises `InvalidPlan` at stage `config`, `admission` or `schema`, `PlannerError`, `StorageError`,
    and what `tell` raises.
    """
    asked = parse_operations(operations)
    bounds = limits if isinstance(limits, Limits) else parse_limits(limits or {})
    tell("reading the memories")
    snapshot = store.snapshot()
    if not snapshot.files:
        return None
    if one_call:
        admit({path: len(data) for path, data in snapshot.files.items()}, bounds)
    plan = planner.propose(
        snapshot, Request(store.place.layout, asked, bounds, feedback=feedback, tell=tell)
    )
    base = base_of(resolve(plan, snapshot), snapshot)
    return SavedPlan(
        id=plan_id(plan, base),
        store=store_name(store),
        planner=planner.name,
        model=planner.model,
        operations=asked,
        limits=bounds,
        one_call=one_call,
        time=now(),
        base=base,
        plan=plan,
        review=Review.of(plan),
        replaces=replaces,
        feedback=feedback,
    )


def examine(
    store: Store,
    saved: SavedPlan,
    before: Proposal | None = None,
    *,
    snapshot: Snapshot | None = None,
) -> Proposal:
    """A saved plan against the store as it is now, or as the snapshot shows it.

    `before` is what was examined last: what it saw of the files is known, even if no run kept it.
    """
    seen = before.seen_bytes() if before is not None and before.saved.id == saved.id else {}

    def remembered(wanted: str) -> bytes | None:
        if wanted in seen:
            return seen[wanted]
        try:
            return read_object(store.place, wanted)
        except (EngineError, OSError):
            return None

    here = store.snapshot() if snapshot is None else snapshot
    return Proposal(saved, here, store.applied(saved.id), remembered, store.freed(saved.id))


def decide(
    proposal: Proposal,
    *,
    approve: Collection[int] | Literal["all"] = (),
    reject: Collection[int] = (),
    reasons: Mapping[int, str] | None = None,
) -> Proposal:
    """Give verdicts on actions (0-based). `all` means every waiting action not rejected.

    `reasons` are why actions are rejected. Raises `AlreadyApplied` for an action that is named and
    was applied, `InvalidPlan` for one that breaks a rule, and for `all` if any does.
    """
    review = proposal.saved.review
    if approve == "all":
        if proposal.verdicts.violations:
            raise InvalidPlan(
                "validation",
                proposal.verdicts.violations,
                hint="Approve the valid actions by number, or have the plan corrected.",
            )
        named: Collection[int] = ()
        wanted = [
            i
            for i in proposal.rows()
            if proposal.standing(i) is not Standing.APPLIED
            and review.decisions[i].verdict is not Verdict.REJECTED
        ]
    else:
        named = approve
        wanted = list(dict.fromkeys(proposal.owner(i) for i in approve))
    for index in named:
        run = proposal.applied.get(index + 1)
        if run is not None:
            raise AlreadyApplied(
                f"Action {index + 1} was applied in run {run_number(run)}.",
                hint=f"memui undo {run_number(run)} takes it back; then it waits again.",
            )
    broken = [v for v in proposal.verdicts.violations if v.action in set(wanted)]
    if broken:
        raise InvalidPlan("validation", broken)
    refused = {proposal.owner(i) for i in reject}
    for index in wanted:
        if index not in refused:
            seen = proposal.seen(index)
            review = review.decide(index, Verdict.APPROVED, seen=seen)
    for index in sorted(refused):
        review = review.decide(
            index,
            Verdict.REJECTED,
            seen=proposal.seen(index),
            reason=(reasons or {}).get(index, review.decisions[index].reason),
        )
    return proposal.reviewed(review)


def settle(
    proposal: Proposal, *, on_stale: Literal["stop", "skip"] = "stop", bulk: bool = False
) -> Selection:
    """What `apply` would run, if the plan's own files were all that stood in its way.

    Raises `Conflict`, `InvalidPlan`.
    """
    selection = select(proposal, skip=on_stale == "skip", bulk=bulk)
    if selection.drifts and on_stale == "stop":
        raise selection.conflict
    if selection.chosen:
        _revalidate(proposal, selection.chosen)
    return selection


def apply(
    store: Store,
    proposal: Proposal,
    *,
    who: str,
    decided_by: str = "person",
    on_stale: Literal["stop", "skip"] = "stop",
    bulk: bool = False,
    wait: float = 0.0,
    on_step: OnStep | None = None,
) -> Applied:
    """Apply what is approved, all of it or nothing.

    An approved action whose files changed stops the run, or is skipped (`select`). `on_step` is
    told how far the run is, from this thread (`engine.commit.progress`).
    Raises `Conflict`, `InvalidPlan`, `StoreLocked`, `StorageError`; then nothing was changed.
    """
    selection = settle(proposal, on_stale=on_stale, bulk=bulk)
    chosen, skipped = selection.chosen, selection.skipped
    if not chosen:
        result: Literal["nothing", "partial"] = "partial" if skipped else "nothing"
        return Applied(result, "", (), (), skipped, "none")
    accounts = proposal.account_if(chosen)
    writes, reads = _files(proposal, chosen, accounts)
    passed_over = {s.action for s in skipped}
    transaction = Transaction(
        kind=RunKind.APPLY,
        who=who,
        decided_by=decided_by,
        writes=writes,
        reads=reads,
        actions=_records(proposal, chosen, passed_over, accounts),
        plan=proposal.saved.id,
        operations=tuple(map(str, proposal.saved.operations)),
        summary=proposal.plan.summary,
        documents={"plan": proposal.saved.dump()},
    )
    outcome = store.transact(transaction, wait=wait, on_step=on_step)
    done: Literal["applied", "nothing", "partial"] = "applied" if outcome.run else "nothing"
    return Applied(
        "partial" if skipped else done,
        outcome.run,
        outcome.written,
        outcome.deleted,
        skipped,
        outcome.changelog,
    )


def _revalidate(proposal: Proposal, chosen: frozenset[int]) -> None:
    """The approved actions as a plan of their own, against the store as it is now."""
    order = sorted(chosen)
    plan = proposal.plan.model_copy(
        update={"actions": tuple(proposal.plan.actions[i] for i in order)}
    )
    edited = frozenset(n for n, i in enumerate(order) if proposal.edited(i))
    found = validate(proposal.case(plan, proposal.snapshot, edited))
    if found.violations:
        raise InvalidPlan(
            "validation",
            [
                Violation(v.code, v.message, None if v.action is None else order[v.action])
                for v in found.violations
            ],
        )


def _files(
    proposal: Proposal, chosen: frozenset[int], accounts: Mapping[int, Account]
) -> tuple[tuple[Write, ...], dict[str, str | None]]:
    """What the chosen actions write, and what they rely on without writing it."""
    writes: dict[str, Write] = {}
    reads: dict[str, str | None] = {}
    for index in sorted(chosen):
        change = proposal.changes[index]
        for path in change.reads:
            reads[path] = proposal.snapshot.digests[path]
        for path in accounts[index].carriers if index in accounts else ():
            if path in proposal.snapshot:
                reads[path] = proposal.snapshot.digests[path]
        for edit in change.edits:
            old = None if edit.before is None else digest(edit.before)
            number = proposal.owner(index) + 1
            writes[edit.path] = Write(
                edit.path, old, edit.after, sources=change.reads, action=number
            )
    relied = {path: seen for path, seen in reads.items() if path not in writes}
    return tuple(writes.values()), relied


def _records(
    proposal: Proposal,
    chosen: frozenset[int],
    skipped: Collection[int],
    accounts: Mapping[int, Account],
) -> tuple[ActionRecord, ...]:
    """What the journal keeps of every action that was decided on."""
    records: list[ActionRecord] = []
    for index, action in enumerate(proposal.plan.actions):
        decision = proposal.saved.review.decisions[proposal.owner(index)]
        if index in chosen:
            verdict = "edited" if proposal.edited(index) else "approved"
        elif index in skipped:
            verdict = "skipped"
        elif decision.verdict is Verdict.REJECTED and index + 1 not in proposal.applied:
            verdict = "rejected"
        else:
            continue
        sources, target = _paths(action, proposal, index)
        # Why something was rejected is the person's to say; the planner's reason was for doing it.
        reason = decision.reason if verdict == "rejected" else action.reason
        owner = proposal.owner(index)
        account = accounts.get(owner) if index in chosen else None
        records.append(
            ActionRecord(
                index + 1,
                action.action,
                sources,
                target,
                verdict,
                reason,
                carriers=() if account is None else _carriers(account, proposal),
                into=None if owner == index else owner + 1,
            )
        )
    return tuple(records)


def _carriers(account: Account, proposal: Proposal) -> tuple[str, ...]:
    """The memories, after the run, that say what an action removed."""
    targets = (proposal.changes[need].target for need in account.needs)
    return tuple(dict.fromkeys([*account.carriers, *filter(None, targets)]))


def _paths(action: Any, proposal: Proposal, index: int) -> tuple[tuple[str, ...], str | None]:
    change = proposal.changes[index]
    spelled = action.sources if isinstance(action, Merge) else ()
    if isinstance(action, Move):
        spelled = (action.from_,)
    elif not isinstance(action, Merge):
        spelled = (action.path,)
    sources = tuple((proposal.snapshot.spellings(path) or (path,))[0] for path in spelled)
    if isinstance(action, Merge | Move):
        fallback = action.target if isinstance(action, Merge) else action.to
        stored = proposal.snapshot.spellings(fallback)
        return sources, change.target or (stored[0] if stored else fallback)
    return sources, None


def consolidate(
    store: Store,
    planner: Planner,
    *,
    who: str,
    operations: Sequence[str] | None = None,
    limits: Mapping[str, Any] | Limits | None = None,
    decided_by: str = "policy all",
) -> Applied:
    """Propose, validate and apply everything, unattended. One planner call over the whole store.

    Raises `InvalidPlan` (stage `config` for a read-only store, before anything is read),
    `PlannerError`, `Conflict`, `StoreLocked`, `StorageError`; then nothing was changed.
    """
    if not store.place.writable:
        raise InvalidPlan("config", [Violation("read-only", "the store is read-only")])
    saved = propose(store, planner, operations=operations, limits=limits)
    if saved is None:
        return Applied("nothing", "", (), (), (), "none")
    proposal = decide(examine(store, saved), approve="all")
    return apply(store, proposal, who=who, decided_by=decided_by)


__all__ = [
    "AlreadyApplied",
    "Applied",
    "Selection",
    "Skipped",
    "apply",
    "consolidate",
    "decide",
    "examine",
    "propose",
    "select",
    "settle",
]
