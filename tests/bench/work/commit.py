"""Applying merges of two files each, against an unsynced temp-and-rename loop doing the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from engine import commit
from engine.consolidation import apply
from engine.layouts import Place
from engine.store import Store
from memui.presentation.applying import intent
from tests.bench.corpus import FOLDERS
from tests.bench.merges import (
    Flushes,
    Merged,
    careless,
    check,
    flushed,
    merges,
    proposal,
    shipped,
    store,
    transaction,
)
from tests.bench.rounds import Figure, Prepare, Work, interleave, scratch

SIZES: Final = (20, 200, 2000)
LARGE: Final = (20000,)
GOAL: Final = 2.0
FLUSHES: Final = 16


def measure(size: int, rounds: int) -> Iterator[Figure]:
    """`size` files in `size` / 2 merges."""
    work = merges(size)
    done: list[Place] = []
    with scratch() as folder:

        def ready(prepare: Callable[[Place], Work]) -> Prepare:
            def made() -> Work:
                place = store(folder / str(len(done)), work)
                with commit.open_for_writing(place):
                    pass  # the state folder is made once in a store's life
                done.append(place)
                return prepare(place)

            return made

        changes = transaction(work)
        contenders: dict[str, Prepare] = {
            "transact": ready(lambda place: lambda: commit.transact(place, changes)),
            "apply": ready(_applying(work, seen=True)),
            "apply unseen": ready(_applying(work, seen=False)),
            "flushed loop": ready(lambda place: lambda: flushed(place.folder, work)),
            "SDK storage": ready(lambda place: lambda: shipped(place.folder, work)),
            "loop": ready(lambda place: lambda: careless(place.folder, work)),
        }
        found = interleave(contenders, rounds)
        for place in done:
            check(place, work)
        flushes = _flushes(folder / "counted", work)
    what = f"{size // 2:,} merges"
    told = found.told("transact", "loop")
    yield Figure(f"{what}: transact / loop", found.ratio("transact", "loop"), GOAL, told)
    ratio = found.ratio("apply", "flushed loop")
    told = found.told("apply", "flushed loop")
    yield Figure(f"{what}: apply, its ledger shown / flushed loop", ratio, GOAL, told)
    ratio = found.ratio("apply unseen", "loop")
    told = found.told("apply unseen")
    yield Figure(f"{what}: apply, its ledger not worked out / loop", ratio, None, told)
    told = found.told("SDK storage")
    yield Figure(f"{what}: transact / SDK", found.ratio("transact", "SDK storage"), None, told)
    limit = FLUSHES + len(FOLDERS)
    yield Figure(f"{what}: flushes", flushes, limit, "counted at the seam", "flushes")


def _applying(work: list[Merged], *, seen: bool) -> Callable[[Place], Work]:
    """Applying a plan; `seen` is how a person does, who was shown what it drops before."""

    def prepare(place: Place) -> Work:
        decided = proposal(place, work)
        if seen:
            intent(decided)
        return lambda: apply(Store(place), decided, who="bench")

    return prepare


def _flushes(root: Path, work: list[Merged]) -> int:
    place = store(root, work)
    with commit.open_for_writing(place):
        pass
    files = Flushes()
    commit.transact(place, transaction(work), files=files)
    return files.flushes
