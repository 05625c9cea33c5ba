"""The built-in editor: what is typed is kept, named and saved; nothing is lost by leaving it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from engine.errors import StorageError
from engine.plans import write_review
from engine.proposal import Standing
from engine.review import Verdict, fingerprint
from memui.editor import EditorFailed
from memui.screens import result_editor
from memui.screens import review as review_screen
from memui.screens.dialogs import Confirm
from memui.screens.leaving import Leaving
from memui.screens.result_editor import ResultEditor
from memui.screens.review import ReviewScreen
from memui.screens.too_small import TooSmall
from memui.widgets.result_text import ResultText
from tests.memui.driving import drive, file_of, is_on, press, settle, shown, write
from tests.memui.reviews import (
    DELETE,
    EDITOR,
    MERGE,
    MOVE,
    UPDATE,
    app_on,
    decision,
    memory,
    on_disk,
    opened_by_another,
    page_text,
    proposal_of,
    put,
    under_review,
)


@pytest.fixture(autouse=True)
def rescued(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Texts are checked at once; what is kept aside is caught."""
    kept: list[bytes] = []

    def rescue(data: bytes, _name: str) -> str:
        kept.append(data)
        return f"RESCUE-{len(kept)}"

    monkeypatch.setattr(result_editor, "DEBOUNCE", 0.001)
    monkeypatch.setattr(result_editor, "rescue", rescue)
    return kept


def editor_of(pilot: Pilot[int]) -> ResultEditor:
    """The editor, below any dialog."""
    return next(s for s in reversed(pilot.app.screen_stack) if isinstance(s, ResultEditor))


async def open_editor(pilot: Pilot[int], index: int) -> ResultText:
    """The editor on the result of an action; its text area."""
    put(pilot, index)
    await press(pilot, "e")
    return editor_of(pilot).query_one(ResultText)


async def checked(pilot: Pilot[int]) -> str:
    """What the screen shows once the text is checked as it is."""
    while not editor_of(pilot).is_checked:
        await settle(pilot)
    await pilot.pause()
    return shown(pilot)


async def at_the_end(pilot: Pilot[int], text: str) -> None:
    """Type at the end of the text."""
    area = editor_of(pilot).query_one(ResultText)
    area.move_cursor(area.document.end)
    await write(pilot, text)


@pytest.mark.parametrize("key", ["f2", "ctrl+s"])
def test_what_is_saved_is_the_result_and_u_takes_it_back(tmp_path: Path, key: str) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, MERGE)
        await press(pilot, "a")
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "- More.")
        await press(pilot, key)
        assert is_on(pilot, ReviewScreen)
        assert decision(store, MERGE).content == f"{EDITOR}- More."
        assert decision(store, MERGE).verdict is Verdict.PENDING
        assert "Action 1 is edited, and wants a verdict. u takes it back." in shown(pilot)
        assert "+ - More." in page_text(pilot)
        await press(pilot, "u")
        assert decision(store, MERGE).content is None
        assert decision(store, MERGE).verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_a_text_typed_back_to_the_planners_is_the_planners_again(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "x")
        await press(pilot, "f2")
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "")
        await press(pilot, "backspace", "f2")
        assert decision(store, MERGE).content is None
        assert "Action 1 is the planner's again." in shown(pilot)

    drive(app_on(root), script)


def test_nothing_changed_is_left_without_a_question_and_writes_nothing(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        for key in ("escape", "f2"):
            await open_editor(pilot, MERGE)
            await press(pilot, "x", "backspace", key)
            assert is_on(pilot, ReviewScreen)
            assert "Nothing was changed." in shown(pilot)
        assert on_disk(store) == before

    drive(app_on(root), script)


def test_who_edits_what_changed_on_disk_is_told_that_it_did(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)
    file_of(root, "facts/deploy.md").write_text("# other\n", encoding="utf-8")

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, UPDATE)
        await at_the_end(pilot, "- x")
        await press(pilot, "f2")
        said = " ".join(shown(pilot).split())
        assert "Action 3 is edited, but facts/deploy.md is not as the plan saw it" in said
        assert decision(store, UPDATE).content is not None

    drive(app_on(root), script)


