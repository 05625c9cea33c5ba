"""Deaths and failures at every call of a run, and at every call of its recovery."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from pathlib import Path
from typing import Final

from engine import commit
from engine.errors import StorageError
from engine.layouts import Place
from tests.engine.faults import Acting, Counting, Died, LosingExchange, WithoutExchange, die
from tests.faults.figures import Figures, scratch
from tests.faults.runs import APPLY, SCENARIOS, Scenario, live

CODES: Final = (
    errno.ENOSPC,
    errno.EIO,
    errno.EACCES,
    errno.EPERM,
    errno.EINVAL,
    errno.EROFS,
)


def calls_of(scenario: Scenario, *, exchanges: bool = True) -> list[str]:
    """The mutating and syncing calls of a run, by name."""
    with scratch() as folder:
        files = Counting()
        files.exchanges = None if exchanges else False
        scenario.run(scenario.make(folder / "r"), files)
        return files.calls


def calls_of_recovery(scenario: Scenario, at: int) -> int:
    """How many calls recovery makes after a death at a call."""
    with scratch() as folder:
        place = scenario.make(folder / "r")
        with contextlib.suppress(Died):
            scenario.run(place, Acting(at, die))
        files = Counting()
        commit.recover(place, files=files)
        return len(files.calls)


def kills(every: int = 1, again_every: int = 1) -> Figures:
    """Die at every call of a run; then in recovery; then in the recovery of that."""
    figures = Figures("kills")
    with scratch() as folder:
        for scenario in SCENARIOS.values():
            for seam in (Acting, WithoutExchange):
                calls = len(calls_of(scenario, exchanges=seam is Acting))
                for at in range(1, calls + 1, every):
                    again = calls_of_recovery(scenario, at)
                    for deaths in [(), *((n,) for n in range(1, again + 1, again_every))]:
                        _die(figures, scenario, folder / "r", seam, (at, *deaths))
                    for second in range(2, again + 1, 4 * again_every):
                        _die(figures, scenario, folder / "r", seam, (at, second, 1 + second // 2))
    return figures


def _die(
    figures: Figures, scenario: Scenario, root: Path, seam: type[Acting], deaths: tuple[int, ...]
) -> None:
    place = scenario.make(root)
    with contextlib.suppress(Died):
        scenario.run(place, seam(deaths[0], die))
    for at in deaths[1:]:
        with contextlib.suppress(Died):
            commit.recover(place, files=seam(at, die))
    commit.recover(place)
    figures.judge(scenario, place, f"{scenario.name} {seam.__name__} {deaths}")
    shutil.rmtree(root)


def errors(every: int = 1) -> Figures:
    """Fail at every call of a run and of a recovery, once and for good; no silent success."""
    figures = Figures("errors")
    with scratch() as folder:
        for scenario in SCENARIOS.values():
            calls = len(calls_of(scenario))
            for code in CODES:
                for always in (False, True):
                    for at in range(1 + code % every, calls + 1, every):
                        what = f"{scenario.name} errno {code} always={always} at {at}"
                        _fail(figures, scenario, folder / "r", _failing(at, code, always), what)
        for at in range(1, len(calls_of(APPLY)) + 1, 3 * every):
            for code in CODES:
                for again in range(1, calls_of_recovery(APPLY, at) + 1, 2 * every):
                    _fail_recovery(figures, folder / "r", at, again, code)
        for ordinal in range(1, calls_of(APPLY).count("exchange") + 1):
            what = f"no exchange from the {ordinal}. on"
            _fail(figures, APPLY, folder / "r", LosingExchange(ordinal), what, fails=False)
    return figures


def _failing(at: int, code: int, always: bool) -> Acting:
    def fail(_call: str) -> None:
        raise OSError(code, os.strerror(code))

    return Acting(at, fail, always=always)


def _fail(
    figures: Figures,
    scenario: Scenario,
    root: Path,
    files: commit.Files,
    what: str,
    *,
    fails: bool = True,
) -> None:
    place = scenario.make(root)
    try:
        scenario.run(place, files)
        succeeded = True
    except StorageError:
        succeeded = False
    if succeeded and live(place) != scenario.after:
        figures.wrong(f"{what}: a success that did nothing")
    if not succeeded and not fails:
        figures.wrong(f"{what}: refused")
    commit.recover(place)
    figures.judge(scenario, place, what)
    shutil.rmtree(root)


def _fail_recovery(figures: Figures, root: Path, at: int, again: int, code: int) -> None:
    place: Place = APPLY.make(root)
    with contextlib.suppress(Died):
        APPLY.run(place, Acting(at, die))
    with contextlib.suppress(StorageError):
        commit.recover(place, files=_failing(again, code, always=False))
    commit.recover(place)
    figures.judge(APPLY, place, f"errno {code} at {again} of the recovery after {at}")
    shutil.rmtree(root)
