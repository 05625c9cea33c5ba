"""The rows of a diff, each made when it is looked at: a page shows dozens of many thousands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from typing import Final, Literal, NamedTuple, overload

from engine.diff.operations import Operation
from engine.diff.words import Pairing, Spans

PAIRED_LINES: Final = 5_000
"""Changed lines of a diff, from its top, that are paired; those after them are shown unpaired."""

Kind = Literal["same", "removed", "added"]
_NONE: Final[repeat[None]] = repeat(None)
_SAME: Final[repeat[Kind]] = repeat("same")
_REMOVED: Final[repeat[Kind]] = repeat("removed")
_ADDED: Final[repeat[Kind]] = repeat("added")


class Row(NamedTuple):
    """One line of a diff. `old` and `new` are its 1-based numbers, None where it does not stand.

    `words` are the spans of `text` that differ from the paired line; `pair` is the pair's index
    among the rows. A tuple: there is one a line, and a frozen dataclass takes three times as long
    to make.
    """

    kind: Kind
    old: int | None
    new: int | None
    text: str
    words: Spans = ()
    pair: int | None = None


class Rows(Sequence[Row]):
    """Every line of both versions, in order; inside a block the removed ones first.

    A value like a tuple of them. Which lines are pairs is worked out for a part of a block when
    one of its rows is first asked for.
    """

    __slots__ = (
        "_changed", "_new", "_old", "_operations", "_paired", "_pairings", "_starts",
    )  # fmt: skip

    def __init__(
        self,
        old: Sequence[str],
        new: Sequence[str],
        operations: Sequence[Operation],
        paired: int = PAIRED_LINES,
    ) -> None:
        self._old, self._new = old, new
        self._operations = operations
        self._paired = paired
        sizes = (a2 - a1 + (0 if same else b2 - b1) for same, a1, a2, b1, b2 in operations)
        self._starts = list(accumulate(sizes, initial=0))
        changed = ((a2 - a1 + b2 - b1) * (not same) for same, a1, a2, b1, b2 in operations)
        self._changed = list(accumulate(changed, initial=0))
        self._pairings: dict[int, Pairing] = {}

    def __len__(self) -> int:
        return self._starts[-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return (self._old, self._new, self._operations, self._paired) == (
            other._old,
            other._new,
            other._operations,
            other._paired,
        )

    def __hash__(self) -> int:
        return hash((len(self._old), len(self._new), len(self._operations)))

    def __iter__(self) -> Iterator[Row]:
        for index, start in enumerate(self._starts[:-1]):
            yield from self._made(index, 0, self._starts[index + 1] - start)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step != 1:
                return [self[n] for n in range(start, stop, step)]
            return self._between(start, stop)
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(at)
        return self._between(place, place + 1)[0]

    @property
    def old(self) -> Sequence[str]:
        """The lines of the old side."""
        return self._old

    @property
    def new(self) -> Sequence[str]:
        """The lines of the new side."""
        return self._new

    def before(self, at: int) -> tuple[int, int]:
        """(old, new) lines that stand before a row."""
        if at >= len(self):
            return len(self._old), len(self._new)
        index = bisect_right(self._starts, at) - 1
        same, a1, a2, b1, _ = self._operations[index]
        inside = at - self._starts[index]
        if same:
            return a1 + inside, b1 + inside
        removed = min(inside, a2 - a1)
        return a1 + removed, b1 + inside - removed

    def text(self, at: int) -> str:
        """The text of a row, without a look for its pair."""
        index = bisect_right(self._starts, at) - 1
        same, a1, a2, b1, _ = self._operations[index]
        inside = at - self._starts[index]
        if same or inside < a2 - a1:
            return self._old[a1 + inside]
        return self._new[b1 + inside - (a2 - a1)]

    def texts(self, start: int, stop: int) -> list[str]:
        """The texts of rows, without a look for their pairs."""
        found: list[str] = []
        index = bisect_right(self._starts, start) - 1
        while start < stop:
            same, a1, a2, b1, _ = self._operations[index]
            end = min(stop, self._starts[index + 1])
            first, last = start - self._starts[index], end - self._starts[index]
            found.extend(self._old[a1 + first : min(a1 + last, a2)])
            if not same:
                removed = a2 - a1
                found.extend(self._new[b1 + max(first - removed, 0) : b1 + max(last - removed, 0)])
            start = end
            index += 1
        return found

    def _between(self, start: int, stop: int) -> list[Row]:
        found: list[Row] = []
        index = bisect_right(self._starts, start) - 1
        while start < stop:
            top, end = self._starts[index], min(stop, self._starts[index + 1])
            found.extend(self._made(index, start - top, end - top))
            start = end
            index += 1
        return found

    def _made(self, index: int, start: int, stop: int) -> Iterator[Row]:
        """The rows of one operation between two places in it."""
        same, a1, a2, b1, b2 = self._operations[index]
        if same:
            old, new = range(a1 + start, a1 + stop), range(b1 + start, b1 + stop)
            texts = self._old[old.start : old.stop]
            return map(Row, _SAME, map(_next, old), map(_next, new), texts)
        removed = a2 - a1
        old = range(a1 + min(start, removed), a1 + min(stop, removed))
        new = range(b1 + max(start - removed, 0), b1 + max(stop - removed, 0))
        room = self._paired - self._changed[index]
        if removed and b2 > b1 and room > 0:
            return self._paired_rows(index, old, new, room)
        return self._plain_rows(old, new)

    def _plain_rows(self, old: range, new: range) -> Iterator[Row]:
        gone, come = self._old[old.start : old.stop], self._new[new.start : new.stop]
        yield from map(Row, _REMOVED, map(_next, old), _NONE, gone)
        yield from map(Row, _ADDED, _NONE, map(_next, new), come)

    def _paired_rows(self, index: int, old: range, new: range, room: int) -> Iterator[Row]:
        _, a1, a2, b1, b2 = self._operations[index]
        pairing = self._pairings.get(index)
        if pairing is None:
            pairing = Pairing(self._old[a1:a2], self._new[b1:b2], room)
            self._pairings[index] = pairing
        top = self._starts[index]
        for at in old:
            pair, words = pairing.of_removed(at - a1)
            place = None if pair is None else top + (a2 - a1) + pair
            yield Row("removed", at + 1, None, self._old[at], words, place)
        for at in new:
            pair, words = pairing.of_added(at - b1)
            place = None if pair is None else top + pair
            yield Row("added", None, at + 1, self._new[at], words, place)


def _next(number: int) -> int:
    return number + 1
