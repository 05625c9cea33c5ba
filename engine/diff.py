"""What changed between two versions of a file: lines, blocks and words, as plain values.

Fewest changed lines (a longest common subsequence, rapidfuzz's `Indel`); unique common lines cut a
gap that is too large for it, as patience diff does. Lines are compared without their ends; a change
of line ends, byte order mark or final newline is said in words of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engine.documents import decode

GAP_LIMIT: Final = 100_000_000
"""Product of the lengths of two sides up to which their longest common subsequence is sought."""
PAIR_LIMIT: Final = 4_000
"""Product of the removed and added lines of a block up to which they are paired by similarity."""
WORD_LIMIT: Final = 2_000
"""Words of a line that are compared with those of its pair."""
SIMILAR: Final = 0.45
"""Similarity, 0 to 1, from which a removed and an added line are shown as a pair."""

_BOM = b"\xef\xbb\xbf"
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff. `old` and `new` are its 1-based numbers, None where it does not stand.

    `words` are the spans of `text` that differ from the paired line; `pair` is the pair's index
    among the rows.
    """

    kind: Literal["same", "removed", "added"]
    old: int | None
    new: int | None
    text: str
    words: tuple[tuple[int, int], ...] = ()
    pair: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """Every line of both versions, in order. `blocks` are the ranges of rows that changed.

    `ends` says in words what changed beside the lines.
    """

    rows: tuple[Row, ...]
    blocks: tuple[range, ...]
    removed: int
    added: int
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Rows that are shown together. `skipped` same rows lie between it and the one before."""

    rows: range
    skipped: int


def compare(before: bytes | None, after: bytes | None) -> Diff:
    """The diff of two versions; None is no file."""
    old, new = _lines(before), _lines(after)
    return _diff(old, new, _ends(before, after))


def _lines(data: bytes | None) -> list[str]:
    if not data:
        return []
    lines = decode(data)[0].replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _ends(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    if not before or not after:
        return ()
    found: list[str] = []
    old, new = _end_word(before), _end_word(after)
    if old != new and old and new:
        found.append(f"line ends: {old} to {new}")
    for word, had, has in (
        ("byte order mark", before.startswith(_BOM), after.startswith(_BOM)),
        ("final newline", before.endswith(b"\n"), after.endswith(b"\n")),
    ):
        if had != has:
            found.append(f"{word} {'added' if has else 'removed'}")
    return tuple(found)


def _end_word(data: bytes) -> str:
    total, crlf = data.count(b"\n"), data.count(b"\r\n")
    if not total:
        return ""
    return "LF" if not crlf else "CRLF" if crlf == total else "mixed"


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[bool, int, int, int, int]]:
    """(same, old start, old end, new start, new end), adjacent ones of a kind joined."""
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in old]
    b = [numbers.setdefault(line, len(numbers)) for line in new]
    found: list[tuple[bool, int, int, int, int]] = []
    for same, a1, a2, b1, b2 in _trimmed(a, b):
        if found and found[-1][0] == same and found[-1][2] == a1 and found[-1][4] == b1:
            found[-1] = (same, found[-1][1], a2, found[-1][3], b2)
        else:
            found.append((same, a1, a2, b1, b2))
    return found


_Op = tuple[bool, int, int, int, int]


def _trimmed(a: list[int], b: list[int]) -> Iterator[_Op]:
    """Cut off what is common at both ends, then cut the gap as long as it is too large."""
    pending = [(0, len(a), 0, len(b))]
    while pending:
        a1, a2, b1, b2 = pending.pop()
        head = 0
        while a1 + head < a2 and b1 + head < b2 and a[a1 + head] == b[b1 + head]:
            head += 1
        if head:
            yield True, a1, a1 + head, b1, b1 + head
            a1, b1 = a1 + head, b1 + head
        tail = 0
        while a2 - tail > a1 and b2 - tail > b1 and a[a2 - tail - 1] == b[b2 - tail - 1]:
            tail += 1
        a2, b2 = a2 - tail, b2 - tail
        if tail:
            pending.append((a2, a2 + tail, b2, b2 + tail))
        if a1 == a2 or b1 == b2:
            if a1 < a2 or b1 < b2:
                yield False, a1, a2, b1, b2
        elif (a2 - a1) * (b2 - b1) <= GAP_LIMIT:
            yield from _common(a, b, a1, a2, b1, b2)
        else:
            cuts = _anchors(a, b, a1, a2, b1, b2)
            pending.extend(reversed(cuts))


def _common(a: list[int], b: list[int], a1: int, a2: int, b1: int, b2: int) -> Iterator[_Op]:
    from rapidfuzz.distance import Indel

    for op in Indel.opcodes(a[a1:a2], b[b1:b2]):
        yield (
            op.tag == "equal",
            a1 + op.src_start,
            a1 + op.src_end,
            b1 + op.dest_start,
            b1 + op.dest_end,
        )


def _anchors(
    a: list[int], b: list[int], a1: int, a2: int, b1: int, b2: int
) -> list[tuple[int, int, int, int]]:
    """Cut a gap at lines that stand once on both sides, in the longest order that both share.

    Without any, at the middle of both sides: work stays bounded, and the result is still a diff.
    """
    in_a, in_b = Counter(a[a1:a2]), Counter(b[b1:b2])
    where = {line: at for at, line in enumerate(b[b1:b2], start=b1) if in_b[line] == 1}
    pairs = [
        (at, where[line])
        for at, line in enumerate(a[a1:a2], start=a1)
        if in_a[line] == 1 and line in where
    ]
    cuts: list[tuple[int, int, int, int]] = []
    x, y = a1, b1
    for at, there in _increasing(pairs):
        if at > x or there > y:
            cuts.append((x, at, y, there))
        cuts.append((at, at + 1, there, there + 1))
        x, y = at + 1, there + 1
    if not cuts:
        mid_a, mid_b = (a1 + a2) // 2, (b1 + b2) // 2
        return [(a1, mid_a, b1, mid_b), (mid_a, a2, mid_b, b2)]
    if x < a2 or y < b2:
        cuts.append((x, a2, y, b2))
    return cuts


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second numbers rise (patience sorting)."""
    from bisect import bisect_left

    tops: list[int] = []
    piles: list[int] = []
    links: list[int] = []
    for index, (_, there) in enumerate(pairs):
        pile = bisect_left(tops, there)
        links.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(there)
            piles.append(index)
        else:
            tops[pile] = there
            piles[pile] = index
    found: list[tuple[int, int]] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        found.append(pairs[at])
        at = links[at]
    return found[::-1]


