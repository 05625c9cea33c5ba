"""Where a statement stands: whether two places are one, and where else in a store it is said.

A place is the headings, labels and list items above a statement: the same line under `Never:` is
another fact. Of a carrier, a file that goes its own way, the first-level title may differ, as long
as that takes nothing away: every word of the old title must stand in the new one, in the
carrier's path or description or in the statement, and the new one must bring no negation, number
or date.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from engine.documents import Snapshot, decode
from engine.ledger.wording import changed_letters, group, tokens
from engine.statements import Reading, Statement

Said = tuple[str, str]
"""What a statement is looked up by: its group and its key."""

_RUN: Final = re.compile(r"[^\W_]+")


def said(statement: Statement) -> Said:
    """What a statement is looked up by; `Never:`, `**Never**` and `## Never` are one label."""
    kind = group(statement)
    return kind, statement.key.rstrip(": \uff1a") if kind == "text" else statement.key


def same_place(source: Statement, found: Statement, about: Collection[str]) -> bool:
    """Whether a carrier says a statement in the same place; `about` are words of its description.

    A description stands for its file alone, a field too: their place is the frontmatter.
    """
    if source.heading == found.heading:
        return True
    old, below = _title(source)
    new, others = _title(found)
    if below != others:
        return False
    known = {*words(new), *words(found.path), *words(found.key), *about}
    if not known.issuperset(words(old)):
        return False
    had, has = tokens(f"{old} {source.text}"), tokens(new)
    return has.negations <= had.negations and has.numbers <= had.numbers and has.dates <= had.dates


def _title(statement: Statement) -> tuple[str, tuple[str, ...]]:
    if statement.titled:
        return statement.heading[0], statement.heading[1:]
    return "", statement.heading


def words(text: str) -> frozenset[str]:
    """The words of a text, case-folded."""
    return frozenset(_RUN.findall(_folded(text)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def out_of_order(sources: Sequence[Statement], found: Sequence[Statement]) -> frozenset[int]:
    """The lines of sequenced sources that do not follow each other in `found` as they did."""
    where: defaultdict[Said, list[int]] = defaultdict(list)
    for at, statement in enumerate(found):
        where[said(statement)].append(at)
    astray: set[int] = set()
    last = -1
    for source in sources:
        places = where.get(said(source), [])
        after = bisect_right(places, last)
        if after < len(places):
            last = places[after]
        elif places:
            astray.add(source.line)
    return frozenset(astray)


class Index:
    """The statements of a store that say what is asked for, file by file.

    A file is cut into statements only if it holds every word of a key that is asked for.
    """

    def __init__(
        self, snapshot: Snapshot, wanted: Iterable[Said], reading: Callable[[str], Reading]
    ) -> None:
        self._found: dict[Said, list[Statement]] = {key: [] for key in wanted}
        self.wanted = frozenset(self._found)
        self._reading = reading
        self._order: dict[tuple[str, tuple[str, ...]], tuple[Statement, ...]] = {}
        self._about: dict[str, frozenset[str]] = {}
        for path in _holders(snapshot, self._found):
            read = reading(path)
            for statement in read.statements:
                places = self._found.get(said(statement))
                if places is not None:
                    places.append(statement)

    def of(self, source: Statement, *, outside: Collection[str]) -> list[tuple[bool, Statement]]:
        """(whether the place is the same, statement) for all that other files say."""
        return [
            (same_place(source, found, self.about(found.path)), found)
            for found in self._found.get(said(source), ())
            if found.path not in outside and not changed_letters(source.text, found.text)
        ]

    def about(self, path: str) -> frozenset[str]:
        """The words of a file's description."""
        known = self._about.get(path)
        if known is None:
            known = described(self._reading(path))
            self._about[path] = known
        return known

    def sequence(self, path: str, heading: tuple[str, ...]) -> tuple[Statement, ...]:
        """The steps and lines of code that a file says in one place, in order."""
        known = self._order.get((path, heading))
        if known is None:
            known = sequence(self._reading(path), heading)
            self._order[path, heading] = known
        return known


def sequence(reading: Reading, heading: tuple[str, ...]) -> tuple[Statement, ...]:
    """The steps and lines of code of one place, in order."""
    return tuple(s for s in reading.statements if s.sequenced and s.heading == heading)


def described(reading: Reading) -> frozenset[str]:
    """The words of a file's description."""
    return frozenset().union(*(words(s.key) for s in reading.statements if s.kind == "description"))


def _holders(snapshot: Snapshot, wanted: Mapping[Said, object]) -> list[str]:
    """The files that hold every word of some key, by path."""
    keys = {words(key) for _, key in wanted}
    wordless = frozenset() in keys  # a key of signs alone: any file may hold it
    vocabulary = frozenset[str]().union(*keys)
    if not vocabulary and not wordless:
        return []
    present: dict[str, frozenset[str]] = {}
    for path, data in snapshot.files.items():
        present[path] = vocabulary.intersection(_RUN.findall(_folded(decode(data)[0])))
    files = Counter(word for found in present.values() for word in found)
    by_rarest: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for key in keys:
        if key:
            by_rarest[min(key, key=lambda word: (files[word], word))].append(key)
    return sorted(
        path
        for path, found in present.items()
        if wordless or any(key <= found for word in found for key in by_rarest.get(word, ()))
    )
