"""What of the recorded runs holds now: which were taken back, and what they leave of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import EngineError, run_number
from engine.journal.collected import collected, number
from engine.journal.reading import read_object, read_run, run_ids, runs
from engine.journal.records import Attributes, Damaged, Run, RunKind
from engine.journal.settled import Standing, standings
from engine.layouts import Place


def taken_back(known: Sequence[Standing]) -> dict[tuple[str, int], str]:
    """(run, action number) -> the undo that holds for it.

    An undo may take back single actions, and may itself be taken back: then it holds no more.
    `known` is the oldest first; what older runs lack is not needed for the newer ones.
    """
    found: dict[tuple[str, int], str] = {}
    for run in reversed(known):
        _add(found, run)
    return found


def _add(found: dict[tuple[str, int], str], run: Standing) -> None:
    """Note what a run takes back, all newer ones being noted."""
    if run.undoes is not None and run.state == "done":
        for number in run.numbers:
            if (run.id, number) not in found:
                found.setdefault((run.undoes, number), run.id)


def undone_by(known: Sequence[Standing]) -> dict[str, str]:
    """Run -> the newest undo that holds for it, for runs of which nothing is left."""
    back = taken_back(known)
    found: dict[str, str] = {}
    for run in known:
        undos = [back.get((run.id, number)) for number in run.numbers]
        if undos and None not in undos:
            found[run.id] = max(filter(None, undos), key=number)
    return found


def find(place: Place, name: str) -> Run:
    """A run by its number, its id, or `last`: the newest that holds and is no undo."""
    if name == "last":
        return _last(place)
    ids = [known for known in run_ids(place) if name in {known, str(number(known))}]
    found = [run for run in (_read(place, known) for known in ids) if run is not None]
    if len(found) > 1:  # two machines wrote in a synchronised folder
        names = " or ".join(run.id for run in found)
        raise EngineError(f"Run {name} could be {names}.", hint="Give the whole id.")
    for gone, time in () if found else collected(place).items():
        if name in {gone, str(number(gone))}:
            raise EngineError(
                f"Run {run_number(gone)} was collected on {time[:10]}:"
                " it cannot be taken back any more.",
                hint="memui log shows the runs that are kept.",
            )
    if not found:
        raise EngineError(f"There is no run {name}.", hint="memui log shows all runs.")
    return found[0]


def _last(place: Place) -> Run:
    back: dict[tuple[str, int], str] = {}
    for name in reversed(run_ids(place)):
        run = _read(place, name)
        if run is None:
            continue
        _add(back, run)
        gone = bool(run.numbers) and all((run.id, number) in back for number in run.numbers)
        if run.state == "done" and run.kind is not RunKind.UNDO and not gone:
            return run
    raise EngineError("There is no run to take back.", hint="memui log shows all runs.")


def _read(place: Place, name: str) -> Run | None:
    try:
        return read_run(place, name)
    except Damaged:
        return None


def earlier(place: Place, path: str, version: str) -> tuple[bytes | None, Attributes | None]:
    """An earlier version of one memory, and its mode and owner then (None: not known).

    `version` is a run, for what the memory was before it, or the first digits (8 or more) of a
    SHA-256 that a run found or wrote there. Absence is a version too: None. Raises `EngineError`,
    `StorageError`.
    """
    known = runs(place)
    touching = [(run, step) for run in known for step in run.steps if step.path == path]
    for run, step in touching:
        if version in {run.id, str(run.seq)}:
            return (None if step.old is None else read_object(place, step.old)), step.was
    if any(version in {run.id, str(run.seq)} for run in known):
        raise EngineError(f"Run {version} did not touch {path}.", hint=f"memui log {path}")
    if len(version) >= 8:
        for _, step in reversed(touching):
            for wanted, attributes in ((step.new, step.shall), (step.old, step.was)):
                if wanted is not None and wanted.startswith(version.lower()):
                    return read_object(place, wanted), attributes
    raise EngineError(f"{path} has no version {version}.", hint=f"memui log {path} shows them.")


def applied(place: Place, plan: str) -> dict[int, str]:
    """Action number of a plan -> the run that applied it and was not taken back since."""
    known = standings(place)
    back = taken_back(known)
    return {
        number: run.id
        for run in known
        if run.plan == plan and run.state == "done"
        for number in run.numbers
        if (run.id, number) not in back
    }


def freed(place: Place, plan: str) -> dict[int, str]:
    """Action number of a plan -> the newest undo that took it back. It wants a new verdict."""
    known = standings(place)
    back = taken_back(known)
    return {
        number: back[run.id, number]
        for run in known
        if run.plan == plan
        for number in run.numbers
        if (run.id, number) in back
    }
