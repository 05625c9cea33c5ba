"""Curating by hand: add, edit, describe. Every one is a run that undo takes back."""

from __future__ import annotations

import argparse
import sys

from engine.documents import decode, digest
from engine.errors import StorageError
from engine.store import Store
from memui.commands import given
from memui.context import Context, path_fields
from memui.ending import EXIT_OK, UsageError


def add(context: Context, asked: argparse.Namespace) -> int:
    """`memui add`: a new memory from standard input, or from `--text`."""
    store = context.store()
    if asked.text is not None:
        content = asked.text
    else:
        if given.is_typed():
            context.console.tell("Write the memory; Ctrl-D on a line of its own ends it.")
        content = given.read("-").decode("utf-8", "surrogateescape").rstrip("\n")
    if not content.strip():
        raise UsageError("There is nothing to add.", hint="Give a text: --text, or standard input.")
    metadata = {
        name: value for name, value in (("path", asked.path), ("title", asked.title)) if value
    }
    added = store.add(content, metadata, who=context.who, wait=context.wait)
    context.tell_after(store, added.run)
    if not context.json:
        context.console.say("Added {}.", added.path)
    return _done(context, store, added.path, added.run)


def edit(context: Context, asked: argparse.Namespace) -> int:
    """`memui edit PATH`: in the person's editor, or with the new text given."""
    store = context.store()
    path = store.memory(asked.path)
    before = store.read(path)
    _, encoding = decode(before)
    if encoding != "utf-8":
        raise StorageError(
            f"{path} is not UTF-8, so it is not edited as text.",
            path=path,
            hint="Nothing was changed. Convert a copy by hand and add it.",
        )
    by_hand = asked.source is None and _has_editor()
    after = _by_editor(context, path, before) if by_hand else given.read(asked.source or "-")
    if not after and not by_hand and before:
        raise UsageError(
            f"There is no new text for {path}. Nothing was changed.",
            hint="Give it on standard input or by --from FILE, or set EDITOR.",
        )
    if after == before:
        context.console.tell("Nothing was changed.")
        return _done(context, store, path, "")
    saved = False
    try:
        outcome = store.edit(path, after, base=digest(before), who=context.who, wait=context.wait)
        saved = True
    finally:
        if by_hand and not saved:
            from memui.editor import rescue

            context.console.tell(
                "The edit was not saved. Your text is kept in {}", rescue(after, path)
            )
    context.tell_after(store, outcome.run)
    if not context.json:
        context.console.say("Wrote {}.", path)
    return _done(context, store, path, outcome.run)


def describe(context: Context, asked: argparse.Namespace) -> int:
    """`memui describe PATH TEXT`: one line changes, every other byte stays."""
    store = context.store()
    path = store.memory(asked.path)
    outcome = store.describe(path, asked.text, who=context.who, wait=context.wait)
    context.tell_after(store, outcome.run)
    if not outcome.run:
        context.console.tell("{} already says so.", path)
    elif not context.json:
        context.console.say("Described {}.", path)
    return _done(context, store, path, outcome.run)


def _has_editor() -> bool:
    """Whether the new text comes from an editor, and not from standard input.

    It does where a person can type. Where nobody sits at a terminal at all, a program may still be
    named as the editor.
    """
    from memui.editor import named

    if given.is_typed():
        return True
    return bool(named()) and not (sys.stderr is not None and sys.stderr.isatty())


def _by_editor(context: Context, path: str, before: bytes) -> bytes:
    from memui.editor import edit_text

    return edit_text(before, path, context.console if context.console.is_terminal else None)


def _done(context: Context, store: Store, path: str, run: str) -> int:
    undo = context.undo_command(store, run)
    if context.json:
        context.console.json({**path_fields(path), "run": run or None, "undo": undo or None})
    elif undo:
        context.console.tell("undo: {}", undo)
    return EXIT_OK
