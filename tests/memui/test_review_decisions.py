"""Steps on the review screen: blocks, taking back, what the agent will see, going on later."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from engine.proposal import Standing
from engine.review import Verdict
from memui.widgets.action_list import ActionList
from tests.memui.driving import drive, file_of, press, settle, shown
from tests.memui.reviews import (
    DELETE,
    MOVE,
    UPDATE,
    app_on,
    decision,
    memory,
    on_disk,
    page_text,
    proposal_of,
    put,
    screen_of,
    tree,
    under_review,
)

OLD = memory("How we deploy", *(f"Step {n} of the deployment." for n in range(30)))
NEW = OLD.replace("Step 2 of", "Stage 2 of").replace("Step 25 of", "Stage 25 of")
TWO_BLOCKS = {"action": "update", "path": "facts/deploy.md", "content": NEW, "reason": "words"}


def test_a_block_that_is_left_is_not_written_and_the_rest_is(tmp_path: Path) -> None:
    root, store = under_review(tmp_path, [TWO_BLOCKS], {"facts/deploy.md": OLD})

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "a", "k", "right_square_bracket", "right_square_bracket", "space")
        assert decision(store, 0).left == (1,)
        assert decision(store, 0).verdict is Verdict.PENDING
        assert "Block 2 is left as the file has it." in shown(pilot)
        assert "in part" in shown(pilot)
        await press(pilot, "a", "P", "y")
        await settle(pilot)

    drive(app_on(root), script)
    wanted = OLD.replace("Step 2 of", "Stage 2 of")
    assert tree(root) == {"facts/deploy.md": wanted.encode()}


def test_a_block_is_taken_again_by_the_same_key_and_by_taking_back(tmp_path: Path) -> None:
    root, store = under_review(tmp_path, [TWO_BLOCKS], {"facts/deploy.md": OLD})

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "right_square_bracket", "space")
        assert decision(store, 0).left == (0,)
        await press(pilot, "space")
        assert decision(store, 0).left == ()
        await press(pilot, "u")
        assert decision(store, 0).left == (0,)
        await press(pilot, "u")
        assert decision(store, 0).left == ()

    drive(app_on(root), script)


def test_only_the_blocks_of_a_result_can_be_left_and_only_in_a_diff(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        for index, verb in ((DELETE, "delete"), (MOVE, "move")):
            put(pilot, index)
            await press(pilot, "space")
            assert f"A {verb} has no blocks" in shown(pilot)
        put(pilot, UPDATE)
        await press(pilot, "l", "space")
        assert "t turns the views" in shown(pilot)
        assert on_disk(store) == before

    drive(app_on(root), script)


def test_blocks_go_on_through_the_actions(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        actions = screen_of(pilot).query_one(ActionList)
        first = actions.index
        for _ in range(4):
            await press(pilot, "right_square_bracket")
        assert actions.index != first
        for _ in range(4):
            await press(pilot, "left_square_bracket")
        assert actions.index == first

    drive(app_on(root), script)


def test_all_lossless_approvals_are_taken_back_as_one_step(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "A", "u")
        assert {d.verdict for d in on_disk(store).review.decisions} == {Verdict.PENDING}

    drive(app_on(root), script)


def test_a_step_back_never_undoes_what_was_applied(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MOVE)
        await press(pilot, "a", "P", "y")
        await settle(pilot)
        await press(pilot, "escape")
        await settle(pilot)
        await press(pilot, "u")
        assert proposal_of(pilot).standing(MOVE) is Standing.APPLIED
        assert "no verdict to take back" in shown(pilot)

    drive(app_on(root), script)


def test_who_comes_back_is_at_the_first_action_that_wants_a_verdict(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)
    wanted: list[int | None] = []

    async def decide(pilot: Pilot[int]) -> None:
        await press(pilot, "a", "r")
        wanted.append(screen_of(pilot).query_one(ActionList).index)

    async def come_back(pilot: Pilot[int]) -> None:
        await settle(pilot)
        wanted.append(screen_of(pilot).query_one(ActionList).index)

    drive(app_on(root), decide)
    drive(app_on(root), come_back)
    assert wanted[0] == wanted[1] is not None


def test_the_agents_view_names_what_changes_each_turn_and_what_it_costs(tmp_path: Path) -> None:
    vague = TWO_BLOCKS | {"content": NEW.replace('"How we deploy"', '"notes"')}
    root, _ = under_review(tmp_path, [vague], {"facts/deploy.md": OLD})

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "T")
        text = page_text(pilot)
        assert " - facts/deploy.md: How we deploy" in text
        assert " + facts/deploy.md: notes" in text
        assert "! too vague to choose it by" in text
        assert "9 → 7 tokens a turn" in text

    drive(app_on(root), script)


def test_a_file_that_changes_keeps_what_was_said_of_the_others(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MOVE)
        await press(pilot, "a")
        file_of(root, "facts/deploy.md").write_text("# other\n", encoding="utf-8")
        await press(pilot, "full_stop")
        assert proposal_of(pilot).verdict(MOVE) is Verdict.APPROVED
        await press(pilot, "u")
        assert decision(store, MOVE).verdict is Verdict.PENDING

    drive(app_on(root), script)
