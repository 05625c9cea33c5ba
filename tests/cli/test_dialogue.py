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
    out = says(root, monkeypatch, capsys, "d", "l", "w", "q")
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
    assert "This would vanish (kept, so that undo brings it back):\n  facts/backup-old.md" in out
    assert "Nothing was changed." in out
    assert store.snapshot().files == before
    out = says(root, monkeypatch, capsys, "P", "yes")
    assert "removed facts/backup-old.md" in out
    assert "undo 1 --yes" in out
    assert "facts/backup-old.md" not in store.snapshot().files


def test_a_block_is_left_and_taken_again_and_lossless_ones_are_approved_together(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "3", "b 1", "b 1", "b 9", "A", "u", "g", "?", "zzz")
    assert "Block 1 is left." in out
    assert "in part" in out
    assert "Block 1 is taken." in out
    assert "This action has 1 block." in out
    assert "Approved what is lossless: 2, 5." in out
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
    out = says(root, monkeypatch, capsys, "d", "w", "l", "s", "g")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\x07" not in out


def test_the_whole_word_and_its_letter_do_the_same(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for word, letter in (
        ("show", ""), ("diff", "d"), ("ledger", "l"), ("result", "w"), ("agent", "g"),
        ("list", "s"), ("next", "n"), ("help", "?"),
    ):  # fmt: skip
        assert says(root, monkeypatch, capsys, word) == says(root, monkeypatch, capsys, letter)


def test_every_word_of_the_help_is_one(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "help")
    listed = [line.split("  ")[1] for line in out.split("\n") if line.startswith("  ")]
    words = [word.split()[0] for line in listed for word in line.split(", ")]
    assert len(words) > 30
    for word in words:
        if word not in {"enter", "quit", "q"}:
            assert "is no word here" not in says(root, monkeypatch, capsys, word), word


def test_no_line_of_a_diff_needs_its_neighbour_or_a_sign(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "3", "b 1", "d", "5", "d")
    assert "block 1, left: the file stays as it is here:\nadded: - Ask Priya first." in out
    assert "same: - Deploy on Thursday." in out
    assert "Blocks: 1; left: 1." in out
    assert "projects/bug.md: moved here, not a byte of it changes." in out


def test_every_step_is_taken_back_one_by_one(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tests.memui.reviews import UPDATE, decision

    store = open_store(root)
    file = tmp_path / "new.md"
    file.write_text(FILES["facts/deploy.md"] + "- Mine.\n")
    untouched = decision(store, UPDATE)
    steps = ["3", "a", "3", "b 1", f"edit {file}", "x", "r why"]
    says(root, monkeypatch, capsys, *steps)
    assert decision(store, UPDATE).reason == "why"
    out = says(root, monkeypatch, capsys, *steps, "u", "u", "u", "u", "u", "u")
    assert out.count("Taken back.") == 5 + 1  # the last is the verdict of the first time
    assert decision(store, UPDATE) == untouched


def test_an_edit_takes_a_file_where_there_is_no_editor_and_refuses_what_is_no_text(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tests.memui.reviews import UPDATE, decision

    file, odd = tmp_path / "new.md", tmp_path / "odd.md"
    file.write_text(FILES["facts/deploy.md"] + "- Mine.\n")
    odd.write_bytes(b"\xff")
    lines = ["3", "e", f"e {odd}", f"e {tmp_path}/none", f"e {file}", "w", "2", "e"]
    out = says(root, monkeypatch, capsys, *lines)
    assert "There is no terminal for an editor. Say edit FILE." in out
    assert "The text is not UTF-8. Nothing was changed." in out
    assert "none cannot be read: No such file or directory. Nothing was changed." in out
    assert "  - Mine." in out
    assert "A delete has no text to edit." in out
    assert decision(open_store(root), UPDATE).content == file.read_text()


def test_a_line_that_is_no_text_is_no_end_and_no_reason(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"r \xff\n\xfe\x1b[2J\na\n")))
    assert run([root, "review", "--plain"]) == 0
    out = capsys.readouterr().out
    assert "The reason is not UTF-8." in out
    assert "<byte FE>\u241b[2J is no word here." in out
    assert "Action 1 is approved." in out


def test_the_end_of_the_input_at_the_question_applies_nothing(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(root)
    before = store.snapshot().files
    assert "Nothing was changed." in says(root, monkeypatch, capsys, "2", "a", "P")
    assert store.snapshot().files == before
    assert not store.runs()


def test_after_an_apply_the_rest_can_be_gone_on_with(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = says(root, monkeypatch, capsys, "2", "a", "P", "yes", "2", "a", "5", "a", "P", "yes")
    assert "Action 2 is applied, in run 1." in out
    assert "2 applied" in out
    assert len(open_store(root).runs()) == 2


def test_what_somebody_else_said_meanwhile_is_named_and_read_again(
    root: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from engine.consolidation import decide, examine
    from engine.plans import open_plan, write_review

    class Typed:
        """Somebody else rejects action 2 before the second line is read."""

        def __init__(self, *lines: str) -> None:
            self._lines = iter(lines)
            self._read = 0

        def isatty(self) -> bool:
            return False

        def readline(self) -> str:
            self._read += 1
            if self._read == 2:
                store = open_store(root)
                opened = open_plan(store, None)
                said = decide(examine(store, opened.saved), reject=[1])
                write_review(store, opened, said.saved)
            return next(self._lines, "")

    monkeypatch.setattr("sys.stdin", Typed("d\n", "a\n", ".\n", "a\n", "q\n"))
    assert run([root, "review", "--plain"]) == 0
    out = capsys.readouterr().out
    assert "was changed since it was read." in out
    assert "Read again: 5 actions, 4 to decide, 1 rejected." in out
    assert "5 actions, 3 to decide, 1 approved, 1 rejected." in out
