"""What goes into the editor comes out of it: every character, every line end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.characters import hidden
from memui.presentation.standins import (
    LINE_LIMIT,
    LINES_LIMIT,
    TEXT_LIMIT,
    StandIns,
    can_edit,
    line_end,
)

ODD = "\x00\x07\x0b\x0c\x1b\x1c\x1d\x1e\x7f\x85\x9b\xad\u200b\u200d\u202e\u2028\u2029\ufeff\ue000\t"
texts = st.lists(st.sampled_from([*ODD, "\r\n", "\n", "a", "é", "\U0001f469", "\ufe0f"])).map(
    "".join
) | st.text(st.characters(exclude_categories=["Cs"]))


@given(texts)
def test_a_text_that_can_be_edited_comes_back_byte_for_byte(text: str) -> None:
    if can_edit(text) is None:
        stand_ins = StandIns()
        inside = stand_ins.put(text)
        lines = inside.splitlines()
        assert "\n".join(lines) == inside.removesuffix("\n")  # no other line end for a text area
        assert stand_ins.lift(inside).replace("\n", line_end(text)) == text


@given(texts)
def test_nothing_hidden_is_left_in_what_the_editor_holds_but_stand_ins(text: str) -> None:
    stand_ins = StandIns()
    inside = stand_ins.put(text)
    left = {found.char for found in hidden(inside)}
    assert all(stand_ins.char(char) is not None for char in left)
    for line in inside.split("\n"):
        painted, marks = stand_ins.signs(line)
        assert len(painted) == len(line)
        assert not {found.char for found in hidden(painted)}
        assert all(stand_ins.char(line[at]) is not None for at in marks)


@pytest.mark.parametrize(
    "text",
    [
        "a\nb\n", "no final newline", "", "a\r\nb\r\n", "\ufeff---\n", "\ttab\n", "\x1b[2J\n",
        "a\x85b\u2028c\x0bd\n", "x" * LINE_LIMIT, "\ue000\n",
    ],
)  # fmt: skip
def test_a_text_of_one_kind_of_line_end_can_be_edited(text: str) -> None:
    assert can_edit(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\r\nb\n", "its lines end in different ways"),
        ("a\rb", "its lines end in different ways"),
        ("a\n\r\nb", "its lines end in different ways"),
        ("\ud800", "it holds half a surrogate pair"),
        ("x" * (LINE_LIMIT + 1), "a line of it has 8193 characters"),
        ("x\n" * TEXT_LIMIT, "it has 2.0 MB, more than 1.0 MB"),
        ("\n" * LINES_LIMIT, "it has 10001 lines"),
        (
            "\n".join(map(chr, range(0xE0100, 0xE01F0)))
            + "".join(map(chr, range(0xF0000, 0xF1900))),
            "it holds too many different hidden characters",
        ),
    ],
)
def test_what_would_not_come_back_is_refused_with_the_reason(text: str, why: str) -> None:
    assert can_edit(text) == why
