"""The history of one memory: every version that is known, who made it, and which can be shown.

Joins the runs' steps, what others were seen to write, and the file as it is now. What others wrote
between two of our looks, and overwrote again, is not known. Reads only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from engine import journal
from engine.documents import digest
from engine.errors import EngineError, StorageError, run_number
from engine.journal import UNKNOWN, Observation, Run, RunKind, Step
from engine.storage.tree import FILE, Tree
from engine.store import Store

AGENT: Final = "agent"
"""Who made a version that no run of ours made."""
GAP: Final = "What an agent wrote and overwrote between two looks is not known."


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory. `digest` is a SHA-256, None where it was gone, or `UNKNOWN`.

    `time` is UTC, ISO 8601 with Z: of the run, or of the look that saw it, empty if not known.
    `by` is `you`, `plan`, `policy`, `undo`, `restore`, `repair`, or `agent` for anybody else.
    `path` is where it lay: a memory is followed over moves. `size` is in bytes. `kept` says that
    its bytes can be read back.
    """

    path: str
    digest: str | None
    time: str
    who: str
    by: str
    run: str | None
    size: int | None
    kept: bool
    note: str


@dataclass(frozen=True, slots=True)
class _Event:
    """What happened to the memory: a step of a run, or what was seen."""

    path: str
    run: Run | None
    step: Step | None
    seen: Observation | None
    note: str


def timeline(store: Store, path: str) -> tuple[Version, ...]:
    """Every version of a memory that is known, the oldest first; none for an unknown path.

    Raises `StorageError`.
    """
    path = _stored(store, path)
    found: list[Version] = []
    last: str | None = None
    for event in reversed(list(_events(store, path))):
        if event.seen is not None:
            found.append(_observed(store, event.seen))
            last = last if event.seen.late else event.seen.new
        elif event.run is not None and event.step is not None:
            if event.step.old != last and (event.step.old is not None or found):
                note = f"as run {event.run.seq} found it; when it was written is not known"
                found.append(_by_agent(store, event.path, event.step.old, "", note))
            found.append(_made(store, event, event.run, event.step))
            last = event.step.new
    return (*found, *_live(store, path, last, known=bool(found)))


def touching(store: Store, path: str) -> tuple[Run, ...]:
    """The runs that name or changed a memory under any name that it had, the oldest first.

    Those that were taken back in the middle are among them.
    """
    path = _stored(store, path)
    names = {path, *(event.path for event in _events(store, path))}
    return tuple(
        run
        for run in store.runs()
        if names & {step.path for step in run.steps}
        or any(names & set(action.paths) for action in run.actions)
    )


def read_version(store: Store, path: str, name: str) -> tuple[Version, bytes]:
    """The version that a run (number or id) left, or that a digest's first digits name.

    Raises `EngineError` if there is none, if it could be several, or if it is not kept.
    """
    versions = timeline(store, path)
    found = [v for v in versions if v.run is not None and name in {v.run, v.run.split("-")[0]}]
    if not found and len(name) >= 4:
        found = [v for v in versions if v.digest is not None and v.digest.startswith(name)]
    if not found:
        raise EngineError(
            f"{path} has no version {name}.", hint="memui log PATH shows the versions there are."
        )
    version = found[-1]
    if len({each.digest for each in found}) > 1:
        raise EngineError(f"{name} could be several versions.", hint="Give more of the digest.")
    if version.digest is None:
        raise EngineError(f"{version.path} was gone after run {name}.")
    if version.digest == UNKNOWN:
        raise EngineError(f"What {version.path} held then is not known.")
    try:
        return version, journal.read_object(store.place, version.digest)
    except StorageError:
        data = store.read(path)
        if digest(data) == version.digest:
            return version, data
        raise


def _stored(store: Store, path: str) -> str:
    """The path as it is stored; one that no memory has now is taken as it is."""
    try:
        return store.resolve(path)
    except StorageError:
        return path


