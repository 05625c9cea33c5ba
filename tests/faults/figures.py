"""What an attack counted, and where it lays its stores."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine import commit, journal
from engine.layouts import Place
from tests.faults.runs import Scenario, entries, kept, live


@dataclass
class Figures:
    """What an attack counted. `unit` is what one try is; `bad` holds the first that went wrong."""

    unit: str
    tried: int = 0
    lost: int = 0
    mixed: int = 0
    other: int = 0
    note: str = ""
    bad: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.mixed or self.other)

    def judge(self, scenario: Scenario, place: Place, what: str, *, records: bool = True) -> None:
        """Count the state of a store after recovery, with nobody else about."""
        self.tried += 1
        found = live(place)
        if found not in (scenario.before, scenario.after):
            self.mixed += 1
            self._remember(f"{what}: mixed {sorted(found)}")
        everywhere = set(found.values()) | kept(place)
        if any(data not in everywhere for data in scenario.before.values()):
            self.lost += 1
            self._remember(f"{what}: lost")
        if records:
            self.judge_record(place, what)

    def judge_record(self, place: Place, what: str) -> None:
        """Every run has an end, and every one that is done its entry, once."""
        if commit.unfinished(place):
            self.wrong(f"{what}: still unfinished")
        said = entries(place)
        for run in journal.runs(place):
            if run.state == "taken-back" and run.id in said:
                self.wrong(f"{what}: {run.id} was taken back and has an entry")
            if run.changelog == "written" and said.count(run.id) != 1:
                self.wrong(f"{what}: {run.id} has {said.count(run.id)} entries")

    def losing(self, what: str) -> None:
        """Count bytes that are nowhere."""
        self.lost += 1
        self._remember(what)

    def mixing(self, what: str) -> None:
        """Count a state that is neither old nor new."""
        self.mixed += 1
        self._remember(what)

    def wrong(self, what: str) -> None:
        """Count anything else that must not be."""
        self.other += 1
        self._remember(what)

    def _remember(self, what: str) -> None:
        if len(self.bad) < 10:
            self.bad.append(what)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for stores, in memory where there is one."""
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    folder = Path(tempfile.mkdtemp(prefix="memui-faults-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
