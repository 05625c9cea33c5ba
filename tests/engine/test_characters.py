"""What cannot be seen is shown as a mark, and nothing that drives a terminal passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.characters import (
    MARKS_ON_A_BASE,
    Shown,
    has_visible,
    hidden,
    is_assigned,
    is_hidden,
    visible,
)

DRIVING = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u200e\u200f\u2028\u2029\u061c"}
DRIVING |= {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
DRIVING |= {*map(chr, range(0xD800, 0xE000))}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m", "a␛[31m"),
        ("a\nb\tc", "a␊b␉c"),
        ("\x7f", "␡"),
        ("x\u202ey", "x<U+202E RLO>y"),
        ("\x85\u2028", "<U+0085 NEL><U+2028 LS>"),
        ("z\u200bw", "z<U+200B ZWSP>w"),
        ("\udce9", "<byte E9>"),
        ("\ud800", "<U+D800>"),
        ("\u0378", "<U+0378>"),
        ("\ue000", "<U+E000>"),
        ("\u0301x", "<U+0301>x"),
        ("a\U000e0041", "a<U+E0041>"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("\ufeffa", "<U+FEFF BOM>a"),
    ],
)
def test_what_cannot_be_seen_becomes_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(text).marks


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "e\u0301 caf\u00e9",
        "👩\u200d👩\u200d👦",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "می\u200cخواهم",
        "क\u094d\u200dष",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "🇯🇵",
        "日本語",
        "a\u00a0b",
        "<U+202E RLO>",
        "\U0001fae9",
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert visible(text).marks == ()
    assert hidden(text) == ()


def test_newline_and_tab_are_kept_on_request_and_nothing_else() -> None:
    assert visible("a\n\tb\x1b", keep="\n\t\x1b") == "a\n\tb␛"


def test_a_pile_of_combining_marks_is_cut_down() -> None:
    shown = visible("Z" + "\u0300" * 50)
    assert shown.count("\u0300") == MARKS_ON_A_BASE
    assert shown.count("<U+0300>") == 50 - MARKS_ON_A_BASE


BLANK = [
    "", " \t\n", "\u00a0\u3000\u2003", "\u200e\u200f\u202a\u202e", "\u2066\u2069", "\u206a\u206f",
    "\u00ad\u180e", "\u034f", "\u3164\uffa0\u115f\u1160", "\u2800", "\ufe00\ufe0f\U000e0100",
    "\u0300\u0301\u0483", "\ud800", "\u2061\u2064", "\ufff9\ufffb", "\u17b4", "\U000e0041",
    "\U0001d173", "\U0001bca0", "\ue000", "\u0378",
]  # fmt: skip


@pytest.mark.parametrize("text", BLANK)
def test_what_puts_no_ink_on_the_screen_is_not_visible(text: str) -> None:
    assert not has_visible(text)


@pytest.mark.parametrize("text", ["窓", "न", "مرحبا", "e\u0301", "🇯🇵", "👩\u200d👦", "# Net", "."])
def test_what_puts_ink_on_the_screen_is_visible(text: str) -> None:
    assert has_visible(text)


def test_no_code_point_on_its_own_drives_a_terminal() -> None:
    for code in range(0x110000):
        shown = visible(chr(code))
        assert not DRIVING & set(shown), hex(code)


@given(st.text(st.characters(), max_size=60))
def test_no_text_drives_a_terminal_and_marks_are_ours(text: str) -> None:
    shown = visible(text)
    assert isinstance(shown, Shown)
    assert not DRIVING & set(shown)
    for start, end in shown.marks:
        mark = shown[start:end]
        assert (mark[0] == "<" and mark[-1] == ">") or mark in "␀␡" or 0x2400 <= ord(mark) < 0x2422
    assert len(hidden(text)) == len(shown.marks) - sum(c in "\n\r\t" for c in text)


@given(st.text(st.characters(), max_size=30))
def test_what_is_shown_is_shown_again_unchanged(text: str) -> None:
    again = visible(visible(text))
    assert again == visible(text)


@given(st.text(st.sampled_from("ab\u200b\u202e\u0301 ❤\ufe0f\u200d"), max_size=12))
def test_texts_that_differ_in_what_is_hidden_look_different(text: str) -> None:
    bare = "".join(char for char in text if not is_hidden(char))
    assert (visible(text) == visible(bare)) == (text == bare)


def test_assignment_is_that_of_the_shipped_unicode() -> None:
    assert is_assigned("a")
    assert is_assigned("\U0001fae9")  # newer than the oldest Python that we run on
    assert not is_assigned("\u0378")
    assert not is_assigned("\ue000")
    assert not is_assigned("\uffff")
