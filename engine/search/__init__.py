"""Search: every word of a query, in names, descriptions and bodies.

A scan: words are ANDed, compared without case and accents, and everything in a query is literal.
Pure; the store feeds it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

NAME_WEIGHT: Final = 8.0
DESCRIPTION_WEIGHT: Final = 4.0
BODY_WEIGHT: Final = 1.0
SNIPPET_WIDTH: Final = 160


@dataclass(frozen=True, slots=True)
class Searched:
    """One memory as search sees it: its text is the whole file, lines included."""

    path: str
    description: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that holds every word. `line` is 1-based, 0 if only its name does."""

    path: str
    score: float
    line: int
    snippet: str


def fold(text: str) -> str:
    """Text without case and accents, as words are compared."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words(query: str) -> tuple[str, ...]:
    """The words of a query, folded, each once."""
    return tuple(dict.fromkeys(fold(query).split()))


def search(query: str, memories: Iterable[Searched]) -> tuple[Hit, ...]:
    """The memories that hold every word of the query, the best first; none for no words."""
    wanted = words(query)
    if not wanted:
        return ()
    found = [hit for memory in memories if (hit := _hit(wanted, memory))]
    return tuple(sorted(found, key=lambda hit: (-hit.score, hit.path)))


def _hit(wanted: tuple[str, ...], memory: Searched) -> Hit | None:
    name, description, text = fold(memory.path), fold(memory.description), fold(memory.text)
    score = 0.0
    for word in wanted:
        in_name, in_description = word in name, word in description
        count = text.count(word)
        if not (in_name or in_description or count):
            return None
        score += NAME_WEIGHT * in_name + DESCRIPTION_WEIGHT * in_description
        score += BODY_WEIGHT * min(count, 5) / 5
    line, snippet = _best_line(wanted, memory.text, text)
    return Hit(memory.path, round(score, 3), line, snippet or memory.description)


def _best_line(wanted: tuple[str, ...], text: str, folded: str) -> tuple[int, str]:
    """The first line that holds the most of the words, cut around the first of them."""
    if not any(word in folded for word in wanted):
        return 0, ""
    best, chosen, most = 0, "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        here = fold(line)
        held = sum(word in here for word in wanted)
        if held > most:
            best, chosen, most = number, line, held
            if most == len(wanted):
                break
    return best, _cut(chosen.rstrip("\r"), wanted)


def _cut(line: str, wanted: tuple[str, ...]) -> str:
    if len(line) <= SNIPPET_WIDTH:
        return line.strip()
    folded = fold(line)
    places = [folded.find(word) for word in wanted if word in folded]
    start = max(0, min(min(places, default=0), len(line)) - SNIPPET_WIDTH // 3)
    end = start + SNIPPET_WIDTH - 2
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")
