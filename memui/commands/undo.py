"""Taking back a run, a part of it, or what became of one memory."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from engine.diff import patch
from engine.documents import digest
from engine.errors import AlreadyUndone, Conflict, EngineError, run_number
from engine.journal import Run, RunKind, earlier, undone_by
from engine.reversal import Choice, Reversal, Reverted
from engine.store import Store
from memui.context import Context, path_fields
from memui.ending import EXIT_CONFLICT, EXIT_OK, UsageError, error_shape
from memui.spans import numbers


def undo(context: Context, asked: argparse.Namespace) -> int:
    """`memui undo [RUN]`: take back a run, or parts of it; all that is meant, or nothing."""
    store = context.store()
    if not context.yes:
        context.warn_unfinished(store)
    elif store.unfinished():
        # An interrupted run may turn out to be the last one.
        store.recover(wait=context.wait)
        context.tell_after(store)
    if asked.path:
        return _restore(context, asked, store)
    name = asked.run or "last"
    known = store.runs()
    if name == "last" and not _holds(known, undone_by(known)):
        context.console.tell("There is no run to take back. memui log shows all runs.")
        return _nothing(context, None)
    try:
        found = store.reversal(
            name,
            actions=[n + 1 for n in numbers(asked.action)],
            choices=_choices(asked),
            otherwise=None if asked.on_conflict == "stop" else Choice(asked.on_conflict),
        )
    except AlreadyUndone as error:
        context.console.tell(
            "Run {} is taken back already, by run {}.", run_number(error.run), run_number(error.by)
        )
        return _nothing(context, error.run)
    if found.open:
        return _conflict(context, found)
    if not context.yes and not _asked(context, found, asked):
        context.console.tell("Nothing was changed.")
        return EXIT_OK
    try:
        outcome = store.revert(found, who=context.who, wait=context.wait)
    except Conflict as error:
        if not context.json:
            raise
        context.console.json(_conflict_json(found.run, error, ()))
        return EXIT_CONFLICT
    context.tell_after(store, outcome.run)
    redo = context.undo_command(store, outcome.run)
    kept = [file.path for file in found.files if not file.chosen]
    if context.json:
        context.console.json(
            {
                "result": "undone" if outcome.run else "nothing",
                "run": outcome.run or None,
                "of": found.run.id,
                "conflicts": [],
                "kept": [path_fields(path)["path"] for path in kept],
                "undo": redo or None,
            }
        )
        return EXIT_OK
    if outcome.run:
        part = " in part" if found.partial else ""
        context.console.say(
            "Run {} is taken back{}, by run {}.", found.run.seq, part, run_number(outcome.run)
        )
    else:
        context.console.tell("There was nothing to take back. Nothing was changed.")
    for path in outcome.written:
        context.console.say("  restored {}", path)
    for path in outcome.deleted:
        context.console.say("  removed  {}", path)
    for path in kept:
        context.console.say("  kept     {}", path)
    if redo:
        context.console.tell("redo: {}", redo)
    return EXIT_OK


def _choices(asked: argparse.Namespace) -> dict[str, Choice]:
    found: dict[str, Choice] = {}
    for choice in Choice:
        for path in getattr(asked, str(choice)):
            if path in found:
                raise UsageError(f"{path} is named twice.", hint="Choose one for each file.")
            found[path] = choice
    return found


def _conflict(context: Context, found: Reversal) -> int:
    """Name every file that changed since, with what can be chosen for it."""
    hint = "Nothing was changed. Choose: --on-conflict keep|take|merge, or by file."
    error = Conflict(found.drifts, hint=hint)
    if context.json:
        context.console.json(_conflict_json(found.run, error, found.open))
        return EXIT_CONFLICT
    for file in found.open:
        context.console.tell("memui: {} {}.", file.path, file.why)
        for choice in file.choices:
            words = ("undo", found.run.id, f"--{choice}", file.path)
            context.console.tell("  {}", context.to_do(*words))
    context.console.tell("{}", hint)
    return EXIT_CONFLICT


def _conflict_json(run: Run, error: Conflict, files: Sequence[Reverted]) -> dict[str, Any]:
    choices = {file.path: [str(choice) for choice in file.choices] for file in files}
    return {
        "result": "conflict",
        "run": None,
        "of": run.id,
        "conflicts": [
            {**path_fields(d.path), "why": d.why, "choices": choices.get(d.path, [])}
            for d in error.drifts
        ],
        **error_shape(error),
    }


def _asked(context: Context, found: Reversal, asked: argparse.Namespace) -> bool:
    """Name what would be done, and ask. Raises `UsageError` where nobody can be asked."""
    run, console = found.run, context.console
    console.tell("This would take back run {} ({}, {}):", run.seq, str(run.kind), run.time)
    for file in found.files:
        console.tell("  {} {}", f"{_does(file):<8}", file.path)
    for file in found.files:
        if file.choice is not None and file.chosen:
            _tell_diff(context, file.path, file.here, file.result)
    words = ["undo", run.id, *(["--action", asked.action] if asked.action else [])]
    for path, choice in _choices(asked).items():
        words += [f"--{choice}", path]
    if asked.on_conflict != "stop":
        words += ["--on-conflict", asked.on_conflict]
    _refuse_unasked(context, words)
    return console.ask("Take it back? [y/N] ").lower() in {"y", "yes"}


def _refuse_unasked(context: Context, words: Sequence[str]) -> None:
    """Raise `UsageError` where nobody can be asked."""
    if not context.console.is_terminal or context.json:
        raise UsageError(
            "undo changes files, and nobody can be asked. Nothing was changed.",
            hint=f"To do it: {context.command(*words, '--yes')}",
        )


def _does(file: Reverted) -> str:
    if file.result == file.here:
        return "keep"
    if file.result is None:
        return "remove"
    if file.choice is Choice.MERGE:
        return "merge"
    return "restore" if file.here is None else "rewrite"


def _tell_diff(context: Context, path: str, before: bytes | None, after: bytes | None) -> None:
    for line in patch(path, path, before, after).rstrip("\n").split("\n"):
        context.console.tell("    {}", line)


def _restore(context: Context, asked: argparse.Namespace, store: Store) -> int:
    """Give one memory an earlier version: that from before a run, or one by its SHA-256."""
    if asked.action or _choices(asked):
        raise UsageError("--path stands alone: it gives one memory an earlier version.")
    path = asked.path
    name = asked.run or _last_of(store, path)
    before, _ = earlier(store.place, path, name)
    here = store.live(path)
    if before == here:
        context.console.tell("{} is that version already. Nothing was changed.", path)
        return _nothing(context, None)
    if not context.yes:
        context.console.tell("This would bring back an earlier version of {}:", path)
        _tell_diff(context, path, here, before)
        _refuse_unasked(context, ("undo", name, "--path", path))
        if context.console.ask("Bring it back? [y/N] ").lower() not in {"y", "yes"}:
            context.console.tell("Nothing was changed.")
            return EXIT_OK
    base = None if here is None else digest(here)
    outcome = store.restore(path, name, base=base, who=context.who, wait=context.wait)
    context.tell_after(store, outcome.run)
    redo = context.undo_command(store, outcome.run)
    if context.json:
        context.console.json(
            {"result": "undone", "run": outcome.run, "of": None, "conflicts": [], "undo": redo}
        )
        return EXIT_OK
    context.console.say(
        "{} has its earlier version again, by run {}.", path, run_number(outcome.run)
    )
    context.console.tell("undo: {}", redo)
    return EXIT_OK


def _last_of(store: Store, path: str) -> str:
    """The newest run that changed a memory."""
    for run in reversed(store.runs()):
        if run.state == "done" and any(step.path == path for step in run.steps):
            return run.id
    raise EngineError(f"No run of memui changed {path}.", hint="memui log shows all runs.")


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
