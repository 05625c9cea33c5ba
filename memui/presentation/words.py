"""The words of a query, found again in a text as it is spelled."""

from __future__ import annotations

from collections.abc import Sequence

from engine.search import fold
from memui.presentation import Run, runs

SPANS = 200
"""Spans of one line that are marked."""


def spans(text: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where folded words stand in a text: (start, end), in order, without overlaps.

    Folding may change how long a text is, so offsets are counted character by character.
    """
    folded = fold(text)
    if not any(word in folded for word in wanted):
        return []
    starts = range(len(text)) if len(folded) == len(text) and text.isascii() else _starts(text)
    found: list[tuple[int, int]] = []
    for word in wanted:
        at = folded.find(word) if word else -1
        while at >= 0 and len(found) < SPANS:
            last = at + len(word) - 1
            if last >= len(starts):
                break
            found.append((starts[at], starts[last] + 1))
            at = folded.find(word, at + len(word))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _starts(text: str) -> list[int]:
    """For each character of the folded text, the offset in the text that it comes from."""
    found: list[int] = []
    for at, char in enumerate(text):
        found.extend([at] * len(fold(char)))
    return found


def held(text: str, wanted: Sequence[str]) -> int:
    """How many of the words a text holds."""
    folded = fold(text)
    return sum(word in folded for word in wanted)


def lit(text: str, wanted: Sequence[str], paint: str = "plain") -> tuple[Run, ...]:
    """A line of text with the words marked."""
    found: list[Run] = []
    at = 0
    for start, end in spans(text, wanted):
        found += [*runs(text[at:start], paint), *runs(text[start:end], "hit")]
        at = end
    return (*found, *runs(text[at:], paint))
