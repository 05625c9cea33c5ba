"""Editing in the person's own editor, on a private copy outside the store."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from typing import Final, Protocol

from engine.errors import EngineError

RETURNED_AT_ONCE: Final = 1.0
"""Seconds under which an editor that changed nothing is taken to have opened a window elsewhere."""


class EditorFailed(EngineError):
    """The editor could not be started, or ended with an error."""


class Asks(Protocol):
    """Who can ask the person to go on."""

    def ask(self, question: str) -> str: ...


def command() -> list[str]:
    """The editor's command line: `$VISUAL`, `$EDITOR`, else nano or vi. Raises `EditorFailed`."""
    said = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if said:
        try:
            words = shlex.split(said)
        except ValueError as error:
            raise EditorFailed(f"$EDITOR cannot be understood: {said}: {error}.") from error
        if words:
            return words
    for name in ("nano", "vi"):
        if shutil.which(name):
            return [name]
    raise EditorFailed("There is no editor.", hint="Set EDITOR to the command of yours.")


def edit_text(before: bytes, name: str, asks: Asks | None = None) -> bytes:
    """The bytes that the person made of `before`. Nothing is written to the store.

    The copy lies in a private folder (0700), so that swap and backup files of the editor are never
    served to an agent. Raises `EditorFailed`; then the copy is kept if it was changed, and named.
    """
    words = command()
    folder = tempfile.mkdtemp(prefix="memui-edit-")
    copy = os.path.join(folder, _safe_name(name))
    with open(copy, "wb") as file:
        file.write(before)
    kept = False
    try:
        started = time.monotonic()
        try:
            ended = subprocess.run([*words, copy], check=False)
        except OSError as error:
            raise EditorFailed(
                f"The editor {words[0]} cannot be started: {error.strerror}.",
                hint="Nothing was changed. Set EDITOR to the command of yours.",
            ) from error
        after = _read(copy, before)
        quick = time.monotonic() - started < RETURNED_AT_ONCE
        if quick and after == before and ended.returncode == 0 and asks is not None:
            asks.ask("The editor returned at once. Press Enter when you have saved and closed it. ")
            after = _read(copy, before)
        if ended.returncode != 0:
            kept = after != before
            where = f" What you wrote is kept in {copy}." if kept else ""
            raise EditorFailed(
                f"The editor {words[0]} ended with status {ended.returncode}.{where}",
                hint="The memory was not changed.",
            )
        return after
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def _read(copy: str, before: bytes) -> bytes:
    """The copy's bytes, by path: many editors save by rename. Gone means that nothing is wanted."""
    try:
        with open(copy, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return before


def _safe_name(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in name if c.isprintable())
    return kept.lstrip("-.")[-80:] or "memory.md"


def rescue(data: bytes, name: str) -> str:
    """Keep what could not be saved, in a private folder; its path."""
    folder = tempfile.mkdtemp(prefix="memui-rescue-")
    copy = os.path.join(folder, _safe_name(name))
    with open(copy, "wb") as file:
        file.write(data)
    return copy
