"""A page as a value: lines of any number, most of them made when somebody looks at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, overload

from memui.presentation import LINE_LIMIT, Line, rows_taken

_LEAST: Final = 8
"""Cells that a text has at least beside its gutter, however narrow the view is."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lines side by side; None is a gap."""

    left: Line | None
    right: Line | None

    @property
    def plain(self) -> str:
        """The text of both without their gutters."""
        return " │ ".join("" if side is None else side.plain for side in (self.left, self.right))

    @property
    def gutter(self) -> str:
        """The gutter of the left one."""
        return "" if self.left is None else self.left.gutter


Drawn = Line | Pair


def half(width: int) -> tuple[int, int]:
    """The cells of both sides of a pair, with one cell for the rule between them."""
    return (width - 1) // 2, width - 1 - (width - 1) // 2


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that are made by their place in it when somebody looks at them.

    `texts` holds the raw text of each line, or of both sides of each pair (None is a gap), and
    `gutter` the cells beside it: by these one knows how tall most lines are without making them. A
    line is shown as its text is, or else it is `formatted`, and no longer than its text.
    """

    make: Callable[[int], Drawn]
    texts: tuple[Sequence[str | None], ...]
    gutter: int
    formatted: bool = False

    def __len__(self) -> int:
        return len(self.texts[0])

    def heights(self, start: int, stop: int, width: int) -> Iterator[int | None]:
        """The rows of each line, None where the line has to be made to know."""
        widths = (width,) if len(self.texts) == 1 else half(width)
        columns = [
            self._column(texts[start:stop], max(_LEAST, cells - self.gutter))
            for texts, cells in zip(self.texts, widths, strict=True)
        ]
        if len(columns) == 1:
            return iter(columns[0])
        return (
            None if left is None or right is None else max(left, right)
            for left, right in zip(*columns, strict=True)
        )

    def _column(self, texts: Sequence[str | None], room: int) -> list[int | None]:
        most = room if self.formatted else LINE_LIMIT
        return [
            1
            if text is None
            else None
            if len(text) > most or not (text.isascii() and text.isprintable())
            else 1
            if len(text) <= room
            else rows_taken(text, room)
            for text in texts
        ]


Part = Line | Pair | Stretch


class Lines(Sequence[Drawn]):
    """Lines and stretches of lines, one after the other."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self._parts = [part for part in parts if not isinstance(part, Stretch) or len(part)]
        sizes = (len(part) if isinstance(part, Stretch) else 1 for part in self._parts)
        self._starts = list(accumulate(sizes, initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, at: int) -> Drawn: ...

    @overload
    def __getitem__(self, at: slice) -> list[Drawn]: ...

    def __getitem__(self, at: int | slice) -> Drawn | list[Drawn]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(at)
        index = bisect_right(self._starts, place) - 1
        part = self._parts[index]
        return part.make(place - self._starts[index]) if isinstance(part, Stretch) else part

    def heights(self, start: int, stop: int, width: int) -> Iterator[int | None]:
        """Rows of each line as far as they are known without making it."""
        while start < stop:
            index = bisect_right(self._starts, start) - 1
            part, top = self._parts[index], self._starts[index]
            end = min(stop, self._starts[index + 1])
            if isinstance(part, Stretch):
                yield from part.heights(start - top, end - top, width)
            else:
                yield None
            start = end


@dataclass(frozen=True, slots=True)
class Place:
    """A block of changes in a page: the file that it is of, and its index in that file's diff."""

    path: str
    block: int


@dataclass(frozen=True, slots=True)
class Page:
    """What a view shows: lines, and the ranges of them that one can jump to.

    `places` says which block of a diff each range is, where it is one. `left` are the ranges that
    are painted as not taken, by their index, and all others as taken; None paints neither.
    """

    lines: Sequence[Drawn] = ()
    blocks: tuple[range, ...] = ()
    places: tuple[Place, ...] = ()
    left: frozenset[int] | None = None
