"""The plans that wait: listing them, discarding one, bringing it back."""

from __future__ import annotations

import argparse
from typing import Any

from engine.consolidation import examine
from engine.plans import OpenedPlan, bring_back, discard, open_plan, waiting_plans
from engine.proposal import Proposal
from engine.store import Store
from memui.console import Styled
from memui.context import Context
from memui.ending import EXIT_OK
from memui.report.words import tally


def plans(context: Context, _asked: argparse.Namespace) -> int:
    """`memui plans`: every plan that waits, the newest first, and how far its review is."""
    store = context.looked_at()
    snapshot, console = store.snapshot(), context.console
    found = [
        (opened, examine(store, opened.saved, snapshot=snapshot)) for opened in waiting_plans(store)
    ]
    aside = [name for name, _ in store.plans_aside()]
    if context.json:
        console.json(
            {
                "plans": [_json(store, opened, proposal) for opened, proposal in found],
                "discarded": list(dict.fromkeys(aside)),
            }
        )
        return EXIT_OK
    if not found:
        console.tell("No plan is waiting. {} makes one.", context.command("plan"))
    console.table(
        [
            Styled(opened.saved.id, "bold"),
            opened.saved.time,
            opened.saved.planner,
            tally(proposal),
            Styled(f"replaces {opened.saved.replaces}" if opened.saved.replaces else "", "dim"),
        ]
        for opened, proposal in found
    )
    if aside and console.is_screen:
        console.tell(
            "Discarded: {}. {} brings one back.",
            ", ".join(dict.fromkeys(aside)),
            context.command("discard", aside[-1], "--undo"),
        )
    return EXIT_OK


def _json(store: Store, opened: OpenedPlan, proposal: Proposal) -> dict[str, Any]:
    saved, counts = opened.saved, proposal.counts()
    return {
        "plan": saved.id,
        "time": saved.time,
        "planner": saved.planner,
        "model": saved.model,
        "replaces": saved.replaces,
        "file": store.plan_file(opened.name),
        "actions": counts.total,
        "undecided": counts.undecided,
        "approved": counts.approved,
        "rejected": counts.rejected,
        "applied": counts.applied,
        "changed_on_disk": counts.stale,
        "invalid": counts.invalid,
        "summary": saved.plan.summary,
    }


def discard_plan(context: Context, asked: argparse.Namespace) -> int:
    """`memui discard PLAN`: it waits no more; its file is kept, and `--undo` brings it back."""
    store, console = context.looked_at(), context.console
    if asked.undo:
        opened = bring_back(store, asked.plan)
        file, result = store.plan_file(opened.name), "brought back"
    else:
        opened = open_plan(store, asked.plan)
        file, result = discard(store, opened), "discarded"
    if context.json:
        console.json({"result": result, "plan": opened.saved.id, "file": file})
        return EXIT_OK
    console.say("Plan {} is {}.", opened.saved.id, "waiting again" if asked.undo else "discarded")
    if not asked.undo:
        console.tell("No memory was changed, and what was applied stays applied.")
        console.tell("Bring it back: {}", context.command("discard", opened.name, "--undo"))
    return EXIT_OK
