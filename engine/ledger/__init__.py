"""The ledger: which statements each change keeps, rewords, moves and drops, and what is new.

Deterministic; no model. A statement is kept if the change's own result says the same in the same
place, moved if in another. It is reworded if a similar statement of the result has the same
numbers, dates, addresses, negations and names (`engine.ledger.wording`). Else it lives on elsewhere
in the store as it would be if exactly the approved changes ran (`engine.ledger.placing`), or it is
dropped. What no source of a change says is new, unless another file of the store says it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.changes import Change
from engine.documents import Snapshot
from engine.ledger.fates import Account, Entry, Fate
from engine.ledger.outcome import Fresh, Lost, Outcome, judge
from engine.ledger.placing import (
    Index,
    Said,
    described,
    out_of_order,
    said,
    same_place,
    sequence,
)
from engine.ledger.wording import changed_letters
from engine.plan import Merge
from engine.statements import Reading, Statement, read

__all__ = ["Account", "Entry", "Fate", "Ledger"]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where else a statement stands.

    `touched` are the changes that rewrite or remove the file it stands in; `writer` is the change
    whose result it is.
    """

    statement: Statement
    flags: tuple[str, ...]
    touched: frozenset[int]
    writer: int | None

    def stands(self, running: frozenset[int]) -> bool:
        """Whether it is there if exactly these changes ran."""
        if self.writer is not None:
            return self.writer in running
        return not self.touched & running


@dataclass(frozen=True, slots=True)
class _Open:
    """A statement whose fate depends on what else runs, and the places where it may live on."""

    lost: Lost
    places: tuple[_Place, ...]


