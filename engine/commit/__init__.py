"""The commit: the only code that changes a store.

One primitive, a compare-and-swap over many files. Everything that a run relies on is checked,
everything that it needs is staged and made durable, then one rename decides; from there the run is
driven forward, or, if somebody else wrote in between, back. It may die anywhere: the next opening
for writing finishes it or takes it back.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from engine import changelog, journal
from engine.commit.check import drifts
from engine.commit.drive import Drive, Foreign
from engine.commit.files import Files
from engine.commit.lock import locked
from engine.commit.log import append_entry
from engine.commit.stage import Stage, Write, discard
from engine.commit.state import drop_state, prepare_state, put_state, writer_id
from engine.documents import digest
from engine.errors import Conflict, Drift, EngineError, Holder, StorageError, Unfinished
from engine.journal import ActionRecord, LogState, Run, RunKind
from engine.layouts import Place
from engine.paths import identity
from engine.storage.tree import Tree

__all__ = [
    "Files",
    "Opened",
    "Outcome",
    "Recovered",
    "Transaction",
    "Write",
    "check",
    "drop_state",
    "open_for_writing",
    "put_state",
    "recover",
    "transact",
    "undo",
    "unfinished",
]

Clock = Callable[[], datetime]
Waiting = Callable[[Holder | None], None]


@dataclass(frozen=True, slots=True)
class Transaction:
    """What shall change, and what it relies on.

    `reads` maps paths to the SHA-256 that they must hold (None: must not exist); `documents` are
    kept in the run's folder.
    """

    kind: RunKind
    who: str
    decided_by: str
    writes: tuple[Write, ...]
    reads: Mapping[str, str | None] = field(default_factory=dict)
    actions: tuple[ActionRecord, ...] = ()
    plan: str | None = None
    operations: tuple[str, ...] = ()
    summary: str = ""
    undoes: str | None = None
    documents: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did. `run` is empty if nothing had to change."""

    run: str
    written: tuple[str, ...]
    deleted: tuple[str, ...]
    changelog: LogState


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of an unfinished run. `done` of `total` files were new when it was found."""

    run: str
    result: Literal["finished", "taken-back"]
    done: int
    total: int
    conflicts: tuple[Drift, ...] = ()


def _now() -> datetime:
    return datetime.now(UTC)


class Opened:
    """A store that is locked for writing, with nothing unfinished of this machine."""

    def __init__(self, place: Place, files: Files, clock: Clock) -> None:
        self._place = place
        self._files = files
        self._clock = clock
        self.recovered: tuple[Recovered, ...] = ()

    def _recover(self) -> None:
        found: list[Recovered] = []
        with self._trees() as (store, state):
            own = writer_id(self._place)
            for name in journal.run_ids(self._place):
                try:
                    run = journal.read_run(self._place, name)
                except journal.Damaged:
                    continue  # `doctor` explains it; nothing is driven by a record like that
                if run is None:
                    discard(self._files, store, state, name, self._place.state_prefix)
                elif run.state == "unfinished" and run.machine == own:
                    found.append(self._drive_on(run, store, state))
                elif run.changelog == "pending":
                    self._append(run, state)
        self.recovered = tuple(found)

    @contextlib.contextmanager
    def _trees(self) -> Iterator[tuple[Tree, Tree]]:
        with Tree(self._place.folder) as store, Tree(self._place.state) as state:
            yield store, state

    def _drive_on(self, run: Run, store: Tree, state: Tree) -> Recovered:
        drive = Drive(self._place, self._files, store, state, run)
        stage = Stage(self._place, self._files, store, state)
        done = drive.done_steps()
        aborting = journal.state_path(self._place, "runs", run.id, "aborting")
        back = os.path.lexists(aborting) or bool(drifts(store, run.reads))
        if not back:
            try:
                drive.forward(lambda: None)
            except (Foreign, OSError):
                back = True
        if not back:
            stage.finish(run, "done")
            self._append(run, state)
            return Recovered(run.id, "finished", done, len(run.steps))
        conflicts = self._take_back(run, drive, stage)
        return Recovered(run.id, "taken-back", done, len(run.steps), conflicts)

    def _take_back(self, run: Run, drive: Drive, stage: Stage) -> tuple[Drift, ...]:
        stage.turn_back(run)
        conflicts = drive.back()
        drive.remove_folders(self._made(run))
        stage.finish(run, "taken-back")
        return conflicts

    def _made(self, run: Run) -> list[str]:
        """The folders of the store that a run made, as its own record says."""
        data = journal.read_file(journal.state_path(self._place, "runs", run.id, "folders"))
        try:
            named = [] if data is None else journal.unseal(data)["folders"]
        except (journal.Damaged, KeyError):
            return []
        return [str(folder) for folder in named if ".." not in str(folder).split("/")]

    def _append(self, run: Run, state: Tree) -> LogState:
        if not run.entry:
            return "none"
        return append_entry(self._place, self._files, state, run)

    def transact(self, transaction: Transaction) -> Outcome:
        """Change everything or nothing.

        Raises `Conflict` naming every file that is not as expected, `StorageError`; then the store
        is as it was. KeyboardInterrupt after a signal, likewise.
        """
        writes = _reduced(transaction)
        if not writes:
            return Outcome("", (), (), "none")
        with self._trees() as (store, state):
            _refuse_drift(store, transaction, writes)
            stage = Stage(self._place, self._files, store, state)
            stage.device(writes.values())
            stage.room(writes.values())
            run = self._plan_run(transaction, stage, writes)
            try:
                stage.prepare(run, writes, transaction.documents)
                stage.decide(run, journal.dump_intent(run))
            except Exception:
                self._withdraw(run, store, state, stage)
                raise
            return self._carry_out(run, store, state, stage)

    def _withdraw(self, run: Run, store: Tree, state: Tree, stage: Stage) -> None:
        """After a failure before the first file: what was staged goes, decided or not."""
        try:
            if journal.read_run(self._place, run.id) is None:
                discard(self._files, store, state, run.id, self._place.state_prefix)
            else:
                self._take_back(run, Drive(self._place, self._files, store, state, run), stage)
        except (OSError, EngineError):
            return  # the next opening for writing does it

    def _plan_run(self, transaction: Transaction, stage: Stage, writes: Mapping[str, Write]) -> Run:
        ids = journal.run_ids(self._place)
        seq = 1 + (int(ids[-1].partition("-")[0]) if ids else 0)
        name = f"{seq}-{secrets.token_hex(4)}"
        time = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return Run(
            id=name,
            kind=transaction.kind,
            time=time,
            who=transaction.who,
            decided_by=transaction.decided_by,
            machine=writer_id(self._place),
            plan=transaction.plan,
            operations=transaction.operations,
            summary=transaction.summary,
            actions=transaction.actions,
            reads=dict(transaction.reads),
            steps=stage.steps(writes.values()),
            undoes=transaction.undoes,
            entry=changelog.entry(
                run=name,
                kind=transaction.kind,
                time=time,
                operations=transaction.operations,
                actions=transaction.actions,
                summary=transaction.summary,
                undoes=transaction.undoes,
            ),
            state="unfinished",
            changelog="none",
        )

    def _carry_out(self, run: Run, store: Tree, state: Tree, stage: Stage) -> Outcome:
        drive = Drive(self._place, self._files, store, state, run)
        with _deferred_signals() as stop:
            try:
                drive.forward(stop)
            except Foreign as foreign:
                conflicts = self._go_back(run, drive, stage)
                named = {drift.path: drift for drift in (foreign.drift, *conflicts)}
                raise Conflict(tuple(named.values()), hint=_TAKEN_BACK) from foreign
            except OSError as error:
                self._go_back(run, drive, stage)
                raise StorageError(
                    f"{error.filename or 'A file'}: {error.strerror}.", hint=_TAKEN_BACK
                ) from error
            except KeyboardInterrupt:
                self._go_back(run, drive, stage)
                raise
            try:
                stage.finish(run, "done")
            except OSError as error:
                raise Unfinished(
                    f"Run {run.id} wrote everything, but could not note it: {error.strerror}.",
                    hint="memui recover finishes it.",
                ) from error
            log = self._append(run, state)
        return Outcome(run.id, run.written, run.deleted, log)

    def _go_back(self, run: Run, drive: Drive, stage: Stage) -> tuple[Drift, ...]:
        try:
            return self._take_back(run, drive, stage)
        except OSError as error:
            raise Unfinished(
                f"Run {run.id} stopped in the middle, and could not be taken back now:"
                f" {error.strerror}.",
                hint="Nothing is lost. When the disk works again, memui recover finishes it.",
            ) from error

    def undo(self, name: str, *, who: str, decided_by: str = "person") -> Outcome:
        """Take back a run by number, id or `last`: the inverse transaction.

        Raises `Conflict` naming every file that changed since, `EngineError` for a run that cannot
        be taken back.
        """
        known = journal.runs(self._place)
        run = journal.find(self._place, name)
        _refuse_undo(run, known)
        writes = tuple(
            Write(
                step.path,
                step.new,
                None if step.old is None else journal.read_object(self._place, step.old),
                was=step.was,
            )
            for step in run.steps
        )
        actions = tuple(
            replace(action, verdict="approved", reason="")
            for action in run.actions
            if action.verdict in {"approved", "edited"}
        )
        try:
            outcome = self.transact(
                Transaction(
                    kind=RunKind.UNDO,
                    who=who,
                    decided_by=decided_by,
                    writes=writes,
                    actions=actions,
                    undoes=run.id,
                )
            )
        except Conflict as conflict:
            raise Conflict(
                [_blame(drift, run, known) for drift in conflict.drifts],
                hint="Nothing was changed. memui log PATH shows who wrote since.",
            ) from conflict
        with self._trees() as (store, state), contextlib.suppress(OSError):
            Drive(self._place, self._files, store, state, run).remove_folders(self._made(run))
        return outcome


_TAKEN_BACK = "Everything was put back as it was. Try again."


def _refuse_undo(run: Run, known: tuple[Run, ...]) -> None:
    if run.state != "done":
        raise EngineError(f"Run {run.id} changed nothing: it was taken back.")
    by = journal.undone_by(known).get(run.id)
    if by is not None:
        raise EngineError(
            f"Run {run.id} was already taken back by run {by}.",
            hint=f"memui undo {by} brings it back.",
        )


def _blame(drift: Drift, run: Run, known: tuple[Run, ...]) -> Drift:
    """Name the later run of ours that wrote a file, if it was one."""
    later = [
        other
        for other in known
        if other.seq > run.seq
        and other.state == "done"
        and any(step.path == drift.path for step in other.steps)
    ]
    return Drift(drift.path, f"was changed by run {later[-1].id}") if later else drift


def _reduced(transaction: Transaction) -> dict[str, Write]:
    """The writes that change something. No two may be one file."""
    found: dict[str, Write] = {}
    keys: set[str] = set()
    for write in transaction.writes:
        key = identity(write.path)
        if key in keys:
            raise ValueError(f"{write.path} is written twice")
        keys.add(key)
        if write.old != (None if write.new is None else digest(write.new)):
            found[write.path] = write
    return found


def _refuse_drift(store: Tree, transaction: Transaction, writes: Mapping[str, Write]) -> None:
    expected = {**transaction.reads, **{path: write.old for path, write in writes.items()}}
    found = drifts(store, expected, writes)
    if found:
        raise Conflict(found, hint="Nothing was changed.")


@contextlib.contextmanager
def _deferred_signals() -> Iterator[Callable[[], None]]:
    """Signals that would kill the process are noted; `stop` raises for them between two calls.

    A stopped process would hold the lock for ever, so a stop waits too. Nothing is done outside
    the main thread, where Python delivers no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    noted: list[int] = []

    def note(number: int, _frame: Any) -> None:
        noted.append(number)

    watched: list[int] = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP]
    before = {number: signal.signal(number, note) for number in watched}

    def stop() -> None:
        if any(number != signal.SIGTSTP for number in noted):
            raise KeyboardInterrupt

    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(noted):
            if late != signal.SIGINT:
                os.kill(os.getpid(), late)


