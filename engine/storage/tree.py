"""Reading a folder that somebody else writes: by directory descriptors, never through a link.

A path is opened one segment at a time with `O_NOFOLLOW | O_NONBLOCK`, so that a link or a FIFO
which was swapped in is seen for what it is and never followed, opened for good or waited for.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """What is at a path. `digest` is None for anything but a regular file."""

    kind: str
    digest: str | None = None
    stat: os.stat_result | None = None

    @property
    def absent(self) -> bool:
        """Whether there is nothing at all."""
        return self.kind == ABSENT


ABSENT: Final = "nothing"
FILE: Final = "file"
LINK: Final = "symbolic link"
FOLDER: Final = "folder"
SPECIAL: Final = "device, socket or FIFO"
NOTHING: Final = Found(ABSENT)


def kind_of(mode: int) -> str:
    """The word for a file type."""
    if stat.S_ISREG(mode):
        return FILE
    if stat.S_ISLNK(mode):
        return LINK
    return FOLDER if stat.S_ISDIR(mode) else SPECIAL


class Tree:
    """A folder held open. Folders below it are opened once and kept until `close`."""

    def __init__(self, folder: str) -> None:
        self.path = folder
        self._fds: dict[str, int] = {"": os.open(folder, _FOLDER & ~os.O_NOFOLLOW)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every descriptor."""
        while self._fds:
            os.close(self._fds.popitem()[1])

    @property
    def fd(self) -> int:
        """The descriptor of the folder itself."""
        return self._fds[""]

    def folder(self, path: str) -> int:
        """The descriptor of a folder below. Raises OSError: ENOENT, ENOTDIR, ELOOP for a link."""
        known = self._fds.get(path)
        if known is not None:
            return known
        parts = path.split("/")
        depth = len(parts)
        while depth and "/".join(parts[:depth]) not in self._fds:
            depth -= 1
        fd = self._fds["/".join(parts[:depth])]
        for end in range(depth + 1, len(parts) + 1):
            fd = os.open(parts[end - 1], _FOLDER, dir_fd=fd)
            self._fds["/".join(parts[:end])] = fd
        return fd

    def forget(self, path: str) -> None:
        """Close the descriptors of a folder that is gone, and of those below it."""
        for name in [n for n in self._fds if n == path or n.startswith(f"{path}/")]:
            os.close(self._fds.pop(name))

    def parent(self, path: str) -> tuple[int, str]:
        """(descriptor of the folder that a path lies in, its last segment)."""
        folder, _, name = path.rpartition("/")
        return self.folder(folder), name

    def look(self, path: str) -> Found:
        """What is at a path, its bytes hashed if it is a regular file."""
        try:
            fd, name = self.parent(path)
        except (FileNotFoundError, NotADirectoryError):
            return NOTHING
        except OSError as error:
            if error.errno == errno.ELOOP:
                return Found(LINK)
            raise
        return look_at(fd, name)

    def stat(self, path: str) -> os.stat_result | None:
        """What the system says of a path, None if there is nothing. A link is not followed."""
        try:
            fd, name = self.parent(path)
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                return None
            raise

    def read(self, path: str, limit: int | None = None) -> bytes:
        """A regular file's bytes. Raises OSError; EINVAL for what is no regular file."""
        fd, name = self.parent(path)
        return read_at(fd, name, limit)


def look_at(folder: int, name: str) -> Found:
    """What a name in an open folder is. A link is seen, never followed; a FIFO never opened."""
    try:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    if not stat.S_ISREG(seen.st_mode):
        return Found(kind_of(seen.st_mode), None, seen)
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return NOTHING
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            return Found(LINK if error.errno == errno.ELOOP else SPECIAL)
        raise
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            return Found(kind_of(seen.st_mode), None, seen)
        return Found(FILE, _hash(fd, seen.st_size), seen)
    finally:
        os.close(fd)


def _hash(fd: int, size: int) -> str:
    """The SHA-256 of an open file that had `size` bytes when it was opened.

    Asking for one byte more than there should be tells the end in the same call.
    """
    chunk = os.read(fd, min(size, _CHUNK) + 1)
    hashed = hashlib.sha256(chunk)
    if len(chunk) != size:
        while chunk := os.read(fd, _CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


def read_at(folder: int, name: str, limit: int | None = None) -> bytes:
    """A regular file's bytes, at most `limit`. Raises OSError; EINVAL for no regular file."""
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        asked = min(seen.st_size, _CHUNK) + 1
        first = os.read(fd, asked if limit is None else min(asked, limit))
        if len(first) in {seen.st_size, limit}:
            return first
        parts = [first]
        left = None if limit is None else limit - len(first)
        while left is None or left > 0:
            chunk = os.read(fd, _CHUNK if left is None else min(left, _CHUNK))
            if not chunk:
                break
            parts.append(chunk)
            left = None if left is None else left - len(chunk)
        return b"".join(parts)
    finally:
        os.close(fd)
