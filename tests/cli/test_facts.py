"""`memui recover --facts`: what a stale write took is shown, asked for and merged in again."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.store import open_store
from tests.cli.conftest import Call

OLD = '---\ndescription: "Tea"\n---\n\n- Green tea.\n'
NEW = OLD + "- No sugar.\n"
STALE = OLD + "- With milk.\n"


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A store in which an agent wrote from a stale read after an edit."""
    from engine.documents import digest

    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text(OLD)
    store = open_store(str(folder))
    store.edit("tea.md", NEW.encode(), base=digest(OLD.encode()), who="tests")
    (folder / "tea.md").write_text(STALE)
    return str(folder)


def test_it_shows_the_difference_and_changes_nothing_without_a_yes(memui: Call, root: str) -> None:
    ended = memui(root, "recover", "--facts")
    assert ended.code == 2
    assert "gone: No sugar." in ended.out
    assert "+- No sugar." in ended.err
    assert (Path(root) / "tea.md").read_text() == STALE


def test_with_yes_the_facts_are_merged_in_and_the_undo_is_named(memui: Call, root: str) -> None:
    ended = memui(root, "recover", "--facts", "--yes", "--json")
    assert ended.code == 0
    assert ended.json["runs"] == []
    assert ended.json["facts"][0]["facts"] == ["No sugar."]
    assert ended.json["repaired"]
    assert (Path(root) / "tea.md").read_text() == STALE + "- No sugar.\n"
    assert memui(root, "undo", "--yes").code == 0
    assert (Path(root) / "tea.md").read_text() == STALE


def test_every_later_write_and_the_doctor_say_that_facts_are_gone(memui: Call, root: str) -> None:
    ended = memui(root, "add", "--text", "Likes trains.")
    assert "1 fact is no longer live" in ended.err
    assert "recover --facts" in ended.err
    problems = memui(root, "doctor", "--json").json["problems"]
    assert [p["path"] for p in problems if p["code"] == "overwritten"] == ["tea.md"]


def test_where_nothing_was_overwritten_it_says_so(memui: Call, root: str) -> None:
    (Path(root) / "tea.md").write_text(NEW)
    ended = memui(root, "recover", "--facts")
    assert (ended.code, "Nothing that a run wrote was overwritten." in ended.err) == (0, True)