def _diff(old: list[str], new: list[str], ends: tuple[str, ...]) -> Diff:
    rows: list[Row] = []
    blocks: list[range] = []
    removed = added = 0
    block: tuple[int, int, int, int] | None = None

    def close() -> None:
        nonlocal block
        if block is not None:
            start = len(rows)
            rows.extend(_block(old, new, *block, start))
            blocks.append(range(start, len(rows)))
            block = None

    for same, a1, a2, b1, b2 in opcodes(old, new):
        if same:
            close()
            rows.extend(Row("same", a1 + n + 1, b1 + n + 1, old[a1 + n]) for n in range(a2 - a1))
        else:
            removed += a2 - a1
            added += b2 - b1
            block = (a1, a2, b1, b2) if block is None else (block[0], a2, block[2], b2)
    close()
    return Diff(tuple(rows), tuple(blocks), removed, added, ends)


def _block(
    old: list[str], new: list[str], a1: int, a2: int, b1: int, b2: int, start: int
) -> Iterator[Row]:
    """The rows of one block: removed lines, then added ones, pairs marked word by word."""
    pairs = _pairs(old[a1:a2], new[b1:b2])
    back = {there: here for here, there in pairs.items()}
    marks = {here: changed_words(old[a1 + here], new[b1 + there]) for here, there in pairs.items()}
    height = a2 - a1
    for n in range(height):
        pair = start + height + pairs[n] if n in pairs else None
        words = marks[n][0] if n in pairs else ()
        yield Row("removed", a1 + n + 1, None, old[a1 + n], words, pair)
    for n in range(b2 - b1):
        pair = start + back[n] if n in back else None
        words = marks[back[n]][1] if n in back else ()
        yield Row("added", None, b1 + n + 1, new[b1 + n], words, pair)


def _pairs(removed: list[str], added: list[str]) -> dict[int, int]:
    """Removed line -> added line, in order, by the greatest similarity in all."""
    if not removed or not added:
        return {}
    if len(removed) * len(added) > PAIR_LIMIT:
        if len(removed) != len(added):
            return {}
        return {n: n for n in range(len(removed)) if _similarity(removed[n], added[n]) >= SIMILAR}
    likeness = [[_similarity(a, b) for b in added] for a in removed]
    best = [[0.0] * (len(added) + 1) for _ in range(len(removed) + 1)]
    for i in range(len(removed) - 1, -1, -1):
        for j in range(len(added) - 1, -1, -1):
            alike = likeness[i][j]
            taken = best[i + 1][j + 1] + alike if alike >= SIMILAR else 0.0
            best[i][j] = max(taken, best[i + 1][j], best[i][j + 1])
    found: dict[int, int] = {}
    i = j = 0
    while i < len(removed) and j < len(added):
        alike = likeness[i][j]
        if alike >= SIMILAR and best[i][j] == best[i + 1][j + 1] + alike:
            found[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _similarity(a: str, b: str) -> float:
    from rapidfuzz.distance import Indel

    return float(Indel.normalized_similarity(a[:1000], b[:1000], score_cutoff=SIMILAR))


Spans = tuple[tuple[int, int], ...]


def changed_words(old: str, new: str) -> tuple[Spans, Spans]:
    """The spans of two lines that differ, by words; none where everything does."""
    from rapidfuzz.distance import Indel

    a, b = _WORD.findall(old[: WORD_LIMIT * 8]), _WORD.findall(new[: WORD_LIMIT * 8])
    if len(a) > WORD_LIMIT or len(b) > WORD_LIMIT:
        return (), ()
    spans_a: list[tuple[int, int]] = []
    spans_b: list[tuple[int, int]] = []
    at_a = at_b = 0
    for op in Indel.opcodes(a, b):
        length_a = sum(map(len, a[op.src_start : op.src_end]))
        length_b = sum(map(len, b[op.dest_start : op.dest_end]))
        if op.tag != "equal":
            _join(spans_a, at_a, at_a + length_a)
            _join(spans_b, at_b, at_b + length_b)
        at_a, at_b = at_a + length_a, at_b + length_b
    return tuple(spans_a), tuple(spans_b)


def _join(spans: list[tuple[int, int]], start: int, end: int) -> None:
    if start == end:
        return
    if spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))


def hunks(diff: Diff, context: int = 3) -> tuple[Hunk, ...]:
    """The blocks with some same rows around them, near ones together; for a unified view."""
    found: list[tuple[int, int]] = []
    for block in diff.blocks:
        start, end = max(0, block.start - context), min(len(diff.rows), block.stop + context)
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    shown: list[Hunk] = []
    last = 0
    for start, end in found:
        shown.append(Hunk(range(start, end), start - last))
        last = end
    return tuple(shown)
