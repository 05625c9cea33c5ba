"""The journal: what a run looks like on disk, and reading it back.

The state folder of a store holds bytes under their SHA-256 (`objects`), one folder a run (`runs`)
and the plans that wait (`plans`). A run's `intent` is written once and is the decision; a `done`
beside it says that nothing is left to do. Everything here reads; `engine.commit` writes.
Paths are `os.fsdecode`d strings: ASCII JSON carries the lone surrogates of names that are not
UTF-8.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from engine.errors import Drift, EngineError, StorageError
from engine.layouts import Place
from engine.paths import is_memory

FORMAT: Final = 1
_RUN_ID = re.compile(r"([1-9][0-9]{0,9})-([0-9a-f]{8})")
_DIGEST = re.compile(r"[0-9a-f]{64}")

RunState = Literal["done", "taken-back", "unfinished"]
LogState = Literal["written", "pending", "none"]
_RESULTS: Final[tuple[RunState, ...]] = ("done", "taken-back")


class RunKind(StrEnum):
    """What made a run."""

    APPLY = "apply"
    ADD = "add"
    EDIT = "edit"
    DESCRIBE = "describe"
    MOVE = "move"
    DELETE = "delete"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """One action of a run. `number` is 1-based in its plan.

    `verdict` is `approved`, `edited`, `rejected` or `skipped`; only the first two changed files.
    """

    number: int
    verb: str
    sources: tuple[str, ...]
    target: str | None
    verdict: str
    reason: str

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the action names, the target last."""
        target = () if self.target is None else (self.target,)
        return tuple(dict.fromkeys([*self.sources, *target]))


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a file has beside its bytes."""

    mode: int
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Step:
    """One file of a run: SHA-256 before and after, None for absence.

    `was` is what the file had beside its bytes before, `shall` what it has after.
    """

    path: str
    old: str | None
    new: str | None
    was: Attributes | None = None
    shall: Attributes | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run, as its intent says, and how far it got. `time` is UTC, ISO 8601 with Z."""

    id: str
    kind: RunKind
    time: str
    who: str
    decided_by: str
    machine: str
    plan: str | None
    operations: tuple[str, ...]
    summary: str
    actions: tuple[ActionRecord, ...]
    reads: Mapping[str, str | None]
    steps: tuple[Step, ...]
    undoes: str | None
    entry: str
    state: RunState
    changelog: LogState

    @property
    def seq(self) -> int:
        """The number by which people call it."""
        return int(self.id.partition("-")[0])

    @property
    def written(self) -> tuple[str, ...]:
        """The paths that it wrote."""
        return tuple(step.path for step in self.steps if step.new is not None)

    @property
    def deleted(self) -> tuple[str, ...]:
        """The paths that it removed."""
        return tuple(step.path for step in self.steps if step.new is None)


class Damaged(EngineError):
    """A record that cannot be trusted: truncated, altered or of another format."""


def dump_intent(run: Run) -> bytes:
    """The bytes of an intent: ASCII JSON that ends in the digest of what is before it."""
    value = {
        "format": FORMAT,
        "run": run.id,
        "kind": str(run.kind),
        "time": run.time,
        "who": run.who,
        "decided_by": run.decided_by,
        "machine": run.machine,
        "plan": run.plan,
        "operations": list(run.operations),
        "summary": run.summary,
        "actions": [
            {
                "number": a.number,
                "verb": a.verb,
                "sources": list(a.sources),
                "target": a.target,
                "verdict": a.verdict,
                "reason": a.reason,
            }
            for a in run.actions
        ],
        "reads": dict(sorted(run.reads.items())),
        "steps": [
            {
                "path": s.path,
                "old": s.old,
                "new": s.new,
                "was": _listed(s.was),
                "shall": _listed(s.shall),
            }
            for s in run.steps
        ],
        "undoes": run.undoes,
        "entry": run.entry,
    }
    return seal(value)


def seal(value: Mapping[str, Any]) -> bytes:
    """JSON whose last key is the SHA-256 of the JSON without it."""
    text = json.dumps(value, ensure_ascii=True)
    return json.dumps({**value, "digest": _sha(text)}, ensure_ascii=True).encode() + b"\n"


