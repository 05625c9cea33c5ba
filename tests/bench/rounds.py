"""Timing several ways of doing one thing, interleaved; and the figures that come out."""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Work = Callable[[], object]
Prepare = Callable[[], Work]
"""Makes what one round needs, which is not timed, and returns what is."""

ROUNDS: Final = 5


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds: on the clock, and of this process's CPU."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Rounds:
    """The times of every contender, round by round."""

    times: Mapping[str, tuple[Time, ...]]

    def ratio(self, one: str, other: str) -> float:
        """The median of the rounds' ratios, on the clock."""
        return statistics.median(
            a.wall / b.wall for a, b in zip(self.times[one], self.times[other], strict=True)
        )

    def median(self, name: str) -> Time:
        """The median times of one contender."""
        times = self.times[name]
        return Time(
            statistics.median(t.wall for t in times), statistics.median(t.cpu for t in times)
        )

    def told(self, *names: str) -> str:
        """The medians as text, CPU beside the clock."""
        return ", ".join(
            f"{name} {seconds(t.wall)} (CPU {seconds(t.cpu)})"
            for name in names or tuple(self.times)
            for t in [self.median(name)]
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number beside its goal. `unit` is empty for a ratio.

    `goal` is None for a number that is only told. `at_least` turns the goal round.
    """

    what: str
    value: float
    goal: float | None
    detail: str = ""
    unit: str = "x"
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def cells(self) -> tuple[str, str, str, str]:
        """What, the number, the goal and whether it is met, and the times behind it."""
        sign = "\u2265" if self.at_least else "\u2264"
        goal = "" if self.goal is None else f"{sign} {_number(self.goal)}{self._unit}"
        verdict = {None: "", True: " met", False: " MISSED"}[self.met]
        return self.what, f"{_number(self.value)}{self._unit}", goal + verdict, self.detail

    @property
    def _unit(self) -> str:
        return self.unit if self.unit == "x" else f" {self.unit}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.2f}"


def seconds(value: float) -> str:
    """Seconds, milliseconds or microseconds, three digits."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "\u00b5s")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.2f} \u00b5s"


def interleave(contenders: Mapping[str, Prepare], rounds: int) -> Rounds:
    """Every contender once a round, each round another one first."""
    names = list(contenders)
    times: dict[str, list[Time]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            work = contenders[name]()
            times[name].append(timed(work))
    return Rounds({name: tuple(found) for name, found in times.items()})


def timed(work: Work) -> Time:
    """One call, with the collector off and nothing of what was prepared waiting for the disk."""
    gc.collect()
    os.sync()
    gc.disable()
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return Time(time.perf_counter() - wall, time.process_time() - cpu)
    finally:
        gc.enable()


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the disk where temporary files lie, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="memui-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
