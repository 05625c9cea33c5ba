"""Merging pairs of notes: as a transaction, as a plan, and as the loop of who takes no care."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path

from engine.commit import Files, Transaction, Write
from engine.consolidation import decide, examine, propose
from engine.documents import digest
from engine.journal import ActionRecord, RunKind
from engine.layouts import Place, find
from engine.paths import Layout
from engine.planner.file import FilePlanner
from engine.proposal import Proposal
from engine.store import Store
from tests.bench.corpus import Note, lay_notes, notes


@dataclass(frozen=True, slots=True)
class Merged:
    """Two notes become one: the first one's file gets both, the second one's goes."""

    first: Note
    second: Note
    data: bytes


class Flushes(Files):
    """The real calls, with the flushes counted."""

    def __init__(self) -> None:
        super().__init__()
        self.flushes = 0

    def step(self, call: str, name: str) -> None:
        self.flushes += call.startswith(("fsync", "syncfs"))


def merges(files: int, seed: int = 1) -> list[Merged]:
    """The merges of the first `files` notes, two by two."""
    made = list(notes(files - files % 2, seed=seed, odd=False))
    found: list[Merged] = []
    for first, second in zip(made[::2], made[1::2], strict=True):
        body = second.data.split(b"\n---\n", 1)[1]
        found.append(Merged(first, second, first.data + body))
    return found


def store(root: Path, work: list[Merged]) -> Place:
    """A store with the notes of some merges."""
    lay_notes(root, [each for pair in work for each in (pair.first, pair.second)])
    (place,) = find(str(root), layout=Layout.NAMESPACED, name="agent")
    return place


def transaction(work: list[Merged]) -> Transaction:
    """The merges as one compare-and-swap."""
    writes: list[Write] = []
    actions: list[ActionRecord] = []
    for number, pair in enumerate(work, 1):
        first, second = pair.first.path, pair.second.path
        sources = (first, second)
        writes += [
            Write(first, digest(pair.first.data), pair.data, sources, action=number),
            Write(second, digest(pair.second.data), None, sources, action=number),
        ]
        actions.append(ActionRecord(number, "merge", sources, first, "approved", "one topic"))
    return Transaction(
        kind=RunKind.APPLY,
        who="bench",
        decided_by="person",
        writes=tuple(writes),
        actions=tuple(actions),
        operations=("deduplicate",),
    )


def proposal(place: Place, work: list[Merged]) -> Proposal:
    """The merges as a plan with every action approved."""
    actions = [
        {
            "action": "merge",
            "sources": [pair.first.path, pair.second.path],
            "target": pair.first.path,
            "content": pair.data.decode(),
            "reason": "one topic",
        }
        for pair in work
    ]
    plan = json.dumps({"actions": actions, "summary": "bench"}).encode()
    opened = Store(place)
    saved = propose(opened, FilePlanner(plan), one_call=False)
    assert saved is not None
    return decide(examine(opened, saved), approve="all")


def careless(folder: str, work: list[Merged]) -> None:
    """The floor: read both, write a temporary file, rename it, unlink the other. No flush."""
    for number, pair in enumerate(work):
        first, second = (
            os.path.join(folder, pair.first.path),
            os.path.join(folder, pair.second.path),
        )
        for path in (first, second):
            fd = os.open(path, os.O_RDONLY)
            os.read(fd, 1 << 20)
            os.close(fd)
        temporary = os.path.join(os.path.dirname(first), f".tmp-{number}")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, pair.data)
        os.close(fd)
        os.rename(temporary, first)
        os.unlink(second)


def flushed(folder: str, work: list[Merged]) -> None:
    """The floor of who flushes as often as a commit: the careless loop, and a dozen flushes."""
    careless(folder, work)
    fd = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(2):
            os.sync()
        for _ in range(10):
            os.fsync(fd)
    finally:
        os.close(fd)


def shipped(folder: str, work: list[Merged]) -> None:
    """The peer: the same through the storage of the shipped SDK."""
    from strands.storage import LocalFileStorage

    storage = LocalFileStorage(folder)

    async def run() -> None:
        for pair in work:
            await storage.read(pair.first.path)
            await storage.read(pair.second.path)
            await storage.write(pair.first.path, pair.data)
            await storage.delete(pair.second.path)

    asyncio.run(run())


def check(place: Place, work: list[Merged]) -> None:
    """Assert that a store holds the merges."""
    folder = Path(place.folder)
    for pair in work:
        assert (folder / pair.first.path).read_bytes() == pair.data, pair.first.path
        assert not (folder / pair.second.path).exists(), pair.second.path
