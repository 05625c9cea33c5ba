"""Inside a block: which line became which, and which of its words changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
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

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def pairs(removed: Sequence[str], added: Sequence[str], room: int) -> Iterator[tuple[int, int]]:
    """Which removed line became which added one, in order, by the greatest similarity in all.

    Both sides of a large block are cut into parts, in proportion, so that the work is linear. Parts
    are paired until they hold `room` lines.
    """
    if not removed or not added:
        return
    parts = -(-len(removed) * len(added) // PAIR_LIMIT)
    parts = min(parts, len(removed), len(added), -(-max(len(removed), len(added)) // PART))
    for part in range(parts):
        a1, a2 = (len(removed) * n // parts for n in (part, part + 1))
        b1, b2 = (len(added) * n // parts for n in (part, part + 1))
        if a1 + b1 >= room:
            return
        for here, there in _paired(removed[a1:a2], added[b1:b2]):
            yield a1 + here, b1 + there


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
    """The spans of two lines that differ: whole words, runs of blanks, single other characters."""
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
    for i, j, size in Indel.opcodes(a, b).as_matching_blocks():
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
