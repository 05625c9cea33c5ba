"""Applying what is approved: asked first, all of it or nothing."""

from __future__ import annotations

import argparse
from typing import Any, Literal

from engine.consolidation import Applied, Selection, apply, decide, examine, select
from engine.errors import AlreadyApplied, Conflict, InvalidPlan, run_number
from engine.plans import open_plan, write_review
from engine.proposal import Proposal
from engine.store import Store
from memui.context import Context, path_fields, shown_path
from memui.ending import (
    EXIT_CONFLICT,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_SKIPPED,
    UsageError,
    error_shape,
)
from memui.report.values import violation_json
from memui.spans import numbers


def apply_plan(context: Context, asked: argparse.Namespace) -> int:
    """`memui apply PLAN`: what is approved in the file or by the flags, all of it or nothing."""
    store = context.store()
    try:
        return _apply(context, asked, store)
    except (InvalidPlan, Conflict, AlreadyApplied) as error:
        if not context.json:
            raise
        conflict = not isinstance(error, InvalidPlan)
        context.console.json(
            {
                **_applied_json("conflict" if conflict else "invalid", None, context),
                "violations": [violation_json(v) for v in getattr(error, "violations", ())],
                "conflicts": [
                    {**path_fields(d.path), "why": d.why} for d in getattr(error, "drifts", ())
                ],
                **error_shape(error),
            }
        )
        return EXIT_CONFLICT if conflict else EXIT_INVALID


def _apply(context: Context, asked: argparse.Namespace, store: Store) -> int:
    opened = open_plan(store, asked.plan)
    proposal = examine(store, opened.saved)
    total = len(proposal.changes)
    everything = asked.approve == "all"
    approve: Literal["all"] | frozenset[int] = (
        "all" if everything else numbers(asked.approve, total)
    )
    reject = numbers(asked.reject, total)
    both = frozenset() if approve == "all" else approve & reject
    if both:
        raise UsageError(
            f"Action {min(both) + 1} is both approved and rejected.", hint="Name it once."
        )
    proposal = decide(proposal, approve=approve, reject=reject)
    bulk = everything or asked.on_stale == "skip"
    if opened.fresh:
        context.console.tell(
            "This plan was never seen before: nothing could be compared with an earlier state."
        )
    stop = asked.on_stale == "stop"
    selection = select(proposal, skip=not stop, bulk=bulk)
    if not context.yes and (selection.chosen or selection.skipped):
        _say_intent(context, proposal, selection, stop=stop)
        if not context.console.is_terminal or context.json:
            raise UsageError(
                "apply changes files, and nobody can be asked. Nothing was changed.",
                hint=f"To do it: {_again(context, asked)}",
            )
        if selection.drifts and stop:
            raise selection.conflict  # nothing would run, whatever the answer
        if context.console.ask("Apply this? [y/N] ").lower() not in {"y", "yes"}:
            context.console.tell("Nothing was changed.")
            return EXIT_OK
    if (asked.approve or asked.reject) and store.place.writable:
        write_review(store, opened, proposal.saved)
    done = apply(
        store,
        proposal,
        who=context.who,
        decided_by="flags" if asked.approve else "person",
        on_stale=asked.on_stale,
        bulk=bulk,
        wait=context.wait,
    )
    context.tell_after(store, done.run)
    return _say_applied(context, done)


def _again(context: Context, asked: argparse.Namespace) -> str:
    """The same command line, without a question."""
    flags = [
        word
        for option, value in (("--approve", asked.approve), ("--reject", asked.reject))
        if value
        for word in (option, value)
    ]
    stale = ["--on-stale", "skip"] if asked.on_stale == "skip" else []
    return context.command("apply", asked.plan, *flags, *stale, "--yes")


def _say_intent(context: Context, proposal: Proposal, selection: Selection, *, stop: bool) -> None:
    """Name every file that would be written, every one that would vanish, and what stands out."""
    console, chosen = context.console, selection.chosen
    accounts = proposal.account_if(chosen)
    for skipped in selection.skipped:
        if skipped.action in proposal.approved:  # it only needs one that does not run
            console.tell("Action {} {}, so it is skipped.", skipped.action + 1, skipped.why)
        else:
            does = "which stops the apply" if stop else "so it is skipped"
            console.tell("Action {}: {}, {}.", skipped.action + 1, skipped.why, does)
    for index in sorted(i for i in chosen if proposal.owner(i) == i):
        needs = [n + 1 for n in sorted(accounts[index].needs) if n not in chosen]
        if needs:
            names = ", ".join(map(str, needs))
            console.tell(
                "Action {} needs action {}, which does not run, so its facts are dropped.",
                index + 1,
                names,
            )
    edits = [edit for index in sorted(chosen) for edit in proposal.changes[index].edits]
    dropped = sum(len(accounts[i].dropped) for i in chosen if i in accounts)
    written = [edit.path for edit in edits if edit.after is not None]
    vanishing = [edit.path for edit in edits if edit.after is None]
    if written:
        console.tell("This would be written:")
        for path in written:
            console.tell("  {}", path)
    if vanishing:
        console.tell("This would vanish (kept, so that undo brings it back):")
        for path in vanishing:
            console.tell("  {}", path)
    if dropped:
        console.tell("Statements that nothing would say any more: {}.", dropped)
    if edits:
        now, then = proposal.listing.tokens, proposal.listing_if(chosen).tokens
        console.tell("The agent reads {} tokens a turn now, {} then.", now, then)


def _applied_json(result: str, done: Applied | None, context: Context) -> dict[str, Any]:
    run = done.run if done is not None else ""
    return {
        "result": result,
        "run": run or None,
        "written": [shown_path(p) for p in done.written] if done else [],
        "deleted": [shown_path(p) for p in done.deleted] if done else [],
        "skipped": [{"action": s.action + 1, "why": s.why} for s in done.skipped] if done else [],
        "undo": context.command("undo", run, "--yes") if run else None,
    }


def _say_applied(context: Context, done: Applied) -> int:
    status = EXIT_SKIPPED if done.skipped else EXIT_OK
    if context.json:
        shape = _applied_json(done.result, done, context)
        context.console.json({**shape, "changelog": done.changelog})
        return status
    console = context.console
    if not done.run:
        console.say("Nothing was applied{}.", "" if done.skipped else ": nothing is approved")
        if not done.skipped:
            console.tell("Approve by --approve all|1,3-5, or on the screen by memui review.")
    else:
        console.say("Applied as run {}.", run_number(done.run))
        for path in done.written:
            console.say("  wrote   {}", path)
        for path in done.deleted:
            console.say("  removed {}", path)
    for skipped in done.skipped:
        console.say("  skipped action {}: {}", skipped.action + 1, skipped.why)
    if done.run:
        console.tell("undo: {}", context.command("undo", done.run, "--yes"))
    if done.changelog == "pending":
        console.tell("The changelog could not be written; it is written at the next run.")
    return status
