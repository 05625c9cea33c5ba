"""Pages of the review as values: the diff with its notes, the ledger, the rows of the list."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot

from engine.changes import Change, resolve
from engine.diff import changed_words
from engine.documents import Snapshot
from engine.ledger import Ledger
from engine.plan import parse_plan
from memui.presentation import Line, line, runs, wrap
from memui.presentation.pages import Stretch
from memui.widgets.action_list import ActionRow, Shape, lower, upper, wide
from memui.widgets.diff_view import diff_page, gain_and_loss, sections
from memui.widgets.ledger_view import ledger_page, tally
from memui.widgets.page_view import Lines, Page, PageView, cut_rows
from tests.memui.driving import drive, press, settle, shown
from tests.memui.reviews import (
    Action,
    app_on,
    decision,
    memory,
    page_text,
    put,
    screen_of,
    text_of,
    under_review,
)


def change_of(
    action: Action, files: dict[str, str], others: tuple[Action, ...] = ()
) -> tuple[Change, Ledger]:
    """The first action's change, and the ledger of all."""
    plan, _ = parse_plan({"actions": [action, *others], "summary": ""})
    snapshot = Snapshot({path: text.encode() for path, text in files.items()})
    changes = resolve(plan, snapshot)
    return changes[0], Ledger(changes, snapshot)


def page_of(action: Action, files: dict[str, str], others: tuple[Action, ...] = ()) -> list[str]:
    """The diff of an action as lines of text."""
    change, ledger = change_of(action, files, others)
    account = ledger.account(frozenset())[0]
    return text_of(diff_page(change, sections(change), account.entries)).split("\n")


def update(path: str, content: str) -> Action:
    """An update."""
    return {"action": "update", "path": path, "content": content, "reason": ""}


def test_unchanged_lines_are_folded_and_counted() -> None:
    old = "".join(f"- line {n} of it\n" for n in range(1, 101))
    lines = page_of(update("a.md", old.replace("line 50", "row 50")), {"a.md": old})
    assert [text.strip() for text in lines if "⋯" in text] == [
        "⋯ 46 unchanged lines",
        "⋯ 47 unchanged lines",
    ]
    assert "   50 - - line 50 of it" in lines
    assert any(text.endswith("50 + - row 50 of it") for text in lines)


def test_changed_words_stand_out_in_both_lines() -> None:
    change, _ = change_of(update("a.md", "- port 8443 open\n"), {"a.md": "- port 443 open\n"})
    page = diff_page(change, sections(change), ())
    marked = {
        run.paint: run.text
        for made in page.lines
        if isinstance(made, Line)
        for run in made.runs
        if run.paint.startswith("word-")
    }
    assert marked == {"word-removed": "443", "word-added": "8443"}


def test_a_delete_tells_of_every_statement_where_it_lives_on_or_that_it_is_dropped() -> None:
    files = {
        "gone.md": "- Backups run at night.\n- Nobody else says this.\n",
        "stays.md": "- Backups run at night.\n",
    }
    lines = page_of({"action": "delete", "path": "gone.md", "reason": ""}, files)
    said = [text.strip() for text in lines]
    assert said.index("↳ lives on in stays.md:1") == said.index("1 - - Backups run at night.") + 1
    assert said.index("✗ dropped") == said.index("2 - - Nobody else says this.") + 1


def test_a_dropped_line_is_lit_and_a_kept_one_is_not() -> None:
    files = {"gone.md": "- Said twice.\n- Said once.\n", "stays.md": "- Said twice.\n"}
    change, ledger = change_of({"action": "delete", "path": "gone.md", "reason": ""}, files)
    entries = ledger.account(frozenset())[0].entries
    page = diff_page(change, sections(change), entries)
    fills = {made.plain: made.fill for made in page.lines if isinstance(made, Line)}
    assert fills["- Said once."] == "lost"
    assert fills["- Said twice."] == "removed"


def test_a_number_that_differs_is_named_under_the_line_that_loses_it() -> None:
    old, new = "- The rate is 3.690 today.\n", "- The rate is 3.615 today.\n"
    lines = page_of(update("a.md", old.replace(old, new)), {"a.md": old})
    assert any("✗ dropped: the number changes" in text for text in lines)
    assert any("+ new: no memory of this change says it" in text for text in lines)


def test_a_merge_into_a_new_file_is_compared_with_its_closest_source() -> None:
    shared = "".join(f"- Shared fact {n}.\n" for n in range(5))
    merge: Action = {
        "action": "merge",
        "sources": ["a.md", "b.md"],
        "target": "c.md",
        "content": shared + "- From b.\n",
        "reason": "",
    }
    files = {"a.md": "- From b.\n", "b.md": shared}
    change, _ = change_of(merge, files)
    lines = page_of(merge, files)
    assert lines[0].strip() == "c.md  new file  +1, compared with b.md"
    assert any("↳ from a.md:1" in text for text in lines)
    assert any("b.md  vanishes: its text is the minus side above" in text for text in lines)
    assert sum("Shared fact 4" in text for text in lines) == 1
    assert gain_and_loss(change, sections(change)) == (1, 1)


