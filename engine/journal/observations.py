"""What other writers (the agent) did between two of our looks at a store.

A look is a table of every memory's size, times and inode, with the digest where it is known. What
differs at the next look, and is no run of ours, is an observation: one sealed line of the file
`observations`, the new bytes beside it as an object if they are small enough.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.errors import Drift
from engine.journal.lines import line_damage, read_lines
from engine.journal.reading import read_file, state_path
from engine.journal.records import Damaged, is_digest, is_run_id, seal, unseal
from engine.layouts import Place

OBSERVATIONS: Final = "observations"
LOOK: Final = "look"
UNKNOWN: Final = "unknown"
"""Stands for a digest: there was a file, and what it held is not known."""

Row = tuple[int, int, int, int, str]
"""Size in bytes, mtime and ctime in nanoseconds, inode, SHA-256 or `UNKNOWN`."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A file that somebody else changed. `time` is when we saw it: UTC, ISO 8601 with Z.

    `old` and `new` are SHA-256, None for absence, or `UNKNOWN`; `size` is that of the new bytes.
    `after` is the newest run at that time. `late` is the run whose displaced file these bytes were
    found in: they arrived through a descriptor that was open since before that run.
    """

    time: str
    path: str
    old: str | None
    new: str | None
    size: int
    after: str | None
    late: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """How the memories were when we last looked, and the newest run then."""

    after: str | None
    rows: Mapping[str, Row] = field(default_factory=dict)


def observations(place: Place) -> tuple[Observation, ...]:
    """Every observation that can be read, the oldest first. Raises `StorageError`.

    A look that died before it was noted is repeated by the next one: what it saw is told once.
    """
    found: list[Observation] = []
    last: dict[str, Observation] = {}
    for record in read_lines(place, OBSERVATIONS):
        seen = _observation(record)
        if seen is None:
            continue
        before = last.get(seen.path)
        if before is None or (before.old, before.new, before.late, before.after) != (
            seen.old,
            seen.new,
            seen.late,
            seen.after,
        ):
            found.append(seen)
        last[seen.path] = seen
    return tuple(found)


def _observation(record: Mapping[str, Any]) -> Observation | None:
    try:
        return Observation(
            time=str(record["time"]),
            path=str(record["path"]),
            old=_digest(record["old"]),
            new=_digest(record["new"]),
            size=int(record["size"]),
            after=_run(record["after"]),
            late=_run(record.get("late")),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _digest(value: Any) -> str | None:
    if value is not None and value != UNKNOWN and not is_digest(str(value)):
        raise ValueError(value)
    return None if value is None else str(value)


def _run(value: Any) -> str | None:
    if value is not None and not is_run_id(str(value)):
        raise ValueError(value)
    return None if value is None else str(value)


def dump_observation(seen: Observation) -> bytes:
    """The sealed line of an observation."""
    value: dict[str, Any] = {
        "time": seen.time,
        "path": seen.path,
        "old": seen.old,
        "new": seen.new,
        "size": seen.size,
        "after": seen.after,
    }
    return seal(value if seen.late is None else {**value, "late": seen.late})


def observation_damage(place: Place) -> tuple[Drift, ...]:
    """The lines of the observations that cannot be trusted."""
    return line_damage(place, OBSERVATIONS)


def last_look(place: Place) -> Look | None:
    """The table of the last look; None if there is none that can be trusted.

    Raises `StorageError`.
    """
    data = read_file(state_path(place, LOOK))
    if data is None:
        return None
    head, _, rest = data.partition(b"\n")
    try:
        said = unseal(head)
        if said["rows"] != hashlib.sha256(rest).hexdigest():
            return None
        after = _run(said["after"])
        rows = {path: _row(*row) for path, row in json.loads(rest).items()}
    except (Damaged, KeyError, TypeError, ValueError, AttributeError):
        return None
    return Look(after, rows)


def _row(size: int, changed: int, status: int, inode: int, digest: str) -> Row:
    return size, changed, status, inode, digest


def dump_look(look: Look) -> bytes:
    """The bytes of a look: a sealed head with the digest of the table, then the table."""
    rows = json.dumps(look.rows, ensure_ascii=True, separators=(",", ":")).encode()
    head = seal({"after": look.after, "rows": hashlib.sha256(rows).hexdigest()})
    return head + rows
