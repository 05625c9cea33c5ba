"""Two of ours at once, in two processes, each with a merge that takes the other's result away."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Final

from engine import commit
from tests.faults.figures import Figures, scratch
from tests.faults.processes import ROOT
from tests.faults.runs import live, reopen

A: Final = b"alpha\n"
B: Final = b"beta\n"
_MERGED: Final = A + B
_CHILD: Final = """
import sys
from pathlib import Path
from engine import commit
from engine.commit import Transaction, Write
from engine.documents import digest
from engine.errors import Conflict, StoreLocked
from engine.journal import RunKind
from tests.faults.mirrored import A, B
from tests.faults.runs import reopen
mine, other = sys.argv[2:4]
bytes_of = {"a.md": A, "b.md": B}
for line in sys.stdin:
    place = reopen(Path(sys.argv[1]) / line.strip())
    writes = (
        Write(mine, digest(bytes_of[mine]), A + B, (other,)),
        Write(other, digest(bytes_of[other]), None),
    )
    try:
        commit.transact(place, Transaction(RunKind.APPLY, mine, "person", writes), wait=20)
        print("applied", flush=True)
    except Conflict:
        print("conflict", flush=True)
    except StoreLocked:
        print("locked", flush=True)
"""


def mirrored(rounds: int = 40) -> Figures:
    """a and b become a, a and b become b: one of them is applied, and the store is never empty."""
    figures = Figures("mirrored merges")
    with scratch() as folder:
        children = [
            subprocess.Popen(
                [sys.executable, "-c", _CHILD, str(folder), *names],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
            for names in (("a.md", "b.md"), ("b.md", "a.md"))
        ]
        for number in range(rounds):
            store = folder / str(number) / "memory" / "agent"
            store.mkdir(parents=True)
            (store / "a.md").write_bytes(A)
            (store / "b.md").write_bytes(B)
            place = reopen(folder / str(number))
            for child in children if number % 2 else reversed(children):
                assert child.stdin is not None
                child.stdin.write(f"{number}\n")
                child.stdin.flush()
            said = sorted(child.stdout.readline().strip() for child in children if child.stdout)
            commit.recover(place)
            figures.tried += 1
            found = live(place)
            if list(found.values()) != [_MERGED]:
                figures.losing(f"round {number}: {found}")
            if said != ["applied", "conflict"]:
                figures.wrong(f"round {number}: {said}")
            figures.judge_record(place, f"round {number}")
            shutil.rmtree(folder / str(number))
        for child in children:
            child.communicate()
    return figures