def test_a_move_is_one_heading_with_both_paths_and_neither_gains_nor_loses() -> None:
    move: Action = {"action": "move", "from": "a.md", "to": "b/a.md", "reason": ""}
    change, _ = change_of(move, {"a.md": "- A fact.\n"})
    lines = page_of(move, {"a.md": "- A fact.\n"})
    assert lines[0].strip() == "a.md → b/a.md"
    assert not any(" - - " in text or " + - " in text for text in lines)
    assert gain_and_loss(change, sections(change)) == (0, 0)


def test_line_ends_that_change_are_said() -> None:
    lines = page_of(update("a.md", "- One.\n- Two.\n"), {"a.md": "- One.\r\n- Two.\r\n"})
    assert any("line ends: CRLF to LF" in text for text in lines)


WORDS = ("को", "नमस्ते", "می‌خواهم", "👩‍💻", "👩‍🔬", "👍🏽", "é", "plain", " ", "e\u0301")


@given(
    st.lists(st.sampled_from(WORDS), max_size=8).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=8).map("".join),
)
def test_word_marks_never_make_a_joined_sequence_look_hidden(old: str, new: str) -> None:
    for text, spans in zip((old, new), changed_words(old, new), strict=True):
        marked = runs(text, "added", spans)
        whole = runs(text, "added")
        told = "".join(run.text for run in marked).replace("·", " ")
        assert told == "".join(run.text for run in whole)


def test_the_ledger_names_every_dropped_statement_with_its_place() -> None:
    files = {"a.md": memory("What", "One fact.", "Another fact entirely."), "b.md": "- One fact.\n"}
    change, ledger = change_of({"action": "delete", "path": "a.md", "reason": ""}, files)
    account = ledger.account(frozenset())[0]
    text = text_of(ledger_page(account, frozenset()))
    for entry in account.dropped:
        assert entry.source is not None
        assert entry.source.text in text
        assert f"{entry.source.path}:{entry.source.line}" in text
    assert f"dropped {len(account.dropped)}" in tally(account).plain
    assert change.index == 0


texts = st.text(max_size=60)
rows = st.builds(
    ActionRow,
    index=st.integers(0, 2000),
    mark=st.sampled_from("✓✗·!="),
    word=st.sampled_from(["approved", "rejected", "to decide", "changed", "applied", "invalid"]),
    paint=st.just("plain"),
    verb=st.sampled_from(["merge", "update", "delete", "move"]),
    target=texts,
    gain=st.integers(0, 99_999),
    loss=st.integers(0, 99_999),
    flags=st.lists(st.sampled_from(["drops 3", "needs action 4", "edited"]), max_size=4).map(tuple),
)


@given(st.lists(rows, min_size=1, max_size=4), st.integers(30, 200))
def test_a_row_fits_its_width_whatever_it_names(found: list[ActionRow], width: int) -> None:
    shape = Shape.of(found)
    for row in found:
        for draw in (wide, upper, lower):
            made = draw(row, width, shape)
            assert cell_len(made.gutter + made.plain) <= width


@given(rows)
def test_a_wide_row_says_its_verdict_number_and_verb(row: ActionRow) -> None:
    text = wide(row, 120, Shape.of([row])).plain
    assert text.startswith(f"{row.mark} {row.word}")
    assert f" {row.number} {row.verb}" in text


def test_flags_that_do_not_fit_are_counted() -> None:
    row = ActionRow(
        0, "·", "to decide", "plain", "update", "a.md", 1, 1, ("drops 3", "description changed")
    )
    assert "drops 3 +1" in lower(row, 40, Shape.of([row])).plain
    assert "drops 3 · description changed" in wide(row, 120, Shape.of([row])).plain


@given(st.text(max_size=300), st.integers(10, 60), st.integers(1, 3))
def test_a_reason_never_takes_more_rows_than_it_may(text: str, width: int, most: int) -> None:
    made = line((text, "plain"))
    cut = cut_rows(made, width, most)
    assert len(cut) <= most
    assert sum(len(wrap(part, width)) for part in cut) <= most
    if len(wrap(made, width)) > most:
        assert cut[-1].plain.endswith("…")


async def arrive(pilot: Pilot[int], view: PageView) -> None:
    """Wait until the view is where it was sent."""
    while view.seeking:
        await pilot.pause()
    await settle(pilot)


