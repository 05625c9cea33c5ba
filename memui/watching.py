"""Noticing that the files of a store changed, while somebody looks at them.

The system says so at once where it can (`watchfiles`). What it does not report (a network folder,
more folders than it watches, a library that is not there) is found by looking at names, sizes and
times every few seconds. This only wakes: what changed is found by reading the store again.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Final

from engine.storage.tree import Tree
from engine.storage.walk import Entry, walk

DEBOUNCE: Final = 300
"""Milliseconds in which changes that follow each other wake once."""
TURN: Final = 0.5
"""Seconds between two looks at what costs nothing."""
OFTEN: Final = 2.0
"""Seconds between two looks at all files, where the system reports nothing."""
SELDOM: Final = 15.0
"""Seconds between two looks at all files, where it does: it may not see all of them."""
_SHARE: Final = 30
"""A look may take one part in so many of the time."""

Look = tuple[object, str]
"""Which folder it is, and the digest of what a look at its files gives."""


class Watch:
    """Calls `wake` from a thread of its own when something changed, until it is stopped.

    `quick` is looked at every half second beside the folder: a change of its value wakes too.
    """

    def __init__(
        self, folder: str, wake: Callable[[], object], quick: Callable[[], object] = lambda: None
    ) -> None:
        self._folder = folder
        self._wake = wake
        self._quick = quick
        self._stop = threading.Event()
        self._next = 0.0
        self._every = SELDOM
        self._thread = threading.Thread(target=self._run, name="memui-watch", daemon=True)
        self._ready = threading.Event()

    def start(self) -> None:
        """Begin: what changes from now on wakes."""
        self._thread.start()

    def stop(self) -> None:
        """End. A look that is under way ends by itself, and wakes nobody."""
        self._stop.set()

    def is_over(self, seconds: float) -> bool:
        """Whether its thread has ended within so many seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def wait_until_ready(self, seconds: float) -> bool:
        """Whether the first look is over within so many seconds."""
        return self._ready.wait(seconds)

    def _run(self) -> None:
        quick, seen = self._quick(), self._look()
        while not self._stop.is_set():
            for number, said in enumerate(self._turns()):
                # The first look finds what changed before the system was asked to tell.
                due = said or not number or monotonic() >= self._next
                now = self._look() if due else seen
                self._ready.set()
                also = self._quick()
                if self._stop.is_set() or (now == seen and also == quick):
                    continue
                moved = now[0] != seen[0]
                quick, seen = also, now
                self._wake()
                if moved:
                    break  # another folder of that name, or none: what is watched is gone
            self._stop.wait(TURN)

    def _turns(self) -> Iterator[bool]:
        """Every moment anew, whether the system says that something changed."""
        self._every = SELDOM
        try:
            from watchfiles import watch

            turns = watch(
                self._folder,
                watch_filter=None,
                debounce=DEBOUNCE,
                step=100,
                stop_event=self._stop,
                rust_timeout=int(TURN * 1000),
                yield_on_timeout=True,
                raise_interrupt=False,
                debug=False,
                ignore_permission_denied=True,
            )
            for changes in turns:
                yield bool(changes)
        except (ImportError, OSError, RuntimeError):  # no library, no folder, too many to watch
            self._every = OFTEN
            self._next = min(self._next, monotonic() + OFTEN)
            while not self._stop.wait(TURN):
                yield False

    def _look(self) -> Look:
        began = monotonic()
        found = look(self._folder)
        now = monotonic()
        self._next = now + max(self._every, _SHARE * (now - began))
        return found


def look(folder: str) -> Look:
    """Names, sizes and times of the memories in a folder, as a value that differs if they do."""
    found = hashlib.blake2b(digest_size=16)
    try:
        with Tree(folder) as tree:
            for entry in walk(tree):
                if isinstance(entry, Entry):
                    seen = entry.stat
                    times = (seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns) if seen else ()
                    said = (entry.path, entry.size, entry.modified, entry.link, times)
                    found.update(repr(said).encode("ascii", "backslashreplace"))
            of = os.fstat(tree.fd)
            identity = of.st_dev, of.st_ino
    except OSError:
        return None, ""
    return identity, found.hexdigest()
