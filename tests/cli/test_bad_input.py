"""Every bad input: a clear message, the right exit code, nothing changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.plans import FILES, delete, plan, update
from tests.conftest import Make, tree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('{"actions": [], "actions": [], "summary": ""}', "stands twice"),
        ("[]", "object"),
        ('{"actions": [{"action": "zap"}], "summary": ""}', "zap"),
        ('{"format": "other"}', "memui-plan"),
        ('{"format": "memui-plan", "version": 2}', "version 2"),
    ],
)
def test_a_plan_that_is_none_is_refused_with_its_fault(
    memui: Call, store: Make, tmp_path: Path, text: str, said: str
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(text)
    before = tree(root)
    for words in (["check", file], ["apply", file, "--approve", "all", "--yes"]):
        ended = memui(root, *words, "--json")
        assert ended.code == 3
        assert said in ended.json["error"]["message"]
        assert ended.json["error"]["code"] == "invalid"
        assert said in memui(root, *words).err
    assert tree(root) == before


def test_every_violation_is_named_by_action_at_once(
    memui: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("ghost.md"), update("facts/net.md", ""), delete("facts/kiln.md")))
    checked = memui(root, "check", file, "--json")
    assert checked.code == 3
    assert [(v["action"], v["code"]) for v in checked.json["violations"]] == [
        (1, "unknown-path"),
        (2, "content-empty"),
    ]
    refused = memui(root, "apply", file, "--approve", "all", "--yes", "--json")
    assert (refused.code, refused.json["result"]) == (3, "invalid")
    valid = memui(root, "apply", file, "--approve", "3", "--yes", "--json")
    assert (valid.code, valid.json["deleted"]) == (0, ["facts/kiln.md"])


def test_a_plan_of_another_store_is_refused(memui: Call, store: Make, tmp_path: Path) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    other = tmp_path / "notes"
    other.mkdir()
    (other / "a.md").write_text("x\n")
    (other / "b.md").write_text("x\n")
    assert memui(other, "plan", "-o", file).code == 0
    ended = memui(root, "apply", file, "--approve", "all", "--yes", "--json")
    assert ended.code == 3
    assert "notes" in ended.json["error"]["message"]


def test_a_fifo_as_plan_or_memory_never_blocks(memui: Call, store: Make, tmp_path: Path) -> None:
    root = store(FILES)
    os.mkfifo(tmp_path / "pipe.json")
    os.mkfifo(root / "memory/agent/facts/pipe.md")
    assert memui(root, "check", tmp_path / "pipe.json", "--json").json["error"]["code"] == "io"
    listed = memui(root, "list", "--json").json
    assert listed["others"] == [{"path": "facts/pipe.md", "why": "device, socket or FIFO"}]
    assert memui(root, "show", "facts/pipe.md", "--json").code == 1


def test_a_file_is_no_store(memui: Call, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert memui("-C", tmp_path / "x", "list", "--json").json["error"]["code"] == "not-a-store"


def test_a_locked_store_names_its_holder_and_ends_with_6(memui: Call, store: Make) -> None:
    from engine.commit import open_for_writing
    from engine.store import open_store

    root = store(FILES)
    with open_for_writing(open_store(str(root)).place):
        ended = memui(root, "describe", "facts/net.md", "x", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (6, "locked")
    assert str(os.getpid()) in ended.json["error"]["message"]


def test_every_usage_error_says_what_to_do_next(
    memui: Call, store: Make, typed: Callable[[bytes], None]
) -> None:
    root = store(FILES)
    typed(b"")
    for words in (["add"], ["edit", "facts/net.md"], ["review"], ["describe", "facts/net.md"]):
        ended = memui(root, *words, "--json")
        assert ended.code == 2
        assert ended.json["error"]["next"]
