"""Runs as lines: rows of the history, the whole of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from engine.errors import run_number
from engine.journal import Run as JournalRun
from memui.presentation import Line, Run, column, count, line, runs, when

_NARROW: Final = 60
"""Cells under which a row leaves out who made a run."""
_DID: Final = frozenset(["approved", "edited"])


def touches(run: JournalRun, path: str) -> bool:
    """Whether a run changed a memory or names it."""
    return any(step.path == path for step in run.steps) or any(
        path in action.paths for action in run.actions
    )


def standing(run: JournalRun, undone: Mapping[str, str]) -> tuple[str, str]:
    """(where a run stands, its paint)."""
    if run.id in undone:
        return f"undone by {run_number(undone[run.id])}", "warn"
    if run.state == "done":
        return "done", "good"
    return ("taken back", "warn") if run.state == "taken-back" else ("unfinished", "bad")


def _kind(run: JournalRun) -> str:
    return f"undo of {run_number(run.undoes)}" if run.undoes else str(run.kind)


def summary(run: JournalRun, *, roomy: bool) -> str:
    """What a run did to files, in a few words."""
    if len(run.steps) == 1:
        return run.steps[0].path
    if not roomy:
        return count(len(run.steps), "file", "files")
    parts = []
    if run.written:
        parts.append(f"{len(run.written)} written")
    if run.deleted:
        parts.append(f"{len(run.deleted)} removed")
    return ", ".join(parts)


def row(run: JournalRun, undone: Mapping[str, str], cells: int) -> Line:
    """One row: number, time, what made it, where it stands, what it did."""
    state, paint = standing(run, undone)
    stood = () if state == "done" else (*runs(state, paint), Run("  "))
    roomy = cells >= _NARROW
    time = when(run.time) if roomy else when(run.time)[5:]
    return Line(
        (
            Run(f"{run.seq:>{4 if roomy else 3}}  "),
            *runs(f"{time}  ", "dim"),
            *column(runs(_kind(run)), 12 if roomy else 10),
            *stood,
            *runs(summary(run, roomy=roomy), "dim"),
        )
    )


def detail(run: JournalRun, undone: Mapping[str, str], undo_command: str) -> Iterator[Line]:
    """The whole of one run. The planner's reason is labelled as its own claim."""
    state, paint = standing(run, undone)
    yield line((f"Run {run.seq}  ", "heading"), (f"{_kind(run)}  ", "plain"), (state, paint))
    yield line((f"{when(run.time)}, by ", "dim"), (run.who, "dim"))
    yield line((f"id {run.id}, decided by {run.decided_by}", "faint"))
    if run.plan:
        yield line((f"plan {run.plan}", "faint"))
    if run.summary:
        yield line(("the plan's summary: ", "faint"), (run.summary, "dim"))
    if run.plan and run.actions:
        yield line(("", "plain"))
        yield line(("Actions", "heading"))
        for action in run.actions:
            target = f" → {action.target}" if action.target else ""
            yield line(
                (f"{action.number:>3} ", "plain"),
                (f"{action.verdict:<9} ", "good" if action.verdict in _DID else "bad"),
                (f"{action.verb} ", "plain"),
                (f"{' + '.join(action.sources)}{target}", "plain"),
            )
            if action.reason:
                whose = "your reason: " if action.verdict == "rejected" else "planner says: "
                yield line((f"    {whose}", "faint"), (action.reason, "dim"))
    yield line(("", "plain"))
    yield line((count(len(run.steps), "file", "files"), "heading"))
    for step in run.steps:
        if step.old is None:
            word = ("written ", "good")
        elif step.new is None:
            word = ("removed ", "bad")
        else:
            word = ("changed ", "warn")
        yield line(word, (step.path, "plain"))
    if run.changelog == "pending":
        yield line(("The changelog could not be written yet; the next run writes it.", "warn"))
    if run.state == "done" and run.id not in undone:
        yield line(("", "plain"))
        yield line(("u takes it back, or:", "faint"))
        yield line((undo_command, "dim"))


def made_by(run: JournalRun) -> Line:
    """What made a run, when, and who."""
    return line((f"{_kind(run)}, {when(run.time)}, by ", "dim"), (run.who, "dim"))