@contextlib.contextmanager
def open_for_writing(
    place: Place,
    *,
    wait: float = 0.0,
    files: Files | None = None,
    clock: Clock = _now,
    waiting: Waiting | None = None,
) -> Iterator[Opened]:
    """Lock a store, finish or take back what is unfinished, and hand it over for writing.

    `wait` is in seconds. Raises `StoreLocked`, `StorageError`.
    """
    if not place.writable:
        raise StorageError("The store is read-only.", hint="Nothing was changed.")
    seam = files or Files()
    try:
        prepare_state(place, seam)
        with locked(journal.state_path(place, "lock"), wait, waiting):
            opened = Opened(place, seam, clock)
            opened._recover()  # noqa: SLF001 - the other half of the constructor, under the lock
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
) -> tuple[Outcome, tuple[Recovered, ...]]:
    """Lock, recover and transact. A conflict that shows before writes nothing, not even state."""
    writes = _reduced(transaction)
    if not writes:
        return Outcome("", (), (), "none"), ()
    if not os.path.isdir(place.state):
        try:
            with Tree(place.folder) as store:
                _refuse_drift(store, transaction, writes)
        except OSError as error:
            raise StorageError(f"{place.folder}: {error.strerror}.") from error
    with open_for_writing(place, wait=wait, files=files, clock=clock, waiting=waiting) as opened:
        return opened.transact(transaction), opened.recovered


def undo(
    place: Place,
    name: str,
    *,
    who: str,
    decided_by: str = "person",
    wait: float = 0.0,
    files: Files | None = None,
    waiting: Waiting | None = None,
) -> tuple[Outcome, tuple[Recovered, ...]]:
    """Lock, recover and take back a run."""
    journal.find(place, name)  # a run that is not there makes no state folder
    with open_for_writing(place, wait=wait, files=files, waiting=waiting) as opened:
        return opened.undo(name, who=who, decided_by=decided_by), opened.recovered


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
    return tuple(run for run in journal.runs(place) if run.state == "unfinished")
