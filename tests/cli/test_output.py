"""`-o FILE`: what it never writes over, and that it writes a file whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.characters import hidden
from tests.cli.conftest import Call
from tests.cli.plans import FILES, HOSTILE, NET, delete, plan, update
from tests.conftest import Make, tree


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, memui's record too."""
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(params=["plan", "export"])
def words(request: pytest.FixtureRequest) -> list[str]:
    """Each command that has `-o`."""
    return [request.param]


def test_no_memory_no_record_and_nothing_beside_them_is_written(
    memui: Call, store: Make, tmp_path: Path, words: list[str]
) -> None:
    root = store(FILES)
    assert memui(root, "plan").code == 0
    (tmp_path / "link.md").symlink_to(root / "memory/agent/facts/net.md")
    (tmp_path / "folder").symlink_to(root / "memory/agent")
    (waiting,) = (root / ".memui" / "memory%2Fagent" / "plans").glob("*.json")
    before = everything(root)
    for file in (
        root / "memory/agent/facts/net.md",
        root / "memory/agent/new.md",
        root / "memory/agent/plan.json",
        root / "memory/agent/no/such/folder/plan.json",
        tmp_path / "link.md",
        tmp_path / "folder" / "x.html",
        waiting,
        root / ".memui" / "memory%2Fagent" / "lock",
        root / ".memui" / "x.html",
        root / "memory/agent",
    ):
        for more in ([], ["--force"]):
            ended = memui(root, *words, "-o", file, *more, "--json")
            assert ended.code == 2, file
            assert "Nothing was written." in ended.json["error"]["next"]
    assert everything(root) == before


def test_a_plan_for_notes_may_lie_beside_them_and_a_review_is_no_note(
    memui: Call, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text(NET)
    (notes / "b.md").write_text(NET)
    assert memui(notes, "plan", "-o", notes / "plan.json").code == 0
    assert memui(notes, "export", notes / "plan.json", "-o", notes / "review.html").code == 0
    ended = memui(notes, "export", notes / "plan.json", "-o", notes / "Review.MD")
    assert (ended.code, "among the memories" in ended.err) == (2, True)


def test_another_store_of_the_same_root_is_no_place_either(memui: Call, store: Make) -> None:
    root = store(FILES)
    other = root / "memory" / "other" / "facts"
    other.mkdir(parents=True)
    (other / "x.md").write_text("x\n")
    ended = memui(root, "plan", "--store", "agent", "-o", other / "p.json")
    assert (ended.code, "among the memories" in ended.err) == (2, True)


def test_a_file_that_memui_did_not_make_is_written_over_with_force_only(
    memui: Call, store: Make, tmp_path: Path, words: list[str]
) -> None:
    root, file = store(FILES), tmp_path / "mine.html"
    memui(root, "plan")
    file.write_text("mine\n")
    ended = memui(root, *words, "-o", file, "--json")
    assert ended.code == 2
    assert "is there already" in ended.json["error"]["message"]
    assert "--force" in ended.json["error"]["next"]
    assert file.read_text() == "mine\n"
    assert memui(root, *words, "-o", file, "--force").code == 0
    assert file.read_text() != "mine\n"


@pytest.mark.parametrize("ending", ["md", "html", "patch", "json"])
def test_an_export_is_written_again_over_itself_and_never_over_a_plan(
    memui: Call, store: Make, tmp_path: Path, ending: str
) -> None:
    root, file, saved = store(FILES), tmp_path / f"r.{ending}", tmp_path / "p.json"
    memui(root, "plan", "-o", saved)
    for _ in range(2):
        assert memui(root, "export", saved, "-o", file).code == 0
    assert memui(root, "export", saved, "--format", ending, "-o", saved).code == 2
    assert memui(root, "plan", "-o", file).code == 2


def test_a_plan_is_written_over_as_long_as_nobody_reviewed_it(
    memui: Call, store: Make, tmp_path: Path
) -> None:
    root, saved = store(FILES), tmp_path / "p.json"
    for _ in range(2):
        assert memui(root, "plan", "-o", saved).code == 0
    memui(root, "apply", saved, "--reject", "1")
    kept = saved.read_bytes()
    ended = memui(root, "plan", "-o", saved)
    assert (ended.code, "holds a plan with a review" in ended.err) == (2, True)
    assert saved.read_bytes() == kept
    bare = tmp_path / "bare.json"
    bare.write_text(plan(delete("facts/copy.md")))
    assert memui(root, "plan", "-o", bare).code == 2


def test_a_device_a_fifo_and_a_missing_folder_are_named_and_left_alone(
    memui: Call, store: Make, tmp_path: Path, words: list[str]
) -> None:
    root, pipe = store(FILES), tmp_path / "pipe"
    memui(root, "plan")
    os.mkfifo(pipe)
    for file in (pipe, "/dev/null"):
        ended = memui(root, *words, "-o", file)
        assert (ended.code, "no regular file" in ended.err) == (2, True)
    assert Path("/dev/null").is_char_device()
    ended = memui(root, *words, "-o", tmp_path / "no" / "such" / "x.json")
    assert (ended.code, "No such file or directory" in ended.err) == (1, True)


def test_a_dash_prints_and_writes_no_file_of_that_name(
    store: Make, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    from memui.cli import run

    root = store(FILES)
    os.chdir(tmp_path)
    before = tree(root)
    assert run([str(root), "plan", "-o", "-"]) == 0
    printed = json.loads(capfdbinary.readouterr().out)
    assert printed["format"] == "memui-plan"
    assert not (root / ".memui").exists()
    Path("p.json").write_text(json.dumps(printed))
    assert run([str(root), "export", "p.json", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"# Review of plan")
    assert run([str(root), "plan", "-o", "-", "--json"]) == 2
    assert not Path("-").exists()
    assert tree(root) == before


@pytest.mark.parametrize("ending", ["md", "html", "patch", "json"])
def test_no_export_sends_a_terminal_anything_but_text(
    terminal: Call, store: Make, tmp_path: Path, ending: str
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(update("facts/net.md", NET + f"- {HOSTILE}\n"), delete("facts/copy.md")))
    ended = terminal(root, "export", file, "--format", ending)
    assert ended.code == 0
    text = ended.out
    for code in ("0", "7"):
        text = text.replace(f"\x1b[{code}m", "")
    assert "\x1b" not in text
    assert not [found for found in hidden(text) if found.char not in "\n"]
