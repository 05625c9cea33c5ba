"""Editing in the person's own editor, on a private copy outside the store."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Final, LiteralString, Protocol

from engine.errors import EngineError

RETURNED_AT_ONCE: Final = 1.0
"""Seconds under which an editor that changed nothing is taken to have opened a window elsewhere."""


class EditorFailed(EngineError):
    """The editor could not be started, or ended with an error."""


class Asks(Protocol):
    """Who can ask the person to go on."""

    def ask(self, question: LiteralString, *fields: str) -> str: ...


def named() -> str:
    """What `$VISUAL` or `$EDITOR` says; empty if neither does."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""


def command() -> list[str]:
    """The editor's command line: `$VISUAL`, `$EDITOR`, else nano or vi. Raises `EditorFailed`."""
    said = named()
    if said:
        try:
            words = shlex.split(said)
        except ValueError as error:
            raise EditorFailed(
                f"The editor cannot be understood: {said}: {error}.",
                hint="Nothing was changed. Set EDITOR to a command.",
            ) from error
        if words:
            return words
    for name in ("nano", "vi"):
        if shutil.which(name):
            return [name]
    raise EditorFailed("There is no editor.", hint="Set EDITOR to the command of yours.")


def edit_text(before: bytes, name: str, asks: Asks | None = None) -> bytes:
    """The bytes that the person made of `before`. Nothing is written to the store.

    The copy lies in a private folder (0700), so that swap and backup files of the editor are never
    served to an agent. It is removed when the bytes are handed over. If the editor fails after
    changing it, or may still hold it open, it is kept and named. Raises `EditorFailed`.
    """
    words = command()
    copy = _copy(before, name, "memui-edit-")
    keep = False
    try:
        started = time.monotonic()
        with _interrupts_are_the_editors():
            try:
                ended = subprocess.run([*words, copy], check=False)
            except OSError as error:
                raise EditorFailed(
                    f"The editor {words[0]} cannot be started: {error.strerror}.",
                    hint="Nothing was changed. Set EDITOR to the command of yours.",
                ) from error
        keep = True  # from here the copy is let go only once its bytes are in hand
        after = _read(copy, before)
        if ended.returncode != 0:
            keep = after != before
            where = f" What you wrote is kept in {copy}" if keep else ""
            raise EditorFailed(
                f"The editor {words[0]} ended with status {ended.returncode}.",
                hint=f"The memory was not changed.{where}",
            )
        quick = time.monotonic() - started < RETURNED_AT_ONCE
        if asks is not None and quick and after == before:
            asks.ask(
                "The editor returned at once. If it is still open, save {} there, then press"
                " Enter here. ",
                copy,
            )
            after = _read(copy, before)
            keep = after == before
        else:
            keep = False
        return after
    finally:
        if not keep:
            shutil.rmtree(os.path.dirname(copy), ignore_errors=True)


def rescue(data: bytes, name: str) -> str:
    """Keep what could not be saved, in a private folder; its path. Raises `EditorFailed`."""
    return _copy(data, name, "memui-rescue-")


@contextlib.contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """Ctrl-C and Ctrl-\\ go to every process on the terminal; here only the editor obeys them.

    A handler, unlike ignoring, is not inherited by the editor.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _copy(data: bytes, name: str, prefix: str) -> str:
    try:
        folder = tempfile.mkdtemp(prefix=prefix)
        copy = os.path.join(folder, _safe_name(name))
        with open(copy, "xb") as file:
            file.write(data)
    except OSError as error:
        raise EditorFailed(
            f"No private copy can be made: {error.strerror}.",
            hint="Nothing was changed. Set TMPDIR to a folder with space.",
        ) from error
    return copy


def _read(copy: str, before: bytes) -> bytes:
    """The copy's bytes, by path: many editors save by rename. Gone means that nothing is wanted."""
    try:
        with open(copy, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return before
    except OSError as error:
        raise EditorFailed(
            f"{copy} cannot be read: {error.strerror}.", hint="The memory was not changed."
        ) from error


def _safe_name(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in name if c.isprintable())
    return kept.lstrip("-.")[-60:] or "memory.md"
