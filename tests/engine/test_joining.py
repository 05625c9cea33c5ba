"""Three-way merges: what either side changed is there, and what both changed is said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.diff.sides import read
from engine.joining import join, union

LINES = st.lists(st.sampled_from(["a", "b", "c", "- d", "# E", "", "\udcff"]), max_size=8)
FRONT = ["", 'description: "p"', 'description: "q"']


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Files of few different lines, with every kind of line end, mark and last line."""
    lines = draw(LINES)
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n"]))
    data = "".join(line + end for line in lines)
    if lines and lines[-1] and draw(st.integers(0, 3)) == 0:
        data = data.removesuffix(end)
    mark = "\ufeff" if draw(st.integers(0, 5)) == 0 else ""
    return (mark + data).encode("utf-8", "surrogateescape")


@st.composite
def memories(draw: st.DrawFn) -> bytes:
    """Files that may have a description."""
    said = draw(st.sampled_from(FRONT))
    front = f"---\n{said}\n---\n" if said else ""
    return (front + "".join(f"{line}\n" for line in draw(LINES))).encode("utf-8", "surrogateescape")


FILES = files()


def lines_of(data: bytes) -> set[str]:
    return set(read(data).lines)


def body(data: bytes) -> set[str]:
    lines = read(data).lines
    return set(lines[3:] if lines[:1] == ["---"] else lines)


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
    known = lines_of(base) | lines_of(ours) | lines_of(theirs)
    assert lines_of(union(base, ours, theirs)) <= known
    assert lines_of(join(base, ours, theirs).data or b"") <= known


@given(memories(), memories(), memories())
def test_a_union_says_all_that_either_side_added_whatever_its_frontmatter(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    said = lines_of(union(base, ours, theirs))
    for side in (ours, theirs):
        assert body(side) - lines_of(base) <= said


@given(FILES, FILES, FILES)
def test_there_is_a_result_just_where_nothing_clashes(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    joined = join(base, ours, theirs)
    assert (joined.data is None) == bool(joined.clashes)


@given(FILES, FILES, FILES)
def test_a_union_takes_no_line_of_theirs_away_nor_out_of_order(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    rest = iter(read(union(base, ours, theirs)).lines)
    assert all(line in rest for line in read(theirs).lines)


@given(FILES, FILES, FILES)
def test_a_union_made_again_adds_no_other_line(base: bytes, ours: bytes, theirs: bytes) -> None:
    once = union(base, ours, theirs)
    assert set(read(union(base, ours, once)).lines) == set(read(once).lines)


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
    assert join(b"a\nb\nc", b"a\nb\nc\nd", b"A\nb\nc").data == b"A\nb\nc\nd"


def test_line_ends_mark_and_final_newline_are_taken_from_the_side_that_changed_them() -> None:
    assert join(b"a\nb\nc", b"a\nb\nc\nd\n", b"A\nb\nc").data == b"A\nb\nc\nd\n"
    assert join(b"a\nb\n", b"a\r\nb\r\n", b"a\nb\nc\n").data == b"a\r\nb\r\nc\r\n"
    assert join(b"a\nb\n", b"\xef\xbb\xbfa\nb\n", b"A\nb\n").data == b"\xef\xbb\xbfA\nb\n"


def test_a_union_gives_a_description_that_they_left_alone_the_value_of_ours() -> None:
    base = text("---", "description: old", "---", "", "- a")
    ours = text("---", "description: ours", "tags: [x]", "---", "", "- a")
    theirs = base + b"- more\n"
    assert union(base, ours, theirs) == ours + b"- more\n"


def test_a_union_adds_facts_though_theirs_put_a_frontmatter_in_front_of_the_same_lines() -> None:
    theirs = text("---", "description: theirs", "---", "- water")
    assert union(text("- tea"), text("- coffee"), theirs) == theirs + b"- coffee\n"


def test_a_union_brings_back_no_line_that_they_removed() -> None:
    assert union(text("a", "b", "c"), text("a", "b", "C"), text("a")) == text("a", "C")


def test_a_large_file_is_merged() -> None:
    lines = [f"line {number}" for number in range(10_000)]
    ours, theirs = list(lines), list(lines)
    ours[10::100] = [f"ours {number}" for number in range(100)]
    theirs[60::100] = [f"theirs {number}" for number in range(100)]
    data = join(text(*lines), text(*ours), text(*theirs)).data
    assert data is not None
    assert sum(line.startswith((b"ours", b"theirs")) for line in data.split(b"\n")) == 200


def test_bytes_that_are_no_text_are_joined_as_they_are() -> None:
    base = b"\xff\nb\nc\n"
    assert join(base, b"\xff\nb\nc\n\xfe\n", b"A\xff\nb\nc\n").data == b"A\xff\nb\nc\n\xfe\n"
