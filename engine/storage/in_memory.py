"""Memories in a dict, and a view of any storage below a prefix: for tests and short lives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.errors import Conflict, Drift
from engine.storage import Scanned, Storage


class InMemoryStorage:
    """Keys to bytes in this process."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = dict(files or {})

    async def read(self, key: str) -> bytes | None:
        """The bytes of a key, None if there is none."""
        return self._files.get(key)

    async def write(self, key: str, data: bytes) -> None:
        """Create or replace a key."""
        self._files[key] = bytes(data)

    async def delete(self, key: str) -> None:
        """Remove a key; nothing happens if there is none."""
        self._files.pop(key, None)

    async def list(self, query: str = "") -> Sequence[str]:
        """The keys that start with a prefix, sorted."""
        return sorted(key for key in self._files if key.startswith(query))

    async def scan(self, prefix: str = "") -> Sequence[Scanned]:
        """Key, size and version; the version is the bytes' hash in this process."""
        return [
            Scanned(key, len(self._files[key]), str(hash(self._files[key])))
            for key in await self.list(prefix)
        ]

    async def commit(self, edits: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
        """Change all keys or none: each from what is expected to what is new, None is absence."""
        drifts = [
            Drift(key, "changed" if key in self._files else "was deleted")
            for key, (expected, _) in sorted(edits.items())
            if self._files.get(key) != expected
        ]
        if drifts:
            raise Conflict(drifts)
        for key, (_, new) in edits.items():
            if new is None:
                self._files.pop(key, None)
            else:
                self._files[key] = bytes(new)


class Scoped:
    """The keys of a storage below a prefix, without it."""

    def __init__(self, storage: Storage, prefix: str) -> None:
        self._storage = storage
        self._prefix = f"{prefix.rstrip('/')}/"

    async def read(self, key: str) -> bytes | None:
        """The bytes of a key, None if there is none."""
        return await self._storage.read(self._prefix + key)

    async def write(self, key: str, data: bytes) -> None:
        """Create or replace a key."""
        await self._storage.write(self._prefix + key, data)

    async def delete(self, key: str) -> None:
        """Remove a key; nothing happens if there is none."""
        await self._storage.delete(self._prefix + key)

    async def list(self, query: str = "") -> Sequence[str]:
        """The keys that start with a prefix, sorted."""
        found = await self._storage.list(self._prefix + query)
        return [key.removeprefix(self._prefix) for key in found]
