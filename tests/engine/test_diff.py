"""The diff: it rebuilds its target, with the fewest changed lines, and hides no changed byte."""

from __future__ import annotations

import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from engine.diff import (
    Diff,
    changed_words,
    compare,
    compare_lines,
    hunks,
    opcodes,
    operations,
    patch,
    take,
    words,
)
from engine.documents import decode

Lines = list[str]

lines = st.lists(st.sampled_from(["a", "b", "c", "the net is on 3.615", "x y z", ""]), max_size=12)
pieces = st.sampled_from(
    [b"a", b"b", b"the net", b"\n", b"\r\n", b"\r", b"", b"\xff", b"\x00", "é本".encode()]
)
marks = st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe"])
files = st.builds(lambda mark, body: mark + b"".join(body), marks, st.lists(pieces, max_size=14))
texts = st.text(alphabet="ab 1_é.\u0301\u200d😀\ud800", max_size=20)


def data(found: Lines) -> bytes:
    return "".join(f"{line}\n" for line in found).encode()


def shown(content: bytes) -> Lines:
    """The lines of a file as a person sees them: without ends."""
    found = decode(content)[0].replace("\r\n", "\n").split("\n")
    return found if found[-1] else found[:-1]


def rebuilt(diff: Diff, taken: frozenset[int]) -> Lines:
    """The lines with only some blocks changed, from the diff's rows alone."""
    found: Lines = []
    inside = {at: block.index for block in diff.blocks for at in block.rows}
    for at, row in enumerate(diff.rows):
        wanted = "added" if inside.get(at) in taken else "removed"
        if row.kind in {"same", wanted}:
            found.append(row.text)
    return found


@given(lines, lines)
def test_the_rows_rebuild_both_sides(old: Lines, new: Lines) -> None:
    diff = compare(data(old), data(new))
    assert [r.text for r in diff.rows if r.kind != "added"] == old
    assert [r.text for r in diff.rows if r.kind != "removed"] == new
    assert [r.old for r in diff.rows if r.old] == list(range(1, len(old) + 1))
    assert [r.new for r in diff.rows if r.new] == list(range(1, len(new) + 1))
    assert diff.removed == sum(r.kind == "removed" for r in diff.rows)
    assert diff.added == sum(r.kind == "added" for r in diff.rows)
    assert diff == compare_lines(old, new)


@given(lines, lines, st.data())
def test_a_row_is_the_same_however_it_is_asked_for(
    old: Lines, new: Lines, draw: st.DataObject
) -> None:
    whole = list(compare_lines(old, new).rows)
    rows = compare_lines(old, new).rows
    for at in draw.draw(st.permutations(range(len(whole)))):
        assert rows[at] == whole[at]
        assert rows.text(at) == whole[at].text
        assert rows[at - len(whole)] == whole[at]
    start, stop = draw.draw(st.integers(-15, 30)), draw.draw(st.integers(-15, 30))
    assert rows[start:stop] == whole[start:stop]
    assert rows[::-1] == whole[::-1]
    with pytest.raises(IndexError):
        rows[len(whole)]
    for at in range(len(whole) + 1):
        assert rows.before(at) == (
            sum(1 for row in whole[:at] if row.old),
            sum(1 for row in whole[:at] if row.new),
        )


@given(lines, lines, st.sampled_from([4, 40, 4000]), st.sampled_from([1, 8]))
def test_lines_are_paired_the_same_whichever_part_is_looked_at_first(
    old: Lines, new: Lines, limit: int, part: int
) -> None:
    with (
        mock.patch.object(words, "PAIR_LIMIT", limit),
        mock.patch.object(words, "PART", part),
    ):
        rows, again = compare_lines(old, new).rows, compare_lines(old, new).rows
        assert [again[at] for at in reversed(range(len(again)))][::-1] == list(rows)
        for at, row in enumerate(rows):
            assert row.pair is None or rows[row.pair].pair == at


