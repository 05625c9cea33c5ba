"""Inside a block: which line became which, and which of its words changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Final

PAIR_LIMIT: Final = 4_000
"""Product of the removed and added lines of a block that are all held against each other."""
PART: Final = 8
"""Lines of the larger side, at least, of the parts that a larger block is cut into."""
HEAD: Final = 1_000
"""Characters of a line that are looked at to find its pair."""
WORD_LIMIT: Final = 8_000
"""Characters of a line that are compared word by word; what follows them counts as one word."""
SIMILAR: Final = 0.45
"""Similarity, 0 to 1, from which a removed and an added line are shown as a pair."""

Spans = tuple[tuple[int, int], ...]
"""(start, end) in code points, the end excluded, in order and apart."""

_Partners = dict[int, tuple[int | None, Spans]]
_Pairs = tuple[_Partners, _Partners]
_ALONE: Final[tuple[int | None, Spans]] = (None, ())
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Pairing:
    """Which removed line of a block became which added one, in order, by the greatest similarity.

    Both sides of a large block are cut into parts, in proportion, so that the work is linear. A
    part is paired when one of its lines is asked for; parts behind `room` lines never are.
    """

    __slots__ = ("_added", "_found", "_parts", "_removed", "_room")

    def __init__(self, removed: Sequence[str], added: Sequence[str], room: int) -> None:
        """From the lines of both sides; neither is empty."""
        self._removed, self._added, self._room = removed, added, room
        parts = -(-len(removed) * len(added) // PAIR_LIMIT)
        most = -(-max(len(removed), len(added)) // PART)
        self._parts = min(parts, len(removed), len(added), most)
        self._found: dict[int, _Pairs] = {}

    def of_removed(self, at: int) -> tuple[int | None, Spans]:
        """(the added line that a removed one became, its words that differ); 0-based."""
        return self._part(at, len(self._removed))[0].get(at, _ALONE)

    def of_added(self, at: int) -> tuple[int | None, Spans]:
        """(the removed line that an added one was, its words that differ); 0-based."""
        return self._part(at, len(self._added))[1].get(at, _ALONE)

    def _part(self, at: int, size: int) -> _Pairs:
        # Part p of a side ends before line size * (p + 1) // parts.
        part = ((at + 1) * self._parts - 1) // size
        found = self._found.get(part)
        if found is None:
            found = self._found[part] = self._paired(part)
        return found

    def _paired(self, part: int) -> _Pairs:
        a1, a2 = (len(self._removed) * n // self._parts for n in (part, part + 1))
        b1, b2 = (len(self._added) * n // self._parts for n in (part, part + 1))
        found: _Pairs = ({}, {})
        if a1 + b1 < self._room:
            for here, there in _paired(self._removed[a1:a2], self._added[b1:b2]):
                x, y = a1 + here, b1 + there
                gone, come = changed_words(self._removed[x], self._added[y])
                found[0][x] = y, gone
                found[1][y] = x, come
        return found


def _paired(removed: Sequence[str], added: Sequence[str]) -> Iterator[tuple[int, int]]:
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extract

    heads = [line[:HEAD] for line in added]
    alike: list[dict[int, float]] = []
    for line in removed:
        likely = extract(
            line[:HEAD],
            heads,
            scorer=Indel.normalized_similarity,
            score_cutoff=SIMILAR,
            limit=None,
        )
        alike.append({there: score for _, score, there in likely})
    # best[i][j]: the greatest sum that the removed lines from i on and the added from j on can have
    best = [[0.0] * (len(added) + 1)]
    for scores in reversed(alike):
        below = best[-1]
        row = below
        if scores:
            row = below.copy()
            most = 0.0
            for j in range(len(added) - 1, -1, -1):
                most = max(most, below[j], scores[j] + below[j + 1] if j in scores else 0.0)
                row[j] = most
        best.append(row)
    best.reverse()
    i = j = 0
    while i < len(removed) and j < len(added):
        score = alike[i].get(j)
        if score is not None and best[i][j] == score + best[i + 1][j + 1]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def changed_words(old: str, new: str) -> tuple[Spans, Spans]:
    """The spans of two lines that differ: whole words, runs of blanks, single other characters.

    A blank between two words that both change is part of one span, on both sides.
    """
    from rapidfuzz.distance import Indel

    head, tail = _common_ends(old, new)
    a, b = _words(old[head : len(old) - tail]), _words(new[head : len(new) - tail])
    if not a or not b:
        return tuple(_span(head, len(old) - tail)), tuple(_span(head, len(new) - tail))
    at_a = list(accumulate(map(len, a), initial=head))
    at_b = list(accumulate(map(len, b), initial=head))
    spans_a: list[tuple[int, int]] = []
    spans_b: list[tuple[int, int]] = []
    x = y = 0
    blocks = Indel.opcodes(a, b).as_matching_blocks()
    for (i, j, size), (k, m, _) in zip_longest(blocks, blocks[1:], fillvalue=(len(a), len(b), 0)):
        changes = (i, j) > (x, y) and (k, m) > (i + size, j + size)
        if changes and size == 1 and a[i].isspace():
            continue  # words that change one after the other are one mark, with their blanks
        spans_a.extend(_span(at_a[x], at_a[i]))
        spans_b.extend(_span(at_b[y], at_b[j]))
        x, y = i + size, j + size
    return tuple(spans_a), tuple(spans_b)


def _span(start: int, end: int) -> Spans:
    return ((start, end),) if start < end else ()


def _words(text: str) -> list[str]:
    found: list[str] = _WORD.findall(text[:WORD_LIMIT])
    if len(text) > WORD_LIMIT:
        found.append(text[WORD_LIMIT:])
    return found


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters of whole words both lines start with, and end with."""
    from rapidfuzz.distance import Postfix, Prefix

    head = int(Prefix.similarity(old, new))
    if head and (_goes_on(old, head) or _goes_on(new, head)):
        head -= 1
        while head and _goes_on(old, head):
            head -= 1
    tail = int(Postfix.similarity(old[head:], new[head:]))
    if tail and (_goes_on(old, len(old) - tail) or _goes_on(new, len(new) - tail)):
        tail -= 1
        while tail and _goes_on(old, len(old) - tail):
            tail -= 1
    return head, tail


def _goes_on(line: str, at: int) -> bool:
    """Whether a word or a run of blanks goes on over this place."""
    if not 0 < at < len(line):
        return False
    kind = _kind(line[at])
    return kind > 0 and kind == _kind(line[at - 1])


def _kind(char: str) -> int:
    return 1 if char.isalnum() or char == "_" else 2 if char.isspace() else 0
