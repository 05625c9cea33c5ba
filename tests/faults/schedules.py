"""Enumerated interleavings: each boundary of a run, and each thing that an outsider may do there.

An outsider's action has one event, or two (a slow read-modify-write, a write through a descriptor
that was opened before). What only reads has no effect on a run: of all boundaries at which it
would see the same file with the same bytes one stands for all. So every pair of boundaries is
covered, and few are run.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine import commit
from engine.commit import Files
from engine.errors import Conflict, EngineError
from engine.layouts import Place
from tests.engine.faults import Died
from tests.faults.figures import Figures, scratch
from tests.faults.runs import APPLY, CARRIER, UNDO, Scenario, kept, live

_THEIRS: Final = b"theirs\n"


class Outsider:
    """Somebody else's hand on one file. `acked` is what they last were told is written."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.acted = False
        self.acked: bytes | None = None
        self.late = False
        self._seen = b""
        self._fd = -1

    def _wrote(self) -> None:
        self.acted, self.acked = True, self.file.read_bytes()

    def append(self) -> None:
        """Add to the file that is there."""
        if self.file.exists():
            with self.file.open("ab") as file:
                file.write(_THEIRS)
            self._wrote()

    def overwrite(self) -> None:
        """Write into the same inode."""
        if self.file.exists():
            with self.file.open("r+b") as file:
                file.truncate()
                file.write(_THEIRS)
            self._wrote()

    def replace(self) -> None:
        """As the SDKs write: temp and rename."""
        if self.file.parent.exists():
            temporary = self.file.with_name(".__strands_tmp_x")
            temporary.write_bytes(_THEIRS)
            temporary.replace(self.file)
            self._wrote()

    def delete(self) -> None:
        """Remove the file that is there."""
        if self.file.exists():
            self.file.unlink()
            self.acted, self.acked = True, None

    def create(self) -> None:
        """Make a file where there is none."""
        if self.file.parent.exists() and not self.file.exists():
            self.file.write_bytes(_THEIRS)
            self._wrote()

    def recreate(self) -> None:
        """Remove and make anew."""
        self.delete()
        self.create()

    def read(self) -> None:
        """The first half of a read-modify-write."""
        self._seen = self.file.read_bytes() if self.file.exists() else b""

    def write(self) -> None:
        """The second half: what was read, and more, by temp and rename."""
        if self.file.parent.exists():
            temporary = self.file.with_name(".__strands_tmp_x")
            temporary.write_bytes(self._seen + _THEIRS)
            temporary.replace(self.file)
            self._wrote()

    def open(self) -> None:
        """Hold the file open."""
        if self.file.exists():
            self._fd = os.open(self.file, os.O_RDWR | os.O_APPEND)

    def write_late(self) -> None:
        """Write through the descriptor, wherever the file is by now."""
        if self._fd >= 0:
            os.write(self._fd, _THEIRS)
            self.acted = self.late = True
            self.acked = os.pread(self._fd, 1 << 16, 0)
            os.close(self._fd)
            self._fd = -1

    def close(self) -> None:
        """Let go of what is open."""
        if self._fd >= 0:
            os.close(self._fd)


Act = Callable[[Outsider], None]
SINGLE: Final[tuple[Act, ...]] = (
    Outsider.append,
    Outsider.overwrite,
    Outsider.replace,
    Outsider.delete,
    Outsider.create,
    Outsider.recreate,
)
DOUBLE: Final[tuple[tuple[Act, Act], ...]] = (
    (Outsider.read, Outsider.write),
    (Outsider.open, Outsider.write_late),
)


class Script(Files):
    """Calls `act` with the number of each call (1-based, going on over runs); dies at one."""

    def __init__(self, act: Callable[[int], None], dies: int | None, *, exchanges: bool) -> None:
        super().__init__()
        self.exchanges = None if exchanges else False
        self.count = 0
        self._act, self._dies = act, dies

    def step(self, call: str, name: str) -> None:
        self.count += 1
        self._act(self.count)
        if self.count == self._dies:
            raise Died


