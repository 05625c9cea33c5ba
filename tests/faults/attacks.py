"""All attacks by name, each in a form for the suite and in one that takes its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.faults import processes as real
from tests.faults.crashes import errors, kills
from tests.faults.cuts import power
from tests.faults.figures import Figures
from tests.faults.mirrored import mirrored
from tests.faults.mutants import mutants
from tests.faults.schedules import interleavings
from tests.faults.writers import writers


@dataclass(frozen=True, slots=True)
class Attack:
    """`bounded` runs in the suite; `deep` by `python -m tests.faults --deep [--every N]`."""

    what: str
    bounded: Callable[[], Figures]
    deep: Callable[[int], Figures]
    possible: Callable[[], bool] = lambda: True
    missing: str = ""


ATTACKS: Final = {
    "kills": Attack(
        "a death at any call of a run, of its recovery and of the recovery of that",
        lambda: kills(7, 8),
        lambda every: kills(1, every),
    ),
    "errors": Attack(
        "no space, I/O error, no access, not permitted, not supported, read-only, at any call",
        lambda: errors(9),
        lambda every: errors(1 + every // 4),
    ),
    "power": Attack(
        "the power is cut before any call; what was not flushed is lost, torn or reordered",
        lambda: power(1),
        lambda every: power(max(1, 80 // every)),
    ),
    "mutants": Attack(
        "each flush, the barrier, keeping, the preconditions and the lock left out in turn",
        lambda: mutants(2, 6),
        lambda every: mutants(max(3, 12 // every)),
    ),
    "processes": Attack(
        "`kill -9` of a real process at a system call, and of its recovery",
        lambda: real.processes(9, 4),
        real.processes,
        real.possible,
        real.MISSING,
    ),
    "schedules": Attack(
        "another writer acts between any two calls of a run, of its recovery, of an undo",
        lambda: interleavings(61),
        interleavings,
    ),
    "writers": Attack(
        "processes of the shipped SDK add facts while runs apply and undo",
        lambda: writers(2, 300),
        lambda _every: writers(4, 2000),
    ),
    "mirrored": Attack(
        "two of ours merge each other's files at once",
        lambda: mirrored(40),
        lambda every: mirrored(2000 // every),
    ),
}
"""Name -> attack."""
