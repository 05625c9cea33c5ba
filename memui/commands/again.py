"""Planning once more after a plan, with what was said of it."""

from __future__ import annotations

import argparse

from engine.consolidation import examine
from engine.plans import open_plan
from engine.replanning import plan_again, planner_of
from engine.store import Store
from memui.commands.plan import keep, plan_json, say_empty, say_plan
from memui.context import Context
from memui.ending import EXIT_OK


def plan_once_more(context: Context, store: Store, asked: argparse.Namespace) -> int:
    """`memui plan --again PLAN [--feedback TEXT]`: the old plan stays until it is discarded."""
    old = examine(store, open_plan(store, asked.again).saved)
    planner = planner_of(old.saved)
    operations = [word for word in (asked.operations or "").split(",") if word]
    console = context.console
    if asked.feedback and not planner.reads_words:
        console.tell(
            "The {} planner does not read words: yours are only kept with the plan.", planner.name
        )
    if old.saved.planner != planner.name:
        console.tell("Plan {} came from a file: the rules planner plans again.", old.saved.id)
    made = plan_again(store, old, planner, words=asked.feedback or "", operations=operations)
    if made is None:
        if context.json:
            console.json(_json("nothing", old.saved.id, 0, None))
        say_empty(context, store)
        return EXIT_OK
    proposal, file = made.proposal, None
    if asked.output == "-":
        console.raw(proposal.saved.dump())
        return EXIT_OK
    if made.result != "same":
        saved, file = keep(store, proposal.saved, asked.output)
        proposal = proposal.reviewed(saved.review)
    if context.json:
        found = _json(made.result, old.saved.id, made.carried, file)
        console.json({**found, **plan_json(proposal.saved, file)})
        return EXIT_OK
    if made.result == "same":
        console.tell("The planner proposes the same again: plan {} stays.", old.saved.id)
        return EXIT_OK
    say_plan(context, proposal, file, asked.output)
    if made.result == "new":
        console.tell(
            "It replaces plan {}, which waits until it is discarded. Carried over: {}.",
            old.saved.id,
            made.carried,
        )
    return EXIT_OK


def _json(result: str, replaces: str, carried: int, file: str | None) -> dict[str, object]:
    return {
        "result": result,
        "replaces": replaces if result == "new" else None,
        "carried": carried,
        "plan": None,
        "file": file,
    }
