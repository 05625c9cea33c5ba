"""Taking back a run, and finishing what stopped in the middle."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from engine.errors import Conflict
from engine.journal import Run, RunKind, find, undone_by
from memui.context import Context, path_fields
from memui.ending import EXIT_CONFLICT, EXIT_OK, UsageError, error_shape


def undo(context: Context, asked: argparse.Namespace) -> int:
    """`memui undo [RUN]`: take back a run, all of it or nothing."""
    store = context.store()
    if not context.yes:
        context.warn_unfinished(store)
    elif store.unfinished():
        # An interrupted run may turn out to be the last one.
        store.recover(wait=context.wait)
        context.tell_recovered(store)
    name = asked.run or "last"
    known = store.runs()
    undone = undone_by(known)
    if name == "last" and not _holds(known, undone):
        context.console.tell("There is no run to take back. memui log shows all runs.")
        return _nothing(context, None)
    run = find(store.place, name)
    if run.id in undone:
        context.console.tell("Run {} is taken back already, by run {}.", run.id, undone[run.id])
        return _nothing(context, run.id)
    if not context.yes:
        context.console.tell(
            "This would take back run {} ({}, {}):", run.id, str(run.kind), run.time
        )
        for step in run.steps:
            word = "remove" if step.old is None else "restore" if step.new is None else "rewrite"
            context.console.tell("  {} {}", f"{word:<8}", step.path)
        if not context.console.is_terminal or context.json:
            raise UsageError(
                "undo changes files, and nobody can be asked. Nothing was changed.",
                hint=f"To do it: {context.command('undo', run.id, '--yes')}",
            )
        if context.console.ask("Take it back? [y/N] ").lower() not in {"y", "yes"}:
            context.console.tell("Nothing was changed.")
            return EXIT_OK
    try:
        outcome = store.undo(run.id, who=context.who, wait=context.wait)
    except Conflict as error:
        if not context.json:
            raise
        context.console.json(
            {
                "result": "conflict",
                "run": None,
                "of": run.id,
                "conflicts": [{**path_fields(d.path), "why": d.why} for d in error.drifts],
                **error_shape(error),
            }
        )
        return EXIT_CONFLICT
    context.tell_recovered(store)
    result = "undone" if outcome.run else "nothing"
    redo = context.command("undo", outcome.run, "--yes") if outcome.run else ""
    if context.json:
        context.console.json(
            {
                "result": result,
                "run": outcome.run or None,
                "of": run.id,
                "conflicts": [],
                "undo": redo or None,
            }
        )
        return EXIT_OK
    context.console.say("Run {} is taken back, by run {}.", run.id, outcome.run or "none")
    for path in outcome.written:
        context.console.say("  restored {}", path)
    for path in outcome.deleted:
        context.console.say("  removed  {}", path)
    if redo:
        context.console.tell("redo: {}", redo)
    return EXIT_OK


def _nothing(context: Context, of: str | None) -> int:
    if context.json:
        context.console.json({"result": "nothing", "run": None, "of": of, "conflicts": []})
    return EXIT_OK


def _holds(known: Sequence[Run], undone: Mapping[str, str]) -> bool:
    """Whether there is a run for `last` to mean: done, no undo, and not taken back."""
    return any(
        run.state == "done" and run.kind is not RunKind.UNDO and run.id not in undone
        for run in known
    )


def recover(context: Context, _asked: argparse.Namespace) -> int:
    """`memui recover`: finish or take back what stopped in the middle."""
    store = context.store()
    found = store.recover(wait=context.wait)
    if context.json:
        context.console.json(
            {
                "runs": [
                    {
                        "run": r.run,
                        "result": r.result,
                        "conflicts": [{**path_fields(d.path), "why": d.why} for d in r.conflicts],
                    }
                    for r in found
                ]
            }
        )
        return EXIT_OK
    if not found:
        context.console.tell("Nothing was unfinished.")
    for recovered in found:
        context.console.say(
            "Run {}: {} ({} of {} files were new).",
            recovered.run,
            recovered.result.replace("-", " "),
            recovered.done,
            recovered.total,
        )
        for drift in recovered.conflicts:
            context.console.say("  {} {}", drift.path, drift.why)
    return EXIT_OK
