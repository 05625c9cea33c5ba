"""What a change's own result says of the statements that the change rewrites or removes.

Nothing here depends on which other changes are approved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.changes import Change
from engine.documents import description
from engine.ledger.fates import Entry, Fate
from engine.ledger.placing import Said, out_of_order, said, sequence
from engine.ledger.wording import changed_letters, differences, other_order, pair, unseen
from engine.statements import Reading, Statement

FRONTMATTER = frozenset(["description", "field"])


@dataclass(frozen=True, slots=True)
class Lost:
    """A statement that the own result does not hold, and the near one that took its place."""

    statement: Statement
    near: Statement | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fresh:
    """A statement of the result that no source said, or none in that place."""

    statement: Statement
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the own result decides: entries, what it does not hold, what no source of it said."""

    entries: tuple[Entry, ...]
    lost: tuple[Lost, ...]
    fresh: tuple[Fresh, ...]


class _Side:
    """What some files say, by what it is looked up by; headings that head something too."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self.readings = tuple(readings)
        self.all = [s for reading in self.readings for s in reading.statements]
        self.heads = [s for reading in self.readings for s in reading.headings]
        self.by_key: defaultdict[Said, list[Statement]] = defaultdict(list)
        for statement in (*self.all, *self.heads):
            self.by_key[said(statement)].append(statement)

    def alike(self, statement: Statement) -> list[Statement]:
        """What says the same, in any place."""
        return [
            found
            for found in self.by_key.get(said(statement), ())
            if not changed_letters(statement.text, found.text)
        ]


def judge(change: Change, before: Sequence[Reading], after: Sequence[Reading]) -> Outcome:
    """Hold a change's result against its sources."""
    sources, results = _Side(before), _Side(after)
    exact: list[Entry] = []
    loose: list[Statement] = []
    for source in sources.all:
        alike = results.alike(source)
        here = next((found for found in alike if found.heading == source.heading), None)
        if here is not None:
            exact.append(Entry(Fate.KEPT, source, here))
        elif alike:
            exact.append(Entry(Fate.MOVED, source, alike[0], flags=("heading",)))
        else:
            loose.append(source)
    exact = _with_order(exact, results)
    explained = {id(entry.result) for entry in exact}
    taken = {
        at
        for at, result in enumerate(results.all)
        if id(result) in explained
        or any(found.heading == result.heading for found in sources.alike(result))
    }
    pairing = pair(loose, results.all, taken)
    entries = list(exact)
    lost: list[Lost] = []
    for at, source in enumerate(loose):
        to = pairing.reworded.get(at)
        if to is not None:
            result = results.all[to]
            entries.append(Entry(Fate.REWORDED, source, result, flags=_reworded(source, result)))
            explained.add(id(result))
            continue
        near = results.all[pairing.near[at]] if at in pairing.near else None
        flags = differences(source, near) if near is not None else ()
        lost.append(Lost(source, near, (*flags, *_own_kind(source))))
    fresh = [
        result
        for at, result in enumerate(results.all)
        if at not in taken and id(result) not in explained
        if result.kind != "heading" or not sources.alike(result)
    ]
    fresh += [head for head in results.heads if not sources.alike(head)]
    flagged = any("description" in one.flags for one in lost)
    flagged = flagged or any(result.kind == "description" for result in fresh)
    entries = _with_frontmatter(change, entries, sources, flagged=flagged)
    new = tuple(Fresh(result, _new(result, sources)) for result in fresh)
    return Outcome(tuple(entries), tuple(lost), new)


def _own_kind(statement: Statement) -> tuple[str, ...]:
    """A change to a description or to another key of frontmatter is always flagged."""
    return (statement.kind,) if statement.kind in FRONTMATTER else ()


def _new(result: Statement, sources: _Side) -> tuple[str, ...]:
    elsewhere = ("heading",) if sources.alike(result) else ()
    return (*elsewhere, *unseen(result), *_own_kind(result))


def _reworded(source: Statement, result: Statement) -> tuple[str, ...]:
    flags = ["order"] if other_order(source, result) else []
    if result.heading != source.heading:
        flags.append("heading")
    return (*flags, *unseen(result, source), *_own_kind(source))


def _with_order(entries: list[Entry], results: _Side) -> list[Entry]:
    """The entries, with a flag for steps and lines of code that follow each other otherwise."""
    steps: defaultdict[tuple[str, str, tuple[str, ...]], list[Statement]] = defaultdict(list)
    for entry in entries:
        source, result = entry.source, entry.result
        if entry.fate is Fate.KEPT and source is not None and source.sequenced and result:
            steps[source.path, result.path, source.heading].append(source)
    astray: set[tuple[str, int]] = set()
    for (path, target, heading), sources in steps.items():
        for reading in results.readings:
            found = sequence(reading, heading)
            if found and found[0].path == target:
                astray |= {(path, line) for line in out_of_order(sources, found)}
    if not astray:
        return entries
    return [
        replace(entry, flags=(*entry.flags, "order"))
        if entry.source is not None
        and entry.source.sequenced
        and (entry.source.path, entry.source.line) in astray
        else entry
        for entry in entries
    ]


def _with_frontmatter(
    change: Change, entries: list[Entry], sources: _Side, *, flagged: bool
) -> list[Entry]:
    """The entries, with a flag for frontmatter that the target did not have in these letters.

    What another source brought along, and a description that is taken from the body because no
    field gives one, count too: the agent reads the target's description in every turn.
    """
    edit = next((e for e in change.edits if e.before is not None and e.after is not None), None)
    if edit is None or edit.before is None or edit.after is None:
        return entries
    old = {(s.kind, s.text) for s in sources.all if s.path == edit.path}
    found: list[Entry] = []
    for entry in entries:
        result = entry.result
        if result is not None and result.kind in FRONTMATTER:
            if (result.kind, result.text) not in old and result.kind not in entry.flags:
                found.append(replace(entry, flags=(*entry.flags, result.kind)))
                flagged = flagged or result.kind == "description"
                continue
            flagged = flagged or "description" in entry.flags
        found.append(entry)
    if not flagged and description(edit.before) != description(edit.after):
        lines = [(e.result.line, at) for at, e in enumerate(found) if e.result is not None]
        if lines:
            at = min(lines)[1]
            found[at] = replace(found[at], flags=(*found[at].flags, "description"))
    return found
