"""Versions: which two states are compared, and that a verdict is about the first alone."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from engine import decisions
from engine.changes import Edit
from engine.consolidation import examine
from engine.plans import open_plan
from engine.proposal import Proposal
from engine.review import Verdict
from engine.store import Store
from engine.versions import forgotten, versions
from tests.memui.driving import drive, file_of, press, settle, shown
from tests.memui.reviews import (
    DELETE,
    EDITOR,
    FILES,
    MERGE,
    MOVE,
    UPDATE,
    app_on,
    decision,
    page_text,
    put,
    screen_of,
    under_review,
)

DEPLOY = FILES["facts/deploy.md"]


def examined(store: Store, before: Proposal | None = None) -> Proposal:
    return examine(store, open_plan(store, None).saved, before)


def titles(proposal: Proposal, index: int) -> list[str]:
    return [version.title for version in versions(proposal, index)]


def test_an_action_that_nobody_touched_has_one_version_which_is_what_runs(tmp_path: Path) -> None:
    _, store = under_review(tmp_path)
    proposal = examined(store)
    for index in (MERGE, DELETE, UPDATE, MOVE):
        (only,) = versions(proposal, index)
        assert only.title == "as it is → result"
        assert only.edits == proposal.changes[index].edits


def test_an_edited_action_is_compared_with_the_planners(tmp_path: Path) -> None:
    _, store = under_review(tmp_path)
    proposal = examined(store)
    proposal = proposal.reviewed(decisions.edit(proposal, MERGE, EDITOR + "- More.\n"))
    assert titles(proposal, MERGE) == ["as it is → result", "planner's → yours"]
    assert versions(proposal, MERGE)[1].edits == (
        Edit("facts/editor.md", EDITOR.encode(), f"{EDITOR}- More.\n".encode()),
    )


def test_a_block_that_is_left_makes_a_result_of_yours(tmp_path: Path) -> None:
    _, store = under_review(tmp_path)
    proposal = examined(store)
    review, taken = decisions.block(proposal, UPDATE, 0)
    assert not taken
    (edit,) = versions(proposal.reviewed(review), UPDATE)[1].edits
    assert edit.after == DEPLOY.encode()


def test_what_another_writer_changed_is_compared_with_what_the_plan_saw(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    before = examined(store)
    file_of(root, "facts/deploy.md").write_text(f"{DEPLOY}- New.\n", encoding="utf-8")
    proposal = examined(store, before)
    assert titles(proposal, UPDATE) == [
        "on disk → proposal",
        "as the plan saw it → on disk",
        "as the plan saw it → proposal",
    ]
    _, drift, then = versions(proposal, UPDATE)
    assert drift.edits == (Edit("facts/deploy.md", DEPLOY.encode(), f"{DEPLOY}- New.\n".encode()),)
    assert then.edits == before.changes[UPDATE].edits


def test_a_file_that_was_deleted_or_made_meanwhile_has_one_empty_side(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    before = examined(store)
    file_of(root, "facts/deploy.md").unlink()
    made = file_of(root, "projects/bug.md")
    made.parent.mkdir()
    made.write_text("other\n", encoding="utf-8")
    proposal = examined(store, before)
    assert versions(proposal, UPDATE)[1].edits == (Edit("facts/deploy.md", DEPLOY.encode(), None),)
    assert versions(proposal, MOVE)[1].edits == (Edit("projects/bug.md", None, b"other\n"),)


def test_bytes_that_nobody_kept_are_never_made_up(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    file_of(root, "facts/deploy.md").write_text(f"{DEPLOY}- New.\n", encoding="utf-8")
    proposal = examined(store)
    assert titles(proposal, UPDATE) == ["on disk → proposal"]
    assert forgotten(proposal, UPDATE) == ("facts/deploy.md",)


def test_v_turns_the_versions_of_an_edited_action_and_names_them(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    proposal = examined(store)
    opened = open_plan(store, None)
    edited = proposal.saved.reviewed(decisions.edit(proposal, MERGE, EDITOR + "- More.\n"))
    store.save_plan(opened.name, edited.dump())

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await settle(pilot)
        first = page_text(pilot)
        assert "planner's → yours" not in shown(pilot)
        await press(pilot, "v")
        assert "1 planner's → yours" in shown(pilot)
        assert "Compared: planner's → yours. 2 of 2; v goes on." in shown(pilot)
        assert "+ - More." in page_text(pilot)
        assert "facts/setup.md" not in page_text(pilot)
        await press(pilot, "v")
        assert page_text(pilot) == first
        await press(pilot, "v")
        put(pilot, UPDATE)
        await settle(pilot)
        assert "planner's → yours" not in shown(pilot)  # another action begins at its own first

    drive(app_on(root), script)


def test_v_shows_what_changed_on_disk_while_one_looks(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        file_of(root, "facts/deploy.md").write_text(f"{DEPLOY}- New.\n", encoding="utf-8")
        await press(pilot, "full_stop")
        assert "- - New." in page_text(pilot)
        await press(pilot, "v")
        assert "3 as the plan saw it → on disk" in shown(pilot)
        assert "+ - New." in page_text(pilot)
        await press(pilot, "v")
        assert "3 as the plan saw it → proposal" in shown(pilot)
        assert "- New." not in page_text(pilot)

    drive(app_on(root), script)


def test_v_says_so_where_there_is_one_version_or_none_was_kept(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)
    file_of(root, "facts/deploy.md").write_text(f"{DEPLOY}- New.\n", encoding="utf-8")

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, DELETE)
        await press(pilot, "v")
        assert "There is only one version: as it is → result." in shown(pilot)
        put(pilot, UPDATE)
        await press(pilot, "v")
        said = " ".join(shown(pilot).split())
        assert "What the plan saw of facts/deploy.md is not kept." in said

    drive(app_on(root), script)


def test_blocks_are_taken_only_where_a_verdict_is_about_them(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "space", "v", "space")
        assert decision(store, UPDATE).left == (0,)
        assert "v turns the versions" in " ".join(shown(pilot).split())
        await press(pilot, "v", "space")
        assert decision(store, UPDATE).left == ()

    drive(app_on(root), script)


def test_views_and_verdicts_work_on_a_version_as_on_the_first(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "space", "l", "v")
        assert "planner's → yours" in shown(pilot)  # from the ledger back to a diff
        await press(pilot, "t")
        assert "▸prose" in shown(pilot)
        assert "planner's → yours" in shown(pilot)
        await press(pilot, "t", "t")
        assert "planner's → yours" not in "\n".join(shown(pilot).split("\n")[:-2])
        put(pilot, UPDATE)
        await press(pilot, "r")
        assert decision(store, UPDATE).verdict is Verdict.REJECTED

    drive(app_on(root), script)


def test_a_version_is_drawn_side_by_side_where_there_is_room(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "space", "v", "t")
        assert "▸side by side" in shown(pilot) or "▸diff" in shown(pilot)
        assert "planner's → yours" in shown(pilot)
        assert screen_of(pilot).query_one("#review-page").size.width > 150

    drive(app_on(root), script, (240, 50))