def _events(store: Store, path: str) -> Iterator[_Event]:
    """What happened to a memory, the newest first; its earlier names are followed."""
    seen: dict[int, list[Observation]] = {}
    for observation in journal.observations(store.place):
        after = 0 if observation.after is None else journal.number(observation.after)
        seen.setdefault(after, []).append(observation)
    runs: dict[int, list[Run]] = {}
    for run in store.runs():
        if run.state == "done":
            runs.setdefault(run.seq, []).append(run)
    for number in sorted({*seen, *runs}, reverse=True):
        for observation in reversed(seen.get(number, [])):
            if observation.path == path:
                yield _Event(path, None, None, observation, "")
        for run in reversed(runs.get(number, [])):
            step = _step(run, path)
            if step is None:
                continue
            came, went = _other_name(run, path)
            note = f"moved from {came}" if came else f"moved to {went}" if went else ""
            if came is None or step.old is not None:
                yield _Event(path, run, step, None, note)
                continue
            # The memory is the one that lay there: its bytes before are that path's.
            before = _step(run, came)
            step = replace(step, old=None if before is None else before.old)
            yield _Event(path, run, step, None, note)
            path = came


def _step(run: Run, path: str) -> Step | None:
    return next((step for step in run.steps if step.path == path), None)


def _other_name(run: Run, path: str) -> tuple[str | None, str | None]:
    """(where a run moved a path's memory from, where it moved it to).

    The undo of a move carries the same action; what its steps did tells the direction.
    """
    gone = {step.path for step in run.steps if step.new is None}
    for action in run.changing:
        if action.verb == "move" and action.target is not None and len(action.sources) == 1:
            (source,), target = action.sources, action.target
            start, end = (source, target) if source in gone else (target, source)
            if start in gone and end not in gone:
                if end == path:
                    return start, None
                if start == path:
                    return None, end
    return None, None


def _made(store: Store, event: _Event, run: Run, step: Step) -> Version:
    note = event.note or ("deleted" if step.new is None else "")
    if run.undoes is not None:
        note = f"undo of run {run_number(run.undoes)}{f'; {note}' if note else ''}"
    size, kept = _object(store, step.new)
    return Version(event.path, step.new, run.time, run.who, _by(run), run.id, size, kept, note)


def _by(run: Run) -> str:
    if run.kind is RunKind.APPLY:
        return "policy" if run.decided_by == "policy" else "plan"
    if run.kind in {RunKind.UNDO, RunKind.RESTORE, RunKind.REPAIR}:
        return str(run.kind)
    return "you"


def _observed(store: Store, seen: Observation) -> Version:
    note = "deleted" if seen.new is None else ""
    if seen.late is not None:
        number = run_number(seen.late)
        note = f"written to what run {number} had put aside; never live after it"
    elif seen.old == UNKNOWN:
        note = "what was there before is not known"
    size, kept = _object(store, seen.new)
    size = size if kept or seen.new is None else seen.size
    return Version(seen.path, seen.new, seen.time, "", AGENT, None, size, kept, note)


def _by_agent(store: Store, path: str, wanted: str | None, time: str, note: str) -> Version:
    size, kept = _object(store, wanted)
    return Version(path, wanted, time, "", AGENT, None, size, kept, note)


def _live(store: Store, path: str, last: str | None, *, known: bool) -> Iterator[Version]:
    """The file as it is, if nothing above made it so."""
    try:
        with Tree(store.place.folder) as tree:
            there = tree.look(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", path=path) from error
    if there.kind == FILE and there.digest is not None:
        if there.digest != last and there.stat is not None:
            note = "as it is now; " + ("not looked at yet" if known else "nothing earlier is known")
            _, kept = _object(store, there.digest)
            time = store.modified(path)
            size = there.stat.st_size
            yield Version(path, there.digest, time, "", AGENT, None, size, kept, note)
    elif known and last is not None:
        yield _by_agent(store, path, None, "", "deleted since")


def _object(store: Store, wanted: str | None) -> tuple[int | None, bool]:
    """(size, whether the bytes are kept) of a digest."""
    if wanted is None or wanted == UNKNOWN:
        return None, False
    try:
        return os.stat(journal.state_path(store.place, "objects", wanted)).st_size, True
    except OSError:
        return None, False