@given(lines, lines)
def test_blocks_hold_exactly_what_changed_removed_lines_first(old: Lines, new: Lines) -> None:
    diff = compare(data(old), data(new))
    inside = [at for block in diff.blocks for at in block.rows]
    assert inside == [at for at, row in enumerate(diff.rows) if row.kind != "same"]
    for index, block in enumerate(diff.blocks):
        assert block.index == index
        assert (block.start, block.stop) == (block.rows.start, block.rows.stop)
        rows = diff.rows[block.start : block.stop]
        assert [r.kind for r in rows] == ["removed"] * len(block.old) + ["added"] * len(block.new)
        assert [r.old for r in rows if r.old] == list(block.old)
        assert [r.new for r in rows if r.new] == list(block.new)
    for one, other in pairwise(diff.blocks):
        assert one.stop < other.start


@given(lines, lines)
def test_pairs_point_at_each_other_in_order_and_words_lie_in_their_text(
    old: Lines, new: Lines
) -> None:
    diff = compare(data(old), data(new))
    for at, row in enumerate(diff.rows):
        if row.pair is None:
            assert row.words == ()
        else:
            assert diff.rows[row.pair].pair == at
            assert {row.kind, diff.rows[row.pair].kind} == {"removed", "added"}
        flat = [place for span in row.words for place in span]
        assert flat == sorted(set(flat))
        assert not flat or (flat[0] >= 0 and flat[-1] <= len(row.text))
    partners = [row.pair for row in diff.rows if row.kind == "removed" and row.pair is not None]
    assert partners == sorted(partners)


@given(lines, lines, st.integers(0, 4))
def test_hunks_show_every_changed_row_once_and_count_their_lines(
    old: Lines, new: Lines, context: int
) -> None:
    diff = compare(data(old), data(new))
    found = hunks(diff, context)
    places = [at for hunk in found for at in hunk.rows]
    assert places == sorted(set(places))
    assert {at for block in diff.blocks for at in block.rows} <= set(places)
    end = 0
    for hunk in found:
        assert hunk.skipped == hunk.rows.start - end
        end = hunk.rows.stop
        rows = diff.rows[hunk.rows.start : end]
        numbers = [r.old for r in rows if r.old], [r.new for r in rows if r.new]
        assert (hunk.old_count, hunk.new_count) == (len(numbers[0]), len(numbers[1]))
        above = diff.rows[: hunk.rows.start]
        for start, counted, side in (
            (hunk.old_start, numbers[0], [r for r in above if r.old]),
            (hunk.new_start, numbers[1], [r for r in above if r.new]),
        ):
            assert start == (counted[0] if counted else len(side))


@given(files, files)
@example(b"a\r\nb\n", b"a\nb\r\n")
@example(b"", b"\xef\xbb\xbf")
@example(b"\xff\xfea\x00\n\x00", b"a\n")
@example(b"\xff\xfea\x00\n\x00", b"\xfe\xff\x00a\x00\n")
@example(b"\xff\xfe\xff\xfea\x00", b"\xff\xfea\x00")
def test_versions_that_differ_never_look_alike(before: bytes, after: bytes) -> None:
    diff = compare(before, after)
    assert (before == after) == (not diff.blocks and not diff.ends)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"a\n", b"a\r\n", ("line ends: LF to CRLF",)),
        (b"a\r\nb\r\n", b"a\r\nb\n", ("line ends: CRLF to mixed",)),
        (b"a\r\nb\n", b"a\nb\r\n", ("line ends: mixed, and not as before",)),
        (b"a\r\nb\nc\n", b"a\r\nb\nd\r\n", ()),
        (b"a\n", b"a", ("final newline removed",)),
        (b"a", b"b\r\n", ("final newline added",)),
        (b"a\n", b"\xef\xbb\xbfa\n", ("byte order mark added",)),
        (b"\xef\xbb\xbfa\n", b"", ("byte order mark removed",)),
        ("a\n".encode("utf-16"), b"a\n", ("encoding: UTF-16 LE to UTF-8",)),
        (b"a\n", b"b\n", ()),
        (None, b"b", ()),
        (b"\xef\xbb\xbfb\r\n", None, ()),
    ],
)
def test_what_changed_beside_the_lines_is_said_in_words(
    before: bytes | None, after: bytes | None, said: tuple[str, ...]
) -> None:
    assert compare(before, after).ends == said


