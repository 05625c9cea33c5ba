"""Real writers: processes of the shipped SDK add facts while runs apply and undo.

The SDK reads, adds a line and replaces the file; it takes no lock. Each process has a topic of its
own, because several on one topic lose each other's facts without our help.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from engine import commit
from engine.commit import Transaction, Write
from engine.documents import digest
from engine.errors import EngineError
from engine.journal import RunKind
from engine.layouts import Place
from tests.faults.figures import Figures, scratch
from tests.faults.processes import ROOT
from tests.faults.runs import conflicts, live, reopen

_AGENT: Final = """
import asyncio, sys
from pathlib import Path
from strands.storage import LocalFileStorage
from strands.vended_memory_stores.file_memory_store import FileMemoryStore
root, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = FileMemoryStore(name="agent", storage=LocalFileStorage(root))
async def main():
    for number in range(count):
        await store.add(f"# {topic}\\nfact {topic} {number};")
asyncio.run(main())
"""
_MOST_ROUNDS: Final = 40


def _agents(root: Path, topics: list[str], facts: int) -> list[subprocess.Popen[bytes]]:
    return [
        subprocess.Popen([sys.executable, "-c", _AGENT, str(root), topic, str(facts)], cwd=ROOT)
        for topic in topics
    ]


def writers(agents: int = 2, facts: int = 400) -> Figures:
    """Every fact that an agent was told is written is live, or in a conflict that is named."""
    figures = Figures("facts added by real writers")
    topics = [f"topic{number}" for number in range(agents)]
    with scratch() as root:
        folder = root / "memory" / "agent"
        (folder / "facts").mkdir(parents=True)
        for topic in topics:
            (folder / f"{topic}.md").write_text(f"# {topic}\n")
        place = reopen(root)
        running = _agents(root, topics, facts)
        runs = 0
        while any(agent.poll() is None for agent in running):
            for topic in topics:
                runs += _apply_and_undo(place, topic, runs)
        if any(agent.returncode for agent in running):
            figures.wrong("a writer failed")
        commit.recover(place)
        everywhere = b"\n".join([*live(place).values(), *conflicts(place)])
        for topic in topics:
            for number in range(facts):
                figures.tried += 1
                if f"fact {topic} {number};".encode() not in everywhere:
                    figures.losing(f"fact {topic} {number}")
        figures.judge_record(place, "writers")
        if not runs:
            figures.wrong("no run was applied beside the writers")
    tried, lost = _naive(facts)
    if not lost:
        figures.wrong("a naive check-then-replace lost nothing: this attack cannot tell")
    figures.note = f"beside {runs} runs; a naive rewrite lost {lost} of {tried}"
    return figures


def _apply_and_undo(place: Place, topic: str, number: int) -> int:
    """An update, or every third time a move; then back. How many runs were done."""
    done = 0
    try:
        seen = (Path(place.folder) / f"{topic}.md").read_bytes()
        writes: tuple[Write, ...]
        if number % 3 < 2:
            writes = (Write(f"{topic}.md", digest(seen), b"".join([seen.rstrip(), b"\n- ours\n"])),)
        else:
            writes = (
                Write(f"{topic}.md", digest(seen), None),
                Write(f"facts/{topic}-{number}.md", None, seen),
            )
        outcome, _ = commit.transact(
            place, Transaction(RunKind.APPLY, "tests", "person", tuple(writes))
        )
        done += 1
        commit.undo(place, outcome.run, who="tests")
        done += 1
    except (EngineError, FileNotFoundError):
        pass  # the agent was quicker: they win
    return done


def _naive(facts: int) -> tuple[int, int]:
    """(facts, lost) of a rewrite that looks and then replaces, until it has lost one."""
    tried = 0
    for _ in range(_MOST_ROUNDS):
        with scratch() as root:
            folder = root / "memory" / "agent"
            folder.mkdir(parents=True)
            file = folder / "naive.md"
            file.write_text("# naive\n")
            (agent,) = _agents(root, ["naive"], facts)
            while agent.poll() is None:
                _look_then_replace(file)
            tried += facts
            text = file.read_text()
            lost = sum(f"fact naive {n};" not in text for n in range(facts))
            if lost:
                return tried, lost
    return tried, 0


def _look_then_replace(file: Path) -> None:
    seen = file.read_bytes()
    fd, temporary = tempfile.mkstemp(dir=file.parent, prefix=".__strands_tmp_")
    with open(fd, "wb") as new:
        new.write(seen)
        new.flush()
        os.fsync(fd)
    if file.read_bytes() == seen:
        os.replace(temporary, file)
    else:
        os.unlink(temporary)
