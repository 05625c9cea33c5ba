"""Applying what is approved: asked first, all of it or nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.consolidation import Applied, Selection, Skipped, apply, examine, settle
from engine.errors import AlreadyApplied, Conflict, InvalidPlan, StorageError, run_number
from engine.plans import open_plan, write_review
from engine.proposal import Proposal
from engine.review import Verdict
from engine.store import Store
from memui.commands import intent, verbs
from memui.context import Context, path_fields, shown_path
from memui.ending import (
    EXIT_CONFLICT,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_SKIPPED,
    UsageError,
    error_shape,
)
from memui.pasting import file_word
from memui.report.values import violation_json


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
    planned = examine(store, opened.saved)
    said = verbs.parse(asked, planned)
    proposal = verbs.take(context, planned, said)
    bulk = said.is_all or asked.on_stale == "skip"
    selection = settle(proposal, on_stale=asked.on_stale, bulk=bulk)
    if opened.fresh:
        context.console.tell(
            "This plan was never seen before: nothing could be compared with an earlier state."
        )
    if asked.dry_run:
        return _dry(context, proposal, selection, bulk=bulk)
    if not context.yes and selection.chosen:
        intent.say(context, proposal, selection, bulk=bulk, dry=False)
        if not context.console.is_terminal or context.json:
            raise UsageError(
                "apply changes files, and nobody can be asked. Nothing was changed.",
                hint=f"To do it: {_again(context, asked)}",
            )
        if context.console.ask("Apply this? [y/N] ").lower() not in {"y", "yes"}:
            context.console.tell("Nothing was changed.")
            return EXIT_OK
    saved = proposal.saved.review != opened.saved.review
    if saved:
        if opened.file is None and not store.place.writable:
            raise StorageError(
                "The store is read-only, so its waiting plan cannot keep verdicts.",
                hint="Nothing was changed. Keep the plan in a file: memui plan -o FILE.",
            )
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
    if saved and not done.run and not context.json:
        context.console.tell("The review is saved.")
    return _say_applied(context, done, proposal)


def _dry(context: Context, proposal: Proposal, selection: Selection, *, bulk: bool) -> int:
    """Say what would be done. Nothing is written, not even a verdict."""
    if context.json:
        result = "partial" if selection.skipped else "applied" if selection.chosen else "nothing"
        shape = _applied_json(result, None, context)
        shape["skipped"] = _skipped_json(selection.skipped)
        context.console.json({**shape, "dry_run": True, **intent.to_json(proposal, selection)})
    else:
        intent.say(context, proposal, selection, bulk=bulk, dry=True)
        if not selection.chosen:
            context.console.say("Nothing would be applied.")
        context.console.tell("Nothing was changed.")
    return EXIT_SKIPPED if selection.skipped else EXIT_OK


def _again(context: Context, asked: argparse.Namespace) -> str:
    """The same command line, without a question."""
    stale = ["--on-stale", "skip"] if asked.on_stale == "skip" else []
    return context.command("apply", file_word(asked.plan), *verbs.words(asked), *stale, "--yes")


def _applied_json(result: str, done: Applied | None, context: Context) -> dict[str, Any]:
    run = done.run if done is not None else ""
    return {
        "result": result,
        "run": run or None,
        "written": [shown_path(p) for p in done.written] if done else [],
        "deleted": [shown_path(p) for p in done.deleted] if done else [],
        "skipped": _skipped_json(done.skipped) if done else [],
        "undo": context.command("undo", run, "--yes") if run else None,
    }


def _skipped_json(skipped: Sequence[Skipped]) -> list[dict[str, Any]]:
    return [{"action": item.action + 1, "why": item.why} for item in skipped]


def _say_applied(context: Context, done: Applied, proposal: Proposal) -> int:
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
    for index in proposal.rows():
        if proposal.edited(index) and proposal.verdict(index) is Verdict.PENDING:
            line = intent.verdict_line(proposal, index)
            console.tell("Action {} {}: --approve {} approves it.", index + 1, line, index + 1)
    if done.run:
        console.tell("undo: {}", context.command("undo", done.run, "--yes"))
    if done.changelog == "pending":
        console.tell("The changelog could not be written; it is written at the next run.")
    return status