def test_a_file_that_is_absent_has_no_lines() -> None:
    assert list(compare(None, None).rows) == []
    assert (compare(None, b"a\nb").added, compare(b"a\nb", None).removed) == (2, 2)


# --- the fewest changed lines


def lcs(old: Lines, new: Lines) -> int:
    row = [0] * (len(new) + 1)
    for line in old:
        last = row
        row = [0]
        for j, other in enumerate(new):
            row.append(last[j] + 1 if line == other else max(row[j], last[j + 1]))
    return row[-1]


@given(lines, lines)
def test_no_diff_has_fewer_changed_lines(old: Lines, new: Lines) -> None:
    diff = compare_lines(old, new)
    assert diff.removed + diff.added == len(old) + len(new) - 2 * lcs(old, new)


few = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@given(few, few, st.sampled_from([1, 4, 30]), st.sampled_from([(3, 1), (1,), ()]))
def test_a_gap_that_is_too_large_is_cut_and_still_rebuilds(
    old: Lines, new: Lines, limit: int, runs: tuple[int, ...]
) -> None:
    with (
        mock.patch.object(operations, "GAP_LIMIT", limit),
        mock.patch.object(operations, "RUNS", runs),
    ):
        found = opcodes(old, new)
    made: Lines = []
    at = (0, 0)
    for same, a1, a2, b1, b2 in found:
        assert (a1, b1) == at
        assert (a2, b2) != at
        at = a2, b2
        if same:
            assert old[a1:a2] == new[b1:b2]
        made += old[a1:a2] if same else new[b1:b2]
    assert at == (len(old), len(new))
    assert made == new
    kinds = [operation[0] for operation in found]
    assert all(one != other for one, other in pairwise(kinds))


def test_a_line_that_moves_through_a_large_repetitive_file_is_all_that_changes() -> None:
    rng = random.Random(1)
    body = [rng.choice("abcd") for _ in range(3_000)]
    old = ["unique", *body[:1500], "old", *body[1500:]]
    new = [*body[:1500], "new", *body[1500:], "unique"]
    with mock.patch.object(operations, "GAP_LIMIT", 100_000):
        diff = compare_lines(old, new)
    assert diff.removed + diff.added == 4


def test_a_section_that_moves_through_a_large_periodic_file_is_all_that_changes() -> None:
    section, body = [f"unique {n}" for n in range(20)], ["a", "b", "c"] * 1_000
    with mock.patch.object(operations, "GAP_LIMIT", 100_000):
        diff = compare_lines([*section, "old", *body, "old"], ["new", *body, "new", *section])
    assert diff.removed + diff.added == 44


def test_a_large_file_that_nothing_cuts_has_about_the_fewest_changed_lines() -> None:
    rng = random.Random(3)
    old = [rng.choice("ab") for _ in range(2_000)]
    new = mutated(rng, old, 40)
    fewest = compare_lines(old, new)
    with (
        mock.patch.object(operations, "GAP_LIMIT", 10_000),
        mock.patch.object(operations, "RUNS", ()),
    ):
        diff = compare_lines(old, new)
    assert diff.removed + diff.added <= 1.02 * (fewest.removed + fewest.added)


def test_a_large_block_that_is_inserted_into_a_repetitive_file_is_all_that_changes() -> None:
    rng = random.Random(2)
    old = [rng.choice("abcd") for _ in range(3_000)]
    new = [*old[:500], "start", *(rng.choice("abcd") for _ in range(1_500)), "end", *old[500:]]
    old[100], old[2900] = "old", "older"
    with mock.patch.object(operations, "GAP_LIMIT", 100_000):
        diff = compare_lines(old, new)
    assert diff.removed + diff.added == 1506


