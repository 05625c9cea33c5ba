"""Shrinking the state: whole runs that are old, and the objects that nothing left needs.

What is removed is decided first, from what is there; late bytes are made durable before anything
goes. Then the runs are named as collected, then their folders lose the name of a run, and only when
that is durable do bytes go. A death in between leaves each run whole, or named as collected.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from engine import journal
from engine.commit.files import Files
from engine.commit.late import INNER, Late, Lying, is_plain, late_files, late_logs
from engine.commit.observe import put_aside
from engine.commit.state import writer_id
from engine.commit.values import Clock
from engine.documents import digest
from engine.errors import StorageError
from engine.journal import Observation, Run
from engine.layouts import Place
from engine.storage.tree import Tree, look_at, read_at

KEEP_DAYS: Final = 90
"""Runs younger than this many days stay."""
KEEP_RUNS: Final = 100
"""So many of the newest runs stay, however old they are."""
_GONE: Final = ".collected"
_IN_PLAN = re.compile(rb'"([0-9a-f]{64}|[0-9a-f]{12})"')


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection removed (or would remove), and what is left. Sizes are in bytes."""

    runs: tuple[str, ...]
    objects: int
    bytes: int
    kept_runs: int
    kept_bytes: int
    found: tuple[Late, ...]


NONE: Final = Collected((), 0, 0, 0, 0, ())


