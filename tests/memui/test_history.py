"""History: every run, and taking it back."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from engine.consolidation import apply, decide, examine
from engine.plans import open_plan
from memui.app import Memui
from memui.screens.dialogs import Confirm
from memui.screens.reversing import ReversalScreen
from tests.memui.driving import drive, file_of, is_on, make_store, press, shown, store_of
from tests.memui.reviews import DELETE, MOVE, under_review


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


def test_what_changed_since_waits_for_a_choice_and_nothing_is_touched(tmp_path: Path) -> None:
    root = described(tmp_path)
    file_of(root, "facts/coffee.md").write_text("# Newer\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "G", "u")
        assert is_on(pilot, ReversalScreen)
        assert "facts/coffee.md" in shown(pilot)
        assert "1 file changed since: choose for each." in shown(pilot)
        await press(pilot, "U")
        assert "choose s, t or m first" in shown(pilot)
        await press(pilot, "escape")
        assert "Nothing was changed." in shown(pilot)

    drive(Memui(root), script)
    assert file_of(root, "facts/coffee.md").read_text() == "# Newer\n"


def test_the_earlier_version_is_taken_after_its_diff_was_shown(tmp_path: Path) -> None:
    root = described(tmp_path)
    file_of(root, "facts/coffee.md").write_text("# Newer\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "G", "u", "t")
        assert "All is chosen" in shown(pilot)
        assert "Drinks flat whites" in shown(pilot)
        await press(pilot, "U")
        assert "Take back 1 action?" in shown(pilot)
        await press(pilot, "y")
        assert "Run 1 is taken back, as run 3" in shown(pilot)

    drive(Memui(root), script)
    assert "Drinks flat whites" in file_of(root, "facts/coffee.md").read_text()


def test_what_came_since_stays_and_only_the_lines_of_the_run_go(tmp_path: Path) -> None:
    root = described(tmp_path)
    coffee = file_of(root, "facts/coffee.md")
    coffee.write_text(coffee.read_text() + "\nNever after four.\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "G", "u", "m", "U", "y")
        assert "Run 1 is taken back" in shown(pilot)

    drive(Memui(root), script)
    assert "Drinks flat whites" in coffee.read_text()
    assert "Never after four." in coffee.read_text()


def test_a_file_that_is_kept_stays_and_an_undo_of_nothing_is_refused(tmp_path: Path) -> None:
    root = described(tmp_path)
    file_of(root, "facts/coffee.md").write_text("# Newer\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "G", "u", "s", "U")
        assert "Nothing would be taken back." in shown(pilot)

    drive(Memui(root), script)
    assert file_of(root, "facts/coffee.md").read_text() == "# Newer\n"


def test_one_action_of_a_run_is_left_as_it_is(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    opened = open_plan(store, None)
    decided = decide(examine(store, opened.saved), approve=[DELETE, MOVE])
    apply(store, decided, who="me")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "U")
        assert is_on(pilot, ReversalScreen)
        assert "facts/backup-old.md" in shown(pilot)
        await press(pilot, "space")
        assert "left as it is" in shown(pilot)
        await press(pilot, "U")
        assert "Take back 1 action?" in shown(pilot)
        await press(pilot, "y")
        assert "in part taken back" in shown(pilot)

    drive(Memui(root), script)
    after = store.snapshot().files
    assert "facts/backup-old.md" not in after
    assert "facts/bug.md" in after


def test_one_memory_is_brought_back_from_before_a_run(tmp_path: Path) -> None:
    root = described(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "b")
        assert "h on a memory shows its runs" in shown(pilot)
        await press(pilot, "1", "h", "b")
        assert "Bring back the version from before run 1?" in shown(pilot)
        await press(pilot, "y")
        assert "is as it was before run 1, by run 3" in shown(pilot)

    drive(Memui(root), script)
    assert "Drinks flat whites" in file_of(root, "facts/coffee.md").read_text()


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
