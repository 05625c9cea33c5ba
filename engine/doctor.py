"""The doctor: every odd file of a store, and what is odd about it. Reads only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine import commit, journal
from engine.documents import WARNINGS
from engine.layouts import Place
from engine.listing import Listing
from engine.paths import EXTENSION, identity, name_problem
from engine.store import Store
from engine.watch import overwritten

LARGE: Final = 100_000_000
"""Bytes above which memui's own record is worth a word, whatever the store's size."""
NOTABLE: Final = 10_000_000
"""Bytes above which it is if it is ten times the store."""
_CONFLICTED: Final = (
    re.compile(r" ?\([^()]{0,100}conflicted copy[^()]{0,100}\)", re.IGNORECASE),
    re.compile(r"\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Z0-9]{1,16})?"),
)
_NUMBERED: Final = re.compile(
    r"(intent|done|aborting|folders|plan|review|logged|machine|lock|layout) ?\(?[0-9]{1,3}\)?"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is odd. `path` is relative to the store, or a file of the state folder."""

    path: str
    code: str
    message: str


def examine_store(store: Store) -> tuple[Problem, ...]:
    """Everything that is odd, by path. Raises `StorageError` if the store cannot be read."""
    listing = store.listing()
    found = [*_files(listing), *_names(listing), *_twins(listing), *_conflicted(listing)]
    found += _state(store)
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

        elif other.why == "hidden file":
            yield Problem(other.path, "hidden", "a hidden file: it is read as no memory")


def _names(listing: Listing) -> Iterator[Problem]:
    """Names that not every system can hold, or that a person cannot tell from others."""
    folders: set[str] = set()
    for memory in listing.memories:
        folder, _, name = memory.path.rpartition("/")
        if problem := name_problem(name, extension=EXTENSION):
            yield Problem(memory.path, "odd-name", f"its name {problem}")
        while folder and folder not in folders:
            folders.add(folder)
            above, _, name = folder.rpartition("/")
            if problem := name_problem(name):
                yield Problem(folder, "odd-name", f"its name {problem}")
            elif name.lower().endswith(EXTENSION):
                yield Problem(folder, "odd-name", "a folder that is called as a memory is")
            folder = above


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


def _conflicted(listing: Listing) -> Iterator[Problem]:
    """Copies that a synchroniser made of a file which two machines changed."""
    paths = [*(m.path for m in listing.memories), *(o.path for o in listing.others)]
    for path in paths:
        original = conflicted_copy_of(path.rpartition("/")[2])
        if original is not None:
            yield Problem(
                path,
                "conflicted-copy",
                f"a synchroniser's copy of {original}, which two machines changed: merge what it"
                " holds and delete it",
            )


def conflicted_copy_of(name: str) -> str | None:
    """The file that a name is a synchroniser's conflicted copy of; None if it is no such name.

    Dropbox, Nextcloud and OneDrive write `x (... conflicted copy ...).md`, Syncthing
    `x.sync-conflict-YYYYMMDD-HHMMSS-ID.md`.
    """
    if len(name) > 255:
        return None
    for pattern in _CONFLICTED:
        found = pattern.search(name)
        if found is not None:
            return name[: found.start()] + name[found.end() :]
    return None


def _copies_of_state(place: Place) -> Iterator[Problem]:
    """Files of the record under names that memui never gives: a synchroniser made them."""
    for name in journal.run_ids(place):
        folder = journal.run_folder(place, name)
        yield from _odd_names(folder, place.state_prefix)
    yield from _odd_names(place.state, place.state_prefix)


def _odd_names(folder: str, prefix: str) -> Iterator[Problem]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        plain = name.removeprefix(prefix)
        numbered = _NUMBERED.fullmatch(plain)
        original = numbered[1] if numbered else conflicted_copy_of(plain)
        if original is not None:
            yield Problem(
                os.path.join(folder, name),
                "conflicted-copy",
                f"a synchroniser's copy of {original}: memui never reads it; the record should not"
                " be synchronised while runs are made",
            )


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
        folder = journal.run_folder(store.place, run.id)
        if commit.is_own(store.place, run):
            how = "stopped in the middle; memui recover finishes it"
            yield Problem(folder, "unfinished-run", f"{run.kind} {run.id} {how}")
        else:
            how = "stopped in the middle on another machine or in a copy of this folder"
            where = "it is never finished here; run memui recover there"
            yield Problem(folder, "foreign-run", f"{run.kind} {run.id} {how}; {where}")
    yield from _copies_of_state(store.place)
    for item in overwritten(store):
        yield Problem(item.path, "overwritten", item.why)
    for run in store.runs():
        if run.changelog == "pending":
            yield Problem(
                store.place.changelog,
                "changelog-pending",
                f"run {run.seq} is not in it yet",
            )
