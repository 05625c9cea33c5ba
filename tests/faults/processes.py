"""Real processes, killed by strace at every mutating system call, and again in recovery."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

from engine import commit
from engine.layouts import Place
from tests.faults.figures import Figures, scratch
from tests.faults.runs import APPLY, UNDO

ROOT: Final = Path(__file__).parents[2]
_CHILD: Final = """
import sys
from pathlib import Path
from engine import commit
from tests.faults.runs import SCENARIOS, reopen
place = reopen(Path(sys.argv[1]))
if sys.argv[2] == "recover":
    commit.recover(place)
else:
    SCENARIOS[sys.argv[2]].run(place, None)
"""
_CALLS: Final = (
    "renameat2",
    "unlinkat",
    "rename,renameat",
    "fsync",
    "mkdirat,mkdir",
    "syncfs",
    "linkat",
    "fchmod",
    "openat",
)
MISSING: Final = "strace is not installed"


def possible() -> bool:
    """Whether system calls can be killed here."""
    return shutil.which("strace") is not None


def processes(every: int = 1, most: int = 600) -> Figures:
    """Kill an apply and an undo at every n-th call of each kind, and the recovery of each."""
    figures = Figures("kills of real processes")
    with scratch() as folder:
        for scenario in (APPLY, UNDO):
            for call in _CALLS:
                # Python's start opens files too: those after it are ours.
                when = 1 if call != "openat" else _opened_at_start(folder) + 1
                while figures.tried < most:
                    place = scenario.make(folder / "r")
                    killed = _child(place, scenario.name, call, when)
                    if killed:
                        _child(place, "recover", call, when % 5 + 1)
                        commit.recover(place)
                        figures.judge(scenario, place, f"{scenario.name} {call} {when}")
                    shutil.rmtree(folder / "r")
                    if not killed:
                        break
                    when += every
            most += figures.tried if scenario is APPLY else 0
    return figures


def _opened_at_start(folder: Path) -> int:
    """How many files a child opens before it opens the first of the store."""
    log = folder / "log"
    place = APPLY.make(folder / "o")
    subprocess.run(
        [
            *("strace", "-f", "-qq", "-o", str(log), "-e", "trace=openat"),
            *(sys.executable, "-c", _CHILD, place.root, "apply"),
        ],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    shutil.rmtree(folder / "o")
    lines = log.read_text(errors="replace").split("\n")
    return next(n for n, line in enumerate(lines) if place.folder in line)


def _child(place: Place, verb: str, call: str, when: int) -> bool:
    """Run it with a kill at a call; whether it was killed."""
    ran = subprocess.run(
        [
            *("strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}"),
            *("-e", f"inject={call}:signal=SIGKILL:when={when}"),
            *(sys.executable, "-c", _CHILD, place.root, verb),
        ],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    return ran.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}