@dataclass(frozen=True, slots=True)
class _Standing:
    """What is known of a change whatever is approved; `depends` are the changes that matter."""

    entries: tuple[Entry, ...]
    open: tuple[_Open, ...]
    depends: frozenset[int]

    @property
    def paths(self) -> Iterator[str]:
        """The files in which what it takes away may live on."""
        return (place.statement.path for one in self.open for place in one.places)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What a ledger of other changes over the same snapshot worked out; `same` are in both."""

    same: frozenset[int]
    after: Mapping[int, tuple[Reading, ...]]
    outcomes: Mapping[int, Outcome]
    index: Index
    touched: Mapping[str, frozenset[int]]
    standings: Mapping[int, _Standing]
    accounts: Mapping[tuple[int, frozenset[int]], Account]


class Ledger:
    """The ledger of a plan's changes over one snapshot. Total: an impossible plan has one too."""

    def __init__(self, changes: Sequence[Change], snapshot: Snapshot) -> None:
        self._changes = {change.index: change for change in changes}
        self._snapshot = snapshot
        self._readings: dict[str, Reading] = {}
        self._accounts: dict[tuple[int, frozenset[int]], Account] = {}
        self._earlier: _Earlier | None = None

    def following(self, changes: Sequence[Change]) -> Ledger:
        """The ledger of other changes over the same snapshot.

        What it says is what a new ledger would; what is the same in both is not worked out again.
        """
        new = Ledger(changes, self._snapshot)
        new._readings = self._readings
        if "_standings" in self.__dict__ and new._changes.keys() == self._changes.keys():
            new._earlier = _Earlier(
                frozenset(i for i, c in new._changes.items() if c == self._changes[i]),
                self._after,
                self._outcomes,
                self._index,
                self._touched,
                self._standings,
                self._accounts,
            )
        return new

    def account(self, approved: frozenset[int]) -> tuple[Account, ...]:
        """One account a change, each as if exactly the approved ones (0-based) and it ran.

        A changed verdict costs only the accounts of the changes that it bears on.
        """
        return tuple(self._account(index, approved) for index in self._changes)

    def _account(self, index: int, approved: frozenset[int]) -> Account:
        change = self._changes[index]
        if change.into is not None and change.into in self._changes:
            whole = self._account(change.into, approved)
            return Account(index, (), whole.needs, whole.carriers, whole.lossless)
        standing = self._standings.get(index)
        if standing is None:
            return Account(index, (), (), (), lossless=False)
        running = (approved | {index}) & standing.depends
        known = self._accounts.get((index, running))
        if known is None:
            known = _conclude(index, standing, running)
            self._accounts[index, running] = known
        return known

    def _reading(self, path: str) -> Reading:
        known = self._readings.get(path)
        if known is None:
            known = read(path, self._snapshot.files[path])
            self._readings[path] = known
        return known

    def _before(self, change: Change) -> dict[str, Reading]:
        """What a change takes up: the files that it edits, and a target that it leaves as it is."""
        found = {e.path: self._reading(e.path) for e in change.edits if e.before is not None}
        if isinstance(change.action, Merge):
            found.update({path: self._reading(path) for path in change.reads})
        return found

    @cached_property
    def _after(self) -> Mapping[int, tuple[Reading, ...]]:
        """What a change leaves in their place."""
        found: dict[int, tuple[Reading, ...]] = {}
        for index, change in self._changes.items():
            if self._earlier is not None and index in self._earlier.same:
                found[index] = self._earlier.after[index]
                continue
            edited = {edit.path for edit in change.edits}
            read_on = change.reads if edited and isinstance(change.action, Merge) else ()
            found[index] = (
                *(read(e.path, e.after) for e in change.edits if e.after is not None),
                *(self._reading(path) for path in read_on if path not in edited),
            )
        return found

    @cached_property
    def _outcomes(self) -> Mapping[int, Outcome]:
        found: dict[int, Outcome] = {}
        for index, change in self._changes.items():
            if not change.edits:
                continue
            if self._earlier is not None and index in self._earlier.same:
                found[index] = self._earlier.outcomes[index]
                continue
            found[index] = judge(change, tuple(self._before(change).values()), self._after[index])
        return found

    @cached_property
    def _touched(self) -> Mapping[str, frozenset[int]]:
        """Path -> the changes that rewrite or remove it."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for index, change in self._changes.items():
            for edit in change.edits:
                found[edit.path].add(index)
        return {path: frozenset(indexes) for path, indexes in found.items()}

    @cached_property
    def _written(self) -> Mapping[Said, tuple[tuple[int, Statement], ...]]:
        """What the results of changes say, with the change that writes it."""
        found: defaultdict[Said, list[tuple[int, Statement]]] = defaultdict(list)
        for index, change in self._changes.items():
            written = {edit.path for edit in change.edits if edit.after is not None}
            for reading in self._after[index]:
                for statement in reading.statements:
                    if statement.path in written:
                        found[said(statement)].append((index, statement))
        return {key: tuple(places) for key, places in found.items()}

    @cached_property
    def _index(self) -> Index:
        wanted = frozenset[Said]().union(*map(_asked, self._outcomes.values()))
        if self._earlier is not None and wanted <= self._earlier.index.wanted:
            return self._earlier.index
        return Index(self._snapshot, wanted, self._reading)

    def _unmoved(self) -> frozenset[int]:
        """The changes that stand as they did in the earlier ledger.

        They are the same, and say nothing that a change which is not takes up or gives back.
        """
        earlier = self._earlier
        if earlier is None:
            return _NONE
        moved = {
            said(statement)
            for after in (earlier.after, self._after)
            for index in self._changes.keys() - earlier.same
            for reading in after[index]
            for statement in reading.statements
        }
        old, new = earlier.touched, self._touched
        touched = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
        return frozenset(
            index
            for index in earlier.same & self._outcomes.keys()
            if moved.isdisjoint(_asked(self._outcomes[index]))
            and touched.isdisjoint(earlier.standings[index].paths)
        )

    @cached_property
    def _standings(self) -> Mapping[int, _Standing]:
        found: dict[int, _Standing] = {}
        earlier, unmoved = self._earlier, self._unmoved()
        for index, outcome in self._outcomes.items():
            if earlier is not None and index in unmoved:
                found[index] = earlier.standings[index]
                continue
            change = self._changes[index]
            own = frozenset([*self._before(change), *(edit.path for edit in change.edits)])
            opened = self._open(index, outcome.lost, own)
            depends = frozenset[int]().union(
                *(
                    place.touched if place.writer is None else {place.writer}
                    for one in opened
                    for place in one.places
                )
            )
            entries = (*outcome.entries, *self._from_elsewhere(outcome.fresh, own))
            found[index] = _Standing(entries, opened, depends)
        if earlier is not None:
            self._accounts = {k: a for k, a in earlier.accounts.items() if k[0] in unmoved}
            self._earlier = None  # or every ledger would keep the one before
        return found

    def _open(self, index: int, lost: Sequence[Lost], own: Collection[str]) -> tuple[_Open, ...]:
        """The places of what a change's result does not hold, the surest first."""
        places: list[list[_Place]] = []
        for one in lost:
            source = one.statement
            found = [
                _Place(at, () if same else ("heading",), self._touched.get(at.path, _NONE), None)
                for same, at in self._index.of(source, outside=own)
            ]
            for writer, at in self._written.get(said(source), ()):
                if writer != index and not changed_letters(source.text, at.text):
                    about = frozenset[str]().union(*map(described, self._after[writer]))
                    same = same_place(source, at, about)
                    found.append(_Place(at, () if same else ("heading",), _NONE, writer))
            places.append(found)
        self._flag_order([one.statement for one in lost], places)
        return tuple(
            _Open(one, tuple(sorted(found, key=_surest)))
            for one, found in zip(lost, places, strict=True)
        )

    def _flag_order(self, sources: Sequence[Statement], places: Sequence[list[_Place]]) -> None:
        """Flag the places where steps and lines of code follow each other in another order."""
        together: defaultdict[_Run, list[Statement]] = defaultdict(list)
        for source, found in zip(sources, places, strict=True):
            for run in dict.fromkeys(_run(source, place) for place in found if source.sequenced):
                together[run].append(source)
        astray = {run: out_of_order(steps, self._steps(run)) for run, steps in together.items()}
        for source, found in zip(sources, places, strict=True):
            for at, place in enumerate(found):
                if source.line in astray.get(_run(source, place), _NONE):
                    flags = (*place.flags, "order")
                    found[at] = _Place(place.statement, flags, place.touched, place.writer)

    def _steps(self, run: _Run) -> tuple[Statement, ...]:
        _, _, path, heading, writer = run
        if writer is None:
            return self._index.sequence(path, heading)
        return tuple(
            step
            for reading in self._after[writer]
            for step in sequence(reading, heading)
            if step.path == path
        )

    def _from_elsewhere(self, fresh: Sequence[Fresh], own: Collection[str]) -> Iterable[Entry]:
        """What no source of a change says there: new, or kept from another file of the store."""
        places: list[list[_Place]] = []
        for one in fresh:
            found = [
                _Place(at, () if same else ("heading",), _NONE, None)
                for same, at in self._index.of(one.statement, outside=own)
                if one.statement.kind != "heading" and "heading" not in one.flags
            ]
            places.append(found)
        self._flag_order([one.statement for one in fresh], places)
        for one, found in zip(fresh, places, strict=True):
            if found:
                best = min(found, key=_surest)
                at, flags = best.statement, (*best.flags, *one.flags)
                yield Entry(Fate.KEPT, at, one.statement, carrier=at.path, flags=flags)
            else:
                yield Entry(Fate.NEW, None, one.statement, flags=one.flags)


