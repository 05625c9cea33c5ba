"""A real terminal for tests: the program in tmux, driven by keys and read from its screen."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Terminal:
    """memui in a tmux of its own, 80 by 24."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ("tmux", "-L", f"memui-{os.getpid()}", "-f", os.devnull)
        self._env = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
        self._env.pop("TMUX", None)

    def do(self, *words: str, check: bool = True) -> str:
        """One command of tmux; what it printed."""
        ran = subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, check=check, env=self._env
        )
        return ran.stdout

    def start(self, *words: str) -> None:
        """Start the program; below what it leaves on the screen stands its exit code."""
        command = shlex.join([sys.executable, "-m", "memui", *words])
        self.do("new-session", "-d", "-x", "80", "-y", "24", f"{command}; echo exit $?; sleep 60")

    def screen(self) -> str:
        """What stands on the screen."""
        return self.do("capture-pane", "-p")

    def until(self, said: str) -> str:
        """The screen once it says something; the wait is bounded, not timed."""
        for _ in range(300):
            shown = self.screen()
            if said in shown:
                return shown
            time.sleep(0.1)
        raise AssertionError(f"{said!r} never came:\n{self.screen()}")

    def program(self) -> int:
        """The process of the program: the child of the shell that runs in the terminal."""
        shell = self.do("display-message", "-p", "#{pane_pid}").strip()
        ran = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True)
        return int(ran.stdout)

    def press(self, *keys: str, until: str) -> str:
        """Press keys; the screen once it says something."""
        self.do("send-keys", *keys)
        return self.until(until)


@contextmanager
def terminal(folder: Path, *words: str) -> Iterator[Terminal]:
    """The program in a terminal, its temporary files in a folder; gone at the end."""
    made = Terminal(folder)
    made.start(*words)
    try:
        yield made
    finally:
        made.do("kill-server", check=False)
