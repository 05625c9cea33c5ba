"""The review screen as a specification: verdicts, what they are refused for, and where they are."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from engine.consolidation import examine
from engine.plans import write_review
from engine.proposal import Proposal, Standing
from engine.review import SavedPlan, Verdict, fingerprint
from engine.store import Store
from memui.app import Memui
from memui.screens import result_editing
from memui.screens import review as review_screen
from memui.screens.dialogs import Confirm
from memui.widgets.action_list import ActionList
from tests.memui.driving import drive, file_of, make_store, press, settle, shown, write
from tests.memui.reviews import (
    DELETE,
    FILES,
    MERGE,
    MOVE,
    NEEDS,
    UPDATE,
    app_on,
    apply_row,
    decision,
    memory,
    on_disk,
    opened_by_another,
    page_text,
    proposal_of,
    put,
    screen_of,
    under_review,
)


def test_every_verdict_is_in_the_plans_file_before_the_next_key(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        for index, key, verdict in (
            (MERGE, "a", Verdict.APPROVED),
            (MOVE, "r", Verdict.REJECTED),
            (MERGE, "a", Verdict.PENDING),
            (MERGE, "u", Verdict.APPROVED),
            (MOVE, "u", Verdict.PENDING),
            (MERGE, "u", Verdict.PENDING),
        ):
            put(pilot, index)
            await press(pilot, key)
            assert decision(store, index).verdict is verdict

    drive(app_on(root), script)


def test_a_verdict_goes_on_to_the_next_undecided_action_and_ends_at_the_last_row(
    tmp_path: Path,
) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        actions = screen_of(pilot).query_one(ActionList)
        seen = []
        for _ in FILES:
            if apply_row(pilot).has_focus:
                break
            seen.append(actions.index)
            await press(pilot, "r")
        assert sorted(i for i in seen if i is not None) == [MERGE, DELETE, UPDATE, NEEDS, MOVE]
        assert apply_row(pilot).has_focus
        assert "1 of" not in shown(pilot)
        assert proposal_of(pilot).counts().rejected == 5

    drive(app_on(root), script)


def test_a_reason_for_a_rejection_is_kept_and_shown(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "R")
        await write(pilot, "a r u")
        await press(pilot, "enter")
        assert decision(store, MERGE).verdict is Verdict.REJECTED
        assert decision(store, MERGE).reason == "a r u"
        put(pilot, MERGE)
        await settle(pilot)
        assert "you said: a r u" in shown(pilot)

    drive(app_on(root), script)


def test_the_last_verdict_is_taken_back_after_a_restart_too(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def decide(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        put(pilot, MOVE)
        await press(pilot, "r")

    async def take_back(pilot: Pilot[int]) -> None:
        await press(pilot, "u")
        assert screen_of(pilot).query_one(ActionList).index == MOVE
        assert decision(store, MOVE).verdict is Verdict.PENDING
        assert decision(store, MERGE).verdict is Verdict.APPROVED
        await press(pilot, "u", "u")
        assert decision(store, MERGE).verdict is Verdict.PENDING
        assert "no verdict to take back" in shown(pilot)

    drive(app_on(root), decide)
    drive(app_on(root), take_back)


def test_a_stale_action_names_its_file_and_cannot_be_approved(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    file = file_of(root, "facts/deploy.md")
    file.write_text(FILES["facts/deploy.md"] + "- The agent learned this.\n", encoding="utf-8")

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "a")
        assert proposal_of(pilot).standing(UPDATE) is Standing.STALE
        assert decision(store, UPDATE).verdict is Verdict.PENDING
        text = shown(pilot)
        assert "cannot be approved" in text
        assert "facts/deploy.md changed on disk" in text
        assert "The agent learned this." in page_text(pilot)  # the file as it is now
        await press(pilot, "r")
        assert decision(store, UPDATE).verdict is Verdict.REJECTED

    drive(app_on(root), script)


def test_an_approval_turns_to_pending_when_its_file_changes(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "a")
        assert proposal_of(pilot).verdict(UPDATE) is Verdict.APPROVED
        file_of(root, "facts/deploy.md").write_text("# other\n", encoding="utf-8")
        await press(pilot, "full_stop")
        assert proposal_of(pilot).verdict(UPDATE) is Verdict.PENDING
        assert "! changed" in shown(pilot)

    drive(app_on(root), script)


def test_an_action_that_breaks_a_rule_says_which_and_cannot_be_approved(tmp_path: Path) -> None:
    bad = {"action": "move", "from": "facts/bug.md", "to": "../bug.md", "reason": "out"}
    root, store = under_review(tmp_path, [bad])

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "a", "A")
        assert decision(store, 0).verdict is Verdict.PENDING
        assert "breaks a rule: " in shown(pilot)
        assert "! invalid" in shown(pilot)

    drive(app_on(root), script)


def test_a_delete_whose_carrier_is_rejected_counts_its_facts_as_dropped_and_is_not_lossless(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "a")
        put(pilot, NEEDS)
        await settle(pilot)
        assert "dropped 0" in shown(pilot)
        put(pilot, UPDATE)
        await press(pilot, "r")
        put(pilot, NEEDS)
        await settle(pilot)
        text = shown(pilot)
        assert "dropped 1" in text
        assert "drops 1" in text
        assert "needs action 3" in text
        assert "✗ dropped, unless action 3 is applied too" in page_text(pilot)
        await press(pilot, "A")
        assert decision(store, NEEDS).verdict is Verdict.PENDING
        put(pilot, NEEDS)
        await press(pilot, "a")  # a person may; the price is said
        assert "1 statement will be dropped" in shown(pilot)

    drive(app_on(root), script)


def test_only_what_is_lossless_is_approved_at_once_and_the_rest_is_counted(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "A")
        verdicts = [d.verdict for d in on_disk(store).review.decisions]
        assert [n for n, v in enumerate(verdicts) if v is Verdict.APPROVED] == [DELETE, MOVE]
        assert "Approved 2 lossless actions. 3 actions need a look." in shown(pilot)

    drive(app_on(root), script)


def test_a_key_within_a_moment_of_a_paste_gives_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)
    now = [100.0]
    monkeypatch.setattr(review_screen, "monotonic", lambda: now[0])

    async def script(pilot: Pilot[int]) -> None:
        pilot.app.post_message(events.Paste("a r A P"))
        await settle(pilot)
        before = on_disk(store).review
        for key in ("a", "r", "A", "u", "P", "R"):
            await press(pilot, key)
        assert on_disk(store).review == before
        assert pilot.app.screen is screen_of(pilot)
        now[0] += 2 * review_screen.PASTE_SECONDS
        await press(pilot, "a")
        assert on_disk(store).review != before

    drive(app_on(root), script)


def test_a_second_reviewers_verdicts_are_not_overwritten_but_loaded_on_request(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        theirs = opened_by_another(store)
        seen = fingerprint(proposal_of(pilot).changes[MOVE])
        review = theirs.saved.review.decide(MOVE, Verdict.REJECTED, seen=seen)
        write_review(store, theirs, theirs.saved.reviewed(review))
        put(pilot, MERGE)
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, Confirm)
        assert decision(store, MERGE).verdict is Verdict.PENDING
        await press(pilot, "enter")  # the safe button: nothing is loaded, nothing is lost
        assert decision(store, MOVE).verdict is Verdict.REJECTED
        await press(pilot, "a", "y")
        assert proposal_of(pilot).verdict(MOVE) is Verdict.REJECTED
        put(pilot, MERGE)
        await press(pilot, "a")
        assert decision(store, MERGE).verdict is Verdict.APPROVED
        assert decision(store, MOVE).verdict is Verdict.REJECTED

    drive(app_on(root), script)


def _edits(monkeypatch: pytest.MonkeyPatch, result: bytes) -> list[bytes]:
    given: list[bytes] = []

    def edit(before: bytes, _name: str, _asks: object) -> bytes:
        given.append(before)
        return result

    monkeypatch.setattr(result_editing, "edit_text", edit)
    monkeypatch.setattr(Memui, "suspend", lambda _: contextlib.nullcontext())
    return given


def test_an_edited_result_is_what_is_reviewed_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)
    text = memory("Which editor", "Neovim with a dark theme.", "Spell checking is on.")
    given = _edits(monkeypatch, text.encode())

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        put(pilot, MERGE)
        await press(pilot, "E")
        assert given == [FILES["facts/editor.md"].encode()]
        assert decision(store, MERGE).content == text
        assert decision(store, MERGE).verdict is Verdict.PENDING
        assert "edited" in proposal_of(pilot).flags(MERGE)
        assert "+ - Spell checking is on." in page_text(pilot)

    drive(app_on(root), script)


def test_an_edit_that_breaks_a_rule_is_kept_and_named_and_cannot_be_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)
    _edits(monkeypatch, b"\n \n")

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "E", "a")
        assert decision(store, MERGE).content == "\n \n"
        assert decision(store, MERGE).verdict is Verdict.PENDING
        assert proposal_of(pilot).standing(MERGE) is Standing.INVALID
        assert "breaks a rule: " in shown(pilot)
        _edits(monkeypatch, FILES["facts/editor.md"].encode())
        await press(pilot, "E", "a")
        assert decision(store, MERGE).content is None  # the planner's own text again
        assert decision(store, MERGE).verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_text_that_is_not_utf8_is_refused_and_kept_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)
    monkeypatch.setattr(result_editing, "rescue", lambda data, _name: f"RESCUE-{len(data)}")
    _edits(monkeypatch, b"caf\xe9")

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "E")
        assert decision(store, MERGE).content is None
        assert "RESCUE-4" in shown(pilot)

    drive(app_on(root), script)


def test_a_delete_or_a_move_has_no_text_to_edit(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        for index, verb in ((DELETE, "delete"), (MOVE, "move")):
            put(pilot, index)
            await press(pilot, "E")
            assert f"A {verb} has no text to edit." in shown(pilot)
        assert on_disk(store) == before

    drive(app_on(root), script)


def test_the_views_go_round_and_the_ledger_comes_and_goes(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await settle(pilot)
        diff = page_text(pilot)
        await press(pilot, "t")
        assert "• Spell checking is on." in page_text(pilot)
        await press(pilot, "t")
        assert "facts/editor.md  stays as it is" in page_text(pilot)
        assert "Four spaces for Python." in page_text(pilot)
        await press(pilot, "t")
        assert "Dropped 1" in page_text(pilot)
        assert "facts/setup.md:6" in page_text(pilot)
        await press(pilot, "t")
        assert "51 → 43 tokens a turn" in page_text(pilot)
        await press(pilot, "t")
        assert page_text(pilot) == diff
        await press(pilot, "T")
        assert "51 → 43 tokens a turn" in page_text(pilot)
        await press(pilot, "t")
        await press(pilot, "l")
        assert "Dropped 1" in page_text(pilot)
        await press(pilot, "l")
        assert page_text(pilot) == diff

    drive(app_on(root), script)


def test_a_store_without_a_waiting_plan_says_how_to_make_one(tmp_path: Path) -> None:
    root = make_store(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "2")
        assert "No plan is waiting" in shown(pilot)
        assert " plan" in shown(pilot)
        await press(pilot, "a", "r", "A", "u", "P", "e", "t", "l", "J", "right_square_bracket")
        assert not os.path.exists(os.path.join(root, ".memui"))

    drive(Memui(root), script)


def test_a_plan_with_nothing_to_do_says_so_in_the_planners_words(tmp_path: Path) -> None:
    root = make_store(tmp_path)
    plan = tmp_path / "plan.json"
    plan.write_text('{"actions": [], "summary": "All is well."}', encoding="utf-8")
    from engine.plans import open_plan
    from tests.memui.driving import store_of

    async def script(pilot: Pilot[int]) -> None:
        assert "The plan has nothing to do" in shown(pilot)
        assert "planner says: All is well." in shown(pilot)
        await press(pilot, "a", "P", "J")
        assert pilot.app.screen is screen_of(pilot)

    drive(Memui(root, opened=open_plan(store_of(root), str(plan))), script)


def test_a_plan_that_was_taken_away_is_not_written_again(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        store.drop_plan(store.plans()[0])
        await press(pilot, "a", "y")
        assert store.plans() == ()
        assert "No plan is waiting" in shown(pilot)

    drive(app_on(root), script)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 50)])
def test_rows_reason_ledger_and_diff_are_on_screen_at_every_size(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await settle(pilot)
        text = shown(pilot)
        for wanted in (
            "merge",
            "to decide",
            "drops 1",
            "planner says: Both are about the editor.",
            "kept ",
            "dropped 1",
            "facts/setup.md  vanishes",
            "Nothing is approved yet",
        ):
            assert wanted in text, wanted

    drive(app_on(root), script, size)


def test_arrows_and_enter_alone_reach_the_apply_dialog(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "A")
        await press(pilot, *["down"] * 6)
        assert apply_row(pilot).has_focus
        assert "Vanish: " in page_text(pilot)  # what Enter would do
        await press(pilot, "up")
        assert not apply_row(pilot).has_focus
        await press(pilot, "down", "enter")
        assert pilot.app.screen is not screen_of(pilot)

    drive(app_on(root), script)


def test_no_segment_is_without_a_style_where_colour_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "right_square_bracket", "t", "t", "l")
        assert "to decide" in shown(pilot)
        strips = pilot.app.screen._compositor.render_strips()
        assert all(segment.style is not None for strip in strips for segment in strip)

    drive(app_on(root), script)


def test_verdicts_go_into_a_plan_file_that_was_named(tmp_path: Path) -> None:
    from engine.plans import open_plan, replace_file
    from engine.review import parse_saved_plan

    root, store = under_review(tmp_path)
    file = tmp_path / "plan.json"
    replace_file(str(file), on_disk(store).dump())

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "r")
        saved = parse_saved_plan(file.read_bytes())
        assert saved.review.decisions[MERGE].verdict is Verdict.REJECTED
        assert decision(store, MERGE).verdict is Verdict.PENDING  # not the waiting copy

    drive(Memui(root, opened=open_plan(store, str(file))), script)


def test_a_verdict_given_while_the_store_is_read_again_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)
    entered, go_on = threading.Event(), threading.Event()

    def slow(store: Store, saved: SavedPlan, before: Proposal | None) -> Proposal:
        proposal = examine(store, saved, before)
        entered.set()
        assert go_on.wait(30)
        return proposal

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        monkeypatch.setattr(review_screen, "examine", slow)
        await pilot.press("full_stop")
        assert await asyncio.to_thread(entered.wait, 30)
        await pilot.press("a")
        go_on.set()
        await settle(pilot)
        assert decision(store, MERGE).verdict is Verdict.APPROVED
        assert proposal_of(pilot).verdict(MERGE) is Verdict.APPROVED
        put(pilot, MOVE)
        await press(pilot, "r")  # nobody else reviews it: no conflict with oneself
        assert decision(store, MOVE).verdict is Verdict.REJECTED

    drive(app_on(root), script)
