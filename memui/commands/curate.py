"""Curating by hand: add, edit, describe. Every one is a run that undo takes back."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final

from engine.documents import decode, digest
from engine.errors import EngineError, StorageError
from memui.context import Context, path_fields
from memui.ending import UsageError

INPUT_LIMIT: Final = 8 * 1024 * 1024


def add(context: Context, asked: argparse.Namespace) -> int:
    """`memui add`: a new memory from standard input."""
    store = context.store()
    if sys.stdin.isatty():
        context.console.tell("Write the memory, then Ctrl-D.")
    content = _given("-").decode("utf-8", "surrogateescape").rstrip("\n")
    if not content.strip():
        raise UsageError("There is nothing to add", hint="Give the text on standard input.")
    metadata = {
        name: value for name, value in (("path", asked.path), ("title", asked.title)) if value
    }
    added = store.add(content, metadata, who=context.who, wait=context.wait)
    context.tell_recovered(store)
    return _done(context, "Added {}.", added.path, added.run)


def edit(context: Context, asked: argparse.Namespace) -> int:
    """`memui edit PATH`: in `$EDITOR`, or from a file or standard input by `--from`."""
    store = context.store()
    path = store.resolve(asked.path)
    before = store.read(path)
    _, encoding = decode(before)
    if encoding != "utf-8":
        raise StorageError(
            f"{path} is not UTF-8, so it is not edited as text.",
            path=path,
            hint="Nothing was changed. Convert a copy by hand and add it.",
        )
    if asked.source is not None:
        after = _given(asked.source)
    elif context.console.is_terminal or os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        from memui.editor import edit_text

        after = edit_text(before, path, context.console if context.console.is_terminal else None)
    else:
        raise UsageError("edit needs a terminal or $EDITOR; --from FILE (or -) gives the new text")
    if after == before:
        context.console.tell("Nothing was changed.")
        return _done(context, "", path, "")
    try:
        outcome = store.edit(path, after, base=digest(before), who=context.who, wait=context.wait)
    except EngineError as error:
        from memui.editor import rescue

        error.hint = f"{error.hint} Your text is kept in {rescue(after, path)}".strip()
        raise
    context.tell_recovered(store)
    return _done(context, "Wrote {}.", path, outcome.run)


def describe(context: Context, asked: argparse.Namespace) -> int:
    """`memui describe PATH TEXT`: one line changes, every other byte stays."""
    store = context.store()
    path = store.resolve(asked.path)
    outcome = store.describe(path, asked.text, who=context.who, wait=context.wait)
    context.tell_recovered(store)
    if not outcome.run:
        context.console.tell("{} already says so.", path)
    return _done(context, "Described {}." if outcome.run else "", path, outcome.run)


def _given(source: str) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    if source != "-":
        from engine.plans import read_file

        return read_file(source, INPUT_LIMIT)
    data = sys.stdin.buffer.read(INPUT_LIMIT + 1)
    if len(data) > INPUT_LIMIT:
        raise UsageError(f"The input is larger than {INPUT_LIMIT // 1024 // 1024} MiB")
    return data


def _done(context: Context, template: str, path: str, run: str) -> int:
    undo = context.command("undo", run, "--yes") if run else ""
    if context.json:
        context.console.json({**path_fields(path), "run": run, "undo": undo})
        return 0
    if template:
        context.console.say(template, path)
    if undo:
        context.console.tell("Undo: {}", undo)
    return 0
