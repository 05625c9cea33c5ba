"""Staging: everything that a run needs is on disk, and durable, before it is decided."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.commit.files import FLUSH_ALONE, UMASK, Files
from engine.commit.progress import SILENT, Phase, Telling
from engine.documents import digest
from engine.errors import Conflict, Drift, StorageError
from engine.journal import Attributes, Damaged, Run, Step, is_inside, seal, unseal
from engine.layouts import Place
from engine.storage.tree import FILE, Found, Tree, look_at, read_at

_ABORTING: Final = b"{}\n"
_RECORD: Final = "folders"
RESERVE: Final = 64 * 1024
"""Bytes that must stay free beside twice what a run touches: for records and folders."""


@dataclass(frozen=True, slots=True)
class Write:
    """One file of a transaction: the SHA-256 that must be there, and the bytes that shall be.

    None is absence. The mode of what is written is never wider than that of any of `sources`
    (paths); `was`, if given, is what the file shall have instead (an undo puts it back). `action`
    is the number of the action that it belongs to.
    """

    path: str
    old: str | None
    new: bytes | None
    sources: tuple[str, ...] = ()
    was: Attributes | None = None
    action: int = 1


def attributes_of(found: os.stat_result) -> Attributes:
    """Mode, owner and group of a file."""
    return Attributes(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)


def new_attributes(folder: os.stat_result) -> Attributes:
    """What a new file in a folder has, as the system would give it, but never wider than that.

    A file that is renamed into a folder does not get the group that set-group-id hands down. What
    root makes is the folder's owner's.
    """
    mode = 0o666 & ~UMASK & stat.S_IMODE(folder.st_mode)
    if os.geteuid() == 0:
        return Attributes(mode, folder.st_uid, folder.st_gid)
    hands_down = folder.st_mode & stat.S_ISGID and folder.st_gid in os.getgroups()
    return Attributes(mode, os.geteuid(), folder.st_gid if hands_down else os.getegid())


class Stage:
    """The preparation of one run in its folder below the state folder."""

    def __init__(self, place: Place, files: Files, store: Tree, state: Tree) -> None:
        self._place = place
        self._prefix = place.state_prefix
        self._files = files
        self._store = store
        self._state = state
        self.before: dict[str, bytes] = {}
        """SHA-256 -> bytes of what was in the store, should the record vanish in the middle."""
        self.made: list[str] = []
        """The folders of the store that the run makes."""

    def steps(self, writes: Iterable[Write], there: Mapping[str, Found]) -> tuple[Step, ...]:
        """The steps of a run, each with how its file was seen and how it shall be."""
        found: list[Step] = []
        for write in sorted(writes, key=lambda w: w.path):
            seen = there[write.path].stat
            was = None if seen is None else attributes_of(seen)
            if write.new is None:
                found.append(Step(write.path, write.old, None, was, action=write.action))
                continue
            shall = write.was or self._attributes(write, was, there)
            new = digest(write.new)
            found.append(Step(write.path, write.old, new, was, shall, write.action))
        return tuple(found)

    def missing_folders(self, writes: Iterable[Write]) -> list[str]:
        """The folders that targets need and that do not exist, parents first."""
        found: dict[str, None] = {}
        for above in sorted({w.path.rpartition("/")[0] for w in writes if w.new is not None}):
            parts = above.split("/") if above else []
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                if folder not in found:
                    try:
                        self._store.folder(folder)
                    except FileNotFoundError:
                        found[folder] = None
        return list(found)

    def room(self, writes: Iterable[Write], there: Mapping[str, Found]) -> None:
        """Refuse before anything is written if space is short. Raises `StorageError`."""
        needed = 0
        for write in writes:
            seen = there[write.path].stat
            needed += (0 if seen is None else seen.st_size) + len(write.new or b"")
        wanted = 2 * needed + RESERVE
        system = os.statvfs(self._state.fd)
        free = system.f_bavail * system.f_frsize
        if free < wanted:
            raise StorageError(
                f"There is not enough free space: {free} bytes are free, {wanted} are needed.",
                hint="Nothing was changed. Free some space and try again.",
            )

    def device(self, writes: Iterable[Write]) -> None:
        """Refuse files on another file system than the state folder. Raises `StorageError`."""
        own = os.fstat(self._state.fd).st_dev
        folders = {
            path.rpartition("/")[0]: path for path in sorted((w.path for w in writes), reverse=True)
        }
        for folder, path in folders.items():
            if self._nearest(folder).st_dev != own:
                raise StorageError(
                    f"{path} lies on another file system than {self._place.state}.",
                    path=path,
                    hint="Nothing was changed. Files can be exchanged on one file system only.",
                )

    def prepare(
        self,
        run: Run,
        writes: Mapping[str, Write],
        documents: Mapping[str, bytes],
        telling: Telling = SILENT,
    ) -> None:
        """Everything but the decision: objects, held files, folders.

        Raises `Conflict`, OSError; what is left behind is removed at the next opening.
        """
        folders = self.missing_folders(writes.values())
        self.made = folders
        base = self._make_run_folder(run, folders)
        flushed = [(base, self._prefix + _RECORD)]
        for name, data in documents.items():
            self._put(base, name, data, flushed)
        for result in ("done", "taken-back"):
            self._put(base, f"ready-{result}", _result(result), flushed)
        self._put(base, "ready-aborting", _ABORTING, flushed)
        objects: set[str] = set()
        for index, step in enumerate(run.steps):
            telling(Phase.KEEP, index, len(run.steps))
            write = writes[step.path]
            if step.old is not None:
                self._keep_object(base, step.old, self._old_bytes(step), objects)
            if write.new is not None and step.new is not None:
                self._keep_object(base, step.new, write.new, objects)
                self._hold(base, index, step, write, flushed)
        telling(Phase.KEEP, len(run.steps), len(run.steps))
        for folder in folders:
            make_store_folder(self._files, self._store, folder)
        self._flush(flushed, base, objects, folders)

    def decide(self, run: Run, intent: bytes) -> None:
        """Write the intent: from here on the run is driven to an end, whatever happens."""
        fd = self._state.folder(f"runs/{run.id}")
        self._files.write(fd, f"{self._prefix}intent", intent)
        self._files.flush_folder(fd, "run")

    def finish(self, run: Run, result: str) -> None:
        """Say that nothing is left to do, with what was prepared for it."""
        self._put_up(run, f"ready-{result}", "done", _result(result))

    def turn_back(self, run: Run) -> None:
        """From here the direction is back."""
        fd = self._state.folder(f"runs/{run.id}")
        if look_at(fd, f"{self._prefix}aborting").absent:
            self._put_up(run, "ready-aborting", "aborting", _ABORTING)

    def _put_up(self, run: Run, ready: str, name: str, data: bytes) -> None:
        """Give a file that was prepared its name; it needs no space. Durable on return."""
        fd = self._state.folder(f"runs/{run.id}")
        try:
            self._files.rename(fd, self._prefix + ready, fd, self._prefix + name)
        except FileNotFoundError:  # a power cut tore the rename: the old name is gone already
            self._files.write(fd, self._prefix + name, data)
        self._files.flush_folder(fd, "run")

    def _make_run_folder(self, run: Run, folders: list[str]) -> str:
        """The run's folder, and first in it whose it is: who may remove it if it is given up."""
        base = f"runs/{run.id}"
        self._files.make_folder(self._state.folder("runs"), run.id, 0o700)
        fd = self._state.folder(base)
        record = seal({"machine": run.machine, "folders": folders})
        self._files.create(fd, self._prefix + _RECORD, record)
        for name in ("hold", "conflicts"):
            self._files.make_folder(fd, name, 0o700)
        return base

    def _put(self, base: str, name: str, data: bytes, flushed: list[tuple[str, str]]) -> None:
        self._files.create(self._state.folder(base), self._prefix + name, data)
        flushed.append((base, self._prefix + name))

    def _old_bytes(self, step: Step) -> bytes:
        try:
            data = self._store.read(step.path)
        except (FileNotFoundError, NotADirectoryError):
            raise Conflict([Drift(step.path, "was deleted")]) from None
        if step.old is None or digest(data) != step.old:
            raise Conflict([Drift(step.path, "changed on disk")])
        self.before[step.old] = data
        return data

    def _keep_object(self, base: str, name: str, data: bytes, objects: set[str]) -> None:
        """Put bytes beside the hold: they get their name among the objects once they are durable.

        So what lies under its digest can be relied on, whatever became of the run that kept it.
        """
        there = look_at(self._state.folder("objects"), self._prefix + name)
        if there.digest != name and name not in objects:
            self._files.create(self._state.folder(f"{base}/hold"), self._prefix + name, data)
            objects.add(name)

    def _hold(
        self, base: str, index: int, step: Step, write: Write, flushed: list[tuple[str, str]]
    ) -> None:
        fd, name = self._state.folder(f"{base}/hold"), f"{self._prefix}{index}"
        self._files.create(fd, name, write.new or b"")
        like = None if step.old is None else self._store.parent(step.path)
        self._files.dress(fd, name, step.shall or Attributes(0o600, -1, -1), like)
        flushed.append((f"{base}/hold", name))

    def _attributes(
        self, write: Write, was: Attributes | None, there: Mapping[str, Found]
    ) -> Attributes:
        """What a written file has: as narrow as its sources, and its folder's owner if new."""
        mode = 0o777
        for source in write.sources:
            seen = there[source].stat if source in there else self._store.stat(source)
            if seen is not None:
                mode &= stat.S_IMODE(seen.st_mode)
        if was is not None:
            return Attributes(was.mode & (mode | 0o7000), was.uid, was.gid)
        new = new_attributes(self._nearest(write.path.rpartition("/")[0]))
        return Attributes(mode & new.mode, new.uid, new.gid)

    def _nearest(self, folder: str) -> os.stat_result:
        while True:
            try:
                return os.fstat(self._store.folder(folder))
            except FileNotFoundError:
                folder = folder.rpartition("/")[0]

    def _flush(
        self,
        flushed: list[tuple[str, str]],
        base: str,
        objects: set[str],
        folders: list[str],
    ) -> None:
        """One group flush: the file system in one call, or every file by itself."""
        hold = f"{base}/hold"
        flushed = [*flushed, *((hold, self._prefix + name) for name in sorted(objects))]
        alone = len(flushed) <= FLUSH_ALONE or not self._files.flush_all(self._state.fd)
        if alone:
            for folder, name in flushed:
                self._files.flush(self._state.folder(folder), name)
        hold_fd, objects_fd = self._state.folder(hold), self._state.folder("objects")
        for name in sorted(objects):
            self._files.rename(hold_fd, self._prefix + name, objects_fd, self._prefix + name)
        for folder in ("objects", "runs", base, hold):
            self._files.flush_folder(self._state.folder(folder), folder)
        for folder in dict.fromkeys(f.rpartition("/")[0] for f in folders):
            self._files.flush_folder(self._store.folder(folder), folder or os.curdir)