_NONE: frozenset[int] = frozenset()


def _asked(outcome: Outcome) -> frozenset[Said]:
    """What is looked for outside a change."""
    lost = {said(one.statement) for one in outcome.lost}
    return frozenset(lost.union(said(one.statement) for one in outcome.fresh))


_Run = tuple[str, tuple[str, ...], str, tuple[str, ...], int | None]
"""Steps of one place (path, heading) that stand in another place (path, heading, writer)."""


def _run(source: Statement, place: _Place) -> _Run:
    at = place.statement
    return source.path, source.heading, at.path, at.heading, place.writer


def _surest(place: _Place) -> tuple[int, bool, str, int]:
    """The same place before another, a file that nobody writes before a change's result."""
    return len(place.flags), place.writer is not None, place.statement.path, place.statement.line


def _conclude(index: int, standing: _Standing, running: frozenset[int]) -> Account:
    entries = [*standing.entries, *(_fate(one, running) for one in standing.open)]
    entries.sort(key=_order)
    needs = tuple(dict.fromkeys(e.needs for e in entries if e.needs is not None))
    carriers = tuple(
        dict.fromkeys(e.carrier for e in entries if e.carrier is not None and e.needs is None)
    )
    lossless = all(e.fate in {Fate.KEPT, Fate.MOVED} and not e.flags for e in entries)
    return Account(index, tuple(entries), needs, carriers, lossless)


def _fate(one: _Open, running: frozenset[int]) -> Entry:
    source = one.lost.statement
    for place in one.places:
        if place.stands(running):
            at = place.statement
            return Entry(Fate.MOVED, source, at, at.path, place.writer, place.flags)
    waiting = next((place.writer for place in one.places if place.writer is not None), None)
    return Entry(Fate.DROPPED, source, one.lost.near, needs=waiting, flags=one.lost.flags)


def _order(entry: Entry) -> tuple[str, int]:
    statement = entry.result if entry.source is None or entry.carrier else entry.source
    return ("", 0) if statement is None else (statement.path, statement.line)
