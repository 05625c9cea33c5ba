"""The seam through which every call goes that changes or syncs a file.

Tests replace it by one that dies, fails or forgets at a chosen call; the commit does not know.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Final

from engine.errors import Drift
from engine.journal import Attributes
from engine.storage.tree import FILE, NOTHING, Found, look_at, read_at

_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_APPLE_EXCHANGE: Final = 0x2
_APPLE_NOREPLACE: Final = 0x4
_APPLE_CWD: Final = -2
_UNSUPPORTED: Final = frozenset(
    [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY]
)
UNREADABLE: Final = "file that cannot be read"
UMASK: Final = os.umask(0)
os.umask(UMASK)
FLUSH_ALONE: Final = 6
"""Files that are flushed one by one; more are flushed with the whole file system in one call."""


@cache
def _renameat() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """`renameat2` of Linux or `renameatx_np` of macOS, if the C library has it."""
    library = ctypes.CDLL(None, use_errno=True)
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    found = getattr(library, name, None)
    if found is None:
        return None
    found.argtypes = [
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    ]
    found.restype = ctypes.c_int

    def call(from_fd: int, source: bytes, to_fd: int, target: bytes, flags: int) -> int:
        return 0 if found(from_fd, source, to_fd, target, flags) == 0 else ctypes.get_errno()

    return call


@cache
def _syncfs() -> Callable[[int], int] | None:
    """Linux's `syncfs`, if the C library has it."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    found = getattr(library, "syncfs", None)
    if found is None:
        return None
    return lambda fd: 0 if found(fd) == 0 else ctypes.get_errno()


