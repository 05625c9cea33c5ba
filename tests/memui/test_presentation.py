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
    rows_taken,
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


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200), widths)
def test_rows_are_counted_without_wrapping_as_wrapping_makes_them(text: str, width: int) -> None:
    assert rows_taken(text, width) == len(wrap(Line(runs(text)), width))


@given(texts, widths, st.integers(0, 40))
def test_a_hanging_indent_loses_nothing_and_keeps_the_width(
    text: str, width: int, indent: int
) -> None:
    made = Line(runs(text), indent=indent)
    rows = wrap(made, width)
    assert "".join(r.plain for r in rows).replace(" ", "") == made.plain.replace(" ", "")
    assert all(cell_len(row.plain.rstrip(" ")) <= width for row in rows)


def test_tabs_reach_from_stop_to_stop_whatever_stands_before_them() -> None:
    for text in ("\tx", "a\tx", "abc\tx", "日\tx", "a\u0301\tx"):
        assert cell_len("".join(run.text for run in runs(text)).removesuffix("x")) == 4
    assert "".join(run.text for run in runs("abcd\tx")) == "abcd    x"
    marked = "".join(run.text for run in runs("ab\tx", "added", [(0, 1)]))
    assert marked == "".join(run.text for run in runs("ab\tx", "added"))


def test_blanks_that_change_are_seen() -> None:
    assert runs("a  b", "added", [(1, 3)])[1] == Run("··", "word-added dim")
    tabbed = runs("a\tb", "added", [(1, 2)])
    assert tabbed[1].text.startswith("→")
    assert tabbed[1].text != runs("a    b", "added", [(1, 5)])[1].text


@given(texts)
def test_no_line_takes_more_cells_than_the_limit_but_for_its_mark(text: str) -> None:
    for long in (text * 200, "\u200b" * LINE_LIMIT + text, "日" * LINE_LIMIT + text):
        made = runs(long)
        if made and made[-1].text.endswith("more characters"):
            made = made[:-1]
        assert sum(cell_len(run.text) for run in made) <= LINE_LIMIT


def test_the_mark_of_a_cut_says_that_words_behind_it_changed() -> None:
    text = "x" * LINE_LIMIT + " end"
    said = runs(text, "added", [(LINE_LIMIT + 1, LINE_LIMIT + 4)])[-1]
    assert said == Run(" … 4 more characters, changed ones among them", "mark")
    assert "changed" not in runs(text, "added", [(0, 1)])[-1].text


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
