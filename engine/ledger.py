"""The ledger: which statements each change keeps, rewords, moves and drops, and what is new.

Deterministic; no model. A statement is kept if the change's own result says the same under the
same headings. It is reworded if the most similar statement of the result (token-based, rapidfuzz)
reaches `SIMILAR` and no hard token (number, date, address, name, negation) differs. Else it lives
on elsewhere in the store as it would be if exactly the approved changes ran, or it is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from engine.changes import Change
from engine.characters import hidden
from engine.documents import Snapshot
from engine.statements import Statement, statements

SIMILAR: Final = 80.0
"""Token-set similarity, 0 to 100, from which a statement of the result counts as a rewording."""
NEAR: Final = 55.0
"""Similarity from which a dropped statement is shown beside what took its place."""
COMPARED: Final = 400
"""Statements of a result that one statement is compared with: a bound on the work."""
LENGTH: Final = 600
"""Characters of a statement that similarity looks at."""


class Fate(StrEnum):
    """What becomes of a statement."""

    KEPT = "kept"
    REWORDED = "reworded"
    MOVED = "moved"
    DROPPED = "dropped"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement's fate.

    `source` is None for what is new; `result` is the statement of the change's result that it
    became, or, for a dropped one, the near one that took its place. `carrier` is the path where it
    lives on outside the change; `needs` the change (0-based) that writes it there.
    """

    fate: Fate
    source: Statement | None
    result: Statement | None = None
    carrier: str | None = None
    needs: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """What one change does to what the store says.

    `carriers` are files outside the change that must still say what it takes away; `needs` are the
    changes (0-based) whose results must. `lossless` is the one word for low risk: nothing dropped,
    new, reworded or flagged, no description or other key changed, and every need approved.
    """

    index: int
    entries: tuple[Entry, ...]
    needs: tuple[int, ...]
    carriers: tuple[str, ...]
    lossless: bool

    def of(self, fate: Fate) -> tuple[Entry, ...]:
        """The entries of one fate."""
        return tuple(entry for entry in self.entries if entry.fate is fate)

    @property
    def kept(self) -> int:
        """How many statements stay as they are."""
        return len(self.of(Fate.KEPT))

    @property
    def reworded(self) -> int:
        """How many say the same in other words."""
        return len(self.of(Fate.REWORDED))

    @property
    def moved(self) -> int:
        """How many live on elsewhere, or under another heading."""
        return len(self.of(Fate.MOVED))

    @property
    def dropped(self) -> tuple[Entry, ...]:
        """What nothing says any more."""
        return self.of(Fate.DROPPED)

    @property
    def new(self) -> tuple[Entry, ...]:
        """What no source said."""
        return self.of(Fate.NEW)


_NUMBER = re.compile(r"\d[\d.,:/-]*\d|\d")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s<>\"')\]]{1,300}")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w.-]{1,60}|\b[\w]+_[\w]+\b|\b[A-Z]{2,}\b")
_NEGATIONS = frozenset(
    """no not never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't
    aren't wasn't weren't won't wouldn't shouldn't mustn't stop stopped avoid except unless
    deprecated obsolete nicht kein keine nie ohne pas jamais ningún nunca sin""".split()
)
_DATE = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


@dataclass(frozen=True, slots=True)
class _Tokens:
    numbers: frozenset[str]
    dates: frozenset[str]
    urls: frozenset[str]
    negations: frozenset[str]
    names: frozenset[str]


def _tokens(text: str) -> _Tokens:
    short = text[: LENGTH * 4]
    lower = short.casefold()
    urls = frozenset(_URL.findall(lower))
    return _Tokens(
        frozenset(number.rstrip(".,:/-") for number in _NUMBER.findall(short)),
        frozenset(_DATE.findall(short)),
        urls,
        frozenset(word for word in _WORD.findall(lower) if word in _NEGATIONS),
        frozenset(name.casefold().rstrip(".-") for name in _NAME.findall(short)),
    )


def differences(source: Statement, result: Statement) -> tuple[str, ...]:
    """The hard tokens in which two statements differ, as words; none for a true rewording."""
    a, b = _tokens(source.text), _tokens(result.text)
    found: list[str] = []
    if a.dates != b.dates:
        found.append("date")
    if a.numbers != b.numbers:
        found.append("number")
    if a.urls != b.urls:
        found.append("url")
    if a.negations != b.negations:
        found.append("negation")
    text = result.text.casefold()
    if any(name not in text for name in a.names) or any(
        name not in source.text.casefold() for name in b.names
    ):
        found.append("name")
    return tuple(found)


