"""Applying what is approved: asked first, all of it or nothing."""

from __future__ import annotations

import argparse
import re
from typing import Any, Literal

from engine.consolidation import Applied, apply, decide, examine
from engine.errors import AlreadyApplied, Conflict, InvalidPlan
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

_SPAN = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


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
    proposal = decide(proposal, approve=approve, reject=numbers(asked.reject, total))
    if opened.fresh:
        context.console.tell(
            "This plan was never seen before: nothing could be compared with an earlier state."
        )
    if not context.yes and proposal.approved:
        _say_intent(context, proposal)
        if not context.console.is_terminal or context.json:
            raise UsageError(
                "apply changes files, and there is no terminal to ask on. Nothing was changed",
                hint="Give --yes to do it.",
            )
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
        bulk=everything or asked.on_stale == "skip",
        wait=context.wait,
    )
    context.tell_recovered(store)
    return _say_applied(context, done)


def numbers(text: str | None, total: int) -> frozenset[int]:
    """Action numbers such as `1,3-5` as 0-based indexes. Raises `UsageError`."""
    found: set[int] = set()
    for part in (text or "").split(","):
        word = part.strip()
        if not word:
            continue
        match = _SPAN.fullmatch(word)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if match is None or not 1 <= first <= last:
            raise UsageError(f"{word!r} is no action number; write them as 1,3-5")
        if last > total:
            raise UsageError(f"The plan has no action {last}; it has {total}")
        found.update(range(first - 1, last))
    return frozenset(found)


def _say_intent(context: Context, proposal: Proposal) -> None:
    console = context.console
    chosen = sorted(proposal.approved)
    if not chosen:
        console.tell("Nothing is approved.")
        return
    edits = [edit for index in chosen for edit in proposal.changes[index].edits]
    dropped = sum(len(proposal.accounts[i].dropped) for i in chosen if i in proposal.accounts)
    written = [edit.path for edit in edits if edit.after is not None]
    vanishing = [edit.path for edit in edits if edit.after is None]
    if written:
        console.tell("This would write:")
        for path in written:
            console.tell("  {}", path)
    if vanishing:
        console.tell("These would vanish (kept for undo):")
        for path in vanishing:
            console.tell("  {}", path)
    if dropped:
        console.tell("{} statements would be dropped; memui check names them.", dropped)


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
        console.say("Nothing to apply: nothing is approved. Give --approve, or use memui review.")
    else:
        console.say("Applied as run {}.", done.run)
        for path in done.written:
            console.say("  wrote   {}", path)
        for path in done.deleted:
            console.say("  removed {}", path)
    for skipped in done.skipped:
        console.say("  skipped action {}: {}", skipped.action + 1, skipped.why)
    if done.run:
        console.tell("Undo: {}", context.command("undo", done.run, "--yes"))
    if done.changelog == "pending":
        console.tell("The changelog could not be written; it is written at the next run.")
    return status