def prose(rng: random.Random) -> str:
    return " ".join(rng.choice(["alpha", "beta", "gamma", "delta"]) for _ in range(6))


def mutated(rng: random.Random, old: Lines, times: int) -> Lines:
    new = list(old)
    for _ in range(times):
        at = rng.randrange(len(new))
        match rng.randrange(4):
            case 0:
                new[at] = f"{new[at]} changed"
            case 1:
                new.insert(at, rng.choice(new))
            case 2:
                del new[at]
            case _:
                part = new[at : at + 5]
                del new[at : at + 5]
                to = rng.randrange(len(new))
                new[to:to] = part
    return new


def a_pair(kind: str) -> tuple[Lines, Lines]:
    rng = random.Random(kind)
    size = 20_000 if kind.startswith("large") else 1_500
    match kind.rsplit(maxsplit=1)[-1]:
        case "prose":
            old = [prose(rng) for _ in range(size)]
        case "periodic":
            old = ["a", "b", "c"] * (size // 3)
        case _:
            old = [rng.choice(["", "- a", "- b", "```", "}", "end"]) for _ in range(size)]
    new = mutated(rng, old, size // 20)
    if kind == "moved prose":
        new = new[400:] + new[:400]
    return old, new


def git_count(folder: Path, old: bytes, new: bytes) -> int:
    (folder / "a").write_bytes(old)
    (folder / "b").write_bytes(new)
    ran = subprocess.run(
        ["git", "diff", "--no-index", "--numstat", "a", "b"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    added, removed, *_ = ran.stdout.split()
    return int(added) + int(removed)


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is asked for its answer")


@needs_git
@pytest.mark.parametrize(
    "kind",
    [
        "prose",
        "repetitive",
        "periodic",
        "moved prose",
        "large prose",
        "large repetitive",
        "large periodic",
    ],
)
def test_no_more_lines_change_than_git_counts(kind: str, tmp_path: Path) -> None:
    old, new = a_pair(kind)
    diff = compare(data(old), data(new))
    assert diff.added + diff.removed <= 1.02 * git_count(tmp_path, data(old), data(new))


# --- words


@pytest.mark.parametrize(
    ("old", "new", "gone", "come"),
    [
        ("the net is on 3.615 MHz", "the net is on 3.690 MHz", ["615"], ["690"]),
        ("a cat sat", "a cats sat", ["cat"], ["cats"]),
        ("uncover", "recover", ["uncover"], ["recover"]),
        ("one two", "one  two", [" "], ["  "]),
        ("one two", "one new two", [], ["new "]),
        ("never do it", "do it", ["never "], []),
        ("a b c d", "x b y d", ["a", "c"], ["x", "y"]),
        ("", "a", [], ["a"]),
        ("ask who is on call", "ask whom to call", ["who is on"], ["whom to"]),
        ("a b c", "x b c y", ["a"], ["x", " y"]),
    ],
)
def test_words_that_changed_are_marked_whole(old: str, new: str, gone: Lines, come: Lines) -> None:
    marked = changed_words(old, new)
    assert [old[s:e] for s, e in marked[0]] == gone
    assert [new[s:e] for s, e in marked[1]] == come


def without(text: str, spans: words.Spans) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


@given(texts, texts, st.sampled_from([1, 5, 8000]))
def test_lines_are_alike_but_for_their_marked_words(old: str, new: str, limit: int) -> None:
    with mock.patch.object(words, "WORD_LIMIT", limit):
        gone, come = changed_words(old, new)
    assert without(old, gone) == without(new, come)
    assert (not gone and not come) == (old == new)


def test_the_end_of_a_monster_line_is_marked_too() -> None:
    old, new = "x. " * 9_000 + "yes", "z. " * 9_000 + "no"
    gone, come = changed_words(old, new)
    assert gone[-1][1] == len(old)
    assert come[-1][1] == len(new)


def test_lines_are_paired_with_what_they_became_and_in_order() -> None:
    diff = compare_lines(
        ["- the net is on 3.615 MHz", "- Monday at 8", "- bring a radio"],
        ["- something else altogether", "- Monday at 9", "- bring a radio and a pen"],
    )
    assert [row.pair for row in diff.rows] == [None, 4, 5, None, 1, 2]


@pytest.mark.parametrize(("height", "width"), [(100, 101), (300, 200), (1, 5000)])
def test_lines_of_a_large_block_are_paired_too(height: int, width: int) -> None:
    old = [f"the memory of place number {n} is old" for n in range(height)]
    new = [f"the memory of place number {n} is new" for n in range(width)]
    diff = compare_lines(old, new)
    paired = [row for row in diff.rows if row.kind == "removed" and row.pair is not None]
    assert len(paired) >= 0.9 * min(height, width)


def test_lines_far_down_a_vast_change_are_shown_unpaired() -> None:
    diff = compare_lines(
        [f"line {n} old" for n in range(6000)], [f"line {n} new" for n in range(6000)]
    )
    paired = [at for at, row in enumerate(diff.rows[:6000]) if row.pair is not None]
    assert 0 in paired
    assert max(paired) < 3000


def test_a_change_far_down_a_large_file_is_paired_if_little_changed_before_it() -> None:
    old = [f"line {n} of it" for n in range(20_000)]
    new = [*old[:19_000], "line 19000 changed", *old[19_001:]]
    assert [row.kind for row in compare_lines(old, new).rows if row.pair] == ["removed", "added"]


# --- a part of a change


@given(files, files, st.sets(st.integers(0, 6)))
def test_blocks_that_are_taken_rebuild_that_part_of_the_target(
    before: bytes, after: bytes, wanted: set[int]
) -> None:
    diff = compare(before, after)
    taken = frozenset(block.index for block in diff.blocks if block.index in wanted)
    made = take(before, after, taken)
    if not taken:
        assert made == before
    elif len(taken) == len(diff.blocks):
        assert made == after
    else:
        # Half a broken UTF-16 file may be a whole one: the same bytes, read otherwise.
        both = {decode(before)[1], decode(after)[1]} == {"utf-16"}
        assume(both == (decode(made)[1] == "utf-16"))
        expected = rebuilt(diff, taken)
        assert shown(made) == expected
        said = [end.split(":")[0] for end in compare(before, made).ends]
        kept = {"encoding", "line ends"} | ({"final newline added"} if not expected[-1] else set())
        assert set(said) <= kept


@given(lines, lines, st.sampled_from([("\n", "\r\n"), ("\r\n", "\n")]), st.data())
def test_a_partial_result_has_the_line_ends_of_the_file(
    old: Lines, new: Lines, ends: tuple[str, str], draw: st.DataObject
) -> None:
    before, after = (
        "".join(x + end for x in found).encode()
        for found, end in zip((old, new), ends, strict=True)
    )
    blocks = len(compare(before, after).blocks)
    taken = draw.draw(
        st.frozensets(st.integers(0, max(blocks - 1, 0)), max_size=max(blocks - 1, 0))
    )
    made = take(before, after, taken)
    assert made.count(b"\r\n") == (0 if ends[0] == "\n" else made.count(b"\n"))


@pytest.mark.parametrize(
    ("before", "after", "taken", "made"),
    [
        (b"a\r\nb\r\nc\r\n", b"x\nb\ny\n", {0}, b"x\r\nb\r\nc\r\n"),
        (b"a\nb\nc", b"x\nb\nc\nd\n", {1}, b"a\nb\nc\nd"),
        (b"a\nb\nc", b"x\nb\n", {1}, b"a\nb"),
        (b"a\nb\nc", b"x\nb\n\n", {1}, b"a\nb\n\n"),
        (b"\xef\xbb\xbfa\nb\nc\n", b"x\nb\ny\n", {0}, b"\xef\xbb\xbfx\nb\nc\n"),
        (b"a\nb\nc\n", b"x\r\r\nb\ny\n", {0}, b"x\r\r\nb\nc\n"),
        (b"a\xff\nb\nc\n", b"x\nb\ny\n", {1}, b"a\xff\nb\ny\n"),
        (b"a\r\nb\r\nc\nd\n", b"x\nb\nc\ny\n", {0}, b"x\nb\r\nc\nd\n"),
    ],
)
def test_a_partial_result_keeps_what_the_file_has_beside_its_lines(
    before: bytes, after: bytes, taken: set[int], made: bytes
) -> None:
    assert take(before, after, frozenset(taken)) == made


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_a_partial_result_of_utf_16_is_utf_16(codec: str) -> None:
    before, after, made = (
        f"\ufeff{t}".encode(codec) for t in ("a\nb\nc\n", "x\nb\ny\n", "a\nb\ny\n")
    )
    assert take(before, after, frozenset({1})) == made
    assert take(before, b"x\nb\ny\n", frozenset({1})) == b"a\nb\ny\n"


def test_a_block_that_there_is_not_cannot_be_taken() -> None:
    with pytest.raises(ValueError, match="there are 1 blocks"):
        take(b"a\n", b"b\n", frozenset({0, 1}))


# --- patches


def apply(program: str, folder: Path, text: str) -> None:
    (folder / "p.patch").write_bytes(text.encode("utf-8", "surrogateescape"))
    command = {
        "git": ["git", "apply", "--whitespace=nowarn", "p.patch"],
        "patch": ["patch", "-p1", "-s", "-i", "p.patch"],
    }[program]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert ran.returncode == 0, (ran.stderr, text)


def programs() -> list[str]:
    return [name for name in ("git", "patch") if shutil.which(name)]


VERSIONS: list[tuple[bytes | None, bytes | None]] = [
    (b"a\nb\nc\n", b"a\nx\nc\n"),
    (b"a\r\nb\r\n", b"a\r\nx\r\n"),
    (b"a\r\nb\r\n", b"a\nb\n"),
    (b"a\nb", b"a\nb\n"),
    (b"a\nb\n", b"a\nb"),
    (b"a", b"b"),
    (b"\xef\xbb\xbfa\n", b"a\n"),
    (b"a\xff\n\xfe\n", b"a\xff\nx\n"),
    (b"-- x\n++ y\n", b"-- z\n+++ b/other\n"),
    (b"", b"a\n"),
    (b"a\n", b""),
    (None, b"a\nb"),
    (None, b""),
    (b"a\nb", None),
    (b"", None),
    (data([str(n) for n in range(40)]), data(["top", *(str(n) for n in range(5, 40)), "end"])),
]


@pytest.mark.parametrize("program", programs())
@pytest.mark.parametrize("path", ["a.md", "facts/dark mode.md", 'q"uote\\ é\t.md', "-x b/a.md"])
@pytest.mark.parametrize(("before", "after"), VERSIONS)
def test_a_patch_makes_exactly_the_bytes_of_the_target(
    program: str, path: str, before: bytes | None, after: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if before is not None:
        file.write_bytes(before)
    apply(program, tmp_path, patch(path, path, before, after))
    assert (file.read_bytes() if file.exists() else None) == after


@pytest.mark.parametrize("program", programs())
@pytest.mark.parametrize("after", [b"a\nb\n", b"a\nc\n"])
def test_a_patch_moves_a_file(program: str, after: bytes, tmp_path: Path) -> None:
    (tmp_path / "old name.md").write_bytes(b"a\nb\n")
    apply(program, tmp_path, patch("old name.md", "new/é.md", b"a\nb\n", after))
    assert not (tmp_path / "old name.md").exists()
    assert (tmp_path / "new" / "é.md").read_bytes() == after


@given(files)
def test_a_patch_of_nothing_is_empty(content: bytes) -> None:
    assert patch("a.md", "a.md", content, content) == ""
    assert patch("a.md", "b.md", None, None) == ""
