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

from engine.commit.files import FLUSH_ALONE, Files
from engine.documents import digest
from engine.errors import Conflict, Drift, StorageError
from engine.journal import Attributes, Run, Step, seal
from engine.layouts import Place
from engine.storage.tree import Tree, look_at, read_at

_ABORTING: Final = b"{}\n"
RESERVE: Final = 64 * 1024
"""Bytes that must stay free beside twice what a run touches: for records and folders."""
_UMASK: Final = os.umask(0)
os.umask(_UMASK)


@dataclass(frozen=True, slots=True)
class Write:
    """One file of a transaction: the SHA-256 that must be there, and the bytes that shall be.

    None is absence. The mode of what is written is never wider than that of any of `sources`
    (paths); `was`, if given, is what the file shall have instead (an undo puts it back).
    """

    path: str
    old: str | None
    new: bytes | None
    sources: tuple[str, ...] = ()
    was: Attributes | None = None


def attributes_of(found: os.stat_result) -> Attributes:
    """Mode, owner and group of a file."""
    return Attributes(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)


class Stage:
    """The preparation of one run in its folder below the state folder."""

    def __init__(self, place: Place, files: Files, store: Tree, state: Tree) -> None:
        self._place = place
        self._prefix = place.state_prefix
        self._files = files
        self._store = store
        self._state = state

    def steps(self, writes: Iterable[Write]) -> tuple[Step, ...]:
        """The steps of a run, each with how its file is now and how it shall be."""
        found: list[Step] = []
        for write in sorted(writes, key=lambda w: w.path):
            there = self._store.look(write.path)
            was = None if there.stat is None else attributes_of(there.stat)
            if write.new is None:
                found.append(Step(write.path, write.old, None, was))
                continue
            shall = write.was or self._attributes(write, was)
            found.append(Step(write.path, write.old, digest(write.new), was, shall))
        return tuple(found)

    def missing_folders(self, writes: Iterable[Write]) -> list[str]:
        """The folders that targets need and that do not exist, parents first."""
        found: dict[str, None] = {}
        for write in writes:
            parts = write.path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                if write.new is not None and folder not in found:
                    try:
                        self._store.folder(folder)
                    except FileNotFoundError:
                        found[folder] = None
        return list(found)

    def room(self, writes: Iterable[Write]) -> None:
        """Refuse before anything is written if space is short. Raises `StorageError`."""
        needed = 0
        for write in writes:
            there = self._store.look(write.path)
            size = there.stat.st_size if there.stat is not None else 0
            needed += size + len(write.new or b"")
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
        for write in writes:
            folder = write.path.rpartition("/")[0]
            with contextlib.suppress(FileNotFoundError):
                if os.fstat(self._store.folder(folder)).st_dev != own:
                    raise StorageError(
                        f"{write.path} lies on another file system than {self._place.state}.",
                        path=write.path,
                        hint="Nothing was changed. Files can be exchanged on one file system only.",
                    )

    def prepare(
        self, run: Run, writes: Mapping[str, Write], documents: Mapping[str, bytes]
    ) -> list[str]:
        """Everything but the decision: objects, held files, folders. Returns the new folders.

        Raises `Conflict`, OSError; what is left behind is removed at the next opening.
        """
        base = self._make_run_folder(run.id)
        folders = self.missing_folders(writes.values())
        flushed: list[tuple[str, str]] = []
        self._put(base, "folders", seal({"folders": folders}), flushed)
        for name, data in documents.items():
            self._put(base, name, data, flushed)
        for result in ("done", "taken-back"):
            self._put(base, f"ready-{result}", _result(result), flushed)
        self._put(base, "ready-aborting", _ABORTING, flushed)
        for index, step in enumerate(run.steps):
            write = writes[step.path]
            if step.old is not None:
                self._keep_object(step.old, self._old_bytes(step), flushed)
            if write.new is not None and step.new is not None:
                self._keep_object(step.new, write.new, flushed)
                self._hold(base, index, step, write, flushed)
        for folder in folders:
            self._make_store_folder(folder)
        self._flush(flushed, base, folders)
        return folders

    def decide(self, run: Run, intent: bytes) -> None:
        """Write the intent: from here on the run is driven to an end, whatever happens."""
        fd = self._state.folder(f"runs/{run.id}")
        temporary, name = f"{self._prefix}intent.new", f"{self._prefix}intent"
        self._files.create(fd, temporary, intent)
        self._files.flush(fd, temporary)
        self._files.rename(fd, temporary, fd, name)
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
            self._files.create(fd, self._prefix + name, data)
            self._files.flush(fd, self._prefix + name)
        self._files.flush_folder(fd, "run")

    def _make_run_folder(self, run: str) -> str:
        base = f"runs/{run}"
        self._files.make_folder(self._state.folder("runs"), run, 0o700)
        for name in ("hold", "conflicts"):
            self._files.make_folder(self._state.folder(base), name, 0o700)
        return base

    def _put(self, base: str, name: str, data: bytes, flushed: list[tuple[str, str]]) -> None:
        self._files.create(self._state.folder(base), self._prefix + name, data)
        flushed.append((base, self._prefix + name))

    def _old_bytes(self, step: Step) -> bytes:
        data = self._store.read(step.path)
        if digest(data) != step.old:
            raise Conflict([Drift(step.path, "changed on disk")])
        return data

    def _keep_object(self, name: str, data: bytes, flushed: list[tuple[str, str]]) -> None:
        fd = self._state.folder("objects")
        name = self._prefix + name
        there = look_at(fd, name)
        if there.digest is not None and name.endswith(there.digest):
            return
        temporary = f"{self._prefix}new-{name[-64:]}"
        with contextlib.suppress(FileNotFoundError):
            self._files.unlink(fd, temporary)
        self._files.create(fd, temporary, data)
        self._files.rename(fd, temporary, fd, name)
        flushed.append(("objects", name))

    def _hold(
        self, base: str, index: int, step: Step, write: Write, flushed: list[tuple[str, str]]
    ) -> None:
        fd, name = self._state.folder(f"{base}/hold"), f"{self._prefix}{index}"
        self._files.create(fd, name, write.new or b"")
        like = None if step.old is None else self._store.parent(step.path)
        self._files.dress(fd, name, step.shall or Attributes(0o600, -1, -1), like)
        flushed.append((f"{base}/hold", name))

    def _attributes(self, write: Write, was: Attributes | None) -> Attributes:
        """What a written file has: as narrow as its sources, and its folder's owner if new."""
        mode = 0o777
        for source in write.sources:
            there = self._store.look(source)
            if there.stat is not None:
                mode &= stat.S_IMODE(there.stat.st_mode)
        if was is not None:
            return Attributes(was.mode & (mode | 0o7000), was.uid, was.gid)
        folder = self._nearest(write.path.rpartition("/")[0])
        mode &= 0o666 & ~_UMASK & stat.S_IMODE(folder.st_mode)
        own = os.geteuid() != 0
        uid = os.geteuid() if own else folder.st_uid
        return Attributes(mode, uid, os.getegid() if own else folder.st_gid)

    def _nearest(self, folder: str) -> os.stat_result:
        while True:
            try:
                return os.fstat(self._store.folder(folder))
            except FileNotFoundError:
                folder = folder.rpartition("/")[0]

    def _make_store_folder(self, folder: str) -> None:
        fd, name = self._store.parent(folder)
        above = os.fstat(fd)
        mode = 0o777 & ~_UMASK & stat.S_IMODE(above.st_mode)
        with contextlib.suppress(FileExistsError):
            self._files.make_folder(fd, name, mode | stat.S_IRWXU)
            if os.geteuid() == 0 and above.st_uid != 0:
                os.chown(name, above.st_uid, above.st_gid, dir_fd=fd, follow_symlinks=False)

    def _flush(self, flushed: list[tuple[str, str]], base: str, folders: list[str]) -> None:
        """One group flush: the file system in one call, or every file by itself."""
        alone = len(flushed) <= FLUSH_ALONE or not self._files.flush_all(self._state.fd)
        if alone:
            for folder, name in flushed:
                self._files.flush(self._state.folder(folder), name)
        for folder in ("objects", "runs", base, f"{base}/hold"):
            self._files.flush_folder(self._state.folder(folder), folder)
        for folder in dict.fromkeys(f.rpartition("/")[0] for f in folders):
            self._files.flush_folder(self._store.folder(folder), folder or os.curdir)


