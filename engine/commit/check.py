"""Whether files are as a run relies on them. Reads only."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from engine.errors import Drift
from engine.paths import identity
from engine.storage.tree import FILE, Tree


def drifts(
    tree: Tree, expected: Mapping[str, str | None], writes: Collection[str] = ()
) -> tuple[Drift, ...]:
    """Every path that is not as expected (SHA-256, or None for absence), by path.

    For paths that are to be written, an entry that is the same file under another spelling and a
    second hard link count too. Raises OSError for what cannot be read.
    """
    found: list[Drift] = []
    for path, wanted in sorted(expected.items()):
        why = _why(tree, path, wanted, written=path in writes)
        if why is not None:
            found.append(Drift(path, why))
    return tuple(found)


def _why(tree: Tree, path: str, wanted: str | None, *, written: bool) -> str | None:
    there = tree.look(path)
    if wanted is None:
        if not there.absent:
            return "was created by another writer" if there.kind == FILE else f"is a {there.kind}"
        other = alias(tree, path) if written else None
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


def alias(tree: Tree, path: str) -> str | None:
    """An entry that would be the same file as a path that does not exist, in another spelling."""
    folder = ""
    parts = path.split("/")
    for depth, part in enumerate(parts):
        try:
            names = os.listdir(tree.folder(folder))
        except (FileNotFoundError, NotADirectoryError):
            return None
        if part not in names:
            key = identity(part)
            twin = next((name for name in sorted(names) if identity(name) == key), None)
            if twin is not None:
                return "/".join([*parts[:depth], twin, *parts[depth + 1 :]])
            return None
        folder = f"{folder}/{part}" if folder else part
    return None