def _same_words(a: str, b: str) -> bool:
    return a != b and sorted(a.split()) == sorted(b.split())


def _without_title(heading: tuple[str, ...]) -> tuple[str, ...]:
    return heading[1:]


class _Side:
    """The statements of some files, by key."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        self.all: list[Statement] = []
        self.by_key: dict[str, list[Statement]] = {}
        for path, data in files:
            for statement in statements(path, data):
                self.all.append(statement)
                self.by_key.setdefault(statement.key, []).append(statement)


class Ledger:
    """The ledger of a plan's changes over one snapshot."""

    def __init__(self, changes: Sequence[Change], snapshot: Snapshot) -> None:
        self._changes = {change.index: change for change in changes}
        self._snapshot = snapshot
        self._own: dict[int, tuple[tuple[Entry, ...], tuple[Statement, ...]]] = {}
        self._lives: dict[str, list[Statement]] = {}
        self._results = {change.index: _Side(self._written(change)) for change in changes}
        self._accounts: dict[tuple[int, frozenset[int]], Account] = {}

    def _written(self, change: Change) -> list[tuple[str, bytes]]:
        """The files of a change's result: what it writes, or the target that it leaves as it is."""
        written = [(edit.path, edit.after) for edit in change.edits if edit.after is not None]
        if not written and change.action.action == "merge" and change.edits:
            removed = {edit.path for edit in change.edits}
            return [(p, self._snapshot.files[p]) for p in change.reads if p not in removed]
        return [(path, after) for path, after in written if after is not None]

    def account(self, approved: frozenset[int]) -> tuple[Account, ...]:
        """One account a change, each as if exactly the approved ones and it ran."""
        return tuple(self._account(index, approved | {index}) for index in self._changes)

    def _account(self, index: int, running: frozenset[int]) -> Account:
        change = self._changes[index]
        owner = self._changes.get(change.into) if change.into is not None else None
        if owner is not None:
            whole = self._account(owner.index, (running - {index}) | {owner.index})
            return Account(index, (), whole.needs, whole.carriers, whole.lossless)
        relevant = frozenset(i for i in running if i in self._changes)
        known = self._accounts.get((index, relevant))
        if known is None:
            known = self._judge(change, relevant)
            self._accounts[index, relevant] = known
        return known

    def _judge(self, change: Change, running: frozenset[int]) -> Account:
        settled, open_statements = self._own_fates(change)
        entries = [*settled, *(self._elsewhere(change, s, running) for s in open_statements)]
        entries.sort(key=_order)
        needs = tuple(dict.fromkeys(e.needs for e in entries if e.needs is not None))
        carriers = tuple(
            dict.fromkeys(e.carrier for e in entries if e.carrier is not None and e.needs is None)
        )
        lossless = bool(change.edits) and all(
            entry.fate in {Fate.KEPT, Fate.MOVED} and not entry.flags for entry in entries
        )
        return Account(
            change.index,
            tuple(entries),
            needs,
            carriers,
            lossless and all(need in running for need in needs),
        )

    def _own_fates(self, change: Change) -> tuple[tuple[Entry, ...], tuple[Statement, ...]]:
        """What the change's own result decides, and the statements that it does not hold."""
        known = self._own.get(change.index)
        if known is not None:
            return known
        sources = _Side(
            (edit.path, edit.before) for edit in change.edits if edit.before is not None
        )
        if change.action.action == "move" and change.edits:
            moved = tuple(Entry(Fate.KEPT, s, s) for s in sources.all)
            self._own[change.index] = (moved, ())
            return moved, ()
        if change.action.action == "merge":
            written = {edit.path for edit in change.edits}
            rest = [(p, self._snapshot.files[p]) for p in change.reads if p not in written]
            for path, data in rest:
                for statement in statements(path, data):
                    sources.all.append(statement)
                    sources.by_key.setdefault(statement.key, []).append(statement)
        results = self._results[change.index]
        entries: list[Entry] = []
        left: list[Statement] = []
        used: set[int] = set()
        loose: list[Statement] = []
        for statement in sources.all:
            match = _exact(statement, results)
            if match is None:
                loose.append(statement)
                continue
            used.update(id(m) for m in results.by_key[statement.key])
            entries.append(_exact_entry(statement, match))
        free = [r for r in results.all if id(r) not in used][:COMPARED]
        reworded: set[int] = set()
        for statement in loose:
            near, score = _nearest(statement, free)
            flags = differences(statement, near) if near is not None else ()
            if near is not None and score >= SIMILAR and not flags:
                order = ("order",) if _same_words(statement.key, near.key) else ()
                entries.append(
                    Entry(Fate.REWORDED, statement, near, flags=_described(statement, order))
                )
                reworded.add(id(near))
            else:
                left.append(statement)
        for statement in results.all:
            if id(statement) not in used and id(statement) not in reworded:
                flags = ("hidden",) if hidden(statement.text) else ()
                entries.append(Entry(Fate.NEW, None, statement, flags=_described(statement, flags)))
        self._own[change.index] = (tuple(entries), tuple(left))
        return self._own[change.index]

    def _elsewhere(self, change: Change, source: Statement, running: frozenset[int]) -> Entry:
        """Where a statement lives on outside its change, in the store as it would be."""
        touched = {edit.path for index in running for edit in self._changes[index].edits}
        for found in self._untouched(source.key, touched):
            if found.kind == source.kind or {found.kind, source.kind} <= {"item", "sentence"}:
                same = _without_title(found.heading) == _without_title(source.heading)
                moved: tuple[str, ...] = () if same else ("heading",)
                return Entry(Fate.MOVED, source, found, carrier=found.path, flags=moved)
        waiting: int | None = None
        for index, side in self._results.items():
            if index == change.index or source.key not in side.by_key:
                continue
            found = side.by_key[source.key][0]
            if index in running:
                same = _without_title(found.heading) == _without_title(source.heading)
                moved = () if same else ("heading",)
                return Entry(Fate.MOVED, source, found, found.path, index, moved)
            waiting = index if waiting is None else waiting
        near, score = _nearest(source, self._results[change.index].all[:COMPARED])
        if near is None or score < NEAR:
            near = None
        flags = differences(source, near) if near is not None else ()
        return Entry(Fate.DROPPED, source, near, needs=waiting, flags=_described(source, flags))

    def _untouched(self, key: str, touched: set[str]) -> list[Statement]:
        return [s for s in self._index.get(key, ()) if s.path not in touched]

    @cached_property
    def _index(self) -> Mapping[str, list[Statement]]:
        """Key -> the statements of the whole store that say it, only for keys that are asked for.

        A file is cut into statements only if it may hold one: its folded text has the key's longest
        word.
        """
        wanted: dict[str, str] = {}
        for change in self._changes.values():
            if change.into is None:
                for statement in self._own_fates(change)[1]:
                    words = statement.key.split()
                    wanted[statement.key] = max(words, key=len) if words else ""
        found: dict[str, list[Statement]] = {key: [] for key in wanted}
        if not wanted:
            return found
        probes = frozenset(wanted.values())
        for path, data in self._snapshot.files.items():
            text = data.decode("utf-8", "surrogateescape").casefold()
            if any(probe in text for probe in probes):
                for statement in statements(path, data):
                    if statement.key in found:
                        found[statement.key].append(statement)
        return found


