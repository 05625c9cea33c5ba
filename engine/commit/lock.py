"""Who may write: one lock a store, held while a run is recovered or driven and no longer."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from engine.errors import Holder, StoreLocked

_RETRY_SECONDS = 0.05


@contextlib.contextmanager
def locked(
    path: str, wait: float, waiting: Callable[[Holder | None], None] | None = None
) -> Iterator[None]:
    """Hold the lock file's `flock`. The file is never deleted; what it says is for messages only.

    `wait` is in seconds; `waiting` is called once with the holder before waiting. A file that a
    dead process left, or that somebody deleted meanwhile, never blocks: the inode is looked at
    again once the lock is held. Raises `StoreLocked`, OSError.
    """
    deadline = time.monotonic() + wait
    told = False
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _read(fd)
            os.close(fd)
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise
            if time.monotonic() >= deadline:
                raise StoreLocked(holder) from None
            if not told and waiting is not None:
                waiting(holder)
                told = True
            time.sleep(_RETRY_SECONDS)
            continue
        if _same(fd, path):
            break
        os.close(fd)
    try:
        _write(fd)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
        os.close(fd)


def _command() -> str:
    name = os.path.basename(sys.argv[0] or "python")
    return "memui" if name == "__main__.py" else name


def _same(fd: int, path: str) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(fd), there)


def _write(fd: int) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": _command(),
        "since": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    with contextlib.suppress(OSError):  # a full disk must not keep a run from being recovered
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(holder).encode(), 0)


def _read(fd: int) -> Holder | None:
    try:
        said = json.loads(os.pread(fd, 4096, 0))
        return Holder(int(said["pid"]), str(said["host"]), str(said["command"]), str(said["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