class Sweep:
    """One collection. With `dry` set it only says what it would do, and needs no lock."""

    def __init__(self, place: Place, files: Files, clock: Clock, *, days: int, runs: int) -> None:
        self._place = place
        self._prefix = place.state_prefix
        self._files = files
        self._now = clock().astimezone(UTC)
        self._days, self._runs = days, runs
        self._own = writer_id(place)
        self._known: dict[str, Run] = {}
        self._unread = False
        self._foreign = False
        self._plans = self._waiting()
        self._seen = journal.observations(place)
        self._torn = bool(journal.observation_damage(place))

    # Deciding

    def collect(self, *, dry: bool = False) -> Collected:
        """Remove what may go. Raises `StorageError`, OSError."""
        with Tree(self._place.folder) as store, Tree(self._place.state) as state:
            before = journal.state_size(self._place)
            going, late = self._choose(store, state)
            seen = self._observations(going, late)
            objects = self._objects(state, going, late, seen)
            left = self._leftovers(state)
            size = sum(self._size_of(state, name) for name in going)
            size += sum(self._size_of(state, name) for name in left)
            size += sum(self._size(state, "objects", name) for name in objects)
            if not dry:
                if late or len(seen) < len(self._seen):
                    self._keep(state, late, seen)
                self._name(state, going)
                self._drop(state, going, left, objects)
            return Collected(
                tuple(going),
                sum(journal.is_digest(n.removeprefix(self._prefix)) for n in objects),
                size,
                len(self._known) - len(going),
                before - size if dry else journal.state_size(self._place),
                tuple(kept.late for kept in late),
            )

    def _choose(self, store: Tree, state: Tree) -> tuple[list[str], list[Lying]]:
        """The runs that go, by number, and the bytes in them that nobody has seen."""
        ids = journal.run_ids(self._place)
        for name in ids:
            try:
                run = journal.read_run(self._place, name)
            except journal.Damaged:
                run = None
            if run is None:
                self._unread = True
            else:
                self._known[name] = run
                self._foreign = self._foreign or run.machine != self._own
        kept = set(ids[len(ids) - self._runs :] if self._runs else ())
        kept |= {name for name, run in self._known.items() if self._must_stay(run)}
        kept = self._with_chains(kept)
        going = [name for name in self._known if name not in kept]
        odd = {name for name in going if not is_plain(state, name)}
        if odd:
            kept = self._with_chains(kept | odd)
            going = [name for name in self._known if name not in kept]
        runs = [self._known[name] for name in going]
        return going, [
            *late_files(store, state, self._prefix, runs),
            *late_logs(self._place, state, tuple(self._known.values()), set(going)),
        ]

    def _must_stay(self, run: Run) -> bool:
        try:
            since = datetime.fromisoformat(run.time.replace("Z", "+00:00"))
            young = self._now - since < timedelta(days=self._days)
        except (ValueError, TypeError):
            young = True  # its age cannot be told
        return (
            young
            or run.state == "unfinished"
            or run.changelog == "pending"
            or run.machine != self._own
            or (run.plan is not None and run.plan in self._plans)
        )

    def _with_chains(self, kept: AbstractSet[str]) -> set[str]:
        """With every run that is taken back by a kept one, or takes one back.

        Whether a run holds is told by its undo, and by the undo of that.
        """
        found = set(kept)
        links = [(run.id, run.undoes) for run in self._known.values() if run.undoes in self._known]
        size = -1
        while size != len(found):
            size = len(found)
            for undo, undone in (*links, *reversed(links)):
                if undone is not None and (undo in found or undone in found):
                    found |= {undo, undone}
        return found

    def _waiting(self) -> frozenset[str]:
        """Every digest and id that a waiting plan names, whether it can be read as a plan or not.

        What only looks like one keeps too much, which does no harm.
        """
        found: set[str] = set()
        folder = os.path.join(self._place.state, "plans")
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            names = []
        for name in names:
            data = journal.read_file(os.path.join(folder, name)) or b""
            found.update(word.decode() for word in _IN_PLAN.findall(data))
        return frozenset(found)

    def _observations(self, going: list[str], late: Iterable[Lying]) -> list[Observation]:
        """The observations that stay, and those that are made now."""
        times = self._now.strftime("%Y-%m-%dT%H:%M:%SZ")
        oldest = (self._now - timedelta(days=self._days)).strftime("%Y-%m-%dT%H:%M:%SZ")
        ids = [name for name in journal.run_ids(self._place) if name not in going]
        newest = ids[len(ids) - self._runs :] if self._runs else []
        first = journal.number(newest[0]) if newest else None
        stay = [
            seen
            for seen in self._seen
            if self._torn  # which lines are damaged is for a person to see, and their bytes stay
            or seen.time >= oldest
            or (
                first is not None and seen.after is not None and journal.number(seen.after) >= first
            )
        ]
        last = ids[-1] if ids else None
        return [
            *stay,
            *(
                Observation(times, k.late.path, None, k.late.digest, k.late.size, last, k.late.run)
                for k in late
            ),
        ]

    def _objects(
        self,
        state: Tree,
        going: list[str],
        late: Iterable[Lying],
        seen: Iterable[Observation],
    ) -> list[str]:
        """The names in `objects` that nothing needs any more.

        What a record that cannot be read needs is not known: then every object stays. Another
        machine's run may be arriving (synchronised folders): then only what ours had goes.
        """
        if self._unread or self._torn:
            return []
        needed: set[str] = set(self._plans)
        for run in self._known.values():
            if run.id not in going:
                needed |= _digests(run)
        needed |= {kept.late.digest for kept in late}
        needed |= {each.new for each in seen if each.new is not None}
        ours = {one for name in going for one in _digests(self._known[name])}
        found: list[str] = []
        for name in sorted(os.listdir(state.folder("objects"))):
            plain = name.removeprefix(self._prefix)
            if journal.is_digest(plain):
                if plain not in needed and (plain in ours or not self._foreign):
                    found.append(name)
            elif plain.endswith(".new") and plain[:-4] not in needed and not self._foreign:
                found.append(name)  # a death left it behind
        return found

    # Removing

    def _keep(self, state: Tree, late: Iterable[Lying], seen: Iterable[Observation]) -> None:
        """Late bytes as objects, and the line that names each: durable before anything goes."""
        objects = state.folder("objects")
        for kept in late:
            name = self._prefix + kept.late.digest
            if look_at(objects, name).digest == kept.late.digest:
                continue
            data = read_at(state.folder(kept.folder), kept.name)
            if digest(data) != kept.late.digest:
                raise StorageError(
                    f"What run {kept.late.run} displaced is being written to just now.",
                    hint="Nothing was removed. Try again.",
                )
            put_aside(self._files, objects, name, data)
            self._files.flush(objects, f"{name}.new")
            self._files.rename(objects, f"{name}.new", objects, name)
        self._files.flush_folder(objects, "objects")
        lines = b""
        if self._torn:
            before = journal.read_file(journal.state_path(self._place, journal.OBSERVATIONS)) or b""
            lines, seen = before[: journal.whole(before)], list(seen)[len(self._seen) :]
        lines += b"".join(map(journal.dump_observation, seen))
        self._files.write(state.fd, f"{self._prefix}{journal.OBSERVATIONS}", lines)
        self._files.flush_folder(state.fd, "state")

    def _name(self, state: Tree, going: list[str]) -> None:
        """Say which runs are collected; from here on that is what is told of them."""
        if not going:
            return
        time = self._now.strftime("%Y-%m-%dT%H:%M:%SZ")
        record = journal.with_collected(self._place, going, time)
        self._files.write(state.fd, f"{self._prefix}{journal.COLLECTED}", record)
        self._files.flush_folder(state.fd, "state")

    def _drop(self, state: Tree, going: list[str], left: list[str], objects: list[str]) -> None:
        """Folders lose the name of a run, durably; then bytes go."""
        runs, fd = state.folder("runs"), state.folder("objects")
        for name in going:
            state.forget(f"runs/{name}")
            self._files.rename(runs, name, runs, name + _GONE)
        if going:
            self._files.flush_folder(runs, "runs")
        for name in objects:
            self._files.unlink(fd, name)
        for name in (*left, *(name + _GONE for name in going)):
            self._remove(state, name)
        if going or left or objects:
            self._files.flush_folder(fd, "objects")
            self._files.flush_folder(runs, "runs")

    def _remove(self, state: Tree, name: str) -> None:
        folder = f"runs/{name}"
        fd = state.folder(folder)
        for inner in INNER:
            try:
                inner_fd = state.folder(f"{folder}/{inner}")
            except FileNotFoundError:
                continue
            for entry in sorted(os.listdir(inner_fd)):
                self._files.unlink(inner_fd, entry)
            state.forget(f"{folder}/{inner}")
            self._files.remove_folder(fd, inner)
        for entry in sorted(os.listdir(fd)):
            self._files.unlink(fd, entry)
        state.forget(folder)
        self._files.remove_folder(state.folder("runs"), name)

    def _leftovers(self, state: Tree) -> list[str]:
        """Folders of collected runs that a death left behind."""
        return sorted(
            name
            for name in os.listdir(state.folder("runs"))
            if name.endswith(_GONE) and journal.is_run_id(name.removesuffix(_GONE))
        )

    # Sizes

    def _size_of(self, state: Tree, run: str) -> int:
        size = _folder_size(state, f"runs/{run}")
        state.forget(f"runs/{run}")  # thousands of runs must not hold thousands of descriptors
        return size

    def _size(self, state: Tree, folder: str, name: str) -> int:
        return os.stat(name, dir_fd=state.folder(folder), follow_symlinks=False).st_size


def _folder_size(state: Tree, folder: str) -> int:
    size = 0
    for path in (folder, *(f"{folder}/{inner}" for inner in INNER)):
        with contextlib.suppress(FileNotFoundError):
            fd = state.folder(path)
            for name in os.listdir(fd):
                seen = os.stat(name, dir_fd=fd, follow_symlinks=False)
                size += 0 if stat.S_ISDIR(seen.st_mode) else seen.st_size
    return size


def _digests(run: Run) -> set[str]:
    return {one for step in run.steps for one in (step.old, step.new) if one is not None}