def _result(result: str) -> bytes:
    return json.dumps({"format": 1, "result": result}).encode() + b"\n"


def discard(files: Files, store: Tree, state: Tree, run: str, prefix: str) -> None:
    """Remove what a run left that was never decided, and the empty folders that it made."""
    base = f"runs/{run}"
    fd = state.folder(base)
    folders: list[str] = []
    with contextlib.suppress(OSError, ValueError, KeyError):
        folders = json.loads(read_at(fd, f"{prefix}folders"))["folders"]
    for folder in sorted(map(str, folders), key=len, reverse=True):
        if ".." not in folder.split("/"):
            store.forget(folder)
            _remove_if_empty(files, store, folder)
    for inner in ("hold", "conflicts"):
        with contextlib.suppress(FileNotFoundError):
            inner_fd = state.folder(f"{base}/{inner}")
            for name in os.listdir(inner_fd):
                files.unlink(inner_fd, name)
            state.forget(f"{base}/{inner}")
            files.remove_folder(fd, inner)
    for name in os.listdir(fd):
        files.unlink(fd, name)
    state.forget(base)
    files.remove_folder(state.folder("runs"), run)


def _remove_if_empty(files: Files, store: Tree, folder: str) -> None:
    try:
        files.remove_folder(*store.parent(folder))
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}:
            raise
