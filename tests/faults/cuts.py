"""The power is cut before every call of a run, in every way that the model knows."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
from collections.abc import Callable
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

    `index` counts the pictures from which on somebody else's bytes must be durable, if any.
    """

    name: str
    scenario: Scenario
    start: Callable[[Place], None]
    drive: Callable[[Place, Recording], int | None]
    ends: str = "after"
    together: bool = True


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


def _log_contested(place: Place, recording: Recording) -> int | None:
    """Somebody appends to the changelog between look and exchange."""
    log = Path(place.changelog)
    acted: list[int] = []

    def before(call: str, name: str) -> None:
        if call == "exchange" and name == log.name:
            acted.append(len(recording.pictures))
            if len(acted) == 1:
                recording.outside(log, log.read_bytes() + THEIRS)

    recording.before = before
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
    Case("apply, files flushed one by one", APPLY, _ready, _whole(APPLY), together=False),
    Case("apply, the first of a store", APPLY, _bare, _whole(APPLY)),
    Case("undo", UNDO, _ready, _whole(UNDO)),
    Case("contested", APPLY, _ready, _contested, ends="theirs"),
    Case("changelog contested", UNDO, _ready, _log_contested),
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


def record(case: Case, root: Path, muted: frozenset[str] = frozenset()) -> Attempt:
    """Drive a case once, keeping a picture before each call."""
    place = case.scenario.make(root)
    case.start(place)
    recording = Recording(place.root, muted=muted, together=case.together)
    theirs_from = case.drive(place, recording)
    recording.before = None
    recording.step("end", "")
    return Attempt(case, recording, theirs_from, Path(place.root))


def power(
    states: int = 4, muted: frozenset[str] = frozenset(), seed: int = 1, *, first: bool = False
) -> Figures:
    """Cut before every call, `states` ways each, and recover.

    `first` stops at the first thing that goes wrong: enough to see that a mutant is noticed.
    """
    figures = Figures("power states")
    with scratch() as folder:
        for case in CASES:
            attempt = record(case, folder / "r", muted)
            if not muted or attempt.recording.first is not None or muted & {"barrier", "keep"}:
                _cut_all(figures, attempt, folder, states, seed, first=first)
            if first and not figures.clean:
                break
            shutil.rmtree(folder / "r")
    return figures


def _cut_all(
    figures: Figures, attempt: Attempt, folder: Path, states: int, seed: int, *, first: bool
) -> None:
    recording = attempt.recording
    rng = random.Random(seed)
    victims = frozenset(recording.victims)
    order = list(enumerate(recording.pictures))[recording.first or 0 :]
    if first:
        rng.shuffle(order)
    for at, picture in order:
        for number in range(-1 if victims else 0, states):
            to = folder / "cut"
            shutil.rmtree(to, ignore_errors=True)
            aimed = victims if number < 0 else frozenset[int]()
            cut(picture, recording.roots, {str(attempt.root): to}, rng, aimed)
            _judge(figures, attempt, to, at, f"{attempt.case.name} {at}.{number}")
            if first and not figures.clean:
                return


def _judge(figures: Figures, attempt: Attempt, to: Path, at: int, what: str) -> None:
    case = attempt.case
    place = case.scenario.reopen(to)
    _adopt(place)
    last = at == len(attempt.recording.pictures) - 1
    if case.ends == "after":
        _judge_barrier(figures, case.scenario, live(place), what)
    theirs = attempt.theirs_from is not None and at >= attempt.theirs_from
    if theirs and THEIRS not in set(live(place).values()) | kept(place):
        figures.losing(f"{what}: theirs was live again and not durable")
    try:
        commit.recover(place)
    except EngineError as error:
        figures.wrong(f"{what}: {error}")
        return
    if attempt.theirs_from is None:
        figures.judge(case.scenario, place, what)
    else:
        _judge_contested(figures, place, what, theirs=theirs)
    wanted = {"after": case.scenario.after, "before": case.scenario.before}.get(case.ends)
    if last and wanted is not None and live(place) != wanted:
        figures.wrong(f"{what}: an end that did not last")


def _judge_barrier(
    figures: Figures, scenario: Scenario, found: dict[str, bytes], what: str
) -> None:
    """Nothing is gone as long as anything that replaces it is not durable."""
    gone = [path for path in scenario.before if path not in scenario.after and path not in found]
    if gone and any(found.get(path) != data for path, data in scenario.after.items()):
        figures.wrong(f"{what}: {gone[0]} went before what replaces it was durable")


def _judge_contested(figures: Figures, place: Place, what: str, *, theirs: bool) -> None:
    figures.tried += 1
    found = live(place)
    contested = found.pop(_CONTESTED, None)
    others = [
        {p: d for p, d in state.items() if p != _CONTESTED}
        for state in (APPLY.before, APPLY.after)
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
    figures.judge_record(place, what)


def _adopt(place: Place) -> None:
    """The copy is the same disk: its runs are this machine's."""
    machine = Path(place.state) / "machine"
    if not machine.exists():
        return
    writer = f"{machine.read_text()[:32]}-{os.stat(place.state).st_ino:x}"
    for name in ("intent", "folders"):
        for record_file in (Path(place.state) / "runs").rglob(name):
            with contextlib.suppress(journal.Damaged):
                value = journal.unseal(record_file.read_bytes())
                record_file.write_bytes(journal.seal({**value, "machine": writer}))
