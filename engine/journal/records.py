"""The records of a run: its intent as values, and as bytes that tell when they were altered.

Paths are `os.fsdecode`d strings: ASCII JSON carries the lone surrogates of names that are not
UTF-8.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from engine.errors import EngineError, run_number
from engine.paths import is_memory

FORMAT: Final = 1
_RUN_ID = re.compile(r"([1-9][0-9]{0,9})-([0-9a-f]{8})")
_DIGEST_KEY: Final = ', "digest": "'
_DIGEST = re.compile(r"[0-9a-f]{64}")

RunState = Literal["done", "taken-back", "unfinished"]
LogState = Literal["written", "pending", "none"]


class RunKind(StrEnum):
    """What made a run."""

    APPLY = "apply"
    ADD = "add"
    EDIT = "edit"
    DESCRIBE = "describe"
    MOVE = "move"
    DELETE = "delete"
    UNDO = "undo"
    RESTORE = "restore"
    """One file is given an earlier version."""
    REPAIR = "repair"
    """What another writer overwrote from a stale read is merged in again."""


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """One action of a run. `number` is 1-based in its plan.

    `verdict` is `approved`, `edited`, `rejected` or `skipped`; only the first two changed files.
    `carriers` are the memories on which the facts that it removed live on; `into` is the action
    that a delete was folded into, whose files are its files.
    """

    number: int
    verb: str
    sources: tuple[str, ...]
    target: str | None
    verdict: str
    reason: str
    carriers: tuple[str, ...] = ()
    into: int | None = None

    @property
    def changed(self) -> bool:
        """Whether it changed files."""
        return self.verdict in {"approved", "edited"}

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

    `was` is what the file had beside its bytes before, `shall` what it has after. `action` is the
    number of the run's action that it belongs to.
    """

    path: str
    old: str | None
    new: str | None
    was: Attributes | None = None
    shall: Attributes | None = None
    action: int = 1


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
        return int(run_number(self.id))

    @property
    def written(self) -> tuple[str, ...]:
        """The paths that it wrote."""
        return tuple(step.path for step in self.steps if step.new is not None)

    @property
    def deleted(self) -> tuple[str, ...]:
        """The paths that it removed."""
        return tuple(step.path for step in self.steps if step.new is None)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the actions that changed files."""
        return tuple(action.number for action in self.actions if action.changed)

    @property
    def changing(self) -> tuple[ActionRecord, ...]:
        """The actions that changed files."""
        return tuple(action for action in self.actions if action.changed)


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
                "carriers": list(a.carriers),
                "into": a.into,
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
                "action": s.action,
            }
            for s in run.steps
        ],
        "undoes": run.undoes,
        "entry": run.entry,
    }
    return seal(value)


def seal(value: Mapping[str, Any]) -> bytes:
    """JSON whose last key is the SHA-256 of the JSON without it. `value` is not empty."""
    text = json.dumps(value, ensure_ascii=True)
    return f'{text[:-1]}{_DIGEST_KEY}{_sha(text)}"}}\n'.encode()


def unseal(data: bytes) -> dict[str, Any]:
    """What `seal` wrote. Raises `Damaged`.

    Bytes that are exactly as `seal` leaves them are checked as they are; any others, as the JSON
    that they mean.
    """
    try:
        value = json.loads(data)
        said = value.pop("digest")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise Damaged("the record is truncated or no JSON") from error
    if not _is_exact(data, said) and said != _sha(json.dumps(value, ensure_ascii=True)):
        raise Damaged("the record was altered")
    return dict(value)


def _is_exact(data: bytes, said: Any) -> bool:
    if not isinstance(said, str) or not is_digest(said):
        return False
    tail = f'{_DIGEST_KEY}{said}"}}'.encode()
    text = data.removesuffix(b"\n")
    return text.endswith(tail) and hashlib.sha256(text[: -len(tail)] + b"}").hexdigest() == said


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
                    tuple(map(_text, a["carriers"])),
                    None if a["into"] is None else int(a["into"]),
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
                    int(s["action"]),
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
    if run.id != name or not is_run_id(name):
        raise Damaged(f"the record is that of run {run.id}")
    return run


def is_run_id(name: str) -> bool:
    """Whether a folder's name is that of a run: `<seq>-<nonce>`."""
    return _RUN_ID.fullmatch(name) is not None


def is_digest(word: str) -> bool:
    """Whether a word is a SHA-256 in lower-case hex."""
    return _DIGEST.fullmatch(word) is not None


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
