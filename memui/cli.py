"""The command line: what is asked, of which store, and how it ended."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from engine.errors import AlreadyApplied, Conflict, EngineError, InvalidPlan, StoreLocked
from engine.paths import Layout
from memui.arguments import is_store, parse
from memui.console import Console, OutputFailed
from memui.context import Context
from memui.ending import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PIPE,
    UsageError,
    error_shape,
    judge,
)

PROBLEMS_SHOWN: Final = 20


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process if None is given); its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    console = Console()
    try:
        code = _judged(console, words)
        console.flush()
    except BrokenPipeError:
        _silence()
        console.pay()
        return EXIT_PIPE
    except OutputFailed as error:
        _silence()
        Console().tell("memui: {}", str(error))
        console.pay()
        return EXIT_FAILED
    except KeyboardInterrupt:
        console.tell("Stopped. Nothing was left half done.")
        return EXIT_INTERRUPTED
    return code


def _judged(console: Console, words: Sequence[str]) -> int:
    """Run, and say how it failed if it did. Raises `OutputFailed`, `OSError`."""
    before_words = words[: words.index("--")] if "--" in words else words
    wants_json = "--json" in before_words
    try:
        if sys.stdout is None:
            raise OutputFailed("Standard output is closed. Nothing was done.")
        command, asked = parse(words)
        handler = _handler("browse:browse" if command is None else command.runs)
        return handler(_context(console, asked), asked)
    except SystemExit as done:  # argparse printed help or the version
        return done.code if isinstance(done.code, int) else EXIT_OK
    except (OutputFailed, BrokenPipeError):
        raise
    except (UsageError, EngineError) as error:
        return _report(console, error, wants_json=wants_json)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        failure = EngineError(f"{where}{error.strerror or error}.")
        if not where and _is_nowhere():
            failure = EngineError(
                "The folder that you are in was deleted.", hint="cd to one that is there."
            )
        return _report(console, failure, wants_json=wants_json)
    except Exception as error:  # noqa: BLE001 - a bug is said in one line; the rest on request
        console.tell("memui has a bug: {}: {}", type(error).__name__, str(error))
        if os.environ.get("MEMUI_DEBUG"):
            import traceback

            for line in traceback.format_exc().split("\n"):
                console.tell("{}", line)
        else:
            console.tell("MEMUI_DEBUG=1 shows where. memui doctor shows whether anything is odd.")
        if wants_json:
            console.json(error_shape(error))
        return EXIT_FAILED


def _context(console: Console, asked: argparse.Namespace) -> Context:
    name: str | None = asked.store
    spec: str | None = asked.spec
    if name and spec is None and (os.sep in name or name.startswith("~")) and is_store(name):
        spec, name = name, None
    return Context(
        console=console,
        spec=spec,
        name=name,
        layout=Layout(asked.layout) if asked.layout else None,
        json=asked.json,
        yes=asked.yes,
        wait_for=asked.wait,
    )


def _handler(path: str) -> Callable[[Context, argparse.Namespace], int]:
    module, _, function = path.partition(":")
    found: Callable[[Context, argparse.Namespace], int] = getattr(
        import_module(f"memui.commands.{module}"), function
    )
    return found


def _report(console: Console, error: UsageError | EngineError, *, wants_json: bool) -> int:
    """Say what is wrong, what was not changed and what to do next; the exit code."""
    _, status = judge(error)
    if wants_json:
        console.json(error_shape(error))
        return status
    if isinstance(error, InvalidPlan):
        _say_violations(console, error)
    elif isinstance(error, Conflict):
        for drift in error.drifts:
            console.tell("memui: {} {}.", drift.path, drift.why)
    else:
        console.tell("memui: {}", str(error))
    refused = isinstance(error, InvalidPlan | Conflict | AlreadyApplied | StoreLocked)
    if refused and "othing was changed" not in error.hint:
        console.tell("Nothing was changed.")
    if error.hint:
        console.tell("{}", error.hint)
    return status


def _say_violations(console: Console, error: InvalidPlan) -> None:
    for violation in error.violations[:PROBLEMS_SHOWN]:
        where = "" if violation.action is None else f"action {violation.action + 1}: "
        console.tell("memui: {}{} [{}]", where, violation.message, violation.code)
    more = len(error.violations) - PROBLEMS_SHOWN
    if more > 0:
        console.tell("memui: and {} more; --json names them all", more)


def _is_nowhere() -> bool:
    """Whether the current folder is gone, so that no relative path leads anywhere."""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _silence() -> None:
    """What is still buffered goes nowhere, so that the interpreter's own flush cannot fail."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, target)
    os.close(null)
