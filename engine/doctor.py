"""The doctor: every odd file of a store, and what is odd about it. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine import journal
from engine.documents import WARNINGS
from engine.listing import Listing
from engine.paths import identity
from engine.store import Store
from engine.watch import overwritten

LARGE: Final = 100_000_000
"""Bytes above which memui's own record is worth a word, whatever the store's size."""
NOTABLE: Final = 10_000_000
"""Bytes above which it is if it is ten times the store."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is odd. `path` is relative to the store, or a file of the state folder."""

    path: str
    code: str
    message: str


def examine_store(store: Store) -> tuple[Problem, ...]:
    """Everything that is odd, by path. Raises `StorageError` if the store cannot be read."""
    listing = store.listing()
    found = [*_files(listing), *_twins(listing), *_state(store)]
    return tuple(sorted(found, key=lambda problem: (problem.path, problem.code)))


def _files(listing: Listing) -> Iterator[Problem]:
    for memory in listing.memories:
        for code in memory.warnings:
            yield Problem(memory.path, code, WARNINGS[code])
    for other in listing.others:
        if other.why.startswith("link"):
            yield Problem(other.path, "link", other.why)
        elif other.why.startswith("cannot be read"):
            yield Problem(other.path, "unreadable", other.why)
        elif other.why.startswith("a temporary file"):
            yield Problem(other.path, "sdk-temporary", f"{other.why}, left by a crashed agent")
        elif other.why.startswith("device"):
            yield Problem(other.path, "special", other.why)


def _twins(listing: Listing) -> Iterator[Problem]:
    spellings: dict[str, list[str]] = {}
    for memory in listing.memories:
        spellings.setdefault(identity(memory.path), []).append(memory.path)
    for paths in spellings.values():
        for path in paths if len(paths) > 1 else ():
            others = ", ".join(other for other in paths if other != path)
            yield Problem(path, "alias", f"the same name as {others} on many systems")


def _size(store: Store) -> Iterator[Problem]:
    size = journal.state_size(store.place)
    if size > LARGE or (size > NOTABLE and size > 10 * _memories(store)):
        yield Problem(
            store.place.state,
            "large-record",
            f"memui's record takes {size / 1_000_000:.1f} MB; memui gc shrinks it",
        )


def _memories(store: Store) -> int:
    return sum(memory.size for memory in store.listing().memories)


def _state(store: Store) -> Iterator[Problem]:
    if store.place.state_prefix and os.path.isdir(store.place.state):
        yield Problem(
            store.place.state,
            "state-inside",
            "memui's record lies among the memories, under names that the SDKs hide",
        )
    yield from _size(store)
    for drift in (
        *journal.damage(store.place),
        *journal.observation_damage(store.place),
        *journal.collected_damage(store.place),
    ):
        yield Problem(drift.path, "damaged", drift.why)
    for run in store.unfinished():
        yield Problem(
            journal.run_folder(store.place, run.id),
            "unfinished-run",
            f"{run.kind} {run.id} stopped in the middle; memui recover finishes it",
        )
    for item in overwritten(store):
        yield Problem(item.path, "overwritten", item.why)
    for run in store.runs():
        if run.changelog == "pending":
            yield Problem(
                store.place.changelog,
                "changelog-pending",
                f"run {run.id} is not in it yet",
            )
