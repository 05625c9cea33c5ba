"""The progress of a run as a specification: what is told, and that telling it breaks nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Files, Phase, Progress
from engine.commit.progress import ORDER
from engine.documents import digest
from engine.errors import Conflict
from engine.journal import RunKind
from engine.layouts import Place
from tests.engine.faults import Acting
from tests.faults.runs import NEW, OLD, live, make, transaction


class Broken(Exception):
    """What a watcher raises."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path / "root")


def watched(place: Place, files: Files | None = None) -> list[Progress]:
    """A run, and everything that was told of it."""
    told: list[Progress] = []
    commit.transact(place, transaction(), files=files, on_step=told.append)
    return told


def test_every_phase_is_told_in_order_from_the_thread_that_commits(place: Place) -> None:
    threads: set[int] = set()
    told: list[Progress] = []

    def watch(progress: Progress) -> None:
        threads.add(threading.get_ident())
        told.append(progress)

    commit.transact(place, transaction(), on_step=watch)
    assert tuple(dict.fromkeys(p.phase for p in told)) == ORDER
    assert [ORDER.index(p.phase) for p in told] == sorted(ORDER.index(p.phase) for p in told)
    assert threads == {threading.get_ident()}


def test_files_are_counted_one_by_one(place: Place) -> None:
    told = watched(place)
    for phase, total in ((Phase.KEEP, 7), (Phase.WRITE, 3), (Phase.REMOVE, 4)):
        counted = [p for p in told if p.phase is phase]
        assert {p.total for p in counted} == {total}, phase
        assert [p.done for p in counted[:total]] == list(range(total)), phase


@pytest.mark.parametrize("phase", ORDER)
def test_a_watcher_that_raises_is_heard_when_the_run_is_complete(
    place: Place, phase: Phase
) -> None:
    def watch(progress: Progress) -> None:
        if progress.phase is phase:
            raise Broken

    with pytest.raises(Broken) as caught:
        commit.transact(place, transaction(), on_step=watch)
    assert "the run itself is complete" in "".join(caught.value.__notes__)
    assert live(place) == NEW
    assert [(r.state, r.changelog) for r in journal.runs(place)] == [("done", "written")]


def test_a_watcher_that_raised_is_not_called_again(place: Place) -> None:
    called: list[Progress] = []

    def watch(progress: Progress) -> None:
        called.append(progress)
        raise Broken

    with pytest.raises(Broken):
        commit.transact(place, transaction(), on_step=watch)
    assert len(called) == 1


def test_a_run_that_goes_back_says_so_and_its_own_error_wins(place: Place) -> None:
    def overwrite(call: str) -> None:
        if call == "publish":
            (Path(place.folder) / "facts/c.md").write_bytes(b"theirs\n")

    told: list[Phase] = []

    def watch(progress: Progress) -> None:
        told.append(progress.phase)
        if progress.phase is Phase.BACK:
            raise Broken

    with pytest.raises(Conflict) as caught:
        commit.transact(
            place, transaction(), files=Acting(1, overwrite, always=True), on_step=watch
        )
    assert told[-1] is Phase.BACK
    assert "Broken" in "".join(caught.value.__notes__)
    assert live(place) == {**OLD, "facts/c.md": b"theirs\n"}


def test_a_run_that_has_nothing_to_do_tells_nothing(place: Place) -> None:
    told: list[Progress] = []
    same = commit.Write("facts/a.md", digest(b"alpha\n"), b"alpha\n")
    nothing = commit.Transaction(RunKind.EDIT, "w", "person", (same,))
    commit.transact(place, nothing, on_step=told.append)
    assert told == []