def test_a_page_makes_only_the_lines_that_are_looked_at(tmp_path: Path) -> None:
    made: set[int] = set()

    def make(number: int) -> Line:
        made.add(number)
        return line((f"line {number} ", "plain"), gutter=" ")

    many = 200_000
    stretch = Stretch(make, ([f"line {n} " for n in range(many)],), 1)
    page = Page(Lines([stretch]), (range(many - 10, many - 5),))
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        view = screen_of(pilot).query_one("#review-page", PageView)
        view.show(page)
        await settle(pilot)
        assert "line 0" in shown(pilot)
        view.action_page(1)
        await settle(pilot)
        assert view.virtual_size.height == many
        assert view.jump(1)
        await arrive(pilot, view)
        assert f"line {many - 10}" in shown(pilot)
        view.action_edge(1)
        await arrive(pilot, view)
        assert f"line {many - 1}" in shown(pilot)
        assert 0 < len(made) < 2_000

    drive(app_on(root), script)


def test_a_line_of_a_megabyte_is_cut_with_a_mark_and_its_neighbours_are_seen(
    tmp_path: Path,
) -> None:
    files = {"facts/a.md": f"- {'x' * 1_000_000}\n- the neighbour\n"}
    action = {"action": "delete", "path": "facts/a.md", "reason": ""}
    root, _ = under_review(tmp_path, [action], files)

    async def script(pilot: Pilot[int]) -> None:
        screen_of(pilot).query_one("#review-page", PageView).action_edge(1)
        await settle(pilot)
        assert "more characters" in shown(pilot)
        assert "the neighbour" in shown(pilot)

    drive(app_on(root), script)


def test_blocks_are_gone_through_and_counted(tmp_path: Path) -> None:
    old = "".join(f"- line {n} of it\n" for n in range(1, 101))
    new = old.replace("line 20 ", "row 20 ").replace("line 80 ", "row 80 ")
    files = {"facts/a.md": memory("A", "x") + old}
    root, _ = under_review(tmp_path, [update("facts/a.md", memory("A", "x") + new)], files)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "right_square_bracket")
        assert "row 20" in shown(pilot)
        assert "block 1 of 2" in shown(pilot)
        await press(pilot, "right_square_bracket")
        assert "row 80" in shown(pilot)
        assert "block 2 of 2" in shown(pilot)
        await press(pilot, "right_square_bracket")
        assert "no further block" in shown(pilot)
        await press(pilot, "left_square_bracket")
        assert "block 1 of 2" in shown(pilot)

    drive(app_on(root), script)


HOSTILE = (
    "\x1b]52;c;aGk=\x07\x1b[31mred\x9b2J\x00 [@click=app.quit]quit[/] [/nope] [bold]b"
    " \u202egnp.exe\u2066 \u200b\u00ad \ud83d\u2028 ﷽ \t tab \r cr"
)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_hostile_text_in_every_field_is_shown_and_never_obeyed(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    body = HOSTILE.replace("\ud83d", "")
    files = {
        "facts/a.md": f'---\ndescription: "d"\n---\n\n- {body}\n',
        "facts/[@click=app.quit]x[/].md": f"- {body}\n",
        "facts/\x1b]0;title\x07.md": "- name\n",
    }
    actions: list[Action] = [
        {**update("facts/a.md", f'---\ndescription: "e"\n---\n\n- {body} 2\n'), "reason": HOSTILE},
        {"action": "delete", "path": "facts/[@click=app.quit]x[/].md", "reason": HOSTILE},
        {"action": "delete", "path": "facts/\x1b]0;title\x07.md", "reason": HOSTILE},
        {"action": "move", "from": "facts/none.md", "to": f"facts/{HOSTILE}.md", "reason": HOSTILE},
        {"action": "delete", "path": HOSTILE, "reason": HOSTILE},
    ]
    root, store = under_review(tmp_path, actions, files)

    async def script(pilot: Pilot[int]) -> None:
        for index in range(len(actions)):
            put(pilot, index)
            await settle(pilot)
            for key in ("t", "t", "t", "right_square_bracket"):
                await press(pilot, key)
                assert "\x1b" not in shown(pilot)
            await pilot.click("#review-page", offset=(12, 3))
            await pilot.click("#review-actions", offset=(30, 1))
        assert "<U+202E RLO>" in page_text(pilot) or "<U+" in shown(pilot)
        put(pilot, 1)
        await press(pilot, "a", "P")
        assert "[@click=app.quit]x[/].md" in shown(pilot)
        await pilot.click("#apply-lines", offset=(12, 1))
        await press(pilot, "y")
        assert "[@click=app.quit]x[/].md" in shown(pilot)
        await press(pilot, "enter")
        assert pilot.app.is_running
        assert decision(store, 1).verdict == "approved"

    drive(app_on(root), script, size)
