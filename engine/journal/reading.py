"""Reading the state folder: runs, objects, and what is damaged in it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from typing import Final

from engine.errors import Drift, StorageError, run_number
from engine.journal.records import Damaged, LogState, Run, RunState, is_run_id, load_intent
from engine.layouts import Place

_RESULTS: Final[tuple[RunState, ...]] = ("done", "taken-back")


def state_path(place: Place, *parts: str) -> str:
    """The path of a file in the state folder; the file's name gets the place's prefix."""
    *folders, name = parts
    return os.path.join(place.state, *folders, place.state_prefix + name)


def run_folder(place: Place, run: str) -> str:
    """The folder of a run."""
    return os.path.join(place.state, "runs", run)


def read_file(path: str) -> bytes | None:
    """A file of the state folder, None if there is none. Raises `StorageError`."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error


def run_ids(place: Place) -> list[str]:
    """The ids of all runs, by number. A folder of another name is no run."""
    try:
        names = os.listdir(os.path.join(place.state, "runs"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(f"{place.state} cannot be read: {error.strerror}.") from error
    # The nonce always has eight digits: of two ids the longer one has the higher number.
    return sorted(sorted(filter(is_run_id, names)), key=len)


def read_run(place: Place, name: str) -> Run | None:
    """One run with its state; None if it never was decided. Raises `Damaged`, `StorageError`."""
    folder = ("runs", name)
    data = read_file(state_path(place, *folder, "intent"))
    if data is None:
        return None
    run = load_intent(data, name)
    state = _result(read_file(state_path(place, *folder, "done")))
    log: LogState = "none"
    if run.entry and state == "done":
        written = os.path.lexists(state_path(place, *folder, "logged"))
        log = "written" if written else "pending"
    return replace(run, state=state, changelog=log)


def _result(done: bytes | None) -> RunState:
    """What a `done` says; one that says nothing is as good as none."""
    try:
        said = None if done is None else json.loads(done)["result"]
    except (ValueError, KeyError, TypeError):
        said = None
    return said if said in _RESULTS else "unfinished"


def runs(place: Place, *, since: int = 0, newest: int | None = None) -> tuple[Run, ...]:
    """Every run that can be read, the oldest first. `damage` names the others.

    `since` leaves out those with a lower number, `newest` all but so many.
    """
    names = [name for name in run_ids(place) if int(run_number(name)) >= since]
    found: list[Run] = []
    for name in names if newest is None else names[-newest:]:
        try:
            run = read_run(place, name)
        except Damaged:
            continue
        if run is not None:
            found.append(run)
    return tuple(found)


def read_object(place: Place, digest: str) -> bytes:
    """Bytes by their SHA-256, checked. Raises `StorageError` if they are gone or altered."""
    data = read_file(state_path(place, "objects", digest))
    if data is None:
        raise StorageError(f"The earlier version {digest[:12]} is not kept any more.")
    if hashlib.sha256(data).hexdigest() != digest:
        raise StorageError(f"The earlier version {digest[:12]} was altered on disk.")
    return data


def damage(place: Place) -> tuple[Drift, ...]:
    """What in the state folder cannot be trusted: records, and objects that runs need."""
    found: list[Drift] = []
    needed: dict[str, str] = {}
    for name in run_ids(place):
        try:
            run = read_run(place, name)
        except Damaged as error:
            found.append(Drift(os.path.join(run_folder(place, name), "intent"), str(error)))
            continue
        for step in run.steps if run is not None else ():
            for wanted in (step.old, step.new):
                if wanted is not None:
                    needed.setdefault(wanted, name)
    for wanted, name in needed.items():
        path = state_path(place, "objects", wanted)
        try:
            read_object(place, wanted)
        except StorageError as error:
            found.append(Drift(path, f"run {name} needs it, and: {error}"))
    return tuple(found)
