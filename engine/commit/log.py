"""Appending a run's entry to the changelog: the last step, which never fails a run."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Final

from engine.changelog import with_entry
from engine.commit.files import Files, is_file
from engine.documents import digest
from engine.journal import LogState, Run
from engine.layouts import Place
from engine.storage.tree import FILE, Tree, look_at, read_at

_TRIES: Final = 50
_HELD: Final = "changelog"


def append_entry(place: Place, files: Files, state: Tree, run: Run) -> LogState:
    """Append a run's entry once, by exchange, retried while others append too.

    What cannot be written now (read-only, a folder, a link, no space) is tried again at the next
    opening for writing.
    """
    folder, name = os.path.split(place.changelog)
    fd = state.folder(f"runs/{run.id}")
    prefix = place.state_prefix
    try:
        with Tree(folder) as tree:
            for attempt in range(_TRIES):
                if _attempt(files, tree.fd, name, state, run, f"{prefix}{_HELD}-{attempt}"):
                    files.create(fd, f"{prefix}logged", b"")
                    return "written"
    except FileExistsError:
        return "written"
    except OSError:
        return "pending"
    return "pending"


def _attempt(files: Files, fd: int, name: str, state: Tree, run: Run, held: str) -> bool:
    """Whether the log now holds the entry; False if somebody wrote in between."""
    hold = state.folder(f"runs/{run.id}/hold")
    with contextlib.suppress(FileNotFoundError):
        files.unlink(hold, held)
    there = look_at(fd, name)
    if not there.absent and not is_file(there):
        raise OSError(f"the changelog is a {there.kind}")
    before = b"" if there.absent else read_at(fd, name)
    after = with_entry(before, run.entry)
    if after == before:
        return True
    files.create(hold, held, after, 0o600)
    _dress(files, hold, held, fd, name, absent=there.absent)
    files.flush(hold, held)
    try:
        captured = files.publish("", (hold, held), (fd, name), replaces=not there.absent)
    except (FileExistsError, FileNotFoundError):
        return False
    if there.absent or captured.digest == digest(before):
        files.flush_folder(fd, name)
        return True
    if captured.kind == FILE and captured.digest is not None:
        conflicts = state.folder(f"runs/{run.id}/conflicts")
        files.copy(hold, held, conflicts, f"{held}-{captured.digest[:12]}")
    files.publish("", (hold, held), (fd, name), replaces=True)
    return False


def _dress(files: Files, hold: int, held: str, fd: int, name: str, *, absent: bool) -> None:
    from engine.commit.stage import _UMASK, attributes_of
    from engine.journal import Attributes

    if not absent:
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        files.dress(hold, held, attributes_of(found), (fd, name))
        return
    folder = os.fstat(fd)
    root = os.geteuid() == 0
    mode = 0o666 & ~_UMASK & stat.S_IMODE(folder.st_mode)
    uid, gid = (folder.st_uid, folder.st_gid) if root else (os.geteuid(), os.getegid())
    files.dress(hold, held, Attributes(mode, uid, gid), None)