@dataclass(frozen=True, slots=True)
class Subject:
    """A run, or a run that dies at a call and its recovery, with or without exchange."""

    scenario: Scenario
    dies: int | None
    exchanges: bool

    def run(self, place: Place, act: Callable[[int], None]) -> tuple[Exception | None, int]:
        """Drive it to an end; (what it raised, how many boundaries there were)."""
        files = Script(act, self.dies, exchanges=self.exchanges)
        try:
            self.scenario.run(place, files)
        except EngineError as error:
            return error, files.count
        except Died:
            with contextlib.suppress(EngineError):
                commit.recover(place, files=files)
            commit.recover(place)
            return EngineError("died"), files.count
        return None, files.count


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which acts happen before which boundaries, on which path."""

    subject: Subject
    path: str
    events: tuple[tuple[int, Act], ...]

    def __str__(self) -> str:
        told = ", ".join(f"{act.__name__} at {at}" for at, act in self.events)
        s = self.subject
        return f"{s.scenario.name} dies={s.dies} exchange={s.exchanges} {self.path}: {told}"


def paths_of(scenario: Scenario) -> list[str]:
    """The files that a run touches or relies on."""
    touched = {
        path
        for path in (*scenario.before, *scenario.after)
        if scenario.before.get(path) != scenario.after.get(path)
    }
    return sorted(touched | {CARRIER})


def schedules(deaths: tuple[int, ...]) -> Iterator[Schedule]:
    """All of them."""
    for scenario, dies, exchanges in itertools.product(
        (APPLY, UNDO), (None, *deaths), (True, False)
    ):
        subject = Subject(scenario, dies, exchanges)
        for path in paths_of(scenario):
            looks = _looks(subject, path)
            for act, at in itertools.product(SINGLE, range(1, len(looks) + 1)):
                yield Schedule(subject, path, ((at, act),))
            first = [n for n, look in enumerate(looks, 1) if n == 1 or look != looks[n - 2]]
            for (one, two), at in itertools.product(DOUBLE, first):
                for later in range(at, len(looks) + 1):
                    yield Schedule(subject, path, ((at, one), (later, two)))


def _looks(subject: Subject, path: str) -> list[tuple[int, bytes] | None]:
    """What an outsider would see at each boundary: inode and bytes."""
    found: list[tuple[int, bytes] | None] = []
    with scratch() as folder:
        place = subject.scenario.make(folder / "r")
        file = Path(place.folder) / path

        def look(_at: int) -> None:
            found.append((file.stat().st_ino, file.read_bytes()) if file.exists() else None)

        subject.run(place, look)
    return found


def interleavings(every: int = 1, deaths: tuple[int, ...] = (82, 95)) -> Figures:
    """Run every n-th schedule, and judge it."""
    figures = Figures("schedules")
    with scratch() as folder:
        for schedule in itertools.islice(schedules(deaths), 0, None, every):
            judge(figures, schedule, folder / "r")
            shutil.rmtree(folder / "r")
    return figures


def judge(figures: Figures, schedule: Schedule, root: Path) -> None:
    """Run one schedule. The outsider wins on their file, loses no byte, and is named."""
    figures.tried += 1
    scenario = schedule.subject.scenario
    place = scenario.make(root)
    outsider = Outsider(Path(place.folder) / schedule.path)

    def act(at: int) -> None:
        for when, each in schedule.events:
            if when == at:
                each(outsider)

    error, _ = schedule.subject.run(place, act)
    outsider.close()
    commit.recover(place)
    found = live(place)
    there = found.pop(schedule.path, None)
    before, after = (
        {path: data for path, data in state.items() if path != schedule.path}
        for state in (scenario.before, scenario.after)
    )
    what = f"{schedule}: "
    if found not in (before, after) or (error is None and found != after):
        figures.mixing(f"{what}mixed {sorted(found)} {error}")
    if isinstance(error, Conflict):
        strangers = {d.path for d in error.drifts} - {schedule.path}
        if any(not schedule.path.startswith(f"{path}/") for path in strangers):
            figures.wrong(f"{what}names {sorted(strangers)}")
    everywhere = {*found.values(), there} | kept(place)
    if any(data not in everywhere for data in before.values()):
        figures.losing(f"{what}ours is lost")
    if not outsider.acted:
        if there not in (scenario.before.get(schedule.path), scenario.after.get(schedule.path)):
            figures.mixing(f"{what}{there!r}")
    elif outsider.late:
        if outsider.acked not in everywhere:
            figures.losing(f"{what}what was written late is lost")
    elif outsider.acked is None and there is not None:
        figures.wrong(f"{what}a deleted file is there again")
    elif outsider.acked not in everywhere | {None}:
        figures.losing(f"{what}theirs is lost")
    elif outsider.acked != there:
        figures.wrong(f"{what}theirs is not live, but {there!r}")
    figures.judge_record(place, what)
