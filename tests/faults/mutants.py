"""The commit with one of its safeguards left out: the harness must notice each.

Flushes, the barrier and the keeping of what is given back are judged by power cuts; the
precondition and the lock by a run beside which somebody else writes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from engine import commit
from engine.commit import Files
from engine.errors import Conflict, Drift, EngineError, StoreLocked
from tests.engine.faults import Died
from tests.faults.cuts import CASES, power, record
from tests.faults.figures import Figures, scratch
from tests.faults.runs import APPLY, CARRIER, transaction

KINDS: Final = ("fsync", "fsync-folder", "syncfs", "barrier", "keep")
CHECKS: Final = ("precondition first", "precondition between", "precondition recovery", "lock")
REDUNDANT: Final = {
    "_once fsync README.new": "it is for people; nothing reads it",
    "_once fsync .gitignore.new": "it is for git; nothing of ours reads it",
    "Stage._flush fsync ready-aborting": "that it is there says all; its bytes are never read",
    "Stage._flush fsync-folder runs/run/hold": (
        "what the hold lacks is made again from its object, or the run is taken back"
    ),
    "_Log._give_back fsync-folder consolidation-changelog.md": (
        "theirs is kept by then, and the next try to append flushes the same folder"
    ),
    "precondition recovery": "driving forward checks the same files before it removes any",
}
"""What may be left out with nothing noticed, and why that is by design."""


class Without(Files):
    """The real calls without one check; `act` is called before each of them."""

    def __init__(self, what: str, act: Callable[[str], None] = lambda _call: None) -> None:
        super().__init__()
        self._what, self._act = what, act

    def step(self, call: str, name: str) -> None:
        self._act(call)

    def precondition(self, when: str, look: Callable[[], tuple[Drift, ...]]) -> tuple[Drift, ...]:
        return () if self._what == f"precondition {when}" else super().precondition(when, look)

    def lock(self, held: AbstractContextManager[None]) -> AbstractContextManager[None]:
        return contextlib.nullcontext() if self._what == "lock" else super().lock(held)


def sites() -> list[str]:
    """Every place in the commit that flushes, found by running all cases."""
    found: set[str] = set()
    with scratch() as folder:
        for number, case in enumerate(CASES):
            found |= record(case, folder / str(number)).recording.sites
    return sorted(found)


def first_check(what: str) -> bool:
    """Whether it shows that a file changed before the run: nothing at all may be written."""
    with scratch() as folder:
        place = APPLY.make(folder / "r")
        (Path(place.folder) / CARRIER).write_bytes(b"theirs\n")
        before = sorted(folder.rglob("*"))
        with contextlib.suppress(EngineError):
            commit.transact(place, transaction(), files=Without(what))
        return sorted(folder.rglob("*")) != before


def check_between(what: str) -> bool:
    """Whether it shows that what a delete relies on changed after the first check."""
    with scratch() as folder:
        place = APPLY.make(folder / "r")

        def act(call: str) -> None:
            if call == "publish":
                (Path(place.folder) / CARRIER).write_bytes(b"theirs\n")

        try:
            commit.transact(place, transaction(), files=Without(what, act))
        except Conflict:
            return False
        return True


def check_in_recovery(what: str) -> bool:
    """Whether it shows that what a delete relies on changed after a death."""
    with scratch() as folder:
        place = APPLY.make(folder / "r")

        def act(call: str) -> None:
            if call == "take":
                raise Died

        with contextlib.suppress(Died):
            commit.transact(place, transaction(), files=Without("", act))
        (Path(place.folder) / CARRIER).write_bytes(b"theirs\n")
        (found,) = commit.recover(place, files=Without(what))
        return found.result != "taken-back"


def second_writer(what: str) -> bool:
    """Whether it shows that a second run begins in the middle of the first."""
    with scratch() as folder:
        place = APPLY.make(folder / "r")
        entered: list[bool] = []

        def act(call: str) -> None:
            if call == "take" and not entered:
                entered.append(True)
                try:
                    commit.recover(place, files=Without(what))
                except StoreLocked:
                    entered.append(False)

        with contextlib.suppress(EngineError):
            commit.transact(place, transaction(), files=Without(what, act))
        return entered != [True, False]


CHECKED: Final = {
    "precondition first": first_check,
    "precondition between": check_between,
    "precondition recovery": check_in_recovery,
    "lock": second_writer,
}


def noticed(mutant: str, states: int) -> bool:
    """Whether the harness shows that something was left out."""
    if mutant in CHECKED:
        return CHECKED[mutant](mutant)
    return not power(states, frozenset([mutant]), first=True).clean


def mutants(states: int = 6, every: int = 1) -> Figures:
    """Leave out each kind of flush, every n-th single one, and each check; counts the unseen."""
    figures = Figures("mutants")
    redundant = 0
    for mutant in (*KINDS, *sites()[::every], *CHECKS):
        figures.tried += 1
        if mutant in CHECKED and CHECKED[mutant](""):
            figures.wrong(f"{mutant} is missing in the commit itself")
        if noticed(mutant, states) == (mutant in REDUNDANT):
            figures.wrong(
                f"{mutant} was noticed, and is said to be redundant"
                if mutant in REDUNDANT
                else f"nothing noticed that {mutant} was left out"
            )
            continue
        redundant += mutant in REDUNDANT
    figures.note = f"all noticed but {redundant}, redundant by design"
    return figures