def unseal(data: bytes) -> dict[str, Any]:
    """What `seal` wrote. Raises `Damaged`."""
    try:
        value = json.loads(data)
        said = value.pop("digest")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise Damaged("the record is truncated or no JSON") from error
    if said != _sha(json.dumps(value, ensure_ascii=True)):
        raise Damaged("the record was altered")
    return dict(value)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load_intent(data: bytes, name: str) -> Run:
    """A run from the bytes of its intent, its state not looked at. Raises `Damaged`."""
    value = unseal(data)
    if value.get("format") != FORMAT:
        raise Damaged(f"the record has format {value.get('format')!r}, not {FORMAT}")
    try:
        run = Run(
            id=_text(value["run"]),
            kind=RunKind(value["kind"]),
            time=_text(value["time"]),
            who=_text(value["who"]),
            decided_by=_text(value["decided_by"]),
            machine=_text(value["machine"]),
            plan=None if value["plan"] is None else _text(value["plan"]),
            operations=tuple(map(_text, value["operations"])),
            summary=_text(value["summary"]),
            actions=tuple(
                ActionRecord(
                    int(a["number"]),
                    _text(a["verb"]),
                    tuple(map(_text, a["sources"])),
                    None if a["target"] is None else _text(a["target"]),
                    _text(a["verdict"]),
                    _text(a["reason"]),
                )
                for a in value["actions"]
            ),
            reads={_text(path): _digest(seen) for path, seen in value["reads"].items()},
            steps=tuple(
                Step(
                    _text(s["path"]),
                    _digest(s["old"]),
                    _digest(s["new"]),
                    _attributes(s["was"]),
                    _attributes(s["shall"]),
                )
                for s in value["steps"]
            ),
            undoes=None if value["undoes"] is None else _text(value["undoes"]),
            entry=_text(value["entry"]),
            state="unfinished",
            changelog="none",
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Damaged("the record lacks what a run needs") from error
    for path in (*run.reads, *(step.path for step in run.steps)):
        if not is_inside(path):
            raise Damaged(f"the record names what is no file of the store: {path}")
    if run.id != name or not _RUN_ID.fullmatch(name):
        raise Damaged(f"the record is that of run {run.id}")
    return run


def is_inside(path: str) -> bool:
    """Whether a run may touch a path: a file below the store, in the one spelling it has there.

    Hidden folders, and hidden files that are not Markdown, belong to other programs (`.git`). A
    record may have come with a folder from elsewhere: none may lead a recovery or an undo there.
    """
    *folders, name = path.split("/")
    if "\0" in path or "" in folders or any(folder.startswith(".") for folder in folders):
        return False
    return name != "" and (not name.startswith(".") or is_memory(name))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _listed(attributes: Attributes | None) -> list[int] | None:
    return None if attributes is None else [attributes.mode, attributes.uid, attributes.gid]


def _attributes(value: Any) -> Attributes | None:
    return None if value is None else Attributes(*map(int, value))


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise ValueError(value)
    return value


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
    return sorted(filter(_RUN_ID.fullmatch, names), key=lambda name: int(name.partition("-")[0]))


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
    return _with(run, state, log)


def _result(done: bytes | None) -> RunState:
    """What a `done` says; one that says nothing is as good as none."""
    try:
        said = None if done is None else json.loads(done)["result"]
    except (ValueError, KeyError, TypeError):
        said = None
    return said if said in _RESULTS else "unfinished"


def _with(run: Run, state: RunState, log: LogState) -> Run:
    from dataclasses import replace

    return replace(run, state=state, changelog=log)


def runs(place: Place) -> tuple[Run, ...]:
    """Every run that can be read, the oldest first. `damage` names the others."""
    found: list[Run] = []
    for name in run_ids(place):
        try:
            run = read_run(place, name)
        except Damaged:
            continue
        if run is not None:
            found.append(run)
    return tuple(found)


def undone_by(known: Sequence[Run]) -> dict[str, str]:
    """Run -> the undo that holds for it. An undo that was itself undone holds no more."""
    undone: dict[str, str] = {}
    for run in reversed(known):
        if run.undoes is not None and run.state == "done" and run.id not in undone:
            undone.setdefault(run.undoes, run.id)
    return undone


def find(place: Place, name: str) -> Run:
    """A run by its number, its id, or `last`: the newest that holds and is no undo."""
    known = runs(place)
    if name == "last":
        undone = undone_by(known)
        for run in reversed(known):
            if run.state == "done" and run.kind is not RunKind.UNDO and run.id not in undone:
                return run
        raise EngineError("There is no run to take back.", hint="memui log shows all runs.")
    found = [run for run in known if name in {run.id, str(run.seq)}]
    if len(found) > 1:  # two machines wrote in a synchronised folder
        names = " or ".join(run.id for run in found)
        raise EngineError(f"Run {name} could be {names}.", hint="Give the whole id.")
    if not found:
        raise EngineError(f"There is no run {name}.", hint="memui log shows all runs.")
    return found[0]


def applied(place: Place, plan: str) -> dict[int, str]:
    """Action number of a plan -> the run that applied it and was not taken back since."""
    known = runs(place)
    undone = undone_by(known)
    return {
        action.number: run.id
        for run in known
        if run.plan == plan and run.state == "done" and run.id not in undone
        for action in run.actions
        if action.verdict in {"approved", "edited"}
    }


def freed(place: Place, plan: str) -> dict[int, str]:
    """Action number of a plan -> the newest undo that took it back. It wants a new verdict."""
    known = runs(place)
    undone = undone_by(known)
    return {
        action.number: undone[run.id]
        for run in known
        if run.plan == plan and run.id in undone
        for action in run.actions
        if action.verdict in {"approved", "edited"}
    }


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
