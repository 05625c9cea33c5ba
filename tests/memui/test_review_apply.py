"""Applying from the screen as a specification: what is named, what runs, how it ends."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from engine.commit import Files, Opened
from engine.errors import StorageError, StoreLocked
from engine.review import Verdict
from engine.store import Store
from memui.screens.apply_dialog import ApplyDialog
from memui.screens.dialogs import Confirm
from memui.screens.history import HistoryScreen
from memui.screens.working import Working
from memui.widgets.page_view import Facts, PageView
from tests.memui.driving import drive, file_of, is_on, press, settle, shown
from tests.memui.reviews import (
    DELETE,
    FILES,
    MERGE,
    MOVE,
    NEEDS,
    UPDATE,
    app_on,
    decision,
    page_text,
    proposal_of,
    put,
    screen_of,
    text_of,
    tree,
    under_review,
)


def dialog_of(pilot: Pilot[int]) -> ApplyDialog:
    """The apply dialog, which is on top."""
    assert isinstance(pilot.app.screen, ApplyDialog)
    return pilot.app.screen


def lines_of(pilot: Pilot[int]) -> str:
    """Everything that the dialog lists, also what is scrolled away."""
    return text_of(dialog_of(pilot).query_one("#apply-lines", PageView).page)


async def approve(pilot: Pilot[int], *indexes: int) -> None:
    """Approve actions, and ask to apply them."""
    for index in indexes:
        put(pilot, index)
        await press(pilot, "a")
    await press(pilot, "P")


def test_the_dialog_names_every_file_and_loss_and_how_to_take_it_back(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE, DELETE, UPDATE, NEEDS, MOVE)
        lines = lines_of(pilot)
        assert lines.startswith("6 files: 2 written, 4 vanish · 1 statement dropped\n")
        written, _, vanish = lines.partition("Vanish: 4 files")
        assert "Written: 2 files" in written
        assert "projects/bug.md  moved  action 5" in written
        assert "facts/deploy.md" in written
        for path in ("setup", "backup-old", "window", "bug"):
            assert f"facts/{path}.md" in vanish
        assert "facts/setup.md  → facts/editor.md  action 1" in vanish
        assert "facts/backup-old.md  said in facts/backup.md  action 2" in vanish
        kept = text_of(dialog_of(pilot).query_one("#apply-kept", Facts).page)
        assert store.place.state in kept
        assert "undo last --yes" in kept

    drive(app_on(root), script, (160, 40))


def test_p_and_enter_go_back_and_change_nothing(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    before = tree(root)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE)
        focused = pilot.app.focused
        assert isinstance(focused, Button)
        assert focused.id == "back"
        await press(pilot, "enter")
        assert pilot.app.screen is screen_of(pilot)
        for key in ("escape", "n", "q"):
            await press(pilot, "P", "P", key)
            assert pilot.app.screen is screen_of(pilot)
        assert tree(root) == before
        assert store.runs() == ()

    drive(app_on(root), script)


def test_y_applies_exactly_what_is_approved_and_the_rows_say_so(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    before = tree(root)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MOVE)
        await press(pilot, "r")
        await approve(pilot, MERGE, DELETE)
        await press(pilot, "y")
        dialog = dialog_of(pilot)
        assert dialog.phase == "done"
        assert len(store.runs()) == 1
        lines = lines_of(pilot)
        for said in (
            "✓ checked that 2 files are what you saw",
            "✓ kept what they held",
            "✓ written 0, removed 2",
            "✓ recorded as run 1, and in the changelog",
            "2 actions were applied.",
            "removed facts/setup.md",
            "removed facts/backup-old.md",
            "Left alone: 2 to decide, 1 rejected.",
        ):
            assert said in lines, said
        assert "undo 1 --yes" in " ".join(shown(pilot).split())
        await press(pilot, "enter")
        after = dict(before)
        del after["facts/setup.md"], after["facts/backup-old.md"]
        assert tree(root) == after
        put(pilot, MERGE)
        await settle(pilot)
        assert "applied in run 1" in shown(pilot)
        await press(pilot, "a", "r", "e")
        assert proposal_of(pilot).counts().applied == 2
        assert decision(store, MERGE).verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_u_in_the_dialog_takes_the_run_back_and_its_verdicts_with_it(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    before = tree(root)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE, MOVE)
        await press(pilot, "y", "u")
        assert isinstance(pilot.app.screen, Confirm)
        assert "facts/setup.md" in shown(pilot)
        assert tree(root) != before
        await press(pilot, "y")
        assert "is taken back" in shown(pilot)
        assert tree(root) == before
        assert len(store.runs()) == 2
        await press(pilot, "escape")
        assert decision(store, MERGE).verdict is Verdict.PENDING
        assert decision(store, MOVE).verdict is Verdict.PENDING
        assert proposal_of(pilot).counts().undecided == 5

    drive(app_on(root), script)


def test_taking_the_undo_back_leaves_everything_applied(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE)
        await press(pilot, "y", "u", "y", "u", "y", "escape")
        assert "facts/setup.md" not in tree(root)
        assert len(store.runs()) == 3
        assert decision(store, MERGE).verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_a_file_that_changes_behind_the_dialog_stops_everything_and_is_named(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)
    learned = FILES["facts/setup.md"] + "- Learned meanwhile.\n"

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE, DELETE)
        file_of(root, "facts/setup.md").write_text(learned, encoding="utf-8")
        before = tree(root)
        await press(pilot, "y")
        assert dialog_of(pilot).phase == "failed"
        assert "facts/setup.md changed on disk" in lines_of(pilot)
        assert "Nothing was changed." in lines_of(pilot)
        assert tree(root) == before
        assert store.runs() == ()
        await press(pilot, "enter")
        put(pilot, MERGE)
        await settle(pilot)
        assert "! changed" in shown(pilot)

    drive(app_on(root), script)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (StoreLocked(None), "The store is in use."),
        (StorageError("facts/setup.md: no space left.", hint="Try again."), "no space left."),
    ],
)
def test_what_the_world_refuses_is_said_and_nothing_is_called_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, said: str
) -> None:
    root, _ = under_review(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(Opened, "transact", refuse)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE)
        await press(pilot, "y")
        assert dialog_of(pilot).phase == "failed"
        assert said in lines_of(pilot)
        assert "P tries again" in lines_of(pilot)
        assert "✓" not in lines_of(pilot)
        assert not dialog_of(pilot).query_one("#do", Button).display
        await press(pilot, "u", "y")
        assert dialog_of(pilot).phase == "failed"

    drive(app_on(root), script)


async def gone_stale(pilot: Pilot[int], root: str) -> None:
    """Approve two actions, have a file of the first change, and ask to apply them."""
    put(pilot, MERGE)
    await press(pilot, "a")
    file_of(root, "facts/setup.md").write_text("# other\n", encoding="utf-8")
    await press(pilot, "full_stop")
    await approve(pilot, DELETE)


def test_an_approval_that_holds_no_more_stops_the_dialog_and_says_why(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await gone_stale(pilot, root)
        before = tree(root)
        assert "1 approved action changed on disk" in shown(pilot)
        assert "! action 1  facts/setup.md changed on disk" in lines_of(pilot)
        assert "s leaves it out" in shown(pilot)
        await press(pilot, "y")
        assert dialog_of(pilot).phase == "choosing"
        assert "Choose first" in shown(pilot)
        await press(pilot, "escape")
        assert tree(root) == before
        assert store.runs() == ()
        assert decision(store, MERGE).verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_s_leaves_out_what_is_stale_and_applies_the_rest_after_y(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await gone_stale(pilot, root)
        await press(pilot, "s")
        assert dialog_of(pilot).phase == "asking"
        assert "Apply 1 approved action?" in shown(pilot)
        assert store.runs() == ()
        await press(pilot, "y")
        assert dialog_of(pilot).phase == "done"
        assert "skipped action 1: facts/setup.md changed on disk" in lines_of(pilot)
        assert file_of(root, "facts/setup.md").read_text(encoding="utf-8") == "# other\n"
        assert "facts/backup-old.md" not in tree(root)
        await press(pilot, "escape")
        assert decision(store, MERGE).verdict is Verdict.PENDING

    drive(app_on(root), script)


def test_where_all_that_is_approved_is_stale_nothing_can_be_applied(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        file_of(root, "facts/setup.md").write_text("# other\n", encoding="utf-8")
        await press(pilot, "full_stop", "P")
        assert "Nothing can be applied: 1 approved action changed on disk" in shown(pilot)
        await press(pilot, "y")
        assert store.runs() == ()
        await press(pilot, "s")
        assert pilot.app.screen is screen_of(pilot)
        assert decision(store, MERGE).verdict is Verdict.PENDING

    drive(app_on(root), script)


def test_after_a_conflict_s_looks_again_and_names_what_is_left_out(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE, DELETE)
        file_of(root, "facts/setup.md").write_text("# other\n", encoding="utf-8")
        await press(pilot, "y", "s")
        assert dialog_of(pilot).phase == "choosing"
        assert "! action 1  facts/setup.md changed on disk" in lines_of(pilot)
        await press(pilot, "s", "y")
        assert dialog_of(pilot).phase == "done"
        assert file_of(root, "facts/setup.md").read_text(encoding="utf-8") == "# other\n"
        assert "facts/backup-old.md" not in tree(root)
        assert len(store.runs()) == 1

    drive(app_on(root), script)


def test_what_needs_a_stale_action_is_left_out_with_it(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, UPDATE, NEEDS, MOVE)
        await press(pilot, "escape")
        file_of(root, "facts/deploy.md").write_text("# other\n", encoding="utf-8")
        await press(pilot, "full_stop", "P")
        assert "! action 4  needs action 3, which does not run" in lines_of(pilot)
        await press(pilot, "s", "y")
        assert file_of(root, "facts/window.md").exists()
        assert not file_of(root, "facts/bug.md").exists()
        await press(pilot, "escape")
        assert decision(store, NEEDS).verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_nothing_approved_is_nothing_to_ask_about(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "P")
        assert pilot.app.screen is screen_of(pilot)
        assert "Nothing is approved." in shown(pilot)

    drive(app_on(root), script)


def test_many_files_can_all_be_seen_before_the_answer(tmp_path: Path) -> None:
    files = {f"facts/n{n:02}.md": f'---\ndescription: "N"\n---\n\n- Fact {n}.\n' for n in range(18)}
    actions = [{"action": "delete", "path": path, "reason": ""} for path in files]
    root, _ = under_review(tmp_path, actions, files)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, *range(18))
        seen: set[str] = set()
        for _ in range(20):
            seen.update(word for word in shown(pilot).split() if word.startswith("facts/n"))
            await press(pilot, "pagedown")
        assert set(files) <= seen
        focused = pilot.app.focused
        assert focused is not None
        assert focused.id == "back"

    drive(app_on(root), script)


def test_a_read_only_store_is_reviewed_but_not_applied(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    app = app_on(root)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        session = app.session
        assert session is not None
        session.store = Store(session.store.place, writable=False)
        await press(pilot, "P")
        assert pilot.app.screen is screen_of(pilot)
        assert "read-only" in shown(pilot)
        assert store.runs() == ()

    drive(app, script)


def test_the_last_row_says_what_is_left(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, *["r"] * 5)
        assert "Nothing is left to apply" in shown(pilot)
        assert "Everything is decided" in shown(pilot)
        assert "u takes back a verdict." in page_text(pilot)

    drive(app_on(root), script)


def test_the_steps_of_a_run_fill_while_it_is_at_work_and_it_cannot_be_closed(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)
    reached, go_on = threading.Event(), threading.Event()

    class Waiting(Files):
        def step(self, call: str, name: str) -> None:
            if call == "take":
                reached.set()
                go_on.wait(20)

    app = app_on(root)

    async def script(pilot: Pilot[int]) -> None:
        session = app.session
        assert session is not None
        session.store = Store(session.store.place, files=Waiting())
        await approve(pilot, MERGE, DELETE)
        await pilot.press("y")
        try:
            while not reached.is_set():
                await pilot.pause(0.02)
            await pilot.pause(0.3)
            said = shown(pilot)
            await pilot.press("q", "escape")
            assert is_on(pilot, Working)
            assert "It cannot be left halfway." in shown(pilot)
        finally:
            go_on.set()
        await settle(pilot)
        assert " ✓ make it durable" in said
        assert " › remove  0 of 2" in said
        assert " · note it in the changelog" in said
        assert dialog_of(pilot).phase == "done"
        assert len(store.runs()) == 1

    drive(app, script)


def test_from_the_result_3_shows_the_runs_and_before_it_does_nothing(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await approve(pilot, MERGE)
        await press(pilot, "3")
        assert dialog_of(pilot).phase == "asking"
        await press(pilot, "y", "3")
        assert is_on(pilot, HistoryScreen)

    drive(app_on(root), script)
