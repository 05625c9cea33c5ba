"""Whether files are as a run relies on them. Reads only."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from engine.errors import Drift
from engine.paths import identity
from engine.storage.tree import FILE, Found, Tree


def sight(tree: Tree, paths: Iterable[str]) -> dict[str, Found]:
    """What is at each path now. Raises OSError for what cannot be read."""
    return {path: tree.look(path) for path in sorted(paths)}


def drifts(
    tree: Tree,
    expected: Mapping[str, str | None],
    writes: Collection[str] = (),
    there: Mapping[str, Found] | None = None,
) -> tuple[Drift, ...]:
    """Every path that is not as expected (SHA-256, or None for absence), by path.

    For paths that are to be written, an entry that is the same file under another spelling and a
    second hard link count too. `there` is what was seen of the paths, if that was just now. Raises
    OSError for what cannot be read.
    """
    seen = sight(tree, expected) if there is None else there
    names = _Names(tree)
    found: list[Drift] = []
    for path, wanted in sorted(expected.items()):
        why = _why(names, path, seen[path], wanted, written=path in writes)
        if why is not None:
            found.append(Drift(path, why))
    return tuple(found)


def _why(
    names: _Names, path: str, there: Found, wanted: str | None, *, written: bool
) -> str | None:
    if wanted is None:
        if not there.absent:
            return "was created by another writer" if there.kind == FILE else f"is a {there.kind}"
        other = names.alias(path) if written else None
        return None if other is None else f"was created by another writer as {other}"
    if there.absent:
        return "was deleted"
    if there.kind != FILE:
        return f"is a {there.kind}"
    if there.digest != wanted:
        return "changed on disk"
    if written and there.stat is not None and there.stat.st_nlink > 1:
        return "has a second hard link, which a rewrite would cut off"
    return None


class _Names:
    """The names in a store's folders, each folder listed once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._listed: dict[str, frozenset[str] | None] = {}
        self._keys: dict[str, dict[str, str]] = {}

    def alias(self, path: str) -> str | None:
        """An entry that would be the same file as a path that does not exist, spelt otherwise."""
        folder = ""
        parts = path.split("/")
        for depth, part in enumerate(parts):
            names = self._list(folder)
            if names is None:
                return None
            if part not in names:
                twin = self._by_identity(folder, names).get(identity(part))
                return (
                    None if twin is None else "/".join([*parts[:depth], twin, *parts[depth + 1 :]])
                )
            folder = f"{folder}/{part}" if folder else part
        return None

    def _list(self, folder: str) -> frozenset[str] | None:
        if folder not in self._listed:
            try:
                self._listed[folder] = frozenset(os.listdir(self._tree.folder(folder)))
            except (FileNotFoundError, NotADirectoryError):
                self._listed[folder] = None
        return self._listed[folder]

    def _by_identity(self, folder: str, names: frozenset[str]) -> dict[str, str]:
        if folder not in self._keys:
            keys = {identity(name): name for name in sorted(names, reverse=True)}
            self._keys[folder] = keys
        return self._keys[folder]
