"""Where memories are kept: one protocol, the structural subset of Strands' own storage.

Any Strands storage works unchanged. What a backend can do beyond that are protocols of their own,
found by `isinstance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


class Storage(Protocol):
    """Keys to bytes. Keys are paths in `/` notation; failures are the backend's errors."""

    async def read(self, key: str) -> bytes | None:
        """The bytes of a key, None if there is none."""
        ...

    async def write(self, key: str, data: bytes) -> None:
        """Create or replace a key."""
        ...

    async def delete(self, key: str) -> None:
        """Remove a key; nothing happens if there is none."""
        ...

    async def list(self, query: str = "") -> Sequence[str]:
        """The keys that start with a prefix, sorted."""
        ...


@dataclass(frozen=True, slots=True)
class Scanned:
    """One key of a bulk scan. `version` changes whenever the bytes may have changed."""

    key: str
    size: int
    version: str


@runtime_checkable
class Scannable(Protocol):
    """Can list many keys with their sizes in one go."""

    async def scan(self, prefix: str = "") -> Sequence[Scanned]: ...


@runtime_checkable
class AtomicCommit(Protocol):
    """Can change many keys at once, all or none, if every one still holds what is expected."""

    async def commit(self, edits: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
        """Key -> (expected, new); None is absence. Raises `Conflict` naming every mismatch."""
        ...
