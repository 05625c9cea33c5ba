"""The power is cut before every call of a run, in every way that the model knows."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine import commit, journal
from engine.errors import Conflict, EngineError
from engine.layouts import Place
from tests.engine.faults import Acting, Died
from tests.faults.figures import Figures, scratch
from tests.faults.power import Recording, cut
from tests.faults.runs import APPLY, UNDO, Scenario, kept, live

THEIRS: Final = b"gamma, theirs\n"
_CONTESTED: Final = "facts/c.md"


@dataclass(frozen=True, slots=True)
class Case:
    """A run under the power model. `start` does what is durable before, `drive` the run itself.

    `drive` returns the number of the picture from which on somebody else's bytes must be durable.
    """

    name: str
    scenario: Scenario
    start: Callable[[Place], None]
    drive: Callable[[Place, Recording], int | None]
    ends: str = "after"
    together: bool = True
    records: bool = True
    """Whether the changelog can be judged: not if somebody replaced it and flushed nothing."""


def _ready(place: Place) -> None:
    with commit.open_for_writing(place):
        pass  # the state folder is there and durable


def _bare(_place: Place) -> None:
    """Not even the state folder is there."""


def _whole(scenario: Scenario) -> Callable[[Place, Recording], int | None]:
    def drive(place: Place, recording: Recording) -> int | None:
        scenario.run(place, recording)
        return None

    return drive


def _contested(place: Place, recording: Recording) -> int | None:
    """Somebody writes between look and exchange: captured, kept, given back."""
    exchanges: list[int] = []

    def before(call: str, name: str) -> None:
        if call == "exchange" and name == os.path.basename(_CONTESTED):
            exchanges.append(len(recording.pictures))
            if len(exchanges) == 1:
                recording.outside(Path(place.folder) / _CONTESTED, THEIRS)

    recording.before = before
    with contextlib.suppress(Conflict):
        APPLY.run(place, recording)
    return exchanges[1]


def _log_contested(durable: bool) -> Callable[[Place, Recording], int | None]:
    """Somebody appends to the changelog between look and exchange."""

    def drive(place: Place, recording: Recording) -> int | None:
        log = Path(place.changelog)
        exchanges: list[int] = []

        def before(call: str, name: str) -> None:
            if call == "exchange" and name == log.name:
                exchanges.append(len(recording.pictures))
                if len(exchanges) == 1:
                    recording.outside(log, log.read_bytes() + THEIRS, durable=durable)

        recording.before = before
        UNDO.run(place, recording)
        return exchanges[1]

    return drive


def _there_and_back(place: Place, recording: Recording) -> int | None:
    APPLY.run(place, recording)
    UNDO.run(place, recording)
    return None


def _died(place: Place) -> None:
    """Die with everything written and one file taken."""
    taken: list[str] = []

    def act(call: str) -> None:
        taken.extend([call] if call == "take" else [])
        if len(taken) == 2:
            raise Died

    with contextlib.suppress(Died):
        APPLY.run(place, Acting(1, act, always=True))


def _died_going_back(place: Place) -> None:
    """The disk fails when one file is taken; die after one was put back."""
    calls: list[str] = []

    def act(call: str) -> None:
        calls.append(call)
        if calls.count("take") == 2 and call == "take":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if calls.count("take") >= 2 and call == "publish":
            raise Died

    with contextlib.suppress(Died):
        APPLY.run(place, Acting(1, act, always=True))


def _recover(place: Place, recording: Recording) -> int | None:
    commit.recover(place, files=recording)
    return None


CASES: Final = (
    Case("apply", APPLY, _ready, _whole(APPLY)),
    Case("apply, flushed one by one", APPLY, _ready, _whole(APPLY), together=False),
    Case("the first of a store", APPLY, _bare, _whole(APPLY)),
    Case("the first of a store, one by one", APPLY, _bare, _whole(APPLY), together=False),
    Case("undo", UNDO, _ready, _whole(UNDO)),
    Case("contested", APPLY, _ready, _contested, ends="theirs"),
    Case("contested, one by one", APPLY, _ready, _contested, ends="theirs", together=False),
    Case("changelog contested", UNDO, _ready, _log_contested(False), records=False),
    Case("changelog contested, durably", UNDO, _ready, _log_contested(True)),
    Case("there and back", APPLY, _ready, _there_and_back, ends="before", together=False),
    Case("recovery forward", APPLY, _died, _recover),
    Case("recovery back", APPLY, _died_going_back, _recover, ends="before"),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One recorded run, with the pictures to cut at."""

    case: Case
    recording: Recording
    theirs_from: int | None
    root: Path
    writer: str


def record(case: Case, root: Path, muted: frozenset[str] = frozenset()) -> Attempt:
    """Drive a case once, keeping a picture before each call."""
    place = case.scenario.make(root)
    case.start(place)
    recording = Recording(place.root, muted=muted, together=case.together)
    theirs_from = case.drive(place, recording)
    recording.before = None
    recording.step("end", "")
    return Attempt(case, recording, theirs_from, Path(place.root), _writer(place))


