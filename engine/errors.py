"""The failures that the engine reports.

::

    EngineError
     ├─ NotAStore       the path is no folder of memories, or names none of several
     ├─ StorageError    the world failed: permission, space, a device, a vanished folder
     │   └─ Unfinished  a run stopped in the middle; the next opening for writing drives it on
     ├─ StoreLocked     another run holds the store
     ├─ Conflict        files are not what the run relied on; nothing was written
     ├─ NoPlan          there is no such plan, or none waits
     ├─ AlreadyApplied  an action of a plan was applied before
     ├─ Refused         a verdict that cannot be given, or a text that cannot be edited
     ├─ PlannerError    a planner could not propose
     ├─ Cancelled       the person left off; nothing was kept
     └─ InvalidPlan     a plan, or the request for one, breaks rules: all violations at once

What is wrong with a *plan* is a value (`Violation`) until somebody asks to apply it.
Anything else that is raised is a bug.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def run_number(run: str) -> str:
    """The number by which people call a run: `12` of its id `12-9f3a5c01`."""
    return run.partition("-")[0]


class EngineError(Exception):
    """Every failure of the engine. `hint` says what to do next.

    `unchanged` is False in the one case where a run stopped in the middle and waits for recovery.
    """

    unchanged = True

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NotAStore(EngineError):
    """A path that cannot be opened as a store, or a name that no store has."""


class StorageError(EngineError):
    """The world failed. `path` is relative to the store, or empty."""

    def __init__(self, message: str, *, path: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a store's lock, as told by the lock file: for messages only, never decided from."""

    pid: int
    host: str
    command: str
    since: str

    def __str__(self) -> str:
        return f"{self.command} (process {self.pid} on {self.host}, since {self.since})"


class Unfinished(StorageError):
    """A run stopped in the middle and could not be driven on now. Nothing is lost."""

    unchanged = False


class StoreLocked(EngineError):
    """Another run holds the store. `holder` is None if the lock file does not say who."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__(
            f"The store is in use by {holder}." if holder else "The store is in use.",
            hint="Wait until it is done, or give --wait SECONDS.",
        )
        self.holder = holder


@dataclass(frozen=True, slots=True)
class Drift:
    """One file that is not as a run relied on it: `why` is a clause such as "changed on disk"."""

    path: str
    why: str


class Conflict(EngineError):
    """Files changed since the run was prepared. All of them are named; nothing was written."""

    def __init__(self, drifts: Sequence[Drift], *, hint: str = "") -> None:
        names = "; ".join(f"{drift.path} {drift.why}" for drift in drifts)
        super().__init__(names, hint=hint)
        self.drifts = tuple(drifts)


class NoPlan(EngineError):
    """There is no such plan, or none waits."""


class Refused(EngineError):
    """What a person asked of an action cannot be done; nothing was changed."""


class AlreadyApplied(EngineError):
    """An action was applied before; the message names the run."""


class AlreadyUndone(EngineError):
    """Nothing is left of `run`: `by` is the undo that holds."""

    def __init__(self, run: str, by: str) -> None:
        super().__init__(
            f"Run {run_number(run)} was already taken back by run {run_number(by)}.",
            hint=f"memui undo {run_number(by)} brings it back.",
        )
        self.run = run
        self.by = by


class PlannerError(EngineError):
    """A planner could not propose a plan."""


class Cancelled(EngineError):
    """The person left off before it was done; nothing of it was kept."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a plan or a request breaks. `action` is 0-based; None means the whole plan."""

    code: str
    message: str
    action: int | None = None


class InvalidPlan(EngineError):
    """A plan or a request breaks rules.

    `stage` is where it was decided: `config` (before anything is read), `admission` (by listing and
    sizes, before the planner is called), `schema` or `validation`.
    """

    def __init__(self, stage: str, violations: Sequence[Violation], *, hint: str = "") -> None:
        super().__init__("; ".join(v.message for v in violations), hint=hint)
        self.stage = stage
        self.violations = tuple(violations)
