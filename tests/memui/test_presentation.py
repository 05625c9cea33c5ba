"""The only door from text to what is drawn."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from engine.characters import is_hidden
from memui.presentation import (
    LINE_LIMIT,
    MARK,
    Line,
    Run,
    column,
    content,
    fit,
    help_lines,
    line,
    runs,
    when,
    wrap,
)
from memui.presentation.words import lit, spans

texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1b\x9b\u202e\u200b"))
widths = st.integers(8, 60)


def test_markup_in_a_text_is_shown_as_it_stands() -> None:
    text = "[@click=app.quit]x[/] [/nope] [bold]"
    assert content(text).plain == text
    assert content(text).spans == []


def test_a_mark_has_a_style_that_a_text_which_spells_it_has_not() -> None:
    real, spelled = content("a\u202eb"), content("a<U+202E RLO>b")
    assert real.plain == spelled.plain
    assert [span.style for span in real.spans] == [MARK]
    assert spelled.spans == []
    assert Run("<U+202E RLO>", "mark") in runs("a\u202eb")
    assert all(run.paint != "mark" for run in runs("a<U+202E RLO>b"))


@given(texts)
def test_no_run_holds_a_control_character(text: str) -> None:
    for run in runs(text):
        assert all(char >= " " and not "\x7f" <= char <= "\x9f" for char in run.text)


@given(texts, widths)
def test_wrapping_loses_nothing_but_blanks(text: str, width: int) -> None:
    made = Line(runs(text), gutter="1 ")
    rows = wrap(made, width)
    whole = "".join(row.plain for row in rows)
    assert whole.replace(" ", "") == made.plain.replace(" ", "")


@given(texts, widths)
def test_a_wrapped_row_is_as_wide_as_the_room_at_most_but_for_a_blank(
    text: str, width: int
) -> None:
    for row in wrap(Line(runs(text)), width):
        assert cell_len(row.plain.rstrip(" ")) <= width


def test_a_row_of_emoji_is_wrapped_by_what_one_sees() -> None:
    rows = wrap(Line(runs("❤️" * 30)), 20)
    assert [cell_len(row.plain) for row in rows] == [20, 20, 20]


@given(texts, st.integers(1, 40))
def test_a_fitted_line_and_a_column_keep_their_width(text: str, width: int) -> None:
    assert cell_len(fit(Line(runs(text)), width).plain) <= width
    assert sum(cell_len(run.text) for run in column(runs(text), width)) == width


def test_what_does_not_fit_is_cut_visibly() -> None:
    assert fit(line(("a long line", "plain")), 6).plain == "a lon…"


def test_a_monster_line_says_how_much_is_not_shown() -> None:
    made = runs("x" * (LINE_LIMIT + 7))
    assert made[-1] == Run(" … 7 more characters", "mark")


def test_marks_stay_marks_in_a_column() -> None:
    assert Run("␛", "mark") in column(runs("a\x1b[2Jb"), 20)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("Dark mode, dark room", "dark", ["Dark", "dark"]),
        ("Straße", "strasse", ["Straße"]),
        ("Ｆｕｌｌ café", "cafe", ["café"]),
        ("ﬁnal", "fin", ["ﬁn"]),
        ("nothing", "dark", []),
    ],
)
def test_words_are_found_as_they_are_spelled(text: str, word: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in spans(text, [word])] == found


@given(texts, st.lists(texts, max_size=3))
def test_marking_words_changes_no_text(text: str, words: list[str]) -> None:
    plain = "".join(run.text for run in runs(text[:LINE_LIMIT]))
    marked = "".join(run.text for run in lit(text[:LINE_LIMIT], words))
    if not any(is_hidden(char) or char == "\u200d" for char in text):
        assert marked == plain


def test_a_time_that_is_none_is_called_unknown() -> None:
    assert when("yesterday") == "unknown"


@pytest.mark.parametrize("page", ["browse", "review", "history"])
def test_a_help_page_has_a_title_and_keys_that_fit_a_dialog(page: str) -> None:
    text = files("memui").joinpath("help", f"{page}.md").read_text(encoding="utf-8")
    title, lines = help_lines(text)
    assert title == page.capitalize()
    keys = [made for made in lines if made.runs and made.runs[0].paint == "plain"]
    assert keys
    assert all(cell_len(made.plain) <= 71 for made in keys)
