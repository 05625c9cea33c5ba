"""The links that a change would leave dead, if exactly some changes ran.

Those are links to a file that it removes, wherever they would stand then, and links of its own
result that nothing in the store answers, unless its sources had the same dead link already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from engine.changes import Change
from engine.documents import Snapshot, decode
from engine.ledger.fates import DeadLink
from engine.links import Link, Targets, links


class Pointers:
    """The links of a store and of what the changes of a plan write."""

    def __init__(self, changes: Mapping[int, Change], snapshot: Snapshot) -> None:
        self._before = Targets(snapshot.files)
        written = {e.path: i for i, c in changes.items() for e in c.edits if e.after is not None}
        self._written = written
        self._ever = Targets([*snapshot.files, *(p for p in written if p not in snapshot)])
        self._changes = changes
        self._known = frozenset(snapshot.files)
        self._touched: defaultdict[str, set[int]] = defaultdict(set)
        self._removed: dict[int, tuple[str, ...]] = {}
        self._own: dict[int, tuple[tuple[str, Link], ...]] = {}
        for index, change in changes.items():
            for edit in change.edits:
                self._touched[edit.path].add(index)
            gone = tuple(e.path for e in change.edits if e.after is None)
            if gone:
                self._removed[index] = gone
            own = tuple(
                (e.path, link)
                for e in change.edits
                if e.after is not None
                for link in _links(e.after)
            )
            if own:
                self._own[index] = own
        gone_ever = {path for paths in self._removed.values() for path in paths}
        self._standing: defaultdict[str, list[tuple[str, Link]]] = defaultdict(list)
        for path, data in snapshot.files.items() if gone_ever else ():
            for link in _links(data):
                to = self._before.of(link, path)
                if to in gone_ever and to != path:
                    self._standing[to].append((path, link))

    def dead(self, index: int, running: frozenset[int]) -> tuple[DeadLink, ...]:
        """What a change of the running ones (0-based, it among them) leaves dead, by place."""
        if index not in self._removed and index not in self._own:
            return ()
        found = {*self._to_removed(index, running), *self._of_result(index, running)}
        return tuple(sorted(found, key=lambda dead: (dead.path, dead.line, dead.to)))

    def _is_there(self, path: str, running: frozenset[int]) -> bool:
        writer = self._written.get(path)
        if writer in running:
            return True
        gone = any(path in self._removed.get(i, ()) for i in self._touched[path] & running)
        return path in self._known and not gone

    def _is_answered(self, link: Link, source: str, running: frozenset[int]) -> bool:
        return any(self._is_there(to, running) for to in self._ever.candidates(link, source))

    def _to_removed(self, index: int, running: frozenset[int]) -> Iterator[DeadLink]:
        for gone in self._removed.get(index, ()):
            if self._is_there(gone, running):
                continue
            for path, link in self._standing.get(gone, ()):
                if not self._touched[path] & running and not self._is_answered(link, path, running):
                    yield DeadLink(path, link.line, gone)
            for other in running & self._own.keys():
                for path, link in self._own[other]:
                    means = self._before.of(link, path) == gone
                    if means and not self._is_answered(link, path, running):
                        yield DeadLink(path, link.line, gone)

    def _of_result(self, index: int, running: frozenset[int]) -> Iterator[DeadLink]:
        old = [e for e in self._changes[index].edits if e.before is not None]
        for path, link in self._own.get(index, ()):
            if self._is_answered(link, path, running):
                continue
            to = self._ever.of(link, path)
            mine = to in self._written or to in self._removed.get(index, ())
            if to is not None and not mine:
                continue  # another change removes it: that one answers for it
            if to is None and any(
                was.to == link.to and self._before.of(was, edit.path) is None
                for edit in old
                for was in _links(edit.before or b"")
            ):
                continue
            yield DeadLink(path, link.line, link.to if to is None else to)


def _links(data: bytes) -> Iterator[Link]:
    if b"](" in data or b"[[" in data or b"]:" in data:
        yield from links(decode(data)[0])