class Files:
    """Every mutating and syncing file call of a commit, by directory descriptor and name.

    `step` is called before each of them with its name and the file's; it does nothing here.
    """

    def __init__(self) -> None:
        self.exchanges: bool | None = None

    def step(self, call: str, name: str) -> None:
        """Called before every mutating or syncing call."""

    def make_folder(self, fd: int, name: str, mode: int) -> None:
        """Create a folder. Raises OSError."""
        self.step("mkdir", name)
        os.mkdir(name, mode, dir_fd=fd)

    def remove_folder(self, fd: int, name: str) -> None:
        """Remove an empty folder. Raises OSError."""
        self.step("rmdir", name)
        os.rmdir(name, dir_fd=fd)

    def create(self, fd: int, name: str, data: bytes, mode: int = 0o600) -> None:
        """Create a file with its bytes; it must not exist. Not flushed."""
        self.step("create", name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(name, flags, mode, dir_fd=fd)
        try:
            view = memoryview(data)
            while view:
                self.step("write", name)
                view = view[os.write(opened, view) :]
            if mode & UMASK:
                os.fchmod(opened, mode)
        finally:
            os.close(opened)

    def append(self, fd: int, name: str, data: bytes, at: int) -> None:
        """Write behind the first `at` bytes of a file of the state folder, and cut what is there.

        It is made if it is not there. Not flushed.
        """
        self.step("append", name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(name, flags, 0o600, dir_fd=fd)
        try:
            os.ftruncate(opened, at)
            os.lseek(opened, at, os.SEEK_SET)
            view = memoryview(data)
            while view:
                self.step("write", name)
                view = view[os.write(opened, view) :]
        finally:
            os.close(opened)

    def dress(
        self, fd: int, name: str, attributes: Attributes, like: tuple[int, str] | None
    ) -> None:
        """Give a held file the owner, mode and, from `like`, extended attributes of another."""
        self.step("dress", name)
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        try:
            now = os.fstat(opened)
            if (now.st_uid, now.st_gid) != (attributes.uid, attributes.gid):
                os.fchown(opened, attributes.uid, attributes.gid)
            if like is not None:
                _copy_xattrs(like, opened)
            os.fchmod(opened, stat.S_IMODE(attributes.mode))
        finally:
            os.close(opened)

    def flush(self, fd: int, name: str) -> None:
        """Make a file's bytes durable."""
        self.step("fsync", name)
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

    def flush_folder(self, fd: int, name: str) -> None:
        """Make a folder's entries durable. `name` is for `step` only."""
        self.step("fsync-folder", name)
        os.fsync(fd)

    def flush_all(self, fd: int) -> bool:
        """Flush the whole file system that a descriptor lies on; False where that cannot be."""
        call = _syncfs()
        if call is None:
            return False
        self.step("syncfs", "")
        failed = call(fd)
        if failed:
            raise OSError(failed, os.strerror(failed))
        return True

    def rename(self, from_fd: int, source: str, to_fd: int, target: str) -> None:
        """Rename within the state folder, replacing."""
        self.step("rename", target)
        os.rename(source, target, src_dir_fd=from_fd, dst_dir_fd=to_fd)

    def place(self, from_fd: int, source: str, to_fd: int, target: str) -> None:
        """Rename without replacing. Raises FileExistsError if the target exists."""
        self.step("place", target)
        call = _renameat()
        if call is not None:
            flags = _APPLE_NOREPLACE if sys.platform == "darwin" else _NOREPLACE
            failed = call(from_fd, os.fsencode(source), to_fd, os.fsencode(target), flags)
            if not failed:
                return
            if failed not in _UNSUPPORTED:
                raise OSError(failed, os.strerror(failed), target)
        os.link(source, target, src_dir_fd=from_fd, dst_dir_fd=to_fd, follow_symlinks=False)
        self.unlink(from_fd, source)

    def link(self, from_fd: int, source: str, to_fd: int, target: str) -> bool:
        """Give a file a second name; False where the file system cannot (nothing was done).

        Raises FileExistsError if the target exists.
        """
        self.step("link", target)
        try:
            os.link(source, target, src_dir_fd=from_fd, dst_dir_fd=to_fd, follow_symlinks=False)
        except OSError as error:
            if error.errno in _UNSUPPORTED | {errno.EPERM, errno.EMLINK}:
                return False
            raise
        return True

    def exchange(self, from_fd: int, source: str, to_fd: int, target: str) -> bool:
        """Swap two names in one call; False where the file system cannot (nothing was done)."""
        if self.exchanges is False:
            return False
        self.step("exchange", target)
        call = _renameat()
        if call is not None:
            flags = _APPLE_EXCHANGE if sys.platform == "darwin" else _EXCHANGE
            failed = call(from_fd, os.fsencode(source), to_fd, os.fsencode(target), flags)
            if not failed:
                self.exchanges = True
                return True
            if failed not in _UNSUPPORTED:
                raise OSError(failed, os.strerror(failed), target)
        self.exchanges = False
        return False

    def unlink(self, fd: int, name: str) -> None:
        """Remove a name of a file that is ours."""
        self.step("unlink", name)
        os.unlink(name, dir_fd=fd)

    def write(self, fd: int, name: str, data: bytes) -> None:
        """Create or replace a file of the state folder, whole and durable, or not at all."""
        temporary = f"{name}.new"
        with contextlib.suppress(FileNotFoundError):
            self.unlink(fd, temporary)
        self.create(fd, temporary, data)
        self.flush(fd, temporary)
        self.rename(fd, temporary, fd, name)

    def copy(self, fd: int, name: str, to_fd: int, target: str) -> None:
        """Keep a held regular file's bytes under another name, durably.

        What has that name already was kept whole: it never is there before its bytes are.
        """
        self.step("copy", target)
        if look_at(to_fd, target).absent:
            self.write(to_fd, target, read_at(fd, name))
        self.flush_folder(to_fd, "conflicts")

    def publish(
        self, path: str, hold: tuple[int, str], live: tuple[int, str], *, replaces: bool
    ) -> Found:
        """Put a held file at a store path; returns what was displaced, now in the hold.

        `path` names the store's file, for tests. Raises FileExistsError if something is there
        that was not to be replaced.
        """
        self.step("publish", path)
        if not replaces:
            self.place(*hold, *live)
            return NOTHING
        if self.exchange(*hold, *live):
            return seen(*hold)
        return self._publish_in_two(hold, live)

    def _publish_in_two(self, hold: tuple[int, str], live: tuple[int, str]) -> Found:
        """Without exchange: capture by rename, then place. The file is absent for microseconds.

        Raises FileExistsError if somebody was quicker: theirs stays, and what we took is beside
        the hold under the name that `taken` gives.
        """
        aside = (hold[0], taken(hold[1]))
        self.place(*live, *aside)
        self.place(*hold, *live)
        self.rename(*aside, *hold)
        return seen(*hold)

    def take(self, path: str, live: tuple[int, str], hold: tuple[int, str]) -> Found:
        """Take a store file into the hold; returns what was taken. `path` is for tests."""
        self.step("take", path)
        self.place(*live, *hold)
        return seen(*hold)

    def barrier(self, flush: Callable[[], None]) -> None:
        """Everything written is made durable before anything is removed."""
        flush()

    def precondition(
        self,
        when: str,  # noqa: ARG002 - by it a test leaves out one check and not the others
        look: Callable[[], tuple[Drift, ...]],
    ) -> tuple[Drift, ...]:
        """What is not as a run relies on it. `when` is `first`, `between` or `recovery`."""
        return look()

    def lock(self, held: AbstractContextManager[None]) -> AbstractContextManager[None]:
        """The lock under which a store is recovered and changed."""
        return held


def seen(fd: int, name: str) -> Found:
    """What a name in an open folder is; what we may not read is somebody else's, whatever it is."""
    try:
        return look_at(fd, name)
    except PermissionError:
        return Found(UNREADABLE, None, os.stat(name, dir_fd=fd, follow_symlinks=False))


def taken(name: str) -> str:
    """Where a file lies that was captured, as long as its hold is not free."""
    return f"{name}.taken"


def _copy_xattrs(like: tuple[int, str], to: int) -> None:
    """Copy extended attributes (access lists among them), as far as the system lets us."""
    if not hasattr(os, "listxattr"):
        return
    fd, name = like
    try:
        source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd)
    except OSError:
        return
    try:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            return
        try:
            names = os.listxattr(source)
        except OSError as error:
            if error.errno in _UNSUPPORTED | {errno.EPERM}:
                return
            raise
        for attribute in names:
            try:
                os.setxattr(to, attribute, os.getxattr(source, attribute))
            except OSError as error:
                # Labels of the security modules belong to the system; a person's own must stay.
                if attribute.startswith("user.") or error.errno == errno.ENOSPC:
                    raise
    finally:
        os.close(source)


def is_file(found: Found) -> bool:
    """Whether what was found is a regular file that no other name shares."""
    return found.kind == FILE and found.stat is not None and found.stat.st_nlink == 1