def power(
    states: int = 4,
    muted: frozenset[str] = frozenset(),
    seed: int = 1,
    *,
    first: bool = False,
    cases: tuple[Case, ...] = CASES,
) -> Figures:
    """Cut before every call, `states` ways each, and recover.

    `first` stops at the first thing that goes wrong: enough to see that a mutant is noticed.
    """
    figures = Figures("power states")
    rng = random.Random(seed)
    with scratch() as folder:
        attempts = [record(c, folder / str(n), muted) for n, c in enumerate(cases)]
        for attempt, at, aimed in _cuts(attempts, states, rng, mutant=bool(muted)):
            to = folder / "cut"
            shutil.rmtree(to, ignore_errors=True)
            recording = attempt.recording
            cut(recording.pictures[at], recording.roots, {str(attempt.root): to}, rng, aimed)
            _judge(figures, attempt, to, at, f"{attempt.case.name} {at}")
            if first and not figures.clean:
                break
    return figures


def _cuts(
    attempts: list[Attempt], states: int, rng: random.Random, *, mutant: bool
) -> Iterator[tuple[Attempt, int, frozenset[int]]]:
    """Where to cut: for a mutant first aimed at what it leaves out, then anywhere after that."""
    spread: list[tuple[Attempt, int, frozenset[int]]] = []
    for attempt in attempts:
        recording = attempt.recording
        since = recording.first if mutant else 0
        if since is None:
            continue
        pictures = range(since, len(recording.pictures))
        spread += [(attempt, at, frozenset()) for at in pictures for _ in range(states)]
        if recording.victims:
            victims = frozenset(recording.victims)
            yield from ((attempt, at, victims) for at in reversed(pictures))
    if mutant:
        rng.shuffle(spread)
    yield from spread


def _judge(figures: Figures, attempt: Attempt, to: Path, at: int, what: str) -> None:
    case = attempt.case
    place = case.scenario.reopen(to)
    _adopt(place, attempt.writer)
    last = at == len(attempt.recording.pictures) - 1
    if case.ends == "after":
        _judge_barrier(figures, case.scenario, live(place), what)
    theirs = attempt.theirs_from is not None and at >= attempt.theirs_from
    if theirs and not _anywhere(to):
        figures.losing(f"{what}: theirs was live again and not durable")
    try:
        recovered = bool(commit.recover(place))
    except EngineError as error:
        figures.wrong(f"{what}: {error}")
        return
    if case.ends != "theirs":
        figures.judge(case.scenario, place, what, records=case.records)
    else:
        _judge_contested(figures, place, what, theirs=theirs, recovered=recovered)
    wanted = {"after": case.scenario.after, "before": case.scenario.before}.get(case.ends)
    if last and wanted is not None and live(place) != wanted:
        figures.wrong(f"{what}: an end that did not last")


def _anywhere(root: Path) -> bool:
    """Whether somebody else's bytes are in any file."""
    return any(THEIRS in path.read_bytes() for path in root.rglob("*") if path.is_file())


def _judge_barrier(
    figures: Figures, scenario: Scenario, found: dict[str, bytes], what: str
) -> None:
    """Nothing is gone as long as anything that replaces it is not durable."""
    gone = [path for path in scenario.before if path not in scenario.after and path not in found]
    if gone and any(found.get(path) != data for path, data in scenario.after.items()):
        figures.wrong(f"{what}: {gone[0]} went before what replaces it was durable")


def _judge_contested(
    figures: Figures, place: Place, what: str, *, theirs: bool, recovered: bool
) -> None:
    figures.tried += 1
    found = live(place)
    contested = found.pop(_CONTESTED, None)
    others = [
        {p: d for p, d in state.items() if p != _CONTESTED} for state in (APPLY.before, APPLY.after)
    ]
    if found not in others:
        figures.mixing(f"{what}: mixed {sorted(found)}")
    allowed = {THEIRS, APPLY.before[_CONTESTED], APPLY.after[_CONTESTED]}
    if contested not in allowed and not (contested is not None and THEIRS.startswith(contested)):
        figures.mixing(f"{what}: {contested!r}")
    everywhere = set(live(place).values()) | kept(place)
    if theirs and THEIRS not in everywhere:
        figures.losing(f"{what}: theirs is lost")
    if any(d not in everywhere for p, d in APPLY.before.items() if p != _CONTESTED):
        figures.losing(f"{what}: lost")
    if recovered and (Path(place.folder) / "lab").exists() and found == others[0]:
        figures.wrong(f"{what}: an empty folder was left")
    figures.judge_record(place, what)


def _writer(place: Place) -> str:
    machine = Path(place.state) / "machine"
    return f"{machine.read_text()}-{os.stat(place.state).st_ino:x}"


def _adopt(place: Place, writer: str) -> None:
    """The copy is the same disk: what this machine wrote stays its own on another inode."""
    if not os.path.isdir(place.state):
        return
    here = f"{writer.partition('-')[0]}-{os.stat(place.state).st_ino:x}"
    for name in ("intent", "folders"):
        for record_file in (Path(place.state) / "runs").rglob(name):
            with contextlib.suppress(journal.Damaged):
                value = journal.unseal(record_file.read_bytes())
                if value["machine"] == writer:
                    record_file.write_bytes(journal.seal({**value, "machine": here}))
