"""The program in a real terminal, with real keys: from the demo to an undo."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.memui.terminals import terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_a_person_approves_rejects_applies_looks_and_takes_back(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo") as term:
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
