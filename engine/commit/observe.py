"""Looking at a store when it is opened for writing: what did others write since the last look?

Stat first; only what differs is read. A look never fails a run: what cannot be written now is seen
again at the next opening.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Final

from engine import journal
from engine.commit.files import Files
from engine.commit.values import Clock
from engine.documents import digest
from engine.errors import EngineError
from engine.journal import UNKNOWN, Look, Observation, Row
from engine.layouts import Place
from engine.storage.tree import FILE, Tree, look_at, read_at
from engine.storage.walk import Other, walk

FILE_LIMIT: Final = 256 * 1024
"""Bytes of one file that are kept; of a larger one the digest is noted."""
LOOK_LIMIT: Final = 8 * 1024 * 1024
"""Bytes that one look keeps in all."""
HASH_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a file that is read at all."""
_RACY: Final = 50_000_000
"""Nanoseconds: what changed that shortly before a look may change again and have the same times."""


def observe(place: Place, files: Files, clock: Clock) -> None:
    """Note what others changed since the last look. The first look only makes the table."""
    with contextlib.suppress(OSError, EngineError):
        before = journal.last_look(place)
        ids = journal.run_ids(place)
        now = clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        looking = _Looking(place, before, ids[-1] if ids else None, now)
        with Tree(place.folder) as store:
            looking.look(store)
        after = Look(looking.after, looking.rows)
        if looking.found or after != before:
            _write(place, files, after, looking.found, looking.contents)


@dataclass(slots=True)
class _Looking:
    """One look while it goes over the files."""

    place: Place
    before: Look | None
    after: str | None
    now: str
    rows: dict[str, Row] = field(default_factory=dict)
    found: list[Observation] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    kept: int = 0

    def look(self, store: Tree) -> None:
        known = {} if self.before is None else self.before.rows
        racy = time.time_ns() - _RACY
        closed: list[str] = []
        changed: list[tuple[str, Row | None, os.stat_result]] = []
        for entry in walk(store):
            if isinstance(entry, Other):
                if entry.why.startswith("cannot be read"):
                    closed.append(entry.path)
                continue
            stat = entry.stat
            if stat is None:
                continue  # a link: its target is seen under its own path
            row = known.get(entry.path)
            now = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
            if row is not None and row[:4] == now:
                self.rows[entry.path] = row
            elif self.before is None and stat.st_ctime_ns < racy:
                self.rows[entry.path] = (*now, UNKNOWN)
            else:
                changed.append((entry.path, row, stat))
        gone = [path for path in known if path not in self.rows]
        ours = self._ours() if changed or gone else {}
        for path, row, stat in changed:
            self._changed(store, path, row, stat, ours, racy=stat.st_ctime_ns >= racy)
        for path in sorted({*gone, *ours}):
            if path in self.rows:
                continue
            if _is_below(path, closed):
                if path in known:
                    self.rows[path] = known[path]
                continue
            self._differs(path, ours.get(path, known[path][4] if path in known else None), None, 0)

    def _ours(self) -> dict[str, str | None]:
        """Path -> what our runs since the last look left there (None: nothing)."""
        if self.before is None:
            return {}
        last = 0 if self.before.after is None else journal.number(self.before.after)
        found: dict[str, str | None] = {}
        for name in journal.run_ids(self.place):
            if journal.number(name) > last:
                with contextlib.suppress(journal.Damaged):
                    run = journal.read_run(self.place, name)
                    if run is not None and run.state != "unfinished":
                        for step in run.steps:
                            found[step.path] = step.new if run.state == "done" else step.old
        return found

    def _changed(
        self,
        store: Tree,
        path: str,
        row: Row | None,
        stat: os.stat_result,
        ours: dict[str, str | None],
        *,
        racy: bool,
    ) -> None:
        data = None if stat.st_size > HASH_LIMIT else _read(store, path)
        new = UNKNOWN if data is None else digest(data)
        times = (0, 0) if racy else (stat.st_mtime_ns, stat.st_ctime_ns)
        self.rows[path] = (stat.st_size, *times, stat.st_ino, new)
        if self.before is None:
            return
        old = ours[path] if path in ours else None if row is None else row[4]
        self._differs(path, old, new, stat.st_size, data)

    def _differs(
        self, path: str, old: str | None, new: str | None, size: int, data: bytes | None = None
    ) -> None:
        if old == new and new != UNKNOWN:
            return
        self.found.append(Observation(self.now, path, old, new, size, self.after))
        if data is None or new is None or new in self.contents:
            return
        if len(data) <= FILE_LIMIT and self.kept + len(data) <= LOOK_LIMIT:
            self.kept += len(data)
            self.contents[new] = data


def _read(store: Tree, path: str) -> bytes | None:
    """The bytes, None if they cannot be read now."""
    try:
        return store.read(path, HASH_LIMIT)
    except OSError:
        return None


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(folder in {".", path} or path.startswith(f"{folder}/") for folder in folders)


def _write(
    place: Place,
    files: Files,
    look: Look,
    found: Sequence[Observation],
    kept: dict[str, bytes],
) -> None:
    """Lines and objects durable, in two flushes; without an observation the table needs none."""
    prefix = place.state_prefix
    with Tree(place.state) as state:
        objects = state.folder("objects")
        table = f"{prefix}{journal.LOOK}"
        new = {
            name: data
            for name, data in kept.items()
            if look_at(objects, prefix + name).digest != name
        }
        for name, data in new.items():
            put_aside(files, objects, prefix + name, data)
        put_aside(files, state.fd, table, journal.dump_look(look))
        if found:
            lines = f"{prefix}{journal.OBSERVATIONS}"
            there = look_at(state.fd, lines).kind == FILE
            whole = journal.whole(read_at(state.fd, lines)) if there else 0
            files.append(state.fd, lines, b"".join(map(journal.dump_observation, found)), whole)
            if not files.flush_all(state.fd):
                for name in new:
                    files.flush(objects, f"{prefix}{name}.new")
                files.flush(state.fd, lines)
            for name in new:
                files.rename(objects, f"{prefix}{name}.new", objects, prefix + name)
            files.flush_folder(objects, "objects")
        files.rename(state.fd, f"{table}.new", state.fd, table)


def put_aside(files: Files, fd: int, name: str, data: bytes) -> None:
    """Create `<name>.new`, not flushed; one that a death left is replaced."""
    temporary = f"{name}.new"
    with contextlib.suppress(FileNotFoundError):
        os.stat(temporary, dir_fd=fd, follow_symlinks=False)
        files.unlink(fd, temporary)
    files.create(fd, temporary, data)
