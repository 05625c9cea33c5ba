"""Listing a folder of memories: what is a memory, and why the rest is not. Reads only."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from engine.paths import CHANGELOG, is_memory, is_reserved
from engine.storage.tree import FILE, LINK, Tree, kind_of

SKIPPED: Final = frozenset([".git", ".memui"])
"""Folders of tools: never listed, not even as something else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a store. `size` is in bytes, `modified` seconds since the epoch.

    `link` is what a symbolic link that stays inside the store says; the entry is then its target's.
    `stat` is all that the system says of the file, where it was walked by and is no link.
    """

    path: str
    size: int
    modified: float
    link: str | None = None
    stat: os.stat_result | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Other:
    """Something in a store's folder that is no memory, and why, as a clause."""

    path: str
    why: str


def walk(tree: Tree) -> Iterator[Entry | Other]:
    """Everything below a folder, by path. Neither a link out nor a device stops it."""
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            fd = tree.folder(folder)
            with os.scandir(fd) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield Other(folder or ".", f"cannot be read: {error.strerror}")
            continue
        below: list[str] = []
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError as error:
                if error.errno != errno.ENOENT:
                    yield Other(path, f"cannot be read: {error.strerror}")
                continue
            if stat.S_ISDIR(seen.st_mode):
                if entry.name.startswith("."):
                    if entry.name not in SKIPPED:
                        yield Other(path, "hidden folder")
                else:
                    below.append(path)
            else:
                yield _judge(tree, path, entry.name, seen)
        pending.extend(reversed(below))
        if folder:
            tree.forget(folder)  # thousands of folders must not hold thousands of descriptors


def judge(tree: Tree, path: str) -> Entry | Other:
    """What `walk` says of one path. Raises OSError if nothing is there."""
    *folders, name = path.split("/")
    if any(folder.startswith(".") for folder in folders):
        return Other(path, "in a hidden folder")
    fd, name = tree.parent(path)
    return _judge(tree, path, name, os.stat(name, dir_fd=fd, follow_symlinks=False))


def _judge(tree: Tree, path: str, name: str, seen: os.stat_result) -> Entry | Other:
    kind = kind_of(seen.st_mode)
    if kind == LINK:
        return _link(tree, path)
    if kind != FILE:
        return Other(path, kind)
    if path == CHANGELOG or is_reserved(path):
        return Other(path, "the record of consolidations")
    if name.startswith(".__strands_"):
        return Other(path, "a temporary file of the SDK")
    if not is_memory(path):
        return Other(path, "not Markdown")
    if name.startswith("."):
        return Other(path, "hidden file")
    return Entry(path, seen.st_size, seen.st_mtime, stat=seen)


def _link(tree: Tree, path: str) -> Entry | Other:
    """A link: an entry if it names a Markdown file inside the store, else named with its target."""
    says = "?"
    try:
        fd, name = tree.parent(path)
        says = os.readlink(name, dir_fd=fd)
        real = os.path.realpath(os.path.join(tree.path, path))
        inside = os.path.realpath(tree.path)
        if os.path.commonpath([real, inside]) != inside:
            return Other(path, f"link that leaves the store, to {says}")
        seen = os.stat(real)
    except (OSError, ValueError) as error:
        loop = isinstance(error, OSError) and error.errno == errno.ELOOP
        return Other(path, f"link {'in a loop' if loop else 'to nothing'}, to {says}")
    if not stat.S_ISREG(seen.st_mode):
        return Other(path, f"link to a {kind_of(seen.st_mode)}, {says}")
    if not is_memory(path):
        return Other(path, f"link, to {says}")
    return Entry(path, seen.st_size, seen.st_mtime, link=says)


def read_entry(tree: Tree, entry: Entry, limit: int | None = None) -> bytes:
    """The bytes of an entry, through its link if it has one. Raises OSError."""
    if entry.link is None:
        return tree.read(entry.path, limit)
    inside = os.path.realpath(tree.path)
    real = os.path.realpath(os.path.join(inside, entry.path))
    if os.path.commonpath([real, inside]) != inside:
        raise OSError(errno.ELOOP, "the link leaves the store", entry.path)
    return tree.read(os.path.relpath(real, inside), limit)
