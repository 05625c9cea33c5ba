"""How far a run is, told to whoever watches: never part of what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Final, Self


class Phase(StrEnum):
    """What a run does, in the order in which it does it."""

    LOCK = "lock"
    CHECK = "check"
    KEEP = "keep"
    WRITE = "write"
    BARRIER = "barrier"
    REMOVE = "remove"
    CHANGELOG = "changelog"
    DONE = "done"
    BACK = "back"


ORDER: Final = tuple(phase for phase in Phase if phase is not Phase.BACK)
"""The phases of a run that succeeds; `BACK` follows any of them when it does not."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A phase, and how many of its files are done; `total` is 0 for what is done in one go."""

    phase: Phase
    done: int = 0
    total: int = 0


OnStep = Callable[[Progress], None]


class Telling:
    """Tells a run's progress, from the thread that commits.

    A watcher cannot break a run: if it raises, it is not called again, and what it raised is raised
    once the run has come to its end, whole. If the run fails, its own error is raised, with a note.
    """

    def __init__(self, on_step: OnStep | None = None) -> None:
        self._on_step = on_step
        self._failed: Exception | None = None

    def __call__(self, phase: Phase, done: int = 0, total: int = 0) -> None:
        """Tell one step; cheap if nobody watches."""
        if self._on_step is None:
            return
        try:
            self._on_step(Progress(phase, done, total))
        except Exception as error:  # noqa: BLE001 - raised in `__exit__`
            self._on_step = None
            self._failed = error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        failed, self._failed = self._failed, None
        if failed is None:
            return
        if value is None:
            failed.add_note("It was raised by what shows the progress; the run itself is complete.")
            raise failed
        value.add_note(f"Besides, what shows the progress failed: {failed!r}")


SILENT: Final = Telling()
"""For runs that nobody watches."""
