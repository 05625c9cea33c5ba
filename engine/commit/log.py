"""Appending a run's entry to the changelog: the last step, which never fails a run."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from typing import Final

from engine.changelog import with_entry
from engine.commit.files import Files, is_file, seen, taken
from engine.commit.giving import Spot, give_back
from engine.commit.stage import attributes_of, new_attributes
from engine.documents import digest
from engine.journal import LogState, Run
from engine.layouts import Place
from engine.storage.tree import FILE, Found, Tree, read_at

_TRIES: Final = 50


def append_entry(place: Place, files: Files, state: Tree, run: Run) -> LogState:
    """Append a run's entry once, by exchange, retried while others append too.

    What cannot be written now (read-only, a folder, a link, no space) is tried again at the next
    opening for writing.
    """
    folder, name = os.path.split(place.changelog)
    try:
        with Tree(folder) as tree:
            log = _Log(place, files, (tree.fd, name), state, run)
            log.settle()
            for _ in range(_TRIES):
                if log.append():
                    log.note()
                    return "written"
    except OSError:
        return "pending"
    return "pending"


def shed_logs(place: Place, files: Files, state: Tree, runs: Iterable[Run]) -> None:
    """Remove the displaced logs of settled runs that the live log begins with.

    Every run displaces the log that it appends to; kept for ever they would grow with the square of
    the runs. One that somebody wrote to through an old descriptor says more, and stays.
    """
    folder, name = os.path.split(place.changelog)
    with Tree(folder) as tree:
        live = read_at(tree.fd, name)
    for run in runs:
        hold = state.folder(f"runs/{run.id}/hold")
        spot = (hold, f"{place.state_prefix}changelog")
        if seen(*spot).kind == FILE and live.startswith(read_at(*spot)):
            files.unlink(*spot)
        state.forget(f"runs/{run.id}")  # there may be more of them than open files


class _Log:
    """The changelog while one entry is appended to it."""

    def __init__(self, place: Place, files: Files, live: Spot, state: Tree, run: Run) -> None:
        self._files = files
        self._live = live
        self._entry = run.entry
        self._prefix = place.state_prefix
        self._folder = state.folder(f"runs/{run.id}")
        self._conflicts = state.folder(f"runs/{run.id}/conflicts")
        hold = state.folder(f"runs/{run.id}/hold")
        self._hold: Spot = (hold, f"{self._prefix}changelog")
        self._aside: Spot = (hold, taken(self._hold[1]))
        self._new: Spot = (hold, f"{self._hold[1]}.new")

    def note(self) -> None:
        """Remember that the entry is written."""
        with contextlib.suppress(FileExistsError):
            self._files.create(self._folder, f"{self._prefix}logged", b"")

    def settle(self) -> None:
        """Give back what an earlier attempt captured and died with. Raises OSError."""
        live = seen(*self._live)
        for spot in (self._aside, self._hold):
            found = seen(*spot)
            if found.absent or self._is_ours(spot, found):
                continue
            if live.absent:
                self._keep(spot, found)
                with contextlib.suppress(FileExistsError):
                    self._files.place(*spot, *self._live)
            elif self._is_ours(self._live, live) and not self._follows(spot, found):
                if spot == self._aside:
                    self._files.rename(*spot, *self._hold)
                self._give_back(found, live.digest)
            else:
                self._keep(spot, found)
            live = seen(*self._live)

    def _is_ours(self, spot: Spot, found: Found) -> bool:
        """Whether a log is one that we made and nobody changed: it ends in the entry."""
        return found.kind == FILE and read_at(*spot).endswith(self._entry.encode())

    def _follows(self, spot: Spot, found: Found) -> bool:
        """Whether the live log is the captured one with the entry, so that nothing is missing."""
        return found.kind == FILE and read_at(*self._live).startswith(read_at(*spot))

    def append(self) -> bool:
        """Whether the log now holds the entry; False if somebody wrote in between."""
        for spot in (self._new, self._hold, self._aside):
            with contextlib.suppress(FileNotFoundError):
                self._files.unlink(*spot)
        there = seen(*self._live)
        if not there.absent:
            _refuse_unwritable(there)
        before = b"" if there.absent else read_at(*self._live)
        after = with_entry(before, self._entry)
        if after == before:
            self._files.flush(*self._live)
            self._files.flush_folder(self._live[0], self._live[1])
            return True
        self._files.create(*self._new, after)
        if there.stat is not None:
            self._files.dress(*self._new, attributes_of(there.stat), self._live)
        else:
            self._files.dress(*self._new, new_attributes(os.fstat(self._live[0])), None)
        self._files.flush(*self._new)
        self._files.rename(*self._new, *self._hold)  # whole, or not under this name
        try:
            captured = self._files.publish("", self._hold, self._live, replaces=not there.absent)
        except (FileExistsError, FileNotFoundError):
            self.settle()
            return False
        if there.absent or captured.digest == digest(before):
            self._files.flush_folder(self._live[0], self._live[1])
            return True
        self._give_back(captured, digest(after))
        return False

    def _give_back(self, captured: Found, ours: str | None) -> None:
        give_back(
            self._files,
            "",
            self._hold,
            self._live,
            captured,
            ours,
            lambda found: self._keep(self._hold, found),
        )
        self._files.flush_folder(self._live[0], self._live[1])

    def _keep(self, spot: Spot, found: Found) -> None:
        if found.kind == FILE and found.digest is not None:
            kept = f"{self._hold[1]}-{found.digest[:12]}"
            self._files.copy(*spot, self._conflicts, kept)


def _refuse_unwritable(there: Found) -> None:
    """A log that is no plain file, or that its owner closed, is left alone. Raises OSError."""
    if not is_file(there) or there.stat is None:
        raise OSError(errno.EINVAL, f"the changelog is a {there.kind}")
    if not stat.S_IMODE(there.stat.st_mode) & 0o222:
        raise OSError(errno.EACCES, "the changelog is read-only")
