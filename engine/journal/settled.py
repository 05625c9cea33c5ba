"""An index of the runs that are settled, so that ten thousand of them cost the next one nothing.

A run is settled once it is done or taken back and its changelog entry is written, or it has none:
nothing of its record changes any more. Of each the index keeps, in a line with a checksum, what
says how plans stand. It is a cache: derived from the records, made by `engine.commit` alone, never
asked about a run whose folder is not there, and no run is driven by it. Lines that cannot be
trusted count as missing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from engine.journal.reading import read_file, read_run, run_ids, state_path
from engine.journal.records import Damaged, Run, RunState, is_run_id
from engine.layouts import Place

SETTLED: Final = "settled"


class Standing(Protocol):
    """What decides what holds of a run; `numbers` are its actions that changed files."""

    @property
    def id(self) -> str: ...
    @property
    def plan(self) -> str | None: ...
    @property
    def undoes(self) -> str | None: ...
    @property
    def state(self) -> RunState: ...
    @property
    def numbers(self) -> tuple[int, ...]: ...


@dataclass(frozen=True, slots=True)
class Settled:
    """One line of the index."""

    id: str
    plan: str | None
    undoes: str | None
    state: RunState
    numbers: tuple[int, ...]


def is_settled(run: Run) -> bool:
    """Whether nothing of a run's record will change."""
    return run.state != "unfinished" and run.changelog != "pending"


def dump_settled(runs: Iterable[Run]) -> bytes:
    """The lines for some runs."""
    lines: list[bytes] = []
    for run in runs:
        value = [run.id, run.plan, run.undoes, run.state, list(run.numbers)]
        said = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
        lines.append(said + b"\t" + _check(said) + b"\n")
    return b"".join(lines)


def settled(place: Place) -> dict[str, Settled]:
    """Every run that the index knows, whether it is still there or not. Raises `StorageError`."""
    found: dict[str, Settled] = {}
    for said, _, check in _lines(place):
        if check == _check(said):
            one = _load(said)
            if one is not None:
                found[one.id] = one
    return found


def _lines(place: Place) -> Iterator[tuple[bytes, bytes, bytes]]:
    """(what a line says, a tab, its checksum); a last line without an end was torn."""
    for line in (read_file(state_path(place, SETTLED)) or b"").split(b"\n")[:-1]:
        yield line.partition(b"\t")


def _load(said: bytes) -> Settled | None:
    try:
        name, plan, undoes, state, numbers = json.loads(said)
        one = Settled(str(name), plan, undoes, state, tuple(map(int, numbers)))
    except (ValueError, TypeError):
        return None
    return one if is_run_id(one.id) and one.state in {"done", "taken-back"} else None


def _check(said: bytes) -> bytes:
    return hashlib.sha256(said).hexdigest()[:16].encode()


def unsettled(place: Place) -> list[str]:
    """The ids of the runs that are there and that the index does not know, by number."""
    known = {
        said[2 : said.find(b'"', 2)].decode("ascii", "replace")
        for said, _, check in _lines(place)
        if check == _check(said)
    }
    return [name for name in run_ids(place) if name not in known]


def standings(place: Place) -> Sequence[Standing]:
    """How every run stands, the oldest first: by the index, or by its own record."""
    known = settled(place)
    found: list[Standing] = []
    for name in run_ids(place):
        one: Standing | None = known.get(name)
        if one is None:
            try:
                one = read_run(place, name)
            except Damaged:
                continue
        if one is not None:
            found.append(one)
    return found
