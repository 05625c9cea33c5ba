"""Three-way merges: what either side changed is there, and what both changed is said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.joining import join, union

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ""]), max_size=8)
FILES = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines).encode())


def text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@given(FILES, FILES)
def test_a_side_that_changed_nothing_adds_nothing(base: bytes, other: bytes) -> None:
    assert join(base, base, other).data == other
    assert join(base, other, base).data == other
    assert join(base, other, other).data == other
    assert union(base, base, other) == other
    assert union(base, other, other) == other


@given(FILES, FILES, FILES)
def test_which_side_is_ours_changes_nothing_but_the_order_of_a_clash(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    assert join(base, ours, theirs).data == join(base, theirs, ours).data


@given(FILES, FILES, FILES)
def test_no_line_is_invented(base: bytes, ours: bytes, theirs: bytes) -> None:
    known = {*base.split(b"\n"), *ours.split(b"\n"), *theirs.split(b"\n")}
    assert set(union(base, ours, theirs).split(b"\n")) <= known


@given(FILES, FILES, FILES)
def test_a_union_says_all_that_either_side_added(base: bytes, ours: bytes, theirs: bytes) -> None:
    said = set(union(base, ours, theirs).split(b"\n"))
    for side in (ours, theirs):
        assert set(side.split(b"\n")) - set(base.split(b"\n")) <= said


@given(FILES, FILES, FILES)
def test_a_union_without_a_clash_is_the_merge(base: bytes, ours: bytes, theirs: bytes) -> None:
    joined = join(base, ours, theirs)
    assert (joined.data is None) == bool(joined.clashes)
    if joined.data is not None:
        assert union(base, ours, theirs) == joined.data


def test_changes_of_different_lines_are_both_there() -> None:
    base = text("one", "two", "three", "four")
    joined = join(base, text("ONE", "two", "three", "four"), text("one", "two", "three", "4", "5"))
    assert joined.data == text("ONE", "two", "three", "4", "5")


def test_a_line_taken_away_and_one_written_behind_it_do_not_clash() -> None:
    base = text("green", "three")
    assert join(base, text("green"), text("green", "three", "milk")).data == text("green", "milk")
    assert join(base, text("green"), text("green", "milk", "three")).data == text("green", "milk")


def test_lines_that_both_wrote_in_one_place_clash() -> None:
    assert join(text("a"), text("a", "b"), text("a", "c")).data is None


def test_lines_that_both_changed_differently_clash_and_are_named() -> None:
    joined = join(text("x", "tea", "y"), text("x", "coffee", "y"), text("x", "water", "y"))
    assert joined.data is None
    (clash,) = joined.clashes
    assert (clash.line, clash.base, clash.ours, clash.theirs) == (
        2,
        ("tea",),
        ("coffee",),
        ("water",),
    )


def test_a_union_keeps_both_sides_of_a_clash_but_one_description() -> None:
    base = text("---", 'description: "tea"', "---", "", "- tea")
    ours = text("---", 'description: "ours"', "---", "", "- coffee")
    theirs = text("---", 'description: "theirs"', "---", "", "- water")
    assert union(base, ours, theirs) == text(
        "---", 'description: "theirs"', "---", "", "- water", "- coffee"
    )


def test_what_is_taken_gets_the_line_ends_of_the_file_it_goes_to() -> None:
    joined = join(b"a\nb\nc\n", b"a\nb\nc\nd\n", b"A\r\nb\r\nc\r\n")
    assert joined.data == b"A\r\nb\r\nc\r\nd\r\n"


def test_a_missing_final_newline_stays_missing_and_joins_no_lines() -> None:
    assert join(b"a\nb\nc", b"a\nb\nc\nd\n", b"A\nb\nc").data == b"A\nb\nc\nd"


def test_bytes_that_are_no_text_are_joined_as_they_are() -> None:
    base = b"\xff\nb\nc\n"
    assert join(base, b"\xff\nb\nc\n\xfe\n", b"A\xff\nb\nc\n").data == b"A\xff\nb\nc\n\xfe\n"
