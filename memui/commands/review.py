"""Plans and runs: plan, check, review, apply, undo, recover."""

from __future__ import annotations

import argparse
import re
from typing import Any, Literal

from engine.consolidation import Applied, apply, decide, examine, propose
from engine.errors import AlreadyApplied, Conflict, InvalidPlan, PlannerError
from engine.ledger import Account, Entry
from engine.paths import Layout
from engine.plan import Operation
from engine.planner.rules import RulesPlanner
from engine.plans import OpenedPlan, open_plan, replace_file, write_review
from engine.proposal import Proposal, Standing
from engine.review import SavedPlan
from engine.store import Store
from memui.console import Styled
from memui.context import Context, path_fields, shown_path
from memui.ending import (
    EXIT_CONFLICT,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_SKIPPED,
    UsageError,
    error_shape,
)

_SPAN = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def plan(context: Context, asked: argparse.Namespace) -> int:
    """`memui plan`: propose; nothing in the store changes."""
    store = context.store()
    operations = _operations(store, asked.operations)
    planner = RulesPlanner()
    saved = propose(store, planner, operations=operations, one_call=False)
    if saved is None:
        if context.json:
            context.console.json(
                {"plan": None, "file": None, "planner": planner.name, "actions": 0, "summary": ""}
            )
        context.console.tell("{} holds no memories: there is nothing to plan.", store.name)
        return EXIT_OK
    file = _keep(store, saved, asked.output)
    if context.json:
        context.console.json(
            {
                "plan": saved.id,
                "file": file,
                "planner": saved.planner,
                "actions": len(saved.plan.actions),
                "summary": saved.plan.summary,
            }
        )
        return EXIT_OK
    proposal = examine(store, saved)
    context.console.say("{}", saved.plan.summary)
    _say_rows(context, proposal)
    if saved.plan.actions:
        word = asked.output or saved.id
        context.console.tell("Nothing was changed. Review it: {}", context.command("review", word))
    return EXIT_OK


def _operations(store: Store, named: str | None) -> list[str] | None:
    if named is not None:
        return [word for word in named.split(",") if word]
    if store.layout is Layout.SHIPPED:
        # The SDK names files after their first line, and would start a moved topic anew.
        return [str(o) for o in Operation if o is not Operation.REORGANIZE]
    return None


def _keep(store: Store, saved: SavedPlan, output: str | None) -> str | None:
    """Where the plan is kept: in the file that was named, else it waits in the state folder."""
    if output is not None:
        replace_file(output, saved.dump())
        return output
    if not saved.plan.actions:
        return None
    if not store.place.writable:
        raise PlannerError(
            "The store is read-only, so the plan cannot wait in it.",
            hint="Write it to a file with -o FILE.",
        )
    store.save_plan(saved.id, saved.dump())
    return store.plan_file(saved.id)


def check(context: Context, asked: argparse.Namespace) -> int:
    """`memui check PLAN`: every violation, every stale file, and what would be lost."""
    store = context.store()
    try:
        opened = open_plan(store, asked.plan)
    except InvalidPlan as error:
        if not context.json:
            raise
        context.console.json(
            {
                "valid": False,
                "violations": [_violation(v) for v in error.violations],
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
                "violations": [_violation(v) for v in proposal.verdicts.violations],
                "stale": [{**path_fields(d.path), "why": d.why} for _, d in sorted(stale.items())],
                "warnings": [_violation(w) for w in warnings],
                "ledger": [
                    _account(account)
                    for index, account in sorted(proposal.accounts.items())
                    if proposal.owner(index) == index
                ],
                "plan": opened.saved.id,
                "applied": {str(n): run for n, run in sorted(proposal.applied.items())},
            }
        )
        return status
    _say_check(context, opened, proposal)
    return status


def _violation(found: Any) -> dict[str, Any]:
    action = None if found.action is None else found.action + 1
    return {"code": found.code, "action": action, "message": found.message}


def _account(account: Account) -> dict[str, Any]:
    return {
        "action": account.index + 1,
        "kept": account.kept,
        "reworded": account.reworded,
        "moved": account.moved,
        "dropped": [_lost(entry) for entry in account.dropped],
        "new": [
            {"line": e.result.line, "text": e.result.text, "flags": list(e.flags)}
            for e in account.new
            if e.result is not None
        ],
        "needs": [need + 1 for need in account.needs],
        "lossless": account.lossless,
    }


def _lost(entry: Entry) -> dict[str, Any]:
    source = entry.source
    if source is None:
        raise ValueError("a dropped statement has a source")
    return {
        **path_fields(source.path),
        "line": source.line,
        "text": source.text,
        "flags": list(entry.flags),
    }


def _say_check(context: Context, opened: OpenedPlan, proposal: Proposal) -> None:
    console = context.console
    console.say("Plan {} for {}: {}", opened.saved.id, proposal.saved.store.name, _tally(proposal))
    _say_rows(context, proposal, ledger=True)
    for found in (*opened.notices, *proposal.verdicts.warnings):
        where = "" if found.action is None else f"action {found.action + 1}: "
        console.say("{} {}{}", Styled("warning", "yellow"), where, found.message)
    whole = [v for v in proposal.verdicts.violations if v.action is None]
    for violation in whole:
        console.say("{} {} [{}]", Styled("invalid", "red"), violation.message, violation.code)


