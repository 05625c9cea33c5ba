"""`python -m tests.conformance FILE [--only ID]`: run a file of conformance cases."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.conformance.runner import run_case


def main() -> int:
    """Print a line for each failing case and the counts; 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", metavar="ID", help="run this case alone")
    asked = parser.parse_args()
    cases = json.loads(asked.file.read_text(encoding="utf-8"))
    chosen = [case for case in cases if asked.only in {None, case["id"]}]
    if not chosen:
        parser.error(f"{asked.file} has no case {asked.only}")
    failed = 0
    for case in chosen:
        try:
            problems = run_case(case)
        except Exception as error:  # noqa: BLE001 - a case that crashes the engine fails, and says how
            problems = [f"crashed: {type(error).__name__}: {error}"]
        if problems:
            failed += 1
            print(f"{case['id']} {case['title']}: {'; '.join(problems)}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
