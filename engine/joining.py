"""Three-way merge of a file by lines: what two writers made of one version.

Chunks as diff3 has them (Khanna, Kunal, Pierce 2007, "A formal investigation of diff3"): lines that
stand in all three are stable, and cut what lies between them into chunks. A chunk that one side
changed is that side's; one that both changed alike is taken once; any other is a clash. Changes
that only meet, such as a line that one side took away and one that the other wrote behind it, are
both done.

Lines are compared without their ends. The line end, byte order mark and final newline of the result
are merged three ways as well: what one side changed holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from engine.diff.operations import opcodes
from engine.diff.sides import Side, read
from engine.diff.sides import join as written
from engine.documents import BOM, decode, split

_T = TypeVar("_T")
_KEY: Final = re.compile(r"[^\s#:-][^:\s]{0,200}:")
_Lines = list[tuple[str, str]]
"""(line, its end)"""


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines that both sides changed, differently. `line` is 1-based in theirs."""

    line: int
    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """What came of a merge. `data` is None where anything clashes."""

    data: bytes | None
    clashes: tuple[Clash, ...]


class _Chunk(NamedTuple):
    """0-based ranges of lines of the three versions. A stable one is as long in each."""

    stable: bool
    base: range
    ours: range
    theirs: range


class _Versions(NamedTuple):
    base: Side
    ours: Side
    theirs: Side


def join(base: bytes, ours: bytes, theirs: bytes) -> Joined:
    """The file with the changes of both sides; without data if any clash.

    Where one side is `base`, or both are the same, the result is the other one byte for byte. Bytes
    that are no text are lines too. Total; time and memory as `engine.diff.opcodes`.
    """
    if ours in (base, theirs):
        return Joined(theirs, ())
    if theirs == base:
        return Joined(ours, ())
    sides = _Versions(read(base), read(ours), read(theirs))
    taken: _Lines = []
    clashes: list[Clash] = []
    for chunk in _chunks(sides.base.lines, sides.ours.lines, sides.theirs.lines):
        b, o, t = (_cut(side.lines, part) for side, part in zip(sides, chunk[1:], strict=True))
        if chunk.stable:
            ends = (_ends(side, part) for side, part in zip(sides, chunk[1:], strict=True))
            for line, was, one, other in zip(o, *ends, strict=True):
                taken.append((line, _pick(was, one, other, was)))
        elif o == t:
            pairs = zip(
                _ends(sides.ours, chunk.ours), _ends(sides.theirs, chunk.theirs), strict=True
            )
            for line, (one, other) in zip(o, pairs, strict=True):
                taken.append((line, one if one == other else "\n"))
        elif o == b:
            taken += zip(t, _ends(sides.theirs, chunk.theirs), strict=True)
        elif t == b:
            taken += zip(o, _ends(sides.ours, chunk.ours), strict=True)
        else:
            clashes.append(Clash(chunk.theirs.start + 1, tuple(b), tuple(o), tuple(t)))
    if clashes:
        return Joined(None, tuple(clashes))
    return Joined(_bytes(taken, sides, undecided="LF"), ())