def make_store_folder(files: Files, store: Tree, folder: str) -> None:
    """Make one folder of a store, never wider than the one above it, and its owner's."""
    fd, name = store.parent(folder)
    above = os.fstat(fd)
    mode = 0o777 & ~UMASK & stat.S_IMODE(above.st_mode)
    with contextlib.suppress(FileExistsError):
        files.make_folder(fd, name, mode | stat.S_IRWXU)
        if os.geteuid() == 0 and above.st_uid != 0:
            os.chown(name, above.st_uid, above.st_gid, dir_fd=fd, follow_symlinks=False)


def make_store_folders(files: Files, store: Tree, folder: str) -> None:
    """Make a folder that was removed meanwhile, with those above it, durably. Raises OSError."""
    parts = folder.split("/")
    store.forget(parts[0])
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth])
        try:
            store.folder(path)
        except FileNotFoundError:
            make_store_folder(files, store, path)
            files.flush_folder(store.parent(path)[0], path)


def _result(result: str) -> bytes:
    return json.dumps({"format": 1, "result": result}).encode() + b"\n"


def read_record(data: bytes | None) -> tuple[str, list[str]]:
    """Whose a run's folder is, and which folders of the store it made; empty if it cannot be told.

    No folder that is named leads out of the store.
    """
    try:
        said = {} if data is None else unseal(data)
        folders = [str(f) for f in said["folders"] if is_inside(str(f))]
        return str(said["machine"]), folders
    except (Damaged, KeyError, TypeError):
        return "", []


