"""How a command ends: exit codes, and the JSON of a failure."""

from __future__ import annotations

from typing import Any, Final

from engine.errors import (
    AlreadyApplied,
    Conflict,
    InvalidPlan,
    NotAStore,
    PlannerError,
    StoreLocked,
)

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INVALID: Final = 3
EXIT_CONFLICT: Final = 4
EXIT_SKIPPED: Final = 5
EXIT_LOCKED: Final = 6
EXIT_INTERRUPTED: Final = 130
EXIT_PIPE: Final = 141
"""Whoever read the output has gone: what a shell reports of a program that SIGPIPE ended."""


class UsageError(Exception):
    """The command line cannot be understood, or needs what was not given. Nothing was changed."""

    unchanged = True

    def __init__(self, message: str, *, hint: str = "memui --help lists what there is.") -> None:
        super().__init__(message)
        self.hint = hint


def error_shape(error: Exception) -> dict[str, Any]:
    """The JSON of a failure. Of a bug nothing is known, so `unchanged` is not claimed for it."""
    code, _ = judge(error)
    return {
        "error": {
            "code": code,
            "message": str(error),
            "unchanged": getattr(error, "unchanged", False),
            "next": getattr(error, "hint", ""),
        }
    }


def judge(error: Exception) -> tuple[str, int]:
    """(the code of a failure, the exit code): the gravest first."""
    if isinstance(error, UsageError):
        return "usage", EXIT_USAGE
    if isinstance(error, StoreLocked):
        return "locked", EXIT_LOCKED
    if isinstance(error, NotAStore):
        return "not-a-store", EXIT_FAILED
    if isinstance(error, InvalidPlan):
        return "invalid", EXIT_INVALID
    if isinstance(error, Conflict | AlreadyApplied):
        return "stale", EXIT_CONFLICT
    if isinstance(error, PlannerError):
        return "planner", EXIT_FAILED
    return "io", EXIT_FAILED
