"""A key keeps what an action drops."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from engine.review import Verdict
from memui.screens.keep_dialog import KeepDialog
from tests.memui.driving import drive, press, settle, shown
from tests.memui.reviews import (
    DELETE,
    EDITOR,
    FILES,
    MERGE,
    MOVE,
    NEEDS,
    app_on,
    decision,
    memory,
    on_disk,
    proposal_of,
    put,
    tree,
    under_review,
)

BELOW_WHAT_IT_STOOD_BELOW = EDITOR.replace("theme.\n", "theme.\n- Spell checking is on.\n")
LONG = memory("Rules", "Never force push.", "Ask first.", "[@click=app.quit]x[/] \x1b[31m now.")
CUT = {"action": "update", "path": "facts/rules.md", "content": memory("Rules", "Ask first."),
       "reason": "shorter"}  # fmt: skip


def test_the_one_statement_that_a_merge_drops_is_added_and_written(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a", "i")
        put(pilot, MERGE)
        await press(pilot, "i")
        assert "1 statement is added to the result" in shown(pilot)
        assert decision(store, MERGE).verdict is Verdict.PENDING
        assert decision(store, MERGE).content == BELOW_WHAT_IT_STOOD_BELOW
        assert not proposal_of(pilot).accounts[MERGE].dropped
        await press(pilot, "i")
        assert "This action drops nothing." in shown(pilot)
        await press(pilot, "u")
        assert decision(store, MERGE).content is None
        await press(pilot, "i", "a", "P", "y")
        await settle(pilot)

    drive(app_on(root), script)
    assert b"- Spell checking is on." in tree(root)["facts/editor.md"]


def test_of_several_a_list_asks_which_and_esc_keeps_none(tmp_path: Path) -> None:
    root, store = under_review(tmp_path, [CUT], {"facts/rules.md": LONG})

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        await press(pilot, "i")
        assert isinstance(pilot.app.screen, KeepDialog)
        assert "Never force push." in shown(pilot)
        assert "[@click=app.quit]x[/]" in shown(pilot)
        await press(pilot, "escape")
        assert on_disk(store) == before
        await press(pilot, "i", "enter")
        assert decision(store, 0).content == memory("Rules", "Ask first.", "Never force push.")
        await press(pilot, "u", "i", "a")
        content = decision(store, 0).content
        assert content is not None
        assert sorted(content.split("\n")) == sorted(LONG.split("\n"))

    drive(app_on(root), script, size=(60, 20))


def test_a_delete_and_a_move_say_why_nothing_can_be_kept(tmp_path: Path) -> None:
    files = {**FILES, "facts/window.md": memory("Windows", "Ask Priya first.", "Friday is off.")}
    root, store = under_review(tmp_path, files=files)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        put(pilot, NEEDS)
        await press(pilot, "i")
        assert "A delete has no result that could keep it." in shown(pilot)
        for index in (DELETE, MOVE):
            put(pilot, index)
            await press(pilot, "i")
            assert "This action drops nothing." in shown(pilot)
        assert on_disk(store) == before

    drive(app_on(root), script)