def union(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """`theirs` with every line that ours added to `base`: for where nothing may be lost.

    No line of their body goes, not even one that ours removed: what carried it on may be gone by
    now. A line that theirs removed is not brought back. Where both changed lines, theirs come
    first, then ours that are not among them.

    A frontmatter key has one value: where theirs left it as it was it gets that of ours, and where
    both changed it theirs stays.
    """
    if ours in (base, theirs):
        return theirs
    sides = _Versions(read(base), read(ours), read(theirs))
    heads = tuple(map(_head, (base, ours, theirs)))
    taken = _front(sides, heads)
    bodies = [side.lines[head:] for side, head in zip(sides, heads, strict=True)]
    ends = [
        _ends(side, range(head, len(side.lines))) for side, head in zip(sides, heads, strict=True)
    ]
    for chunk in _chunks(bodies[0], bodies[1], bodies[2]):
        their = list(zip(_cut(bodies[2], chunk.theirs), _cut(ends[2], chunk.theirs), strict=True))
        if chunk.stable:
            taken += their
            continue
        our = _cut(bodies[1], chunk.ours)
        added = _added(_cut(bodies[0], chunk.base), our)
        there = Counter(line for line, _ in their)
        missing: _Lines = []
        for at in added:
            if there[our[at]] > 0:
                there[our[at]] -= 1
            else:
                missing.append((our[at], ends[1][chunk.ours[at]]))
        taken += [*their, *missing]
    if [line for line, _ in taken] == sides.theirs.lines:
        return theirs
    return _bytes(taken, sides, undecided=sides.theirs.usual)


_Hunk = tuple[int, int, int]
"""(first line of the base, the line after its last, lines that stand there instead)"""


def _hunks(base: Sequence[str], side: Sequence[str]) -> list[_Hunk]:
    return [(a, b, d - c) for same, a, b, c, d in opcodes(base, side) if not same]


def _chunks(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Chunk]:
    """The stable stretches and what lies between them, in order; together they are all lines."""
    waiting = (_hunks(base, ours), _hunks(base, theirs))
    done = [0, 0]  # hunks of each side that are behind us
    shift = [0, 0]  # lines that each side has more than the base, up to here
    at = 0
    while any(done[side] < len(waiting[side]) for side in (0, 1)):
        first = min(
            (waiting[side][done[side]] for side in (0, 1) if done[side] < len(waiting[side])),
            key=lambda hunk: (hunk[0], hunk[1] > hunk[0]),
        )
        start, end = first[:2]
        before = tuple(shift)
        grown = True
        while grown:
            grown = False
            for side in (0, 1):
                while done[side] < len(waiting[side]):
                    a, b, lines = waiting[side][done[side]]
                    if not ((a, b) == (start, end) or _touch(start, end, a, b)):
                        break
                    start, end = min(start, a), max(end, b)
                    shift[side] += lines - (b - a)
                    done[side] += 1
                    grown = True
        if start > at:
            yield _stable(at, start, before)
        mine = range(start + before[0], end + shift[0])
        its = range(start + before[1], end + shift[1])
        yield _Chunk(False, range(start, end), mine, its)
        at = end
    if at < len(base):
        yield _stable(at, len(base), tuple(shift))


def _touch(start: int, end: int, a: int, b: int) -> bool:
    """Whether two changes of the base are about the same lines; such that only meet are not."""
    if a == b:
        return start < a < end
    if start == end:
        return a < start < b
    return max(start, a) < min(end, b)


def _stable(start: int, end: int, shift: tuple[int, ...]) -> _Chunk:
    return _Chunk(
        True,
        range(start, end),
        range(start + shift[0], end + shift[0]),
        range(start + shift[1], end + shift[1]),
    )


def _added(base: Sequence[str], ours: Sequence[str]) -> list[int]:
    """The places of the lines that ours has and the base has not."""
    return [at for same, _, _, b1, b2 in opcodes(base, ours) if not same for at in range(b1, b2)]


def _cut(lines: Sequence[_T], part: range) -> list[_T]:
    return list(lines[part.start : part.stop])


def _ends(side: Side, part: range | None = None) -> list[str]:
    """The ends of these lines; a last line without one gets the more frequent one of its file."""
    usual = "\r\n" if side.ends.count("\r\n") > side.ends.count("\n") else "\n"
    ends = side.ends if part is None else side.ends[part.start : part.stop]
    return [end or usual for end in ends]


def _pick(base: _T, ours: _T, theirs: _T, undecided: _T) -> _T:
    """What a side that changed it has."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else undecided


def _bytes(taken: _Lines, sides: _Versions, *, undecided: str) -> bytes:
    """The bytes of these lines with the line end, marks and encoding that the merge leaves."""
    if not taken:
        return b""
    base, ours, theirs = sides
    # A file without any line end has no say in which one is used.
    usual = _pick(
        base.usual,
        ours.usual or base.usual or theirs.usual,
        theirs.usual or base.usual or ours.usual,
        undecided or "LF",
    )
    if usual != "mixed":
        end = "\r\n" if usual == "CRLF" else "\n"
        taken = [(line, end) for line, _ in taken]
    finals = [not side.ends or bool(side.ends[-1]) for side in sides]
    final = _pick(finals[0], finals[1], finals[2], finals[2])
    mark = _pick(base.mark, ours.mark, theirs.mark, theirs.mark) or taken[0][0].startswith(BOM)
    one = len({side.encoding for side in sides}) == 1
    frame = Side([], (), "", mark, base.encoding if one else "UTF-8")
    lines, ends = [line for line, _ in taken], [end for _, end in taken]
    return written(lines, ends, frame, frame, final=final)


def _head(data: bytes) -> int:
    """How many lines its frontmatter is, with the two that fence it."""
    text, _ = decode(data)
    return split(text)[2] - 1


def _front(sides: _Versions, heads: Sequence[int]) -> _Lines:
    """The lines of the merged frontmatter, its two fences included."""
    blocks = [
        list(zip(side.lines[:head], _ends(side, range(head)), strict=True))
        for side, head in zip(sides, heads, strict=True)
    ]
    lines = [[line for line, _ in block] for block in blocks]
    if lines[1] in (lines[0], []):
        return blocks[2]
    if not lines[2]:
        return blocks[1]
    base, ours, theirs = (_keys(block) for block in lines)
    nothing = range(0)
    taken: _Lines = [blocks[2][0]]
    for key, place in theirs.items():
        here = ours.get(key)
        left = _cut(lines[2], place) == _cut(lines[0], base.get(key, nothing))
        taken += _cut(blocks[2], place) if here is None or not left else _cut(blocks[1], here)
    for key, place in ours.items():
        new = _cut(lines[1], place) != _cut(lines[0], base.get(key, nothing))
        if key not in theirs and new:
            taken += _cut(blocks[1], place)
    return [*taken, blocks[2][-1]]


def _keys(front: Sequence[str]) -> dict[str, range]:
    """Key -> its lines, up to the next key. What stands before the first has an empty one."""
    starts: dict[int, str] = {1: ""}
    known: set[str] = set()
    for at in range(1, len(front) - 1):
        if found := _KEY.match(front[at]):
            # A key that stands twice keeps both lines, each under a name of its own.
            starts[at] = found[0] if found[0] not in known else f"{found[0]}{at}"
            known.add(found[0])
    places = [*starts, len(front) - 1]
    return {starts[start]: range(start, stop) for start, stop in pairwise(places) if stop > start}
