"""The watch after a run: what another writer overwrote from a stale read, and merging it in again.

Agents read, think and write back without a lock. One that read before a run and writes after it
puts back what it knew, and what the run wrote is gone without anybody meaning it. Nothing is lost
for good, for the run's results are objects; here they are found and merged in again.

A live file that is not what the newest run of ours left counts as a stale write if no line that the
run added stands in it, and lines do that only a reader of the earlier version knew (`is_stale`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine import journal
from engine.commit import Outcome, Transaction, Write
from engine.documents import decode, digest, split
from engine.errors import StorageError
from engine.joining import union
from engine.journal import ActionRecord, Run, RunKind, Step
from engine.statements import Statement, statements
from engine.store import Store

NEWEST: Final = 50
"""Runs that are looked at: a stale read is minutes old, not months."""
_CAME_BACK: Final = 0.5
"""Share of a deleted memory's statements from which a new file of its name is that memory again."""


@dataclass(frozen=True, slots=True)
class Overwritten:
    """One file that was written from a stale read. `facts` are the run's that nothing says now.

    `came_back` says that the run had removed the file, and that it is there again; then no fact is
    missing.
    """

    run: str
    path: str
    facts: tuple[str, ...]
    here: str
    came_back: bool = False

    @property
    def why(self) -> str:
        """What happened, as a clause."""
        if self.came_back:
            return f"came back after run {self.run} removed it: another writer wrote it again"
        number = len(self.facts)
        said = f"{number} {'fact' if number == 1 else 'facts'}"
        return f"another writer overwrote what run {self.run} wrote: {said} no longer live"


def overwritten(store: Store) -> tuple[Overwritten, ...]:
    """Every file that a stale write hit since our newest runs, by path. Reads only.

    The whole store is read only if a file is not as its newest run left it.
    """
    found = sorted(_candidates(store), key=lambda item: item[1].path)
    if not found:
        return ()
    files = store.snapshot().files
    live = {key for path, data in files.items() for key in _keys(path, data)}
    reported = []
    for run, step, here in found:
        try:
            item = _judged(store, run, step, here, live)
        except StorageError:
            continue  # collected or damaged: `doctor` names what is
        if item is not None:
            reported.append(item)
    return tuple(reported)


def _candidates(store: Store) -> Iterator[tuple[Run, Step, bytes]]:
    """The newest step of each path whose file is there and not as the step left it."""
    seen: set[str] = set()
    for run in reversed(store.runs(newest=NEWEST)):
        for step in run.steps if run.state == "done" else ():
            if step.path in seen:
                continue
            seen.add(step.path)
            try:
                here = store.live(step.path)
            except StorageError:
                continue
            if here is not None and digest(here) != step.new:
                yield run, step, here


def _judged(
    store: Store, run: Run, step: Step, here: bytes, live: set[tuple[str, ...]]
) -> Overwritten | None:
    old = b"" if step.old is None else journal.read_object(store.place, step.old)
    if step.new is None:
        before, now = _keys(step.path, old), _keys(step.path, here)
        again = len(before.keys() & now.keys()) >= max(1.0, _CAME_BACK * len(before))
        return Overwritten(run.id, step.path, (), digest(here), came_back=True) if again else None
    new = journal.read_object(store.place, step.new)
    if not is_stale(old, new, here):
        return None
    added = _keys(step.path, new)
    known = _keys(step.path, old).keys()
    # Of a frontmatter key that both changed theirs stays: what no repair brings back is not named.
    back = _keys(step.path, union(old, new, here)).keys()
    facts = [
        s.text
        for key, s in added.items()
        if key not in known
        and key not in live
        and (key in back or s.kind not in {"description", "field"})
    ]
    return Overwritten(run.id, step.path, tuple(facts), digest(here)) if facts else None


def is_stale(old: bytes, new: bytes, here: bytes) -> bool:
    """Whether a live file was made from what a run found rather than from what it wrote.

    By lines that hold a letter or digit, spaces folded: none that the run added stands in it, and
    one that the run removed does; where it removed none, all of the earlier ones do. The body
    decides if the run added to it, else the frontmatter as well.

    So an edit that keeps a line of the run's is never stale, and an append to the earlier bytes
    always is, but for one that repeats a line of the run's. Whoever takes out all that a run added,
    and nothing else, leaves what a stale write leaves: that is reported too.
    """
    before, after, now = map(_lines, (old, new, here))
    added = (after.front | after.body) - (before.front | before.body)
    if not added or added & (now.front | now.body):
        return False
    kept = before.body if after.body - before.body else before.front | before.body
    removed = kept - (after.front | after.body)
    return bool(removed & (now.front | now.body)) if removed else kept <= (now.front | now.body)


class _Lines(NamedTuple):
    """What the lines of a file say, those of its frontmatter apart."""

    front: frozenset[str]
    body: frozenset[str]


def _lines(data: bytes) -> _Lines:
    text, _ = decode(data)
    _, _, first, _ = split(text)
    lines = text.split("\n")
    return _Lines(_said(lines[: first - 1]), _said(lines[first - 1 :]))


def _said(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(line.split()) for line in lines if any(map(str.isalnum, line)))


def _keys(path: str, data: bytes) -> dict[tuple[str, ...], Statement]:
    """What a file says: what is compared -> the statement."""
    return {(str(s.kind == "description"), s.key): s for s in statements(path, data)}


def repair(store: Store, found: Iterable[Overwritten], *, who: str, wait: float = 0.0) -> Outcome:
    """Merge what was overwritten into the files as they are now, in one run that can be undone.

    No line that the other writer wrote is taken away; of a frontmatter key that they left alone the
    run's value is put back. Raises `Conflict` if a file changed since it
    was looked at, `StorageError`.
    """
    writes: list[Write] = []
    records: list[ActionRecord] = []
    for item in found:
        if item.came_back:
            continue
        after = joined(store, item)
        number = len(records) + 1
        writes.append(Write(item.path, item.here, after, (item.path,), action=number))
        reason = f"run {item.run} was overwritten from a stale read"
        records.append(ActionRecord(number, "update", (item.path,), None, "approved", reason))
    return store.transact(
        Transaction(
            kind=RunKind.REPAIR,
            who=who,
            decided_by="person",
            writes=tuple(writes),
            actions=tuple(records),
        ),
        wait=wait,
    )


def joined(store: Store, item: Overwritten) -> bytes:
    """What a file will be once what the run wrote is merged in again."""
    run = journal.find(store.place, item.run)
    step = next(step for step in run.steps if step.path == item.path)
    if step.new is None:
        raise ValueError(f"{item.path} was removed by run {run.id}")
    old = b"" if step.old is None else journal.read_object(store.place, step.old)
    return union(old, journal.read_object(store.place, step.new), store.live(item.path) or b"")
