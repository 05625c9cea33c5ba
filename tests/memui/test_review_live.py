"""What changes on disk while a plan is under review: what is said, what stays, what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from engine.plans import open_plan, write_review
from engine.proposal import Standing
from engine.review import Verdict
from engine.store import Store, open_store
from memui.app import Memui
from memui.screens.apply_dialog import ApplyDialog
from memui.screens.dialogs import Asked
from memui.screens.live import Woken
from memui.widgets.action_list import ActionList
from memui.widgets.page_view import PageView
from tests.memui.driving import drive, file_of, is_on, press, settle, shown, write
from tests.memui.reviews import (
    DELETE,
    MERGE,
    MOVE,
    NEEDS,
    UPDATE,
    app_on,
    decision,
    opened_by_another,
    proposal_of,
    put,
    screen_of,
    text_of,
    tree,
    under_review,
)

PATIENCE = 600
"""Moments after which a test gives up."""


async def wake(pilot: Pilot[int]) -> None:
    """What the watch does when something changed, without waiting for it."""
    screen_of(pilot).post_message(Woken())
    await settle(pilot)


def others_verdict(store: Store, index: int, verdict: Verdict) -> None:
    """Another reviewer decides."""
    opened = opened_by_another(store)
    review = opened.saved.review.decide(index, verdict, seen="x")
    write_review(store, opened, opened.saved.reviewed(review))


def test_an_approval_whose_file_changes_is_to_decide_again_and_the_notice_names_it(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        file_of(root, "facts/setup.md").write_text("Another writer was here.\n")
        await wake(pilot)
        assert proposal_of(pilot).standing(MERGE) is Standing.STALE
        assert proposal_of(pilot).verdict(MERGE) is Verdict.PENDING
        text = " ".join(shown(pilot).split())
        assert "facts/setup.md changed on disk: action 1 is to decide again." in text
        assert decision(store, MERGE).verdict is Verdict.APPROVED  # it holds again if the file does

    drive(app_on(root), script, (120, 40))


def test_what_was_undecided_is_out_of_date_and_may_come_back(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)
    file = file_of(root, "facts/deploy.md")
    before = file.read_bytes()

    async def script(pilot: Pilot[int]) -> None:
        file.unlink()
        await wake(pilot)
        assert "facts/deploy.md was deleted: action 3 is out of date; f plans again." in shown(
            pilot
        )
        file.write_bytes(before)
        await wake(pilot)
        assert "Action 3 can be decided on again" in shown(pilot)

    drive(app_on(root), script, (120, 40))


def test_a_memory_on_which_a_fact_would_live_on_is_told_when_it_goes(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, DELETE)
        file_of(root, "facts/backup.md").write_text("Nothing of the kind.\n")
        await wake(pilot)
        text = " ".join(shown(pilot).split())
        assert "facts/backup.md changed on disk: action 2 would drop 2 statements more." in text

    drive(app_on(root), script, (120, 40))


def test_what_touches_no_action_is_read_and_not_told(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        file_of(root, "facts/other.md").write_text("Nobody asked.\n")
        await wake(pilot)
        assert "facts/other.md" in proposal_of(pilot).snapshot
        assert not screen_of(pilot).query_one("#notice").display

    drive(app_on(root), script)


def test_cursor_view_focus_and_scroll_stay_when_the_store_is_read_anew(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "l", "enter", "down", "down")
        page = screen_of(pilot).query_one("#review-page", PageView)
        assert page.has_focus
        at = page.scroll_offset
        file_of(root, "facts/setup.md").write_text("Another writer was here.\n")
        await wake(pilot)
        assert screen_of(pilot).query_one(ActionList).index == UPDATE
        assert page.has_focus
        assert page.scroll_offset == at
        assert text_of(page.page).strip()
        assert screen_of(pilot).query_one(ActionList).index == UPDATE

    drive(app_on(root), script)


def test_a_reason_that_is_being_typed_is_not_lost_and_goes_to_its_action(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MOVE)
        await press(pilot, "R")
        await write(pilot, "not ")
        file_of(root, "facts/setup.md").write_text("Another writer was here.\n")
        await wake(pilot)
        assert is_on(pilot, Asked)
        await write(pilot, "yet")
        await press(pilot, "enter")
        assert decision(store, MOVE).verdict is Verdict.REJECTED
        assert decision(store, MOVE).reason == "not yet"

    drive(app_on(root), script)


def test_the_apply_dialog_closes_its_question_before_y_when_an_approved_file_changes(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        for index in (MERGE, DELETE):
            put(pilot, index)
            await press(pilot, "a")
        await press(pilot, "P")
        file_of(root, "facts/setup.md").write_text("Another writer was here.\n")
        before = tree(root)
        await wake(pilot)
        text = shown(pilot)
        assert "What you were asked has changed" in text
        assert "facts/setup.md changed on disk" in text
        assert "Nothing was changed." in text
        await press(pilot, "y", "u")
        assert tree(root) == before
        assert store.runs() == ()
        await press(pilot, "escape", "P", "s", "y")  # asked anew, for what still holds
        await settle(pilot)
        assert len(store.runs()) == 1
        assert "facts/setup.md" in tree(root)

    drive(app_on(root), script)


def test_the_apply_dialog_stays_when_what_it_names_is_not_touched(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, DELETE)
        await press(pilot, "a", "P")
        file_of(root, "facts/backup.md").write_bytes(
            file_of(root, "facts/backup.md").read_bytes() + b"- And on Fridays.\n"
        )
        await wake(pilot)
        assert "Apply 1 approved action?" in shown(pilot)
        await press(pilot, "y")
        await settle(pilot)
        assert len(store.runs()) == 1  # with the carrier as it is now, not as it was

    drive(app_on(root), script)


def test_what_a_run_writes_is_not_told_as_somebody_elses(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, DELETE)
        await press(pilot, "a", "P", "y")
        await wake(pilot)
        assert is_on(pilot, ApplyDialog)
        await press(pilot, "escape")
        await wake(pilot)
        assert "on disk" not in shown(pilot)
        assert proposal_of(pilot).standing(DELETE) is Standing.APPLIED

    drive(app_on(root), script)


def test_verdicts_of_another_reviewer_are_shown_when_they_are_written(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        others_verdict(store, NEEDS, Verdict.REJECTED)
        await wake(pilot)
        assert proposal_of(pilot).verdict(NEEDS) is Verdict.REJECTED
        assert "Somebody else reviews this plan: their verdicts are shown." in shown(pilot)
        put(pilot, MOVE)
        await press(pilot, "a")  # and nothing of theirs is overwritten
        assert decision(store, NEEDS).verdict is Verdict.REJECTED

    drive(app_on(root), script)


def test_a_folder_that_is_deleted_meanwhile_is_said_and_comes_back(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)
    folder, away = Path(root) / "knowledge", tmp_path / "away"

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, DELETE)
        await press(pilot, "a", "P")
        folder.rename(away)
        await wake(pilot)
        text = " ".join(shown(pilot).split())
        assert "is not there any more" in text
        assert "Nothing was changed" in text
        await press(pilot, "y", "escape")
        assert "is not there any more" in " ".join(shown(pilot).split())
        shutil.move(away, folder)
        await wake(pilot)
        assert proposal_of(pilot).verdict(DELETE) is Verdict.APPROVED

    drive(app_on(root), script)


@pytest.mark.parametrize("mode", ["review", "browse and back"])
def test_the_screen_notices_by_itself(tmp_path: Path, mode: str) -> None:
    root, store = under_review(tmp_path)
    app = Memui(root, opened=open_plan(open_store(root), None), watches=True)

    async def until(pilot: Pilot[int], said: str) -> None:
        for _ in range(PATIENCE):
            if said in " ".join(shown(pilot).split()):
                return
            await pilot.pause(0.05)
        raise AssertionError(shown(pilot))

    async def script(pilot: Pilot[int]) -> None:
        if mode != "review":
            await press(pilot, "1", "2")
        put(pilot, MERGE)
        await press(pilot, "a")
        file_of(root, "facts/setup.md").write_text("Another writer was here.\n")
        await until(pilot, "facts/setup.md changed on disk: action 1 is to decide again.")
        others_verdict(store, NEEDS, Verdict.REJECTED)
        await until(pilot, "Somebody else reviews this plan")

    drive(app, script, (120, 40))
