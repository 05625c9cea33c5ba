"""The review by lines: the same verbs as the screen, through a pipe."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from engine.consolidation import propose
from engine.planner.file import FilePlanner
from engine.store import open_store
from memui.cli import run
from tests.memui.reviews import FILES, plan_json, under_review

EVIL = "x\x1b]52;c;AAAA\x07\u202e"


@pytest.fixture
def root(tmp_path: Path) -> str:
    return under_review(tmp_path)[0]


def says(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *lines: str
) -> str:
    """What `review --plain` prints for these lines."""
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert run([root, "review", "--plain"]) == 0
    return capsys.readouterr().out


def test_it_names_the_action_its_standing_and_what_it_loses(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "d", "l", "f", "q")
    assert "Action 1 of 5: merge facts/editor.md + facts/setup.md" in out
    assert "drops 1" in out
    assert "Dropped, facts/setup.md line 6: Spell checking is on." in out
    assert "Every verdict is saved." in out


def test_verdicts_are_on_disk_at_once_and_the_end_of_input_is_a_quit(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "r it loses spelling", "a")
    assert "Action 1 is rejected." in out
    assert "Action 2 is approved." in out
    again = says(root, monkeypatch, capsys, "s")
    assert "1 approved, 1 rejected" in again
    assert "Action 3 of 5" in again


def test_an_apply_names_its_files_and_wants_the_word_yes(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(root)
    before = store.snapshot().files
    out = says(root, monkeypatch, capsys, "2", "a", "P", "y", "q")
    assert "facts/backup-old.md vanishes" in out
    assert "Nothing was changed." in out
    assert store.snapshot().files == before
    out = says(root, monkeypatch, capsys, "P", "yes")
    assert "removed facts/backup-old.md" in out
    assert "undo 1 --yes" in out
    assert "facts/backup-old.md" not in store.snapshot().files


def test_a_block_is_left_and_taken_again_and_lossless_ones_are_approved_together(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "3", "b 1", "b 1", "b 9", "A", "u", "v", "?", "zzz")
    assert "Block 1 is left." in out
    assert "in part" in out
    assert "Block 1 is taken." in out
    assert "say b and one of them" in out
    assert "lossless actions" in out
    assert "tokens a turn" in out
    assert "zzz is no word here" in out


def test_what_is_stale_cannot_be_approved_and_says_why(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(root) / "knowledge" / "facts/deploy.md").write_text("# Theirs\n")
    out = says(root, monkeypatch, capsys, "3", "a", "q")
    assert "facts/deploy.md is not as the plan saw it" in out


def test_no_escape_of_a_plan_reaches_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, store = under_review(tmp_path)
    for name in store.plans():
        store.drop_plan(name)
    update = {
        "action": "update",
        "path": "facts/deploy.md",
        "content": FILES["facts/deploy.md"] + f"- {EVIL}\n",
        "reason": EVIL,
    }
    saved = propose(store, FilePlanner(plan_json([update], EVIL)), one_call=False)
    assert saved is not None
    store.save_plan(saved.id, saved.dump())
    out = says(root, monkeypatch, capsys, "d", "f", "l", "s", "v")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\x07" not in out
