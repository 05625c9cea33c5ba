"""The diff: it rebuilds its target, with the fewest changed lines, and marks words."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import diff as module
from engine.diff import compare, hunks, opcodes

lines = st.lists(st.sampled_from(["a", "b", "c", "the net is on 3.615", "x y z", ""]), max_size=12)


def data(found: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in found).encode()


@given(lines, lines)
def test_the_rows_rebuild_both_sides(old: list[str], new: list[str]) -> None:
    diff = compare(data(old), data(new))
    assert [r.text for r in diff.rows if r.kind != "added"] == old
    assert [r.text for r in diff.rows if r.kind != "removed"] == new
    assert [r.old for r in diff.rows if r.old] == list(range(1, len(old) + 1))
    assert [r.new for r in diff.rows if r.new] == list(range(1, len(new) + 1))
    assert diff.removed == sum(r.kind == "removed" for r in diff.rows)
    assert diff.added == sum(r.kind == "added" for r in diff.rows)


@given(lines, lines)
def test_blocks_hold_exactly_what_changed_and_pairs_point_at_each_other(
    old: list[str], new: list[str]
) -> None:
    diff = compare(data(old), data(new))
    inside = {at for block in diff.blocks for at in block}
    assert inside == {at for at, row in enumerate(diff.rows) if row.kind != "same"}
    for at, row in enumerate(diff.rows):
        if row.pair is not None:
            assert diff.rows[row.pair].pair == at
            assert {row.kind, diff.rows[row.pair].kind} == {"removed", "added"}
        for start, end in row.words:
            assert 0 <= start < end <= len(row.text)


@given(lines, lines)
def test_hunks_show_every_changed_row_once(old: list[str], new: list[str]) -> None:
    diff = compare(data(old), data(new))
    shown = [at for hunk in hunks(diff) for at in hunk.rows]
    assert len(shown) == len(set(shown))
    assert {at for block in diff.blocks for at in block} <= set(shown)


@given(lines, lines)
def test_a_gap_that_is_too_large_is_cut_and_still_rebuilds(old: list[str], new: list[str]) -> None:
    limit, module.GAP_LIMIT = module.GAP_LIMIT, 4  # type: ignore[misc]
    try:
        rebuilt: list[str] = []
        for same, a1, a2, b1, b2 in opcodes(old, new):
            rebuilt += old[a1:a2] if same else new[b1:b2]
        assert rebuilt == new
    finally:
        module.GAP_LIMIT = limit  # type: ignore[misc]


def test_words_that_changed_are_marked_in_both_lines() -> None:
    diff = compare(b"the net is on 3.615 MHz\n", b"the net is on 3.690 MHz\n")
    removed, added = diff.rows
    assert [removed.text[s:e] for s, e in removed.words] == ["615"]
    assert [added.text[s:e] for s, e in added.words] == ["690"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"a\n", b"a\r\n", ("line ends: LF to CRLF",)),
        (b"a\n", b"a", ("final newline removed",)),
        (b"a\n", b"\xef\xbb\xbfa\n", ("byte order mark added",)),
        (b"a\n", b"b\n", ()),
        (None, b"b", ()),
    ],
)
def test_what_changed_beside_the_lines_is_said_in_words(
    before: bytes | None, after: bytes, said: tuple[str, ...]
) -> None:
    assert compare(before, after).ends == said


@pytest.mark.skipif(shutil.which("git") is None, reason="git counts for comparison")
@pytest.mark.parametrize("kind", ["prose", "repetitive", "moved"])
def test_no_more_lines_change_than_git_counts(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    words = ["alpha", "beta", "gamma", "delta"]
    size = 1 if kind == "repetitive" else 6
    old = [" ".join(rng.choice(words) for _ in range(size)) for _ in range(1500)]
    new = list(old)
    for _ in range(100):
        new[rng.randrange(len(new))] = "changed " + str(rng.randrange(9))
    if kind == "moved":
        new = new[400:] + new[:400]
    (tmp_path / "a").write_bytes(data(old))
    (tmp_path / "b").write_bytes(data(new))
    ran = subprocess.run(
        ["git", "diff", "--no-index", "--numstat", "a", "b"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    added, removed, *_ = ran.stdout.split()
    diff = compare(data(old), data(new))
    assert diff.added + diff.removed <= 1.02 * (int(added) + int(removed))
