"""A local folder as a Strands storage. Its writes are runs: they go through the commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.errors import StorageError
from engine.paths import has_traversal
from engine.storage import Scanned
from engine.storage.tree import Tree
from engine.storage.walk import Entry, read_entry, walk

Put = Callable[[str, bytes | None], None]
"""Gives a key new bytes, or takes it away (None); raises `EngineError`."""


class LocalStorage:
    """Reads a folder; writes by `put`, without which it is read-only.

    Keys are Markdown files: what else lies in the folder is neither listed nor read.
    """

    def __init__(self, folder: str, put: Put | None = None) -> None:
        self._folder = folder
        self._put = put

    async def read(self, key: str) -> bytes | None:
        """The bytes of a key, None if there is none. Raises `StorageError`."""
        return await asyncio.to_thread(self._read, _checked(key))

    async def write(self, key: str, data: bytes) -> None:
        """Create or replace a key, as a run of its own. Raises `EngineError`."""
        await asyncio.to_thread(self._change, _checked(key), data)

    async def delete(self, key: str) -> None:
        """Remove a key, as a run of its own. Raises `EngineError`."""
        await asyncio.to_thread(self._change, _checked(key), None)

    async def list(self, query: str = "") -> Sequence[str]:
        """The keys that start with a prefix, sorted."""
        return [found.key for found in await self.scan(query)]

    async def scan(self, prefix: str = "") -> Sequence[Scanned]:
        """Key, size and version of every memory, in one go in a thread."""
        return await asyncio.to_thread(self._scan, prefix)

    def _scan(self, prefix: str) -> Sequence[Scanned]:
        try:
            with Tree(self._folder) as tree:
                entries = [e for e in walk(tree) if isinstance(e, Entry)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"{self._folder}: {error.strerror}.") from error
        return sorted(
            (
                Scanned(e.path, e.size, f"{e.modified}:{e.size}")
                for e in entries
                if e.path.startswith(prefix)
            ),
            key=lambda found: found.key,
        )

    def _read(self, key: str) -> bytes | None:
        try:
            with Tree(self._folder) as tree:
                return read_entry(tree, Entry(key, 0, 0.0))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StorageError(f"{key}: {error.strerror}.", path=key) from error

    def _change(self, key: str, data: bytes | None) -> None:
        if self._put is None:
            raise StorageError("The storage is read-only.", path=key, hint="Nothing was changed.")
        self._put(key, data)


def _checked(key: str) -> str:
    if not key or key.startswith("/") or "\0" in key or has_traversal(key):
        raise StorageError(f"{key!r} is no key.", path=key)
    return key
