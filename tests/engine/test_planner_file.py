"""The planner that reads a file: bare or saved, strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.consolidation import propose
from engine.documents import Snapshot
from engine.errors import InvalidPlan
from engine.paths import Layout
from engine.planner import Request
from engine.planner.file import FilePlanner
from engine.store import open_store

BARE = b'{"actions": [{"action": "delete", "path": "a.md", "reason": "r"}], "summary": "s"}'


def test_a_bare_and_a_saved_file_give_the_same_plan(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x\n")
    saved = propose(open_store(str(tmp_path)), FilePlanner(BARE), one_call=False)
    assert saved is not None
    assert saved.planner == "file"
    again = FilePlanner(saved.dump()).propose(Snapshot({}), Request(Layout.FOLDER))
    assert again == saved.plan


@pytest.mark.parametrize("data", [b"", b"[]", b'{"actions": [], "actions": []}'])
def test_what_is_no_plan_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidPlan):
        FilePlanner(data).propose(Snapshot({}), Request(Layout.FOLDER))


def test_a_saved_plan_that_was_altered_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x\n")
    saved = propose(open_store(str(tmp_path)), FilePlanner(BARE), one_call=False)
    assert saved is not None
    altered = saved.dump().replace(b'"a.md"', b'"b.md"')
    with pytest.raises(InvalidPlan, match="id"):
        FilePlanner(altered).propose(Snapshot({}), Request(Layout.FOLDER))
