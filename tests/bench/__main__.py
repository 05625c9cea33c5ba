"""`python -m tests.bench [NAME] [--files N] [--all] [--rounds N] [--markdown]`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable

from tests.bench.benches import Bench, benches
from tests.bench.rounds import ROUNDS, Figure

_HEAD = ("work", "measured", "goal", "medians")


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if a goal was missed."""
    known = benches()
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(known))
    parser.add_argument("--files", type=int, help="this size instead of the bench's own")
    parser.add_argument("--all", action="store_true", help="the largest sizes too")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    asked = parser.parse_args(arguments)
    missed = False
    print(_machine(), end="\n\n")
    if asked.markdown:
        print(f"| {' | '.join(_HEAD)} |\n|{'---|' * len(_HEAD)}")
    for name, bench in known.items():
        if asked.name not in {None, name}:
            continue
        if not asked.markdown:
            print(f"{name}: {bench.what}")
        for figure in _figures(bench, asked):
            missed |= figure.met is False
            print(told(figure, markdown=asked.markdown), flush=True)
    return 1 if missed else 0


def _figures(bench: Bench, asked: argparse.Namespace) -> Iterable[Figure]:
    sizes = bench.sizes + (bench.large if asked.all else ())
    for size in sizes if asked.files is None else (asked.files,):
        yield from bench.measure(size, asked.rounds)


def told(figure: Figure, *, markdown: bool) -> str:
    """One line of the table."""
    what, value, goal, detail = figure.cells()
    if markdown:
        return f"| {what} | {value} | {goal} | {detail} |"
    return f"  {what:<58} {value:>10}  {goal:<16} {detail}"


def _machine() -> str:
    load = os.getloadavg()[0]
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.release()},"
        f" {os.cpu_count()} cores, load {load:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