def discard(files: Files, store: Tree, state: Tree, run: str, prefix: str, own: str) -> None:
    """Remove what a run of this writer left undecided, and the empty folders that it made.

    Another machine's folder may still be arriving (synchronised folders): it is left. Raises
    OSError.
    """
    base = f"runs/{run}"
    fd = state.folder(base)
    record = prefix + _RECORD
    machine, folders = read_record(
        None if look_at(fd, record).kind != FILE else read_at(fd, record)
    )
    if machine == own:
        for folder in sorted(folders, key=len, reverse=True):
            store.forget(folder)
            _remove_if_empty(files, store, folder)
        for inner in ("hold", "conflicts"):
            with contextlib.suppress(FileNotFoundError):
                inner_fd = state.folder(f"{base}/{inner}")
                for name in os.listdir(inner_fd):
                    files.unlink(inner_fd, name)
                state.forget(f"{base}/{inner}")
                files.remove_folder(fd, inner)
        for name in sorted(os.listdir(fd), key=lambda name: name == record):
            files.unlink(fd, name)
    elif not machine and set(os.listdir(fd)) <= {record}:  # it died while it made the record
        for name in os.listdir(fd):
            files.unlink(fd, name)
    else:
        return
    state.forget(base)
    files.remove_folder(state.folder("runs"), run)


def _remove_if_empty(files: Files, store: Tree, folder: str) -> None:
    try:
        files.remove_folder(*store.parent(folder))
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}:
            raise
