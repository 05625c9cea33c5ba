"""Proposing and looking: plan, check, review. The store stays as it is."""

from __future__ import annotations

import argparse
from typing import Any

from engine.consolidation import examine, propose
from engine.errors import InvalidPlan
from engine.paths import Layout
from engine.plan import Operation
from engine.planner.rules import RulesPlanner
from engine.plans import keep_plan, open_plan
from engine.proposal import Proposal
from engine.review import SavedPlan
from engine.store import Store
from memui.commands import output
from memui.commands.reports import say_check, say_rows
from memui.context import Context, path_fields
from memui.ending import EXIT_CONFLICT, EXIT_INVALID, EXIT_OK, UsageError, error_shape
from memui.pasting import file_word
from memui.report.values import account_json, violation_json


def plan(context: Context, asked: argparse.Namespace) -> int:
    """`memui plan`: propose; nothing in the store changes."""
    store = context.looked_at()
    if asked.output == "-" and context.json:
        raise UsageError("--json and -o - would both print JSON.", hint="Choose one of them.")
    if asked.output not in {None, "-"}:
        output.refuse(store, asked.output, output.Kind.PLAN, force=asked.force)
    if asked.again is not None:
        from memui.commands.again import plan_once_more

        return plan_once_more(context, store, asked)
    if asked.feedback is not None:
        raise UsageError(
            "--feedback says something of an earlier plan, and none is named.",
            hint="Name it with --again PLAN.",
        )
    operations = _operations(store, asked.operations)
    planner = RulesPlanner()
    saved = propose(store, planner, operations=operations, one_call=False)
    if saved is None:
        if context.json:
            context.console.json(
                {"plan": None, "file": None, "planner": planner.name, "actions": 0, "summary": ""}
            )
        say_empty(context, store)
        return EXIT_OK
    if asked.output == "-":
        context.console.raw(saved.dump())
        return EXIT_OK
    saved, file = keep(store, saved, asked.output)
    if context.json:
        context.console.json(plan_json(saved, file))
        return EXIT_OK
    say_plan(context, examine(store, saved), file, asked.output)
    return EXIT_OK


def say_empty(context: Context, store: Store) -> None:
    """There is nothing to plan for."""
    context.console.tell(
        "{} holds no memories: there is nothing to consolidate.", store.place.folder
    )


def plan_json(saved: SavedPlan, file: str | None) -> dict[str, Any]:
    """The JSON of a plan that was made."""
    return {
        "plan": saved.id,
        "file": file,
        "planner": saved.planner,
        "actions": len(saved.plan.actions),
        "summary": saved.plan.summary,
    }


def say_plan(context: Context, proposal: Proposal, file: str | None, named: str | None) -> None:
    """A plan that was made, and what can be done with it."""
    saved, console = proposal.saved, context.console
    console.say("{}", saved.plan.summary)
    say_rows(context, proposal)
    if file is not None:
        console.say("Plan {}: {}", saved.id, file)
    if saved.plan.actions:
        word = file_word(named or saved.id)
        console.tell("Nothing was changed. Next:")
        console.tell("  {}", context.command("check", word))
        console.tell("  {}", context.command("review", word))
        console.tell("  {}", context.to_do("apply", word, "--approve", "all"))


def _operations(store: Store, named: str | None) -> list[str] | None:
    if named is not None:
        return [word for word in named.split(",") if word]
    if store.layout is Layout.SHIPPED:
        # The SDK names files after their first line, and would start a moved topic anew.
        return [str(o) for o in Operation if o is not Operation.REORGANIZE]
    return None


def keep(store: Store, saved: SavedPlan, named: str | None) -> tuple[SavedPlan, str | None]:
    """(the plan as it is kept, where): in the file that was named, or waiting in the state folder.

    The same plan may wait there already; then with what was said of it. A plan with nothing to do
    does not wait.
    """
    if named is not None:
        output.write(named, saved.dump())
        return saved, named
    if not saved.plan.actions:
        return saved, None
    return keep_plan(store, saved).saved, store.plan_file(saved.id)


def check(context: Context, asked: argparse.Namespace) -> int:
    """`memui check PLAN`: every violation, every stale file, and what would be lost."""
    store = context.looked_at()
    try:
        opened = open_plan(store, asked.plan)
    except InvalidPlan as error:
        if not context.json:
            raise
        context.console.json(
            {
                "valid": False,
                "violations": [violation_json(v) for v in error.violations],
                "stale": [],
                "warnings": [],
                "ledger": [],
                **error_shape(error),
            }
        )
        return EXIT_INVALID
    proposal = examine(store, opened.saved)
    stale = {drift.path: drift for found in proposal.stale.values() for drift in found}
    status = EXIT_INVALID if proposal.verdicts.violations else EXIT_CONFLICT if stale else EXIT_OK
    if context.json:
        warnings = (*opened.notices, *proposal.verdicts.warnings)
        context.console.json(
            {
                "valid": not proposal.verdicts.violations,
                "violations": [violation_json(v) for v in proposal.verdicts.violations],
                "stale": [{**path_fields(d.path), "why": d.why} for _, d in sorted(stale.items())],
                "warnings": [violation_json(w) for w in warnings],
                "ledger": [
                    account_json(account)
                    for index, account in sorted(proposal.accounts.items())
                    if proposal.owner(index) == index
                ],
                "plan": opened.saved.id,
                "applied": {str(n): run for n, run in sorted(proposal.applied.items())},
            }
        )
        return status
    say_check(context, opened, proposal)
    return status


def review(context: Context, asked: argparse.Namespace) -> int:
    """`memui review [PLAN]`: the screen, or with `--plain` a dialogue of lines."""
    if asked.plain:
        from memui.commands.dialogue import Dialogue

        store = context.store()
        return Dialogue(context, store, open_plan(store, asked.plan)).run()
    if context.json or not context.console.is_terminal:
        plan_word = file_word(asked.plan or "PLAN")
        raise UsageError(
            "review needs a terminal.",
            hint=f"Without one: {context.command('review', '--plain')}, or"
            f" {context.command('check', plan_word)}, then"
            f" {context.to_do('apply', plan_word, '--approve', '1,3-5')}",
        )
    store = context.store()
    opened = open_plan(store, asked.plan)
    from memui.app import run_app

    return run_app(context.root, name=context.name, layout=context.layout, opened=opened)
