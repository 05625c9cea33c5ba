"""Shrinking memui's own record."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.commit import KEEP_DAYS, KEEP_RUNS, Collected
from engine.errors import run_number
from memui.context import Context, path_fields
from memui.ending import EXIT_OK, UsageError


def gc(context: Context, asked: argparse.Namespace) -> int:
    """`memui gc`: remove old runs and what only they needed."""
    store = context.store()
    limits = {
        "keep_days": KEEP_DAYS if asked.keep_days is None else asked.keep_days,
        "keep_runs": KEEP_RUNS if asked.keep_runs is None else asked.keep_runs,
    }
    if not asked.dry_run and not context.yes:
        would = store.collect(**limits, dry=True)
        terminal = context.console.is_terminal and not context.json
        if _is_nothing(would):
            if context.json:
                context.console.json(_json(would, dry=False))
            else:
                _say(context, would, dry=True)
            return EXIT_OK
        context.console.tell(
            "This would remove {}, {}, for good. They could not be taken back any more.",
            f"{_runs(would.runs)} and {_many(would.objects, 'earlier version')}",
            megabytes(would.bytes),
        )
        if not terminal:
            raise UsageError(
                "gc removes runs for good, and nobody can be asked. Nothing was removed.",
                hint=f"To do it: {context.command('gc', *_limits(asked), '--yes')}",
            )
        if context.console.ask("Remove them? [y/N] ").lower() not in {"y", "yes"}:
            context.console.tell("Nothing was removed.")
            return EXIT_OK
    found = store.collect(**limits, dry=asked.dry_run, wait=context.wait)
    context.tell_after(store)
    if context.json:
        context.console.json(_json(found, dry=asked.dry_run))
    else:
        _say(context, found, dry=asked.dry_run)
    return EXIT_OK


def _limits(asked: argparse.Namespace) -> list[str]:
    """The limits as they were given, to be said again."""
    given = (("--keep-days", asked.keep_days), ("--keep-runs", asked.keep_runs))
    return [word for name, value in given if value is not None for word in (name, str(value))]


def _is_nothing(found: Collected) -> bool:
    return not (found.runs or found.objects or found.found)


def _json(found: Collected, *, dry: bool) -> dict[str, Any]:
    return {
        "result": "nothing" if _is_nothing(found) else "collected",
        "dry_run": dry,
        "runs": len(found.runs),
        "objects": found.objects,
        "bytes": found.bytes,
        "kept": {"runs": found.kept_runs, "bytes": found.kept_bytes},
        "found": [
            {**path_fields(late.path), "run": late.run, "digest": late.digest, "size": late.size}
            for late in found.found
        ],
    }


def _say(context: Context, found: Collected, *, dry: bool) -> None:
    console = context.console
    if _is_nothing(found):
        console.say("Nothing can go." if dry else "Nothing was removed.")
    else:
        console.say(
            "{} {} and {}: {}.",
            "Would remove" if dry else "Removed",
            _runs(found.runs),
            _many(found.objects, "earlier version"),
            megabytes(found.bytes),
        )
    console.say("Kept: {}, {}.", _many(found.kept_runs, "run"), megabytes(found.kept_bytes))
    for late in found.found:
        console.say(
            "{} was written to after run {} had put it aside: those bytes are kept as {}.",
            late.path,
            run_number(late.run),
            late.digest[:12],
        )


def _runs(runs: Sequence[str]) -> str:
    if not runs:
        return "no run"
    first, last = (run_number(run) for run in (runs[0], runs[-1]))
    return f"run {first}" if len(runs) == 1 else f"{len(runs):,} runs ({first} to {last})"


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def megabytes(size: int) -> str:
    """A number of bytes for people, in decimal units."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def record_line(context: Context, runs: int, size: int) -> None:
    """The last line of `memui doctor`: how large memui's own record is."""
    context.console.say("memui's record: {}, {}", _many(runs, "run"), megabytes(size))
