"""`memui recover`: finishing what stopped in the middle, and merging in what was overwritten."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.commit import Recovered
from engine.diff import patch
from engine.errors import run_number
from engine.store import Store
from engine.watch import Overwritten, joined, overwritten, repair
from memui.context import Context, path_fields
from memui.ending import EXIT_OK, UsageError


def recover(context: Context, asked: argparse.Namespace) -> int:
    """`memui recover`: finish or take back what stopped in the middle; `--facts` as well."""
    store = context.store()
    found = store.recover(wait=context.wait)
    runs = [
        {
            "run": r.run,
            "result": r.result,
            "conflicts": [{**path_fields(d.path), "why": d.why} for d in r.conflicts],
        }
        for r in found
    ]
    if not context.json:
        _say_runs(context, found)
        context.warn_unfinished(store)  # those of another machine are left
    facts = _offer(context, store) if asked.facts else {}
    if context.json:
        context.console.json({"runs": runs, **facts})
    return EXIT_OK


def _say_runs(context: Context, found: Sequence[Recovered]) -> None:
    if not found:
        context.console.tell("Nothing was to be finished here.")
    for recovered in found:
        context.console.say(
            "Run {}: {} ({} of {} files were new).",
            run_number(recovered.run),
            recovered.result.replace("-", " "),
            recovered.done,
            recovered.total,
        )
        for drift in recovered.conflicts:
            context.console.say("  {} {}", drift.path, drift.why)


def _offer(context: Context, store: Store) -> dict[str, Any]:
    """Show what was overwritten, ask, and merge it in again; the fields of the answer."""
    found = overwritten(store)
    missing = tuple(item for item in found if item.facts)
    answer: dict[str, Any] = {"facts": [_json(item) for item in found], "repaired": None}
    if not context.json:
        _say(context, store, found)
    if not missing:
        return answer
    if not context.yes:
        if not context.console.is_terminal or context.json:
            if context.json:
                return answer
            raise UsageError(
                "recover --facts changes files, and nobody can be asked. Nothing was changed.",
                hint=f"To do it: {context.command('recover', '--facts', '--yes')}",
            )
        if context.console.ask("Merge them in again? [y/N] ").lower() not in {"y", "yes"}:
            context.console.tell("Nothing was changed.")
            return answer
    outcome = repair(store, missing, who=context.who, wait=context.wait)
    undo = context.undo_command(store, outcome.run)
    if not context.json:
        for path in outcome.written:
            context.console.say("merged {}", path)
        context.console.tell("undo: {}", undo)
    return {**answer, "repaired": outcome.run, "undo": undo}


def _json(item: Overwritten) -> dict[str, Any]:
    return {
        "run": item.run,
        **path_fields(item.path),
        "why": item.why,
        "facts": list(item.facts),
        "came_back": item.came_back,
    }


def _say(context: Context, store: Store, found: tuple[Overwritten, ...]) -> None:
    if not found:
        context.console.tell("Nothing that a run wrote was overwritten.")
    for item in found:
        context.console.say("{}: {}", item.path, item.why)
        if item.came_back:
            continue
        for fact in item.facts:
            context.console.say("  gone: {}", fact)
        after = joined(store, item)
        for line in patch(item.path, item.path, store.live(item.path), after).split("\n"):
            context.console.tell("    {}", line)