def test_only_a_merge_or_an_update_that_waits_can_be_edited(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        for index, verb in ((DELETE, "delete"), (MOVE, "move")):
            put(pilot, index)
            await press(pilot, "e")
            assert f"A {verb} has no text to edit." in shown(pilot)
        assert on_disk(store) == before
        put(pilot, MERGE)
        await press(pilot, "a", "P", "y")
        await settle(pilot)
        await press(pilot, "escape")
        put(pilot, MERGE)
        await press(pilot, "e")
        assert "Action 1 is applied, in run " in shown(pilot)

    drive(app_on(root), script)


def test_keys_of_the_review_are_only_letters_in_the_editor(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        area = await open_editor(pilot, MERGE)
        await write(pilot, "arRuAPtT +-l][JKqv?:123/")
        assert area.written.startswith("arRuAPtT +-l][JKqv?:123/---\n")
        assert is_on(pilot, ResultEditor)
        assert on_disk(store) == before

    drive(app_on(root), script)


# What is wrong with the text


def test_problems_stand_below_the_text_by_line_and_go_when_they_are_mended(
    tmp_path: Path,
) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        area = await open_editor(pilot, MERGE)
        assert "line " not in "\n".join((await checked(pilot)).split("\n")[1:])
        area.move_cursor((1, 0))
        await write(pilot, "x")
        assert "! line 1  the frontmatter has no description" in await checked(pilot)
        await press(pilot, "backspace")
        assert "the frontmatter has no description" not in await checked(pilot)

    drive(app_on(root), script)


def test_a_text_that_breaks_a_rule_is_not_saved_and_stays_in_the_editor(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        await open_editor(pilot, MERGE)
        await press(pilot, "x", "f2")
        assert "Not saved. Line 1 must change first; F8 goes there." in shown(pilot)
        assert is_on(pilot, ResultEditor)
        assert editor_of(pilot).text == f"x{EDITOR}"
        assert on_disk(store) == before

    drive(app_on(root), script)


def test_f8_goes_to_what_stops_the_text_and_then_from_problem_to_problem(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        area = await open_editor(pilot, MERGE)
        await press(pilot, "f8")
        assert "There is no problem." in shown(pilot)
        text = EDITOR + "a\u200bb\n\nc\u200bd\n"
        area.load_text(area._stand_ins.put(text.replace('"Which', "Which")))
        area.move_cursor((4, 0))
        await checked(pilot)
        for _ in range(2):
            await press(pilot, "f8")
            assert area.cursor_location[0] + 1 == 2
        area.load_text(area._stand_ins.put(text))
        await checked(pilot)
        for line in (7, 9, 7):
            await press(pilot, "f8")
            assert area.cursor_location[0] + 1 == line

    drive(app_on(root), script)


# Leaving


def test_esc_asks_and_the_safe_answer_goes_on_with_the_text(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        for answer in ("enter", "escape", "n"):
            await press(pilot, "escape")
            assert is_on(pilot, Leaving)
            await press(pilot, answer)
            assert is_on(pilot, ResultEditor)
            assert editor_of(pilot).text == f"{EDITOR}More"
        assert on_disk(store) == before

    drive(app_on(root), script)


def test_esc_then_y_saves_without_ctrl_and_without_a_function_key(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        await press(pilot, "escape", "y")
        assert is_on(pilot, ReviewScreen)
        assert decision(store, MERGE).content == f"{EDITOR}More"

    drive(app_on(root), script)


def test_discard_needs_its_capital_letter_and_leaves_the_plan_as_it_was(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        await press(pilot, "escape", "d", "d")
        assert is_on(pilot, Leaving)
        await press(pilot, "D")
        assert is_on(pilot, ReviewScreen)
        assert "Nothing was changed." in shown(pilot)
        assert on_disk(store) == before

    drive(app_on(root), script)


def test_the_buttons_do_what_the_keys_do(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        await press(pilot, "escape", "right", "right", "enter")
        assert decision(store, MERGE).content == f"{EDITOR}More"
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "!")
        await press(pilot, "escape", "right", "enter")
        assert is_on(pilot, ReviewScreen)
        assert decision(store, MERGE).content == f"{EDITOR}More"

    drive(app_on(root), script)


def test_what_cannot_be_saved_can_be_kept_as_a_copy(tmp_path: Path, rescued: list[bytes]) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        await open_editor(pilot, MERGE)
        await press(pilot, "x", "escape")
        said = shown(pilot)
        assert "It cannot be saved like this:" in said
        assert "the first line must be exactly ---" in said
        await press(pilot, "y")
        assert is_on(pilot, ReviewScreen)
        assert "What you wrote is kept in RESCUE-1" in shown(pilot)
        assert on_disk(store) == before

    drive(app_on(root), script)
    assert rescued == [f"x{EDITOR}".encode()]


def test_a_copy_that_cannot_be_kept_leaves_the_text_in_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = under_review(tmp_path)

    def fail(_data: bytes, _name: str) -> str:
        raise EditorFailed("No private copy can be made: no space.")

    async def script(pilot: Pilot[int]) -> None:
        monkeypatch.setattr(result_editor, "rescue", fail)
        await open_editor(pilot, MERGE)
        await press(pilot, "x", "escape", "y")
        assert is_on(pilot, ResultEditor)
        assert "No private copy can be made: no space." in shown(pilot)
        assert editor_of(pilot).text == f"x{EDITOR}"
        await press(pilot, "escape", "D")

    drive(app_on(root), script)


def test_ctrl_q_asks_before_it_quits(tmp_path: Path, rescued: list[bytes]) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        await press(pilot, "ctrl+q")
        assert is_on(pilot, Leaving)
        await press(pilot, "escape")
        assert is_on(pilot, ResultEditor)
        await press(pilot, "ctrl+q", "y")
        assert not pilot.app.is_running or pilot.app._exit

    drive(app_on(root), script)
    assert decision(store, MERGE).content == f"{EDITOR}More"
    assert rescued == []


def test_a_text_that_is_open_when_everything_ends_is_kept_and_said(
    tmp_path: Path, rescued: list[bytes]
) -> None:
    root, _ = under_review(tmp_path)
    app = app_on(root)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        await press(pilot, "ctrl+q", "ctrl+q")  # does not wait for the question

    drive(app, script)
    assert rescued == [f"{EDITOR}More".encode()]
    assert app.session is not None
    assert app.session.farewells == ["Your text was not saved. It is kept in RESCUE-1"]


def test_a_terminal_that_gets_too_small_and_large_again_keeps_text_and_cursor(
    tmp_path: Path,
) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        area = await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        where = area.cursor_location
        await pilot.resize_terminal(40, 10)
        await settle(pilot)
        assert is_on(pilot, TooSmall)
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert is_on(pilot, ResultEditor)
        assert editor_of(pilot).text == f"{EDITOR}More"
        assert area.cursor_location == where
        await write(pilot, "!")
        assert editor_of(pilot).text == f"{EDITOR}More!"

    drive(app_on(root), script)


# Others


def test_a_plan_that_changed_meanwhile_takes_the_text_after_it_was_loaded(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, UPDATE)
        await press(pilot, "r")
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        theirs = opened_by_another(store)
        seen = fingerprint(proposal_of(pilot).changes[MOVE])
        review = theirs.saved.review.decide(MOVE, Verdict.REJECTED, seen=seen)
        write_review(store, theirs, theirs.saved.reviewed(review))
        await press(pilot, "f2")
        assert is_on(pilot, Confirm)
        await press(pilot, "escape")
        assert is_on(pilot, ResultEditor)
        assert "! Not saved; your text is still here.\n" in shown(pilot)
        assert editor_of(pilot).text == f"{EDITOR}More"
        await press(pilot, "f2", "y", "f2")
        assert is_on(pilot, ReviewScreen)
        assert decision(store, MERGE).content == f"{EDITOR}More"
        assert decision(store, MOVE).verdict is Verdict.REJECTED

    drive(app_on(root), script)


def test_what_somebody_else_made_of_the_result_is_replaced_only_knowingly(
    tmp_path: Path,
) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "- Mine.")
        theirs = opened_by_another(store)
        review = theirs.saved.review.edit(MERGE, f"{EDITOR}- Theirs.\n")
        write_review(store, theirs, theirs.saved.reviewed(review))
        await press(pilot, "f2", "y", "f2")
        said = " ".join(shown(pilot).split())
        assert "Somebody else edited this result meanwhile; F2 again replaces theirs." in said
        assert decision(store, MERGE).content == f"{EDITOR}- Theirs.\n"
        await press(pilot, "f2")
        assert decision(store, MERGE).content == f"{EDITOR}- Mine."
        await press(pilot, "u")
        assert decision(store, MERGE).content == f"{EDITOR}- Theirs.\n"

    drive(app_on(root), script)


def test_a_review_that_cannot_be_written_says_why_and_the_text_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = under_review(tmp_path)

    def full(*_: object) -> object:
        raise StorageError("The state folder is full.", hint="Make room.")

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        with monkeypatch.context() as patched:
            patched.setattr(review_screen, "write_review", full)
            await press(pilot, "f2")
            said = " ".join(shown(pilot).split())
            assert "your text is still here. It was not saved. The state folder is full." in said
        await press(pilot, "f2")
        assert decision(store, MERGE).content == f"{EDITOR}More"

    drive(app_on(root), script)


def test_a_plan_that_was_taken_away_leaves_the_text_to_be_kept_as_a_copy(
    tmp_path: Path, rescued: list[bytes]
) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "More")
        for plan in Path(root).rglob(f"{store.plans()[0]}*.json"):
            plan.unlink()
        await press(pilot, "f2", "y", "f2")
        assert is_on(pilot, ResultEditor)
        assert "The plan is not under review any more." in shown(pilot)
        await press(pilot, "escape", "y")
        assert rescued == [f"{EDITOR}More".encode()]

    drive(app_on(root), script)


# Hostile and odd texts

HOSTILE = (
    "- \x1b]52;c;aGk=\x07 \x9b31m [@click=app.quit]press[/] \u202eevil\u202c \u200b \x85 \u2028 x\n"
)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
def test_hostile_text_is_marked_obeyed_by_nothing_and_saved_as_it_is(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    text = memory("Deploys", "Deploy on Thursday.") + HOSTILE
    action = {"action": "update", "path": "facts/deploy.md", "content": text, "reason": "x"}
    root, store = under_review(tmp_path, [action])

    async def script(pilot: Pilot[int]) -> None:
        area = await open_editor(pilot, 0)
        said = await checked(pilot)
        assert "[@click=app.quit]press[/]" in said
        assert "\u202e" not in said
        assert "\u241b]52;c;aGk=\u2407" in said
        assert "line 6  holds what a reader does not see: " in said
        area.move_cursor((5, 2))
        await pilot.pause()
        assert "\u241b" in shown(pilot).split("\n")[0]  # the title names what is under the cursor
        await at_the_end(pilot, "- end")
        await press(pilot, "f2")
        assert decision(store, 0).content == f"{text}- end"

    drive(app_on(root), script, size)


def test_pasted_text_is_marked_and_never_a_key(tmp_path: Path) -> None:
    root, store = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await open_editor(pilot, MERGE)
        await at_the_end(pilot, "")
        pilot.app.post_message(events.Paste("- one\r\n- tw\u202eo\x85\r- y D\n"))
        await settle(pilot)
        assert editor_of(pilot).text == f"{EDITOR}- one\n- tw\u202eo\x85\n- y D\n"
        assert "\u202e" not in shown(pilot)
        await press(pilot, "f2")
        assert decision(store, MERGE).content == f"{EDITOR}- one\n- tw\u202eo\x85\n- y D\n"

    drive(app_on(root), script)


def test_what_is_cut_and_pasted_keeps_its_hidden_characters(tmp_path: Path) -> None:
    text = EDITOR + "- a\u200b\ue000b\n"
    action = {"action": "update", "path": "facts/editor.md", "content": text, "reason": "x"}
    root, _ = under_review(tmp_path, [action])

    async def script(pilot: Pilot[int]) -> None:
        area = await open_editor(pilot, 0)
        area.move_cursor((6, 0))
        await press(pilot, "ctrl+x")
        assert pilot.app.clipboard == "- a\u200b\ue000b\n"
        assert editor_of(pilot).text == EDITOR
        await press(pilot, "ctrl+v", "ctrl+v")
        assert editor_of(pilot).text == EDITOR + "- a\u200b\ue000b\n" * 2
        await press(pilot, "ctrl+z", "ctrl+z", "ctrl+z")
        assert editor_of(pilot).text == text

    drive(app_on(root), script)


@pytest.mark.parametrize(
    "tail", ["\ttab\n", "no newline at the end", "\ufeffbom\n", "\x0b\x0c\x1c\x00\n", ""]
)
def test_what_nobody_touched_stays_byte_for_byte(tmp_path: Path, tail: str) -> None:
    text = EDITOR + tail
    action = {"action": "update", "path": "facts/editor.md", "content": text, "reason": "x"}
    root, store = under_review(tmp_path, [action])

    async def script(pilot: Pilot[int]) -> None:
        area = await open_editor(pilot, 0)
        area.move_cursor((4, 0))
        await press(pilot, "enter", "f2")
        assert decision(store, 0).content == text.replace("---\n\n- N", "---\n\n\n- N")

    drive(app_on(root), script)


def test_a_body_with_other_line_ends_keeps_them(tmp_path: Path) -> None:
    text = EDITOR.replace("\n", "\r\n")
    action = {"action": "update", "path": "facts/editor.md", "content": text, "reason": "x"}
    root, store = under_review(tmp_path, [action])

    async def script(pilot: Pilot[int]) -> None:
        assert proposal_of(pilot).standing(0) is Standing.INVALID
        await open_editor(pilot, 0)
        await at_the_end(pilot, "- x")
        await press(pilot, "enter", "f2")
        assert decision(store, 0).content == f"{text}- x\r\n"

    drive(app_on(root), script)


@pytest.mark.parametrize("tail", ["a\r\nb\n", "x" * 9000, "\ud800"])
def test_what_would_not_come_back_opens_nothing_and_names_the_other_key(
    tmp_path: Path, tail: str
) -> None:
    action = {
        "action": "update", "path": "facts/editor.md", "content": EDITOR + tail, "reason": "x",
    }  # fmt: skip
    root, store = under_review(tmp_path, [action])

    async def script(pilot: Pilot[int]) -> None:
        before = on_disk(store)
        await press(pilot, "e")
        assert is_on(pilot, ReviewScreen)
        assert "E opens it in $EDITOR." in " ".join(shown(pilot).split())
        assert on_disk(store) == before

    drive(app_on(root), script)
