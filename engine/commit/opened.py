"""A store that is open for writing: recovery, transactions, undo."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Final, NoReturn

from engine import changelog, journal
from engine.commit.check import drifts, sight
from engine.commit.drive import Drive, Foreign
from engine.commit.files import Files
from engine.commit.log import append_entry, shed_logs
from engine.commit.progress import SILENT, Phase, Telling
from engine.commit.remade import is_gone, remake
from engine.commit.signals import deferred_signals
from engine.commit.stage import Stage, Write, discard, read_record
from engine.commit.state import writer_id
from engine.commit.values import Clock, Outcome, Recovered, Transaction, reduced
from engine.documents import digest
from engine.errors import Conflict, Drift, EngineError, StorageError, Unfinished
from engine.journal import ActionRecord, LogState, Run, RunKind, Step
from engine.layouts import Place
from engine.storage.tree import Found, Tree

if TYPE_CHECKING:
    from engine.reversal import Choice, Reversal

SETTLED_AT_ONCE: Final = 64
"""Settled runs that are noted together, so that most openings need no flush for it."""
_TAKEN_BACK = "Everything was put back as it was. Try again."
_VANISHED = "memui's record vanished in the middle of the run."


class Opened:
    """A store that is locked for writing, with nothing unfinished of this machine."""

    def __init__(self, place: Place, files: Files, clock: Clock, telling: Telling = SILENT) -> None:
        self._place = place
        self._files = files
        self._clock = clock
        self._telling = telling
        self.recovered: tuple[Recovered, ...] = ()

    def recover(self) -> None:
        """Finish or take back what is unfinished, and write what the changelog lacks.

        Raises `Unfinished` if neither can be done now, `StorageError`, OSError.
        """
        found: list[Recovered] = []
        with self._trees() as (store, state):
            own = writer_id(self._place)
            settled: list[Run] = []
            for name in journal.unsettled(self._place):
                try:
                    run = journal.read_run(self._place, name)
                except journal.Damaged:
                    continue  # `doctor` explains it; nothing is driven by a record like that
                if run is None:
                    with contextlib.suppress(OSError):  # it is in nobody's way
                        discard(self._files, store, state, name, self._place.state_prefix, own)
                elif run.state == "unfinished" and run.machine == own:
                    try:
                        found.append(self._drive_on(run, store, state))
                    except OSError as error:
                        raise _stopped(run, error) from error
                elif run.changelog == "pending":
                    self._append(run, state)
                elif journal.is_settled(run):
                    settled.append(run)
            if len(settled) >= SETTLED_AT_ONCE:
                self._index(settled, state)
        self.recovered = tuple(found)

    def _index(self, settled: list[Run], state: Tree) -> None:
        """Note runs of which nothing will change, so that no later opening reads them.

        Their records are made durable first: a line must never outlive what it stands for.
        """
        name = self._place.state_prefix + journal.SETTLED
        with contextlib.suppress(OSError, EngineError):
            shed_logs(self._place, self._files, state, settled)
            if not self._files.flush_all(state.fd):
                for run in settled:
                    self._files.flush_folder(state.folder(f"runs/{run.id}"), run.id)
                    state.forget(f"runs/{run.id}")
            before = journal.read_file(os.path.join(self._place.state, name)) or b""
            at = before.rfind(b"\n") + 1
            self._files.append(state.fd, name, journal.dump_settled(settled), at)

    @contextlib.contextmanager
    def _trees(self) -> Iterator[tuple[Tree, Tree]]:
        with Tree(self._place.folder) as store, Tree(self._place.state) as state:
            yield store, state

    def _drive_on(self, run: Run, store: Tree, state: Tree) -> Recovered:
        drive = Drive(self._place, self._files, store, state, run)
        stage = Stage(self._place, self._files, store, state)
        done = drive.done_steps()
        aborting = journal.state_path(self._place, "runs", run.id, "aborting")
        back = os.path.lexists(aborting)
        if not back:
            try:
                back = bool(self._files.precondition("recovery", lambda: drifts(store, run.reads)))
                if not back:
                    drive.forward(lambda: None)
            except (EngineError, OSError):
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
        path = journal.state_path(self._place, "runs", run.id, "folders")
        return read_record(journal.read_file(path))[1]

    def _append(self, run: Run, state: Tree) -> LogState:
        if not run.entry:
            return "none"
        return append_entry(self._place, self._files, state, run)

    def transact(self, transaction: Transaction) -> Outcome:
        """Change everything or nothing.

        Raises `Conflict` naming every file that is not as expected, `StorageError`; then the store
        is as it was. KeyboardInterrupt after a signal, likewise.
        """
        writes = reduced(transaction)
        if not writes:
            return Outcome("", (), (), "none")
        self._telling(Phase.CHECK, 0, len(writes))
        with self._trees() as (store, state):
            there = refuse(store, self._files, transaction, writes)
            stage = Stage(self._place, self._files, store, state)
            stage.device(writes.values())
            stage.room(writes.values(), there)
            run = self._plan_run(transaction, writes, stage.steps(writes.values(), there))
            with deferred_signals() as stop:
                try:
                    stage.prepare(run, writes, transaction.documents, self._telling)
                    stop()
                    stage.decide(run, journal.dump_intent(run))
                except (Exception, KeyboardInterrupt):
                    self._withdraw(run, store, state, stage)
                    raise
                return self._carry_out(run, store, state, stage, stop)

    def _withdraw(self, run: Run, store: Tree, state: Tree, stage: Stage) -> None:
        """After a failure before the first file: what was staged goes, decided or not.

        Raises `Unfinished` if it was decided and stays so.
        """
        try:
            decided = journal.read_run(self._place, run.id) is not None
            if decided:
                self._take_back(run, Drive(self._place, self._files, store, state, run), stage)
        except (OSError, EngineError) as error:
            raise _stopped(run, error) from error
        if not decided:
            with contextlib.suppress(OSError):  # the next opening for writing does it
                prefix = self._place.state_prefix
                discard(self._files, store, state, run.id, prefix, run.machine)

    def _plan_run(
        self, transaction: Transaction, writes: Mapping[str, Write], steps: tuple[Step, ...]
    ) -> Run:
        name = f"{journal.newest(self._place) + 1}-{secrets.token_hex(4)}"
        actions = transaction.actions or (
            ActionRecord(1, str(transaction.kind), tuple(writes), None, "approved", ""),
        )
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
            actions=actions,
            reads=dict(transaction.reads),
            steps=steps,
            undoes=transaction.undoes,
            entry=changelog.entry(
                run=name,
                kind=transaction.kind,
                time=time,
                operations=transaction.operations,
                actions=actions,
                summary=transaction.summary,
                undoes=transaction.undoes,
            ),
            state="unfinished",
            changelog="none",
        )

    def _carry_out(
        self, run: Run, store: Tree, state: Tree, stage: Stage, stop: Callable[[], None]
    ) -> Outcome:
        drive: Drive | None = None
        try:
            drive = Drive(self._place, self._files, store, state, run)
            drive.forward(stop, self._telling)
        except (Exception, KeyboardInterrupt) as error:
            if is_gone(self._place, state, run):
                self._without_record(run, store, drive, stage, error)
            if drive is None:
                raise _stopped(run, error) from error
            conflicts = self._go_back(run, drive, stage)
            if isinstance(error, Foreign):
                named = {drift.path: drift for drift in (*error.drifts, *conflicts)}
                raise Conflict(tuple(named.values()), hint=_TAKEN_BACK) from error
            if isinstance(error, (StorageError, OSError)):
                raise StorageError(_said(error), hint=_TAKEN_BACK) from error
            raise
        try:
            stage.finish(run, "done")
        except OSError as error:
            if is_gone(self._place, state, run):
                self._without_record(run, store, drive, stage, error)
            raise Unfinished(
                f"Run {run.seq} wrote everything, but could not note it: {_said(error)}",
                hint="memui recover finishes it.",
            ) from error
        self._telling(Phase.CHANGELOG)
        log = self._append(run, state)
        self._telling(Phase.DONE)
        return Outcome(run.id, run.written, run.deleted, log)

    def _without_record(
        self, run: Run, store: Tree, drive: Drive | None, stage: Stage, error: BaseException
    ) -> NoReturn:
        """The record vanished in the middle: it is made again, and the run goes back by it."""
        reached = set() if drive is None else drive.reached
        try:
            run = remake(self._place, self._files, store, run, stage.before, reached)
            with Tree(self._place.state) as state:
                again = Drive(self._place, self._files, store, state, run)
                conflicts = again.back()
                again.remove_folders(stage.made)
                Stage(self._place, self._files, store, state).finish(run, "taken-back")
        except (EngineError, OSError) as failure:
            raise _stopped(run, failure) from error
        if conflicts:
            raise Conflict(conflicts, hint=f"{_VANISHED} {_TAKEN_BACK}") from error
        raise StorageError(f"{self._place.state}: {_VANISHED}", hint=_TAKEN_BACK) from error

    def _go_back(self, run: Run, drive: Drive, stage: Stage) -> tuple[Drift, ...]:
        self._telling(Phase.BACK)
        try:
            return self._take_back(run, drive, stage)
        except OSError as error:
            raise _stopped(run, error) from error

    def undo(
        self,
        name: str,
        *,
        who: str,
        actions: Collection[int] = (),
        choices: Mapping[str, Choice] | None = None,
        otherwise: Choice | None = None,
        decided_by: str = "person",
    ) -> Outcome:
        """Take back a run by number, id or `last`, or single actions of it (`engine.reversal`).

        Raises `Conflict` naming every file that changed since and has no choice, `AlreadyUndone`,
        `EngineError` for a run that cannot be taken back.
        """
        from engine.reversal import reversal

        found = reversal(self._place, name, actions=actions, choices=choices, otherwise=otherwise)
        return self.revert(found, who=who, decided_by=decided_by)

    def revert(self, found: Reversal, *, who: str, decided_by: str = "person") -> Outcome:
        """Do what a reversal says, if the files still are as it saw them. Raises as `undo` does."""
        from engine.reversal import known_since, refuse_bereft, refuse_undone

        known = known_since(self._place, found.run)
        refuse_undone(found, known)
        if found.open:
            raise Conflict(
                found.drifts,
                hint="Nothing was changed. Choose for each: keep it, take the earlier one, or"
                " merge.",
            )
        refuse_bereft(self._place, found, known)
        writes, reads = _as_transaction(found)
        outcome = self.transact(
            Transaction(
                kind=RunKind.UNDO,
                who=who,
                decided_by=decided_by,
                writes=writes,
                reads=reads,
                actions=found.taken_back,
                undoes=found.run.id,
            )
        )
        with self._trees() as (store, state), contextlib.suppress(OSError, EngineError):
            drive = Drive(self._place, self._files, store, state, found.run)
            drive.remove_folders(self._made(found.run))
        return outcome


def _as_transaction(found: Reversal) -> tuple[tuple[Write, ...], dict[str, str | None]]:
    """What a reversal writes, and what it relies on without writing it."""
    writes: list[Write] = []
    reads: dict[str, str | None] = {}
    for file in found.files:
        here = None if file.here is None else digest(file.here)
        if file.result != file.here:
            was = file.was if file.result == file.before else None
            writes.append(
                Write(file.path, here, file.result, (file.path,), was=was, action=file.action)
            )
        elif file.is_file and file.chosen:
            reads[file.path] = here
    return tuple(writes), reads


def _said(error: BaseException) -> str:
    """A failure as a sentence."""
    if isinstance(error, OSError):
        return f"{error.filename or 'A file'}: {error.strerror or error}."
    return str(error)


def _stopped(run: Run, error: BaseException) -> Unfinished:
    return Unfinished(
        f"Run {run.seq} stopped in the middle, and could not be taken back now: {_said(error)}",
        hint="Nothing is lost. When the disk works again, memui recover finishes it.",
    )


def refuse(
    store: Tree, files: Files, transaction: Transaction, writes: Mapping[str, Write]
) -> dict[str, Found]:
    """Refuse what cannot be: before anything is written, not even a folder of ours.

    Returns what was seen of each file. Raises `Conflict` naming every file that is not as a
    transaction relies on it, `StorageError` for a file whose owner or group could not be kept.
    """
    expected = {**transaction.reads, **{path: write.old for path, write in writes.items()}}
    there = sight(store, expected)
    found = files.precondition("first", lambda: drifts(store, expected, writes, there))
    if found:
        raise Conflict(found, hint="Nothing was changed.")
    for path, write in writes.items():
        if write.old is not None:
            _refuse_not_ours(path, there[path].stat)
    return there


def _refuse_not_ours(path: str, seen: os.stat_result | None) -> None:
    """A file keeps its owner and group, when it is rewritten and when it is brought back."""
    if seen is None or os.geteuid() == 0:
        return
    what = ""
    if seen.st_uid != os.geteuid():
        what = f"user {seen.st_uid}"
    elif seen.st_gid not in {os.getegid(), *os.getgroups()}:
        what = f"group {seen.st_gid}, which you are not in"
    if what:
        raise StorageError(
            f"{path} belongs to {what}: it could not be given back as it was.",
            path=path,
            hint="Nothing was changed. Run memui as its owner, or give the file to yourself.",
        )
