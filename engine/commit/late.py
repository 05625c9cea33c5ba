"""Bytes in the folders of runs that nobody has seen: looked for before a run's folder goes. Reads.

What a run displaced keeps its inode, so what another program writes through a descriptor that was
open since before arrives there; and what was captured of somebody else's may be nowhere else.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine import journal
from engine.documents import digest
from engine.errors import StorageError
from engine.journal import Run
from engine.layouts import Place
from engine.storage.tree import FILE, Tree, look_at, read_at

INNER: Final = ("hold", "conflicts")
"""The folders in a run's folder."""
_STEP = re.compile(r"([0-9]{1,9})(?:\.taken|-[0-9a-f]{12})?")
_LOG = re.compile(r"changelog(?:\.taken|-[0-9a-f]{12})?")


@dataclass(frozen=True, slots=True)
class Late:
    """Bytes that no run knew, found in what a run had displaced or held for somebody else.

    They are kept as the object `digest`. `size` is in bytes.
    """

    path: str
    run: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Lying:
    """Late bytes, and the file in a run's folder where they lie."""

    late: Late
    folder: str
    name: str


def is_plain(state: Tree, run: str) -> bool:
    """Whether a run's folder holds nothing but files that can be read, and its two folders."""
    try:
        for inner in ("", *INNER):
            try:
                fd = state.folder(f"runs/{run}/{inner}".rstrip("/"))
            except FileNotFoundError:
                continue
            for name in os.listdir(fd):
                if inner == "" and name in INNER:
                    continue
                seen = os.stat(name, dir_fd=fd, follow_symlinks=False)
                if not stat.S_ISREG(seen.st_mode) or not os.access(name, os.R_OK, dir_fd=fd):
                    return False
    except OSError:
        return False
    finally:
        state.forget(f"runs/{run}")
    return True


def late_files(store: Tree, state: Tree, prefix: str, runs: Iterable[Run]) -> list[Lying]:
    """What was written to displaced files since, and others' bytes that are nowhere else."""
    found: dict[str, Lying] = {}
    for run in runs:
        for folder, name in _held(state, run.id):
            index = _STEP.fullmatch(name.removeprefix(prefix))
            if index is None or int(index[1]) >= len(run.steps):
                continue  # ours: an object or a file before it got its name
            step = run.steps[int(index[1])]
            there = look_at(state.folder(folder), name)
            if there.digest is None or there.stat is None or there.digest in found:
                continue
            if there.digest in {step.old, step.new}:
                continue
            if _is_live(store, step.path, there.digest):
                continue
            late = Late(step.path, run.id, there.digest, there.stat.st_size)
            found[there.digest] = Lying(late, folder, name)
    return list(found.values())


def _held(state: Tree, run: str) -> Iterator[tuple[str, str]]:
    """(folder, name) of what lies in a run's two folders."""
    for inner in INNER:
        folder = f"runs/{run}/{inner}"
        with contextlib.suppress(FileNotFoundError):
            for name in sorted(os.listdir(state.folder(folder))):
                yield folder, name
    state.forget(f"runs/{run}")


def _is_live(store: Tree, path: str, wanted: str) -> bool:
    try:
        return store.look(path).digest == wanted
    except OSError:
        return False


def late_logs(
    place: Place, state: Tree, known: Sequence[Run], going: Collection[str]
) -> list[Lying]:
    """What was written to displaced changelogs of the runs in `going` since.

    A log only grows: what was displaced is how the live one starts, or a later displaced one.
    `known` are all runs, the oldest first.
    """
    logs = [b""]
    with contextlib.suppress(StorageError):
        logs.append(journal.read_file(place.changelog) or b"")
    path = os.path.basename(place.changelog)
    found: list[Lying] = []
    for run in reversed(known) if going else ():
        for folder, name in _held(state, run.id):
            fd = state.folder(folder)
            if not _LOG.fullmatch(name.removeprefix(place.state_prefix)):
                continue
            if look_at(fd, name).kind != FILE:
                continue
            data = read_at(fd, name)
            if any(log.startswith(data) for log in logs):
                continue
            logs.append(data)
            if run.id in going:
                found.append(Lying(Late(path, run.id, digest(data), len(data)), folder, name))
    return found
