"""`gc`, `log PATH`, `show --at` and what `doctor` says of the record's size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import doctor as examination
from engine.store import open_store
from memui.cli import run
from tests.conftest import Make

KILN = '---\ndescription: "kiln"\n---\n\n# Kiln\n\n- Cone 6.\n'


@pytest.fixture
def root(store: Make, tmp_path: Path) -> Path:
    """A store whose memory was edited three times."""
    root = store({"facts/kiln.md": KILN})
    for cone in (7, 8, 9):
        file = tmp_path / "new.md"
        file.write_text(KILN.replace("6", str(cone)))
        assert run(["-C", str(root), "edit", "facts/kiln.md", "--from", str(file)]) == 0
    return root


@pytest.fixture
def memui(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_gc_needs_yes_where_nobody_can_be_asked(memui: Any, root: Path) -> None:
    code, out, err = memui(root, "gc", "--keep-days", 0, "--keep-runs", 1)
    assert (code, out) == (2, "")
    assert "2 runs (1 to 2)" in err
    assert "--yes" in err
    code, out, _ = memui(root, "gc", "--keep-days", 0, "--keep-runs", 1, "--json")
    assert code == 2
    assert json.loads(out)["error"]["unchanged"] is True
    assert len(open_store(str(root)).runs()) == 3


def test_a_dry_run_removes_nothing_and_says_the_same(memui: Any, root: Path) -> None:
    words = ("gc", "--keep-days", 0, "--keep-runs", 1, "--json")
    code, out, _ = memui(root, *words, "--dry-run")
    dry = json.loads(out)
    assert (code, dry["result"], dry["runs"]) == (0, "collected", 2)
    assert len(open_store(str(root)).runs()) == 3
    code, out, _ = memui(root, *words, "--yes")
    done = json.loads(out)
    assert code == 0
    assert (done["runs"], done["objects"], done["bytes"]) == (2, dry["objects"], dry["bytes"])
    assert done["kept"]["runs"] == 1
    assert done["found"] == []
    assert sorted(done) == ["bytes", "dry_run", "found", "kept", "objects", "result", "runs"]
    code, out, _ = memui(root, *words, "--yes")
    assert json.loads(out)["result"] == "nothing"


def test_log_and_undo_say_what_was_collected(memui: Any, root: Path) -> None:
    memui(root, "gc", "--keep-days", 0, "--keep-runs", 1, "--yes")
    code, _, err = memui(root, "undo", "2", "--yes")
    assert code == 1
    assert "was collected on 20" in err
    _, out, err = memui(root, "log")
    assert "Runs 1 to 2 were collected on 20" in err
    assert "edit" in out
    code, out, _ = memui(root, "log", "--json")
    assert [list(json.loads(out)), len(json.loads(out)["runs"])] == [["runs"], 1]


@pytest.mark.parametrize("words", [["--keep-days", "-1"], ["--keep-runs", "9999999999"]])
def test_a_limit_that_is_none_is_refused(memui: Any, root: Path, words: list[str]) -> None:
    code, _, err = memui(root, "gc", *words, "--yes")
    assert code == 2
    assert "1,000,000" in err


def test_the_defaults_remove_nothing_that_is_young(memui: Any, root: Path) -> None:
    assert json.loads(memui(root, "gc", "--yes", "--json")[1])["result"] == "nothing"


def test_log_of_a_path_tells_every_version_newest_first(memui: Any, root: Path) -> None:
    file = root / "memory" / "agent" / "facts" / "kiln.md"
    file.write_text(KILN.replace("6", "\x1b[31m12"))
    _, out, err = memui(root, "log", "facts/kiln.md")
    lines = out.split("\n")[:-1]
    assert [line.split()[1] for line in lines[:4]] == ["agent", "you", "you", "you"]
    assert lines[0].endswith("as it is now; not looked at yet; its bytes are not kept")
    assert "between two looks" in err
    said = json.loads(memui(root, "log", "facts/kiln.md", "--json")[1])
    assert list(said) == ["path", "versions", "runs"]
    assert [v["run"] and v["run"].split("-")[0] for v in said["versions"]] == [
        None,
        "1",
        "2",
        "3",
        None,
    ]
    assert [r["kind"] for r in said["runs"]] == ["edit"] * 3


def test_log_of_no_memory_names_close_ones(memui: Any, root: Path) -> None:
    code, _, err = memui(root, "log", "facts/kil.md")
    assert code == 1
    assert "facts/kiln.md" in err


def test_show_at_prints_an_earlier_version(memui: Any, root: Path) -> None:
    assert memui(root, "show", "facts/kiln.md", "--at", "2", "--raw")[1] == KILN.replace("6", "8")
    said = json.loads(memui(root, "show", "facts/kiln.md", "--at", "1", "--json")[1])
    assert said["body"].endswith("- Cone 7.\n")
    assert said["version"]["by"] == "you"
    assert memui(root, "show", "facts/kiln.md", "--at", "77")[0] == 1


def test_doctor_ends_with_the_size_and_names_a_large_one(
    memui: Any, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = memui(root, "doctor")
    assert out.split("\n")[-2].startswith("memui's record: 3 runs, ")
    assert json.loads(memui(root, "doctor", "--json")[1]) == {"problems": []}
    monkeypatch.setattr(examination, "NOTABLE", 100)
    (problem,) = json.loads(memui(root, "doctor", "--json")[1])["problems"]
    assert problem["code"] == "large-record"
    assert "memui gc" in problem["message"]


def test_a_plan_kept_elsewhere_reads_as_changed_once_its_runs_are_collected(
    memui: Any, root: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "p.json"
    folder = root / "memory" / "agent" / "facts"
    (folder / "copy.md").write_bytes((folder / "kiln.md").read_bytes())
    assert memui(root, "plan", "-o", plan)[0] == 0
    assert memui(root, "apply", plan, "--approve", "all", "--yes")[0] == 0
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    memui(root, "gc", "--keep-days", 0, "--keep-runs", 0, "--yes")
    code, out, _ = memui(root, "check", plan)
    assert (code, "changed on disk" in out) == (4, True)
    assert memui(root, "apply", plan, "--approve", "all", "--yes")[0] == 4
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_the_offered_command_keeps_the_limits_that_were_given(memui: Any, root: Path) -> None:
    code, _, err = memui(root, "gc", "--keep-days", 0, "--keep-runs", 1)
    assert code == 2
    assert "gc --keep-days 0 --keep-runs 1 --yes" in err


def test_where_nothing_can_go_nobody_has_to_say_yes(memui: Any, root: Path) -> None:
    code, out, _ = memui(root, "gc")
    assert (code, "Nothing can go." in out) == (0, True)
    code, out, _ = memui(root, "gc", "--json")
    assert (code, json.loads(out)["result"]) == (0, "nothing")
