"""`python -m tests.faults [NAME] [--deep]`: attack the commit and print figures."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from tests.faults.attacks import ATTACKS
from tests.faults.figures import Figures

README: Final = Path(__file__).parents[2] / "README.md"
BEGIN: Final = "<!-- faults: written by python -m tests.faults --deep --readme -->"
END: Final = "<!-- /faults -->"
_HEAD: Final = (
    "| attack | what happens | tried | lost | mixed | wrong | seconds |",
    "|---|---|---|---|---|---|---|",
)


def row(name: str, figures: Figures, seconds: float) -> str:
    """A line of the table."""
    tried = f"{figures.tried:,} {figures.unit}"
    if figures.note:
        tried += f" ({figures.note})"
    return (
        f"| {name} | {ATTACKS[name].what} | {tried} | {figures.lost} | {figures.mixed}"
        f" | {figures.other} | {seconds:.0f} |"
    )


def with_table(text: str, rows: list[str], every: int) -> str:
    """A README with the table between its marks. Raises ValueError if they are not there."""
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    told = "`python -m tests.faults --deep`:"
    if every > 1:
        told = f"`python -m tests.faults --deep --every {every}`, an even part of all cases:"
    return "\n".join([text[:begin], told, "", *_HEAD, *rows, "", text[end:]])


def main() -> int:
    """A line for each attack; 1 if anything was lost, mixed or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(ATTACKS))
    parser.add_argument("--deep", action="store_true", help="every call, many states: minutes")
    parser.add_argument("--every", type=int, default=1, help="of the deep cases every N-th only")
    parser.add_argument("--jobs", type=int, default=1, help="attacks at once")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    asked = parser.parse_args()
    if asked.readme and (asked.name or not asked.deep):
        parser.error("the table of the README is that of all attacks, deep")
    failed = False
    names = [name for name in ATTACKS if asked.name in {None, name}]
    for name in [name for name in names if not ATTACKS[name].possible()]:
        print(f"{name:<10} skipped: {ATTACKS[name].missing}", file=sys.stderr)
        failed |= asked.readme
        names.remove(name)
    if asked.markdown:
        print("\n".join(_HEAD))
    rows: list[str] = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        running = [pool.submit(run, name, asked.every if asked.deep else None) for name in names]
        for name, future in zip(names, running, strict=True):
            figures, seconds = future.result()
            failed |= not figures.clean
            rows.append(row(name, figures, seconds))
            print(rows[-1] if asked.markdown else _line(name, figures, seconds), flush=True)
            for bad in figures.bad:
                print(f"           {bad}", file=sys.stderr)
    if asked.readme and not failed:
        README.write_text(with_table(README.read_text(), rows, asked.every))
    return 1 if failed else 0


def run(name: str, every: int | None) -> tuple[Figures, float]:
    """An attack's figures and its seconds; `every` is None for the bounded form."""
    started = time.monotonic()
    attack = ATTACKS[name]
    figures = attack.bounded() if every is None else attack.deep(every)
    return figures, time.monotonic() - started


def _line(name: str, figures: Figures, seconds: float) -> str:
    note = f" ({figures.note})" if figures.note else ""
    return (
        f"{name:<10} {figures.tried} {figures.unit}{note}, {figures.lost} lost,"
        f" {figures.mixed} mixed, {figures.other} wrong, {seconds:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
