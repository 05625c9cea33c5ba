"""Signals while a run is driven: noted, and obeyed between two calls."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def deferred_signals() -> Iterator[Callable[[], None]]:
    """Signals that would kill the process are noted; `stop` raises for them between two calls.

    A stopped process would hold the lock for ever, so a stop waits too. Nothing is done outside
    the main thread, where Python delivers no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    noted: list[int] = []

    def note(number: int, _frame: Any) -> None:
        noted.append(number)

    # What is ignored (nohup, a job in the background) stays ignored; a handler that was not set
    # from Python could not be put back.
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP)
        if (handler := signal.getsignal(number)) not in {signal.SIG_IGN, None}
    }
    for number in before:
        signal.signal(number, note)

    def stop() -> None:
        if any(number != signal.SIGTSTP for number in noted):
            raise KeyboardInterrupt

    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(noted):
            if late != signal.SIGINT:
                os.kill(os.getpid(), late)
