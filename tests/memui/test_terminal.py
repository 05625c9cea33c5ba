"""The program in a real terminal, with real keys: from the demo to an undo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
ROOT = Path(__file__).parents[2]


class Terminal:
    """memui in a tmux of its own."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ("tmux", "-L", f"memui-{os.getpid()}", "-f", os.devnull)
        self._env = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
        self._env.pop("TMUX", None)

    def do(self, *words: str) -> str:
        ran = subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, check=True, env=self._env
        )
        return ran.stdout

    def start(self, *words: str) -> None:
        command = " ".join([sys.executable, "-m", "memui", *words])
        self.do("new-session", "-d", "-x", "80", "-y", "24", f"{command}; sleep 60")

    def screen(self) -> str:
        return self.do("capture-pane", "-p")

    def until(self, said: str) -> str:
        """The screen once it says something; the wait is bounded, not timed."""
        for _ in range(300):
            shown = self.screen()
            if said in shown:
                return shown
            time.sleep(0.1)
        raise AssertionError(f"{said!r} never came:\n{self.screen()}")

    def press(self, *keys: str, until: str) -> str:
        self.do("send-keys", *keys)
        return self.until(until)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    made = Terminal(tmp_path)

    def start(*words: str) -> Terminal:
        made.start(*words)
        return made

    yield start
    subprocess.run([*made._tmux, "kill-server"], check=False, capture_output=True)


def test_a_person_approves_rejects_applies_looks_and_takes_back(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    term = terminal("demo")
    term.until("8 to decide")
    term.press("r", until="1 rejected")
    term.press("A", until="2 approved")
    shown = term.press("P", until="Apply 2 approved actions?")
    assert "facts/backup-note.md" in shown
    term.press("Enter", until="Nothing was changed.")  # the safe button has the focus
    term.press("P", until="Apply 2 approved actions?")
    term.press("y", until="Applied as run 1")
    (folder,) = tmp_path.glob("memui-demo-*/.strands/memory/field-agent")
    assert not (folder / "facts/backup-note.md").exists()
    term.press("Enter", until="0 approved")
    term.press("3", until="1 written, 2 removed")
    term.press("u", until="Take back run 1?")
    term.press("y", until="undone by 2")
    assert (folder / "facts/backup-note.md").exists()
    assert not (folder / "projects/invoice-bug.md").exists()
    term.press("1", until="14 memories")
    term.press("/", until="esc all memories")
    term.press("priya", until="3 hits")
    term.press("Escape", until="/ search")
    term.press("q", until="The demo's store is still there")
