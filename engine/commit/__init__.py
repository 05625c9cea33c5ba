"""The commit: the only code that changes a store.

One primitive, a compare-and-swap over many files. Everything that a run relies on is checked,
everything that it needs is staged and made durable, then one rename decides; from there the run is
driven forward, or, if somebody else wrote in between, back. It may die anywhere: the next opening
for writing finishes it or takes it back.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine import journal
from engine.commit.check import drifts
from engine.commit.collect import KEEP_DAYS, KEEP_RUNS, NONE, Collected, Sweep
from engine.commit.files import Files
from engine.commit.late import Late
from engine.commit.lock import locked
from engine.commit.observe import observe
from engine.commit.opened import Opened, refuse
from engine.commit.progress import SILENT, OnStep, Phase, Progress, Telling
from engine.commit.stage import Write
from engine.commit.state import drop_state, prepare_state, put_state, rename_state, writer_id
from engine.commit.values import (
    Clock,
    Outcome,
    Recovered,
    Transaction,
    Waiting,
    changes,
    reduced,
)
from engine.errors import Drift, StorageError
from engine.journal import Run
from engine.layouts import Place
from engine.storage.tree import Tree

if TYPE_CHECKING:
    from engine.reversal import Choice, Reversal

__all__ = [
    "KEEP_DAYS",
    "KEEP_RUNS",
    "Collected",
    "Files",
    "Late",
    "OnStep",
    "Opened",
    "Outcome",
    "Phase",
    "Progress",
    "Recovered",
    "Transaction",
    "Write",
    "check",
    "collect",
    "drop_state",
    "is_own",
    "open_for_writing",
    "put_state",
    "recover",
    "rename_state",
    "revert",
    "transact",
    "undo",
    "unfinished",
]


def _now() -> datetime:
    return datetime.now(UTC)


@contextlib.contextmanager
def open_for_writing(
    place: Place,
    *,
    wait: float = 0.0,
    files: Files | None = None,
    clock: Clock = _now,
    waiting: Waiting | None = None,
    telling: Telling = SILENT,
) -> Iterator[Opened]:
    """Lock a store, finish or take back what is unfinished, and hand it over for writing.

    `wait` is in seconds. Raises `StoreLocked`, `StorageError`.
    """
    if not place.writable:
        raise StorageError("The store is read-only.", hint="Nothing was changed.")
    seam = files or Files()
    telling(Phase.LOCK)
    try:
        prepare_state(place, seam)
        with seam.lock(locked(journal.state_path(place, "lock"), wait, waiting)):
            opened = Opened(place, seam, clock, telling)
            opened.recover()
            observe(place, seam, clock)
            yield opened
    except OSError as error:
        raise StorageError(
            f"{error.filename or place.folder}: {error.strerror or error}.",
            hint="Nothing was changed.",
        ) from error


def transact(
    place: Place,
    transaction: Transaction,
    *,
    wait: float = 0.0,
    files: Files | None = None,
    clock: Clock = _now,
    waiting: Waiting | None = None,
    on_step: OnStep | None = None,
) -> tuple[Outcome, tuple[Recovered, ...]]:
    """Lock, recover and transact. A conflict that shows before writes nothing, not even state.

    `on_step` is told how far it is, from this thread; it should return at once. It cannot break a
    run: what it raises is raised when the run is complete (`engine.commit.progress`).
    """
    if not any(changes(write) for write in transaction.writes):
        return Outcome("", (), (), "none"), ()
    if not os.path.isdir(place.state):
        writes = reduced(transaction)
        try:
            with Tree(place.folder) as store:
                refuse(store, files or Files(), transaction, writes)
        except OSError as error:
            raise StorageError(f"{place.folder}: {error.strerror}.") from error
    with (
        Telling(on_step) as telling,
        open_for_writing(
            place, wait=wait, files=files, clock=clock, waiting=waiting, telling=telling
        ) as opened,
    ):
        return opened.transact(transaction), opened.recovered


def undo(
    place: Place,
    name: str,
    *,
    who: str,
    actions: Collection[int] = (),
    choices: Mapping[str, Choice] | None = None,
    otherwise: Choice | None = None,
    decided_by: str = "person",
    wait: float = 0.0,
    files: Files | None = None,
    waiting: Waiting | None = None,
) -> tuple[Outcome, tuple[Recovered, ...]]:
    """Lock, recover and take back a run, or single actions of it (`engine.reversal`)."""
    journal.find(place, name)  # a run that is not there makes no state folder
    with open_for_writing(place, wait=wait, files=files, waiting=waiting) as opened:
        outcome = opened.undo(
            name,
            who=who,
            actions=actions,
            choices=choices,
            otherwise=otherwise,
            decided_by=decided_by,
        )
        return outcome, opened.recovered


def revert(
    place: Place,
    found: Reversal,
    *,
    who: str,
    decided_by: str = "person",
    wait: float = 0.0,
    files: Files | None = None,
    waiting: Waiting | None = None,
    on_step: OnStep | None = None,
) -> tuple[Outcome, tuple[Recovered, ...]]:
    """Lock, recover and do what a reversal that a person saw says."""
    with (
        Telling(on_step) as telling,
        open_for_writing(place, wait=wait, files=files, waiting=waiting, telling=telling) as opened,
    ):
        return opened.revert(found, who=who, decided_by=decided_by), opened.recovered


def recover(
    place: Place,
    *,
    wait: float = 0.0,
    files: Files | None = None,
    waiting: Waiting | None = None,
) -> tuple[Recovered, ...]:
    """Lock, and finish or take back what is unfinished."""
    if not os.path.isdir(place.state):
        return ()
    with open_for_writing(place, wait=wait, files=files, waiting=waiting) as opened:
        return opened.recovered


def collect(
    place: Place,
    *,
    keep_days: int = KEEP_DAYS,
    keep_runs: int = KEEP_RUNS,
    dry: bool = False,
    wait: float = 0.0,
    files: Files | None = None,
    clock: Clock = _now,
    waiting: Waiting | None = None,
) -> tuple[Collected, tuple[Recovered, ...]]:
    """Lock, recover, and remove the runs that are older than both limits, with their objects.

    With `dry` nothing is locked, recovered or removed. What a waiting plan, an unfinished run,
    another machine's run or a run that is kept needs stays. Raises `StoreLocked`, `StorageError`.
    """
    if not os.path.isdir(place.state):
        return NONE, ()
    seam = files or Files()
    if dry:
        try:
            found = Sweep(place, seam, clock, days=keep_days, runs=keep_runs).collect(dry=True)
        except OSError as error:
            raise StorageError(
                f"{error.filename or place.state}: {error.strerror or error}."
            ) from error
        return found, ()
    with open_for_writing(place, wait=wait, files=seam, clock=clock, waiting=waiting) as opened:
        sweep = Sweep(place, seam, clock, days=keep_days, runs=keep_runs)
        return sweep.collect(), opened.recovered


def check(place: Place, expected: Mapping[str, str | None]) -> tuple[Drift, ...]:
    """Every path that does not hold the given SHA-256 (None: absence). Reads only."""
    try:
        with Tree(place.folder) as store:
            return drifts(
                store, expected, [path for path, seen in expected.items() if seen is None]
            )
    except OSError as error:
        raise StorageError(f"{place.folder}: {error.strerror}.") from error


def unfinished(place: Place) -> tuple[Run, ...]:
    """The runs that were decided and neither finished nor taken back. Reads only."""
    found: list[Run] = []
    for name in journal.unsettled(place):
        with contextlib.suppress(journal.Damaged):
            run = journal.read_run(place, name)
            if run is not None and run.state == "unfinished":
                found.append(run)
    return tuple(found)


def is_own(place: Place, run: Run) -> bool:
    """Whether a run is of this state folder on this machine: no other is ever driven here."""
    return run.machine == writer_id(place)