def _tally(proposal: Proposal) -> str:
    counts = proposal.counts()
    said = [f"{counts.total} {'action' if counts.total == 1 else 'actions'}"]
    for number, word in (
        (counts.undecided, "to decide"),
        (counts.approved, "approved"),
        (counts.rejected, "rejected"),
        (counts.applied, "applied"),
        (counts.invalid, "invalid"),
        (counts.stale, "changed on disk"),
    ):
        if number:
            said.append(f"{number} {word}")
    return ", ".join(said)


def _say_rows(context: Context, proposal: Proposal, *, ledger: bool = False) -> None:
    console = context.console
    for index in proposal.rows():
        action = proposal.plan.actions[index]
        mark, style = _mark(proposal, index)
        console.say(
            "{} {}  {} {}{}",
            Styled(mark, style),
            str(index + 1).rjust(3),
            f"{action.action:<6}",
            describe_paths(proposal, index),
            Styled("".join(f"  [{flag}]" for flag in proposal.flags(index)), "yellow"),
        )
        if not ledger:
            continue
        for violation in proposal.violations(index):
            console.say(
                "         {} {} [{}]", Styled("invalid:", "red"), violation.message, violation.code
            )
        for drift in proposal.stale.get(index, ()):
            console.say("         {} {} {}", Styled("stale:", "red"), drift.path, drift.why)
        account = proposal.accounts.get(index)
        if account is None:
            run = proposal.applied.get(index + 1, "")
            console.say("         {}", Styled(f"applied in run {run}", "dim"))
            continue
        console.say(
            "         {}",
            Styled(
                f"kept {account.kept} · reworded {account.reworded} · moved {account.moved}"
                f" · dropped {len(account.dropped)} · new {len(account.new)}",
                "dim",
            ),
        )
        for entry in account.dropped:
            if entry.source is not None:
                where = f"{entry.source.path}:{entry.source.line}"
                console.say("         {} {}  {}", Styled("-", "red"), where, entry.source.text)
        for entry in account.new:
            if entry.result is not None:
                console.say("         {} {}", Styled("+", "green"), entry.result.text)


def describe_paths(proposal: Proposal, index: int) -> str:
    """What an action does to which paths, as one text."""
    action = proposal.plan.actions[index]
    if action.action == "merge":
        return f"{' + '.join(action.sources)} → {proposal.changes[index].target or action.target}"
    if action.action == "move":
        return f"{action.from_} → {proposal.changes[index].target or action.to}"
    return action.path


def _mark(proposal: Proposal, index: int) -> tuple[str, str]:
    standing = proposal.standing(index)
    if standing is Standing.APPLIED:
        return "applied ", "dim"
    if standing is Standing.INVALID:
        return "invalid ", "red"
    if standing is Standing.STALE:
        return "stale   ", "red"
    verdict = proposal.verdict(index)
    return f"{verdict:<8}", {"approved": "green", "rejected": "red"}.get(str(verdict), "")


def review(context: Context, asked: argparse.Namespace) -> int:
    """`memui review [PLAN]`: the screen."""
    if context.json or not context.console.is_terminal:
        raise UsageError(
            "review needs a terminal; without one use memui check PLAN and"
            " memui apply PLAN --approve 1,3-5"
        )
    store = context.store()
    opened = open_plan(store, asked.plan)
    from memui.app import run_app

    return run_app(context.root, name=context.name, layout=context.layout, opened=opened)


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
                "violations": [_violation(v) for v in getattr(error, "violations", ())],
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
    if not context.yes:
        _say_intent(context, proposal)
        if not context.console.is_terminal or context.json:
            raise UsageError("apply changes files: give --yes to do it. Nothing was changed")
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
        console.say("Nothing to apply.")
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


def undo(context: Context, asked: argparse.Namespace) -> int:
    """`memui undo [RUN]`: take back a run, all of it or nothing."""
    from engine.journal import find

    store = context.store()
    name = asked.run or "last"
    if name == "last" and not store.runs():
        if context.json:
            context.console.json({"result": "nothing", "run": None, "of": None, "conflicts": []})
        else:
            context.console.tell("There is no run to take back.")
        return EXIT_OK
    run = find(store.place, name)
    if not context.yes:
        context.console.tell(
            "This would take back run {} ({}, {}):", run.id, str(run.kind), run.time
        )
        for step in run.steps:
            word = "remove" if step.old is None else "restore" if step.new is None else "rewrite"
            context.console.tell("  {} {}", f"{word:<8}", step.path)
        if not context.console.is_terminal or context.json:
            raise UsageError("undo changes files: give --yes to do it. Nothing was changed")
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
    context.console.say("Run {} is taken back, as run {}.", run.id, outcome.run or "none")
    for path in outcome.written:
        context.console.say("  restored {}", path)
    for path in outcome.deleted:
        context.console.say("  removed  {}", path)
    context.console.tell("Redo: {}", redo)
    return EXIT_OK


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
