"""`python -m tests.faults [NAME] [--deep]`: attack the commit and print figures."""

from __future__ import annotations

import argparse
import sys
import time
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


def with_table(text: str, rows: list[str]) -> str:
    """A README with the table between its marks. Raises ValueError if they are not there."""
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return "\n".join([text[:begin], *_HEAD, *rows, text[end:]])


def main() -> int:
    """A line for each attack; 1 if anything was lost, mixed or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(ATTACKS))
    parser.add_argument("--deep", action="store_true", help="every call, many states: minutes")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    asked = parser.parse_args()
    if asked.readme and (asked.name or not asked.deep):
        parser.error("the table of the README is that of all attacks, deep")
    failed = False
    rows: list[str] = []
    if asked.markdown:
        print("\n".join(_HEAD))
    for name, attack in ATTACKS.items():
        if asked.name not in {None, name}:
            continue
        if not attack.possible():
            print(f"{name:<10} skipped: {attack.missing}", file=sys.stderr)
            failed |= asked.readme
            continue
        started = time.monotonic()
        figures = (attack.deep if asked.deep else attack.bounded)()
        seconds = time.monotonic() - started
        failed |= not figures.clean
        rows.append(row(name, figures, seconds))
        print(rows[-1] if asked.markdown else _line(name, figures, seconds), flush=True)
        for bad in figures.bad:
            print(f"           {bad}", file=sys.stderr)
    if asked.readme and not failed:
        README.write_text(with_table(README.read_text(), rows))
    return 1 if failed else 0


def _line(name: str, figures: Figures, seconds: float) -> str:
    note = f" ({figures.note})" if figures.note else ""
    return (
        f"{name:<10} {figures.tried} {figures.unit}{note}, {figures.lost} lost,"
        f" {figures.mixed} mixed, {figures.other} wrong, {seconds:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
