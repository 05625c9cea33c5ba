"""The apply dialog as a specification: small terminals, many files, folds, exact commands."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from engine.consolidation import decide, examine
from engine.plans import open_plan, write_review
from engine.proposal import Proposal
from engine.store import Store, open_store
from memui.cli import run
from memui.presentation.applying import Intent, intent, intent_page
from memui.screens.dialogs import Confirm
from memui.screens.session import Session
from memui.widgets.fold_view import FoldView
from memui.widgets.page_view import Facts
from tests.memui.driving import drive, file_of, press, settle, shown
from tests.memui.reviews import (
    DELETE,
    FILES,
    MERGE,
    MOVE,
    Action,
    app_on,
    memory,
    put,
    screen_of,
    text_of,
    tree,
    under_review,
)
from tests.memui.test_review_apply import approve, dialog_of, lines_of


def folds(pilot: Pilot[int]) -> FoldView:
    """The lines of the dialog."""
    return dialog_of(pilot).query_one(FoldView)


def is_in_view(pilot: Pilot[int]) -> bool:
    """Whether every button that the dialog shows is on the terminal."""
    size = pilot.app.size
    buttons = [b for b in dialog_of(pilot).query(Button) if b.display]
    return all(
        b.region.height == 1 and b.region.bottom < size.height and b.region.right < size.width
        for b in buttons
    )


def dropping(number: int) -> tuple[dict[str, str], list[Action]]:
    """So many memories with two facts, and a plan that drops one of each."""
    files = {
        f"facts/n{n:04}.md": memory(f"Note {n}", f"Keep {n}.", f"Lose {n}.") for n in range(number)
    }
    plan: list[Action] = [
        {
            "action": "update",
            "path": path,
            "content": memory(f"Note {n}", f"Keep {n}."),
            "reason": "",
        }
        for n, path in enumerate(files)
    ]
    return files, plan


def all_approved(folder: Path, plan: Sequence[Action], files: dict[str, str]) -> tuple[str, Store]:
    """A store whose plan is approved whole."""
    root, store = under_review(folder, plan, files)
    opened = open_plan(store, None)
    proposal = decide(examine(store, opened.saved), approve="all")
    write_review(store, opened, proposal.saved)
    return root, store


def test_losses_are_one_line_an_action_and_open_by_right_and_fold_by_left(tmp_path: Path) -> None:
    files, plan = dropping(3)
    root, _ = all_approved(tmp_path, plan, files)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "P")
        assert "3 actions drop statements" in lines_of(pilot)
        assert "▸ update facts/n0001.md  drops 1  action 2" in lines_of(pilot)
        assert "Lose" not in lines_of(pilot)
        await press(pilot, "down", "right")
        assert "✗ Lose 1.  facts/n0001.md:6" in lines_of(pilot)
        assert "Lose 0" not in lines_of(pilot)
        assert "▾ update facts/n0001.md" in lines_of(pilot)
        await press(pilot, "left")
        assert "Lose" not in lines_of(pilot)
        focused = pilot.app.focused
        assert focused is not None
        assert focused.id == "back"

    drive(app_on(root), script)


def test_enter_opens_a_fold_where_the_lines_have_the_focus(tmp_path: Path) -> None:
    files, plan = dropping(2)
    root, store = all_approved(tmp_path, plan, files)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "P")
        folds(pilot).focus()
        await press(pilot, "enter")
        assert "✗ Lose 0.  facts/n0000.md:6" in lines_of(pilot)
        await press(pilot, "enter")
        assert "Lose" not in lines_of(pilot)
        assert store.runs() == ()

    drive(app_on(root), script)


def test_a_click_opens_a_fold(tmp_path: Path) -> None:
    files, plan = dropping(2)
    root, _ = all_approved(tmp_path, plan, files)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "P")
        row = folds(pilot).page.blocks[1].start
        await pilot.click(FoldView, offset=(10, row))
        await settle(pilot)
        assert "✗ Lose 1.  facts/n0001.md:6" in lines_of(pilot)

    drive(app_on(root), script)


def test_where_nothing_is_lost_right_goes_to_the_other_button(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, DELETE)
        assert "no statement dropped" in lines_of(pilot)
        await press(pilot, "right")
        focused = pilot.app.focused
        assert focused is not None
        assert focused.id == "do"
        await press(pilot, "left")
        assert pilot.app.focused is not focused

    drive(app_on(root), script)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 50)])
def test_with_a_thousand_files_everything_is_reached_and_the_buttons_stay(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    files, plan = dropping(1000)
    root, store = all_approved(tmp_path, plan, files)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "P")
        assert "1000 files: 1000 written, 0 vanish" in shown(pilot)
        assert is_in_view(pilot)
        await press(pilot, "end")
        assert "facts/n0999.md" in shown(pilot)
        assert is_in_view(pilot)
        await press(pilot, "home", "y")
        assert dialog_of(pilot).phase == "done"
        assert "1000 actions were applied." in shown(pilot)
        assert is_in_view(pilot)
        assert "undo 1 --yes" in " ".join(shown(pilot).split())
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, Confirm)
        assert "facts/n0000.md" in shown(pilot)
        await press(pilot, "end")
        assert "facts/n0999.md" in shown(pilot)
        await press(pilot, "y")
        assert "Run 1 is taken back, as run 2" in shown(pilot)
        assert is_in_view(pilot)

    drive(app_on(root), script, size)
    assert {f: store.read(f).decode() for f in files} == files


def test_a_page_of_a_thousand_losses_makes_only_the_lines_that_are_looked_at(
    tmp_path: Path,
) -> None:
    files, plan = dropping(1000)
    _, store = all_approved(tmp_path, plan, files)
    found = intent(examine(store, open_plan(store, None).saved))
    page = intent_page(found, frozenset(range(1000)))
    assert len(page.blocks) == 1000
    assert all(len(block) == 2 for block in page.blocks)
    assert page.lines[page.blocks[999].stop - 1].plain == "Lose 999.  facts/n0999.md:6"


def test_on_a_low_terminal_what_is_promised_scrolls_with_the_lines(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE)
        kept = dialog_of(pilot).query_one("#apply-kept", Facts)
        assert "undo last --yes" not in lines_of(pilot)
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        assert kept.display is False
        assert store.place.state in lines_of(pilot)
        assert "undo last --yes" in lines_of(pilot)
        assert is_in_view(pilot)

    drive(app_on(root), script, (120, 40))


def test_the_listing_that_the_agent_reads_is_counted_before_and_after(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    proposal = examine(store, open_plan(store, None).saved)
    before, after = proposal.listing, proposal.listing_if(frozenset({DELETE}))

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, DELETE)
        said = f"The agent reads {before.tokens} → {after.tokens} tokens a turn"
        assert said in lines_of(pilot)
        assert f"{len(FILES)} → {len(FILES) - 1} memories" in lines_of(pilot)

    drive(app_on(root), script)


def test_an_undo_that_is_not_confirmed_takes_nothing_back(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE)
        await press(pilot, "y")
        after = tree(root)
        await press(pilot, "u", "escape")
        assert dialog_of(pilot).phase == "done"
        assert "Nothing was changed." in shown(pilot)
        assert tree(root) == after
        assert len(store.runs()) == 1

    drive(app_on(root), script)


def test_a_file_that_changed_after_the_apply_is_asked_about_before_it_is_taken_back(
    tmp_path: Path,
) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MOVE, DELETE)
        await press(pilot, "y")
        file_of(root, "projects/bug.md").write_text("# Newer\n", encoding="utf-8")
        await press(pilot, "u")
        assert "1 file changed since: choose for each." in shown(pilot)
        await press(pilot, "s", "U", "y")
        assert "Run 1 is taken back, as run 2" in shown(pilot)
        assert "kept         projects/bug.md" in lines_of(pilot)

    drive(app_on(root), script)
    assert file_of(root, "projects/bug.md").read_text(encoding="utf-8") == "# Newer\n"


@pytest.mark.parametrize("layout", [None, "folder"])
def test_the_undo_command_that_is_shown_does_it(tmp_path: Path, layout: str | None) -> None:
    from engine.paths import Layout

    root, _ = under_review(tmp_path)
    chosen = None if layout is None else Layout(layout)
    store = open_store(root, layout=chosen)
    path = next(iter(store.snapshot().files))
    before = store.read(path)
    outcome = store.describe(path, "Something else", who="me")
    session = Session(store, "me")
    words = shlex.split(session.undo_command(outcome.run))
    assert session.names_store
    assert words[0] == "memui"
    assert ("--layout" in words) is (layout is not None)
    assert run(words[1:]) == 0
    assert store.read(path) == before


def test_a_run_is_called_by_its_id_only_where_two_have_its_number(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    outcome = store.describe("facts/bug.md", "Something else", who="me")
    assert store.called(outcome.run) == "1"
    runs = os.path.join(store.place.state, "runs")
    os.mkdir(os.path.join(runs, "1-ffffffff"))
    assert store.called(outcome.run) == outcome.run
    assert root


def test_the_page_says_which_actions_need_one_that_does_not_run(tmp_path: Path) -> None:
    from tests.memui.reviews import NEEDS

    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, NEEDS)
        assert "needs action 3, which does not run" in lines_of(pilot)
        put(pilot, NEEDS)
        assert text_of(folds(pilot).page).count("drops") >= 1

    drive(app_on(root), script)


def test_who_goes_back_before_it_is_worked_out_is_not_asked_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)
    go_on = threading.Event()

    def slow(proposal: Proposal) -> Intent:
        go_on.wait(20)
        return intent(proposal)

    monkeypatch.setattr("memui.screens.apply_dialog.intent", slow)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        await pilot.press("P", "y", "escape")
        go_on.set()
        await settle(pilot)
        assert pilot.app.screen is screen_of(pilot)
        assert store.runs() == ()

    drive(app_on(root), script)
