"""Which runs were removed to shrink the state, and when: no number is ever used twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from engine.errors import Drift, StorageError, run_number
from engine.journal.lines import line_damage, read_lines, whole
from engine.journal.reading import read_file, run_ids, state_path
from engine.journal.records import is_run_id, seal
from engine.layouts import Place

COLLECTED: Final = "collected"


def collected(place: Place) -> dict[str, str]:
    """Run -> when it was collected (UTC, ISO 8601 with Z), by number. Raises `StorageError`.

    A run that is named here and still there (a death in between) is not collected.
    """
    named = _named(place)
    there = set(run_ids(place)) if named else ()
    found = [item for item in named.items() if item[0] not in there]
    return dict(sorted(found, key=lambda item: number(item[0])))


def _named(place: Place) -> dict[str, str]:
    found: dict[str, str] = {}
    for record in read_lines(place, COLLECTED):
        names, time = record.get("runs"), record.get("time")
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str) and is_run_id(name):
                found[name] = str(time)
    return found


def with_collected(place: Place, runs: Sequence[str], time: str) -> bytes:
    """The bytes of the record with one collection more."""
    before = read_file(state_path(place, COLLECTED)) or b""
    return before[: whole(before)] + seal({"time": time, "runs": list(runs)})


def collected_damage(place: Place) -> tuple[Drift, ...]:
    """What of the record cannot be trusted."""
    return line_damage(place, COLLECTED)


def newest(place: Place) -> int:
    """The highest number that any run had, 0 if there was none."""
    return max(map(number, (*run_ids(place)[-1:], *_named(place))), default=0)


def number(run: str) -> int:
    """The number in a run's id."""
    return int(run_number(run))


def state_size(place: Place) -> int:
    """The bytes of every file in the state folder; 0 if there is none. Raises `StorageError`."""
    total = 0
    pending = [place.state]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except (FileNotFoundError, NotADirectoryError):
            continue  # nothing yet, or removed while we looked
        except OSError as error:
            raise StorageError(f"{folder} cannot be read: {error.strerror}.") from error
    return total