def _order(entry: Entry) -> tuple[str, int]:
    statement = entry.source or entry.result
    return ("", 0) if statement is None else (statement.path, statement.line)


def _exact(statement: Statement, results: _Side) -> Statement | None:
    same = [
        found
        for found in results.by_key.get(statement.key, ())
        if (found.kind == "description") == (statement.kind == "description")
        and (found.kind == "field") == (statement.kind == "field")
    ]
    if not same:
        return None
    return next((found for found in same if found.heading == statement.heading), same[0])


def _exact_entry(statement: Statement, match: Statement) -> Entry:
    if match.heading == statement.heading or statement.kind in {"description", "field"}:
        return Entry(Fate.KEPT, statement, match)
    if _without_title(match.heading) == _without_title(statement.heading) and (
        match.path != statement.path or len(match.heading) == len(statement.heading) == 1
    ):
        return Entry(Fate.MOVED, statement, match)
    return Entry(Fate.MOVED, statement, match, flags=("heading",))


def _described(statement: Statement, flags: tuple[str, ...]) -> tuple[str, ...]:
    """A change to a description or another frontmatter key is always flagged."""
    return (*flags, statement.kind) if statement.kind in {"description", "field"} else flags


def _nearest(statement: Statement, among: Sequence[Statement]) -> tuple[Statement | None, float]:
    if not among:
        return None, 0.0
    from rapidfuzz import fuzz, process

    best = process.extractOne(
        statement.key[:LENGTH],
        [found.key[:LENGTH] for found in among],
        scorer=fuzz.token_sort_ratio,
        score_cutoff=NEAR,
    )
    return (among[best[2]], float(best[1])) if best else (None, 0.0)
