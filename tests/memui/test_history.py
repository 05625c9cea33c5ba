"""History: every run, and taking it back."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from memui.app import Memui
from memui.screens.dialogs import Confirm, Told
from tests.memui.driving import drive, file_of, make_store, press, shown, store_of


def described(tmp_path: Path) -> str:
    """A store with two runs; its root."""
    root = make_store(tmp_path)
    store = store_of(root)
    store.describe("facts/coffee.md", "Drinks tea", who="ann@here")
    store.describe("projects/atlas.md", "Atlas is late", who="bob@there")
    return root


def test_the_newest_run_comes_first_with_what_it_did(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3")
        rows = shown(pilot).split("\n")
        assert "2 runs" in rows[0]
        assert "projects/atlas.md" in rows[1]
        assert "facts/coffee.md" in rows[2]
        assert "by bob@there" in shown(pilot)
        assert "undo 2 --yes" in shown(pilot)

    drive(Memui(described(tmp_path)), script)


def test_h_shows_the_runs_of_one_memory_and_esc_all_of_them(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "h")
        assert "only facts/coffee" in shown(pilot)
        assert "1 run" in shown(pilot)
        assert "atlas" not in shown(pilot)
        await press(pilot, "escape")
        assert "2 runs" in shown(pilot)

    drive(Memui(described(tmp_path)), script, (120, 40))


def test_a_memory_that_no_run_touched_says_so(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "j", "h")
        assert "No run touched facts/dark-mode.md." in shown(pilot)

    drive(Memui(described(tmp_path)), script)


def test_the_run_under_the_cursor_is_taken_back_and_the_undo_done_again(tmp_path: Path) -> None:
    root = described(tmp_path)
    coffee = file_of(root, "facts/coffee.md")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "j", "u")
        assert isinstance(pilot.app.screen, Confirm)
        assert "Take back run 1?" in shown(pilot)
        await press(pilot, "y")
        assert "Drinks flat whites" in coffee.read_text()
        assert "undone by 3" in shown(pilot)
        await press(pilot, "g", "u")
        assert "Do run 1 again?" in shown(pilot)
        await press(pilot, "y")
        assert "Drinks tea" in coffee.read_text()

    drive(Memui(root), script)


def test_a_run_that_is_undone_is_not_undone_twice(tmp_path: Path) -> None:
    root = described(tmp_path)
    store_of(root).undo("1", who="me")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "G", "u")
        assert not isinstance(pilot.app.screen, Confirm)
        assert "Run 1 is undone already, by run 3" in shown(pilot)

    drive(Memui(root), script)


def test_a_conflict_names_every_file_and_touches_none(tmp_path: Path) -> None:
    root = described(tmp_path)
    file_of(root, "facts/coffee.md").write_text("# Newer\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "G", "u", "y")
        assert isinstance(pilot.app.screen, Told)
        assert "facts/coffee.md" in shown(pilot)
        await press(pilot, "escape")
        assert "was not taken back" in shown(pilot)

    drive(Memui(root), script)
    assert file_of(root, "facts/coffee.md").read_text() == "# Newer\n"


def test_the_changelog_is_shown_as_it_lies_on_disk(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "c")
        assert "# Consolidation Changelog" in shown(pilot)
        await press(pilot, "c")
        assert "Run 2" in shown(pilot)

    drive(Memui(described(tmp_path)), script)


def test_an_empty_history_says_what_will_stand_there(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3")
        assert "Nothing was done yet." in shown(pilot)
        await press(pilot, "c")
        assert "Nothing is written in it yet." in shown(pilot)
        await press(pilot, "u")
        assert "There is no run to take back." in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)
