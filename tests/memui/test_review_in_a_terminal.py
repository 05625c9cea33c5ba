"""A whole review in a real terminal, with real keys; afterwards every memory is as it was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from engine.paths import CHANGELOG
from memui.demo import PLAN, build
from tests.memui.terminals import ROOT, terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def memories(root: str) -> dict[str, tuple[bytes, int]]:
    """Every memory's bytes and mode, by path."""
    folder = Path(root) / "memory"
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(folder.rglob("*.md"))
        if path.name != CHANGELOG
    }


def runs(root: str) -> list[Any]:
    """What `memui log` says, as another process reads it."""
    ran = subprocess.run(
        [sys.executable, "-m", "memui", root, "log", "--json"],
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    found: list[Any] = json.loads(ran.stdout)["runs"]
    return found


def test_what_is_reviewed_and_applied_in_a_terminal_is_taken_back_byte_for_byte(
    tmp_path: Path,
) -> None:
    root = build(str(tmp_path))
    before = memories(root)
    with terminal(tmp_path, root, "review", str(tmp_path / PLAN)) as term:
        shown = term.until("8 to decide")
        assert "U+200B" in shown  # what hides in the riskiest action is named, and it is first
        assert "▸ledger" in term.press("l", until="New 1  no memory of this change says it")
        term.press("l", until="▸diff")
        assert "✓ approved  8" in term.press("a", until="1 approved")
        term.press("R", until="Why reject action 3?")
        term.press("it is the only note on the VPN", until="on the VPN")
        term.press("Enter", until="✗ rejected  3")
        term.press("A", until="Approved 2 lossless actions. 4 actions need a look.")
        assert "4 to decide · 3 approved · 1 rejected" in term.screen()
        assert memories(root) == before
        term.press("P", until="Apply 3 approved actions?")
        assert "no statement dropped" in term.screen()
        term.press("y", until="Applied as run 1")
        assert "wrote" in term.screen()
        now = memories(root)
        written = {path for path in now if now[path] != before.get(path)}
        assert {path.partition("/")[2] for path in written} == {
            "facts/test-command.md",
            "projects/invoice-bug.md",
        }
        assert {path.partition("/")[2] for path in before.keys() - now.keys()} == {
            "facts/backup-note.md",
            "facts/invoice-bug.md",
        }
        term.press("u", until="Take back run 1")
        term.press("y", until="is taken back, as run 2")
        shown = term.press("Escape", until="7 to decide · 0 approved · 1 rejected")
        assert "✗ rejected  3" in shown
        term.press("q", until="exit 0")
    assert memories(root) == before
    apply, undo = runs(root)
    assert (apply["kind"], undo["kind"], undo["undoes"]) == ("apply", "undo", apply["run"])
    said = {done["action"]: (done["verdict"], done["reason"]) for done in apply["actions"]}
    assert said[3] == ("rejected", "it is the only note on the VPN")
    assert sorted(n for n, (verdict, _) in said.items() if verdict == "approved") == [2, 6, 8]


@pytest.mark.parametrize("end", ["SIGTERM", "SIGHUP"])
def test_a_text_in_the_editor_outlives_the_program_and_the_terminal(
    tmp_path: Path, end: str
) -> None:
    root = build(str(tmp_path))
    with terminal(tmp_path, root, "review", str(tmp_path / PLAN)) as term:
        term.until("8 to decide")
        term.press("e", until="esc leave")
        term.press("typed", until="changed")
        if end == "SIGTERM":
            os.kill(term.program(), signal.SIGTERM)
            said = term.until("exit 143")
            assert "Your text was not saved. It is kept in " in " ".join(said.split())
        else:
            term.do("kill-session")
            for _ in range(300):  # nothing is left that could say that it is done
                if any(path.stat().st_size for path in tmp_path.glob("memui-rescue-*/*")):
                    break
                time.sleep(0.1)
    (kept,) = tmp_path.glob("memui-rescue-*/test-command.md")
    assert kept.read_text(encoding="utf-8").startswith("typed---\n")
