"""How a command ends: exit codes, and the JSON of a failure."""

from __future__ import annotations

from typing import Any, Final

from engine.errors import (
    AlreadyApplied,
    Conflict,
    InvalidPlan,
    NoPlan,
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


class UsageError(Exception):
    """The command line cannot be understood, or needs what was not given."""

    def __init__(self, message: str, *, hint: str = "memui --help lists what there is.") -> None:
        super().__init__(message)
        self.hint = hint


def error_shape(error: Exception) -> dict[str, Any]:
    """The JSON of a failure."""
    code, _ = judge(error)
    return {
        "error": {
            "code": code,
            "message": str(error),
            "unchanged": getattr(error, "unchanged", True),
            "next": getattr(error, "hint", ""),
        }
    }


def judge(error: Exception) -> tuple[str, int]:
    """(the code of a failure, the exit code): the first that fits, as design 15 orders them."""
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
    if isinstance(error, NoPlan):
        return "usage", EXIT_USAGE
    return "io", EXIT_FAILED
