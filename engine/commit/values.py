"""What goes into a commit and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from engine.commit.stage import Write
from engine.documents import digest
from engine.errors import Drift, Holder, StorageError
from engine.journal import ActionRecord, LogState, RunKind, is_inside
from engine.paths import identity

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


def reduced(transaction: Transaction) -> dict[str, Write]:
    """The writes that change something. No two may be one file.

    Raises `StorageError` for a path that leads out of the store or into what is hidden in it.
    """
    found: dict[str, Write] = {}
    keys: set[str] = set()
    for path in transaction.reads:
        _refuse_outside(path)
    for write in transaction.writes:
        _refuse_outside(write.path)
        key = identity(write.path)
        if key in keys:
            raise ValueError(f"{write.path} is written twice")
        keys.add(key)
        if changes(write):
            found[write.path] = write
    return found


def changes(write: Write) -> bool:
    """Whether a file is to be other than it must be now."""
    return write.old != (None if write.new is None else digest(write.new))


def _refuse_outside(path: str) -> None:
    if not is_inside(path):
        raise StorageError(
            f"{path!r} is no file of the store.", path=path, hint="Nothing was changed."
        )
