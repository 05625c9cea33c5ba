"""`python -m tests.faults [NAME] [--deep]`: attack the commit and print figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import time

from tests.faults.attacks import ATTACKS


def main() -> int:
    """A line for each attack; 1 if anything was lost, mixed or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(ATTACKS))
    parser.add_argument("--deep", action="store_true", help="every call, many states: minutes")
    asked = parser.parse_args()
    failed = False
    for name, (bounded, deep) in ATTACKS.items():
        if asked.name not in {None, name}:
            continue
        if name == "processes" and shutil.which("strace") is None:
            print("processes  skipped: strace is not installed")
            continue
        started = time.monotonic()
        figures = (deep if asked.deep else bounded)()
        failed |= not figures.clean
        seconds = time.monotonic() - started
        print(
            f"{name:<10} {figures.tried} tried, {figures.lost} lost, {figures.mixed} mixed,"
            f" {figures.other} wrong, {seconds:.1f} s",
            flush=True,
        )
        for bad in figures.bad:
            print(f"           {bad}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
