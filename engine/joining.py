"""A three-way merge of files by lines: what two sides made of one base, joined.

After Khanna, Kunal and Pierce, "A formal investigation of diff3" (FSTTCS 2007): the lines of the
base that both sides left are stable; between them a chunk that one side changed is taken from that
side, one that both changed alike is taken once, and one that they changed differently clashes.
Changes that only meet, such as a line that one side took away and one that the other wrote behind
it, are both done. Lines are compared without their ends; what is taken gets the usual end of
`theirs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.diff.operations import opcodes
from engine.diff.sides import Side, read
from engine.diff.sides import join as written
from engine.documents import decode, split


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
    """Ranges of lines that belong together, ends excluded; `stable` on all three sides."""

    stable: bool
    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]


def join(base: bytes, ours: bytes, theirs: bytes) -> Joined:
    """What `ours` changed in `base`, done to `theirs`. Total; near linear in the lines."""
    for one, other in ((ours, theirs), (base, theirs)):
        if one == other:
            return Joined(ours, ())
    if base == ours:
        return Joined(theirs, ())
    sides = read(base), read(ours), read(theirs)
    clashes = tuple(
        Clash(
            chunk.theirs[0] + 1,
            tuple(sides[0].lines[slice(*chunk.base)]),
            tuple(sides[1].lines[slice(*chunk.ours)]),
            tuple(sides[2].lines[slice(*chunk.theirs)]),
        )
        for chunk in _chunks(*(side.lines for side in sides))
        if _clashes(chunk, sides)
    )
    if clashes:
        return Joined(None, clashes)
    return Joined(_joined(sides), ())


def union(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """The same, but nothing that either side added is left out.

    Where they clash, the lines that ours added follow those of theirs; in the frontmatter, which
    has one line for each key, theirs alone stay.
    """
    data = join(base, ours, theirs).data
    return _joined((read(base), read(ours), read(theirs))) if data is None else data


def _joined(sides: tuple[Side, Side, Side]) -> bytes:
    """All three as one. Clashing lines of ours follow those of theirs."""
    base, ours, theirs = sides
    usual = "\r\n" if theirs.ends.count("\r\n") > theirs.ends.count("\n") else "\n"
    head = _head(theirs)
    lines: list[str] = []
    ends: list[str] = []
    for chunk in _chunks(base.lines, ours.lines, theirs.lines):
        was = base.lines[slice(*chunk.base)]
        mine = ours.lines[slice(*chunk.ours)]
        its = theirs.lines[slice(*chunk.theirs)]
        if chunk.stable or mine in (was, its) or was != its:
            lines += its
            ends += theirs.ends[slice(*chunk.theirs)]
        if chunk.stable or mine in (was, its):
            continue
        added = mine
        if was != its:
            known = {*its, *was}
            added = [] if chunk.theirs[0] < head else [line for line in mine if line not in known]
        lines += added
        ends += [usual] * len(added)
    if not lines:
        return b""
    final = theirs.ends[-1] != "" if theirs.ends else True
    return written(lines, [end or usual for end in ends], theirs, ours, final=final)


def _head(side: Side) -> int:
    """How many lines the frontmatter has, its two marks included."""
    text, _ = decode("\n".join(side.lines).encode("utf-8", "surrogateescape"))
    front, _, first, _ = split(text)
    return 0 if front is None else first - 1


def _clashes(chunk: _Chunk, sides: tuple[Side, Side, Side]) -> bool:
    if chunk.stable:
        return False
    was, mine, its = (
        side.lines[slice(*part)]
        for side, part in zip(sides, (chunk.base, chunk.ours, chunk.theirs), strict=True)
    )
    return mine != its and was not in (mine, its)


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
        mine = (start + before[0], end + shift[0])
        its = (start + before[1], end + shift[1])
        yield _Chunk(False, (start, end), mine, its)
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
        (start, end),
        (start + shift[0], end + shift[0]),
        (start + shift[1], end + shift[1]),
    )
