"""Which lines are the same: the fewest changed ones, and close to that where files are very large.

Up to a size it is a longest common subsequence (rapidfuzz's `Indel`). A larger gap is cut at runs
of lines that stand once on both sides, or else worked through window by window, so that time and
memory never grow with the product of both lengths.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import Final

GAP_LIMIT: Final = 100_000_000
"""Product of the lengths of two sides up to which their longest common subsequence is sought."""
RUNS: Final = (1, 16)
"""Lengths in lines of the runs that cut a larger gap, in the order in which they are tried."""

Operation = tuple[bool, int, int, int, int]
"""(same, old start, old end, new start, new end): 0-based, ends excluded."""
_Match = tuple[int, int, int]
"""(old start, new start, lines)"""
_Gap = tuple[int, int, int, int]
_Points = list[tuple[int, int]]


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Operation]:
    """What is the same and what is not, in order and by turns."""
    found: list[Operation] = []
    at, there = 0, 0
    for x, y, size in _stretches(old, new):
        start, begin = x, y
        if x > at or y > there:
            found.append((False, at, x, there, y))
        elif found:
            _, start, _, begin, _ = found.pop()
        at, there = x + size, y + size
        found.append((True, start, at, begin, there))
    if at < len(old) or there < len(new):
        found.append((False, at, len(old), there, len(new)))
    return found


def _stretches(old: Sequence[str], new: Sequence[str]) -> Iterator[_Match]:
    """Which lines match which, in order.

    Lines that do not stand on the other side match none. They are left out of the search, which
    changes no result and shortens it much.
    """
    numbers: dict[str, int] = {}
    a = list(map(numbers.setdefault, old, count()))
    b = list(map(numbers.setdefault, new, count(len(a))))
    both = frozenset(a).intersection(b)
    in_a = [at for at, number in enumerate(a) if number in both]
    in_b = [at for at, number in enumerate(b) if number in both]
    for first, other, size in _matches([a[at] for at in in_a], [b[at] for at in in_b]):
        x, y, end = first, other, first + size
        while x < end:
            start, there = in_a[x], in_b[y]
            run = end - x
            if in_a[x + run - 1] - start >= run or in_b[y + run - 1] - there >= run:
                run = 1
                while in_a[x + run] == start + run and in_b[y + run] == there + run:
                    run += 1
            yield start, there, run
            x, y = x + run, y + run


def _matches(a: list[int], b: list[int]) -> Iterator[_Match]:
    """Cut off what is common at both ends, then cut the gap if it is too large.

    A part that one kind of run has made is cut by the next kinds only: the work is bounded by the
    number of kinds times that of lines, however they lie.
    """
    pending = [(0, (0, len(a), 0, len(b)))]
    while pending:
        kind, (a1, a2, b1, b2) = pending.pop()
        start = a1
        while a1 < a2 and b1 < b2 and a[a1] == b[b1]:
            a1 += 1
            b1 += 1
        if a1 > start:
            yield start, b1 - (a1 - start), a1 - start
        end = a2
        while a2 > a1 and b2 > b1 and a[a2 - 1] == b[b2 - 1]:
            a2 -= 1
            b2 -= 1
        if a2 < end:
            pending.append((kind, (a2, end, b2, b2 + (end - a2))))
        if a1 == a2 or b1 == b2:
            continue
        if (a2 - a1) * (b2 - b1) <= GAP_LIMIT:
            yield from _common(a, b, (a1, a2, b1, b2))
            continue
        for tried in range(kind, len(RUNS)):
            points = _anchors(a, b, (a1, a2, b1, b2), RUNS[tried])
            # A few anchors may be lines that moved: to keep those would lose all others.
            if len(points) * 4 >= min(a2 - a1, b2 - b1):
                parts = _parts(points, (a1, a2, b1, b2))
                pending.extend((tried + 1, part) for part in reversed(parts))
                break
        else:
            yield from _slide(a, b, (a1, a2, b1, b2))


def _common(a: list[int], b: list[int], gap: _Gap) -> Iterator[_Match]:
    """A longest common subsequence; the last match is an empty one at the end of the gap."""
    from rapidfuzz.distance import Indel

    a1, a2, b1, b2 = gap
    for x, y, size in Indel.editops(a[a1:a2], b[b1:b2]).as_matching_blocks():
        yield a1 + x, b1 + y, size


def _anchors(a: list[int], b: list[int], gap: _Gap, length: int) -> _Points:
    """Where runs of `length` lines that stand once on both sides start, in their longest order.

    For single lines this is Bram Cohen's patience diff.
    """
    a1, a2, b1, b2 = gap
    runs_a, runs_b = _runs(a[a1:a2], length), _runs(b[b1:b2], length)
    in_a, in_b = Counter(runs_a), Counter(runs_b)
    where = {run: at for at, run in enumerate(runs_b, b1) if in_b[run] == 1}
    return _increasing(
        [(at, where[run]) for at, run in enumerate(runs_a, a1) if run in where and in_a[run] == 1]
    )


def _runs(numbers: list[int], length: int) -> Sequence[int | bytes]:
    """Every run of so many numbers, as bytes: they are hashed once and the collector skips them.

    A run of one is its number.
    """
    if length == 1:
        return numbers
    packed = array("Q", numbers)
    data, size = packed.tobytes(), packed.itemsize
    return [data[at : at + length * size] for at in range(0, len(data) - length * size + 1, size)]


def _increasing(points: _Points) -> _Points:
    """The longest run of points whose second numbers rise (patience sorting)."""
    if all(one[1] < other[1] for one, other in pairwise(points)):
        return points
    tops: list[int] = []
    piles: list[int] = []
    links: list[int] = []
    for index, (_, there) in enumerate(points):
        pile = bisect_left(tops, there)
        links.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(there)
            piles.append(index)
        else:
            tops[pile] = there
            piles[pile] = index
    found: _Points = []
    at = piles[-1]
    while at >= 0:
        found.append(points[at])
        at = links[at]
    return found[::-1]


def _parts(points: _Points, gap: _Gap) -> list[_Gap]:
    """A gap cut before each anchor that does not follow right on the one before.

    So a part starts with its anchors, and they are cut off as its common head.
    """
    x, a2, y, b2 = gap
    parts: list[_Gap] = []
    last = (x, y)
    for at, there in points:
        if (at - 1, there - 1) != last:
            parts.append((x, at, y, there))
            x, y = at, there
        last = (at, there)
    parts.append((x, a2, y, b2))
    return parts


def _slide(a: list[int], b: list[int], gap: _Gap) -> Iterator[_Match]:
    """A longest common subsequence in a window that slides over a gap that nothing cuts.

    The last quarter of a window is left to the next: what lies near a cut is matched badly.
    """
    a1, a2, b1, b2 = gap
    while a1 < a2 and b1 < b2:
        scale = min(1.0, (GAP_LIMIT / ((a2 - a1) * (b2 - b1))) ** 0.5)
        height, width = max(1, int((a2 - a1) * scale)), max(1, int((b2 - b1) * scale))
        window = a1, a1 + height, b1, b1 + width
        if height == a2 - a1 and width == b2 - b1:
            yield from _common(a, b, window)
            return
        room = (height + width) * 3 // 4
        for x, y, size in _common(a, b, window):
            apart = (x - a1) + (y - b1)
            if apart >= room:
                share = (x - a1) * room // apart
                a1, b1 = a1 + share, b1 + room - share
                break
            taken = min(size, (room - apart + 1) // 2)
            yield x, y, taken
            a1, b1, room = x + taken, y + taken, room - apart - 2 * taken
            if room <= 0:
                break
