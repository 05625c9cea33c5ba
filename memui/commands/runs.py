"""What was done: the runs, the newest first."""

from __future__ import annotations

import argparse
from typing import Any, Final

from engine.errors import run_number
from engine.journal import Run, run_ids, undone_by
from memui.console import Styled
from memui.context import Context, shown_path
from memui.ending import EXIT_OK

NEWEST: Final = 50
"""Runs that are printed where nobody says how many."""


def log(context: Context, asked: argparse.Namespace) -> int:
    """`memui log`: the newest runs; as JSON, or with `--all`, every one."""
    store = context.looked_at()
    most = None if asked.all else asked.newest
    if most is None and not asked.all and not context.json:
        most = NEWEST
    # An undo is newer than what it takes back: older runs say nothing of these.
    runs = store.runs(newest=most) if most != 0 else ()
    if context.json:
        context.console.json({"runs": [run_json(run) for run in runs]})
        return EXIT_OK
    gone: dict[str, list[str]] = {}
    for run_id, time in store.collected().items():
        gone.setdefault(time, []).append(run_number(run_id))
    total = len(run_ids(store.place))
    if not total and not gone:
        context.console.tell("Nothing was done yet.")
    undone = undone_by(runs)
    for run in reversed(runs):
        _say_run(context, run, undone.get(run.id))
    if most is not None and total > most:
        context.console.tell(
            "{} not shown: {} prints them too.",
            f"{total - most:,} older {'run is' if total - most == 1 else 'runs are'}",
            context.command("log", "--all"),
        )
    for time, names in gone.items():
        context.console.tell(
            "{} {} collected on {}.",
            f"Run {names[0]}" if len(names) == 1 else f"Runs {names[0]} to {names[-1]}",
            "was" if len(names) == 1 else "were",
            time[:10],
        )
    return EXIT_OK


def run_json(run: Run) -> dict[str, Any]:
    """The JSON of one run."""
    return {
        "run": run.id,
        "kind": str(run.kind),
        "time": run.time,
        "who": run.who,
        "decided_by": run.decided_by,
        "state": run.state,
        "plan": run.plan,
        "undoes": run.undoes,
        "written": [shown_path(path) for path in run.written],
        "deleted": [shown_path(path) for path in run.deleted],
        "actions": [
            {
                "action": action.number,
                "verb": action.verb,
                "paths": [shown_path(path) for path in action.paths],
                "verdict": action.verdict,
                "reason": action.reason,
            }
            for action in run.actions
        ],
    }


def _say_run(context: Context, run: Run, undone: str | None) -> None:
    state = ""
    if undone is not None:
        state = f"undone by run {run_number(undone)}"
    elif run.state != "done":
        state = run.state
    what = f"undo of run {run_number(run.undoes)}" if run.undoes else str(run.kind)
    context.console.say(
        "{}  {}  {}  {}  {}",
        Styled(str(run.seq).rjust(4), "bold"),
        run.time,
        what,
        Styled(run.who, "dim"),
        Styled(state, "yellow"),
    )
    for action in run.actions:
        paths = " + ".join(action.sources)
        arrow = f" → {action.target}" if action.target else ""
        context.console.say(
            "      {} {}{}",
            Styled(action.verdict, "red" if action.verdict in {"rejected", "skipped"} else "green"),
            f"{action.verb} {paths}{arrow}",
            Styled(f"  {action.reason}" if action.reason else "", "dim"),
        )
