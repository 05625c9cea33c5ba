"""A listing: what a store's folder holds, memories and everything else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from engine.documents import parse
from engine.storage.tree import Tree
from engine.storage.walk import Entry, Other, read_entry

LARGE: Final = 1024 * 1024
HEAD: Final = 64 * 1024
"""Of a file over 1 MiB a listing reads the first 64 KiB."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory in a listing. `size` in bytes, `modified` UTC in ISO 8601 with Z."""

    path: str
    description: str
    title: str
    size: int
    modified: str
    warnings: tuple[str, ...]
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a store's folder holds, by path."""

    memories: tuple[Memory, ...]
    others: tuple[Other, ...]


def list_entries(tree: Tree, found: Iterator[Entry | Other]) -> Listing:
    """Read what a walk found. One file that cannot be read never hides its neighbours."""
    memories: list[Memory] = []
    others: list[Other] = []
    for entry in found:
        if isinstance(entry, Other):
            others.append(entry)
            continue
        try:
            whole = entry.size <= LARGE
            data = read_entry(tree, entry, None if whole else HEAD)
        except FileNotFoundError:
            continue
        except OSError as error:
            others.append(Other(entry.path, f"cannot be read: {error.strerror}"))
            continue
        memories.append(_memory(entry, data, whole=whole))
    memories.sort(key=lambda memory: memory.path)
    others.sort(key=lambda other: other.path)
    return Listing(tuple(memories), tuple(others))


def _memory(found: Entry, data: bytes, *, whole: bool) -> Memory:
    document = parse(data, whole=whole)
    return Memory(
        path=found.path,
        description=document.description,
        title=document.title,
        size=found.size,
        modified=iso(found.modified),
        warnings=document.warnings,
        link=found.link,
    )


def iso(seconds: float) -> str:
    """Seconds since the epoch as UTC in ISO 8601 with Z; a time that no calendar has as year 1."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return "0001-01-01T00:00:00Z"
