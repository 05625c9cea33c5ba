"""The thirteen invariants of the commit, one test each, by their numbers.

`tests/faults` attacks the same ones at every call; here each is shown alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Transaction, Write
from engine.documents import digest
from engine.errors import Conflict, EngineError, StorageError
from engine.journal import RunKind
from engine.layouts import Place
from tests.engine.faults import Acting, Died, WithoutExchange, die
from tests.faults.crashes import calls_of, calls_of_recovery
from tests.faults.cuts import CASES, power
from tests.faults.runs import (
    APPLY,
    LOG,
    NEW,
    OLD,
    UNDO,
    conflicts,
    entries,
    kept,
    live,
    make,
)

CALLS = len(calls_of(APPLY))
THEIRS = b"theirs\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path / "root")


class Writing(Acting):
    """Replaces `facts/c.md` between the last look at it and the exchange."""

    def __init__(self, place: Place) -> None:
        super().__init__(0, die)
        self.file = Path(place.folder) / "facts/c.md"
        self.conflicts: list[set[bytes]] = []
        self._place = place

    def step(self, call: str, name: str) -> None:
        if call == "exchange" and name == self.file.name:
            if not self.conflicts:
                temporary = self.file.with_name(".__strands_tmp_x")
                temporary.write_bytes(THEIRS)
                temporary.replace(self.file)
            self.conflicts.append(conflicts(self._place))


# 1
@pytest.mark.parametrize("seam", [Acting, WithoutExchange])
def test_whatever_was_there_is_in_the_store_or_the_state_at_every_instant(
    tmp_path: Path, seam: type[Acting]
) -> None:
    place = make(tmp_path / "r")
    missing: list[tuple[str, bytes]] = []

    def look(call: str) -> None:
        everywhere = set(live(place).values()) | kept(place)
        missing.extend((call, data) for data in OLD.values() if data not in everywhere)

    APPLY.run(place, seam(1, look, always=True))
    commit.undo(place, "1", who="tests", files=seam(1, look, always=True))
    assert missing == []


# 2
def test_after_recovery_all_is_old_or_new_but_what_an_outsider_changed_which_is_named(
    place: Place,
) -> None:
    with pytest.raises(Conflict) as caught:
        APPLY.run(place, Writing(place))
    assert [drift.path for drift in caught.value.drifts] == ["facts/c.md"]
    assert live(place) == {**OLD, "facts/c.md": THEIRS}


# 3
def test_what_we_captured_of_others_is_kept_before_it_is_live_again(place: Place) -> None:
    files = Writing(place)
    with contextlib.suppress(Conflict):
        APPLY.run(place, files)
    assert [THEIRS in seen for seen in files.conflicts[:2]] == [False, True]


# 4
def test_nothing_is_removed_before_all_that_replaces_it_is_durable() -> None:
    assert power(3, cases=CASES[:2]).clean
    assert not power(3, frozenset(["barrier"]), first=True, cases=CASES[:2]).clean


# 5
def test_recovery_is_idempotent_and_may_itself_die_anywhere(tmp_path: Path) -> None:
    for at in range(1, CALLS + 1, 5):
        for again in range(1, calls_of_recovery(APPLY, at) + 1, 4):
            place = make(tmp_path / f"{at}-{again}")
            with contextlib.suppress(Died):
                APPLY.run(place, Acting(at, die))
            with contextlib.suppress(Died):
                commit.recover(place, files=Acting(again, die))
            commit.recover(place)
            assert commit.recover(place) == ()
            assert live(place) in (OLD, NEW), (at, again)
            assert commit.unfinished(place) == ()


# 6
def test_a_failed_precondition_writes_nothing_at_all(place: Place) -> None:
    folder = Path(place.folder)
    (folder / "facts/a.md").write_bytes(b"theirs\n")
    (folder / "facts/b.md").unlink()
    (folder / "lab/deep").mkdir(parents=True)
    (folder / "lab/deep/d.md").write_bytes(b"theirs too\n")
    before = live(place)
    with pytest.raises(Conflict) as caught:
        APPLY.run(place, None)
    assert [(d.path, d.why) for d in caught.value.drifts] == [
        ("facts/a.md", "changed on disk"),
        ("facts/b.md", "was deleted"),
        ("lab/deep/d.md", "was created by another writer"),
    ]
    assert live(place) == before
    assert not Path(place.state).exists()


# 7
def test_a_deleted_file_is_never_created_again_unless_the_deletion_was_ours(
    tmp_path: Path,
) -> None:
    for at in range(1, CALLS + 1):
        place = make(tmp_path / f"{at}")
        path = Path(place.folder) / "facts/c.md"
        gone: list[bool] = []

        def outside(_call: str, path: Path = path, gone: list[bool] = gone) -> None:
            gone.append(path.read_bytes() == b"gamma\n" if path.exists() else False)
            path.unlink(missing_ok=True)

        with contextlib.suppress(EngineError):
            APPLY.run(place, Acting(at, outside))
        commit.recover(place)
        if path.exists():
            assert journal.runs(place), at
            assert path.read_bytes() == b"gamma 2\n" or not gone, at


# 8
def test_after_done_every_old_and_new_object_reads_back_with_its_digest(place: Place) -> None:
    APPLY.run(place, None)
    UNDO.run(place, None)
    for run in journal.runs(place):
        for step in run.steps:
            for wanted in {step.old, step.new} - {None}:
                assert wanted is not None
                assert journal.read_object(place, wanted) in {*OLD.values(), *NEW.values()}
    assert journal.damage(place) == ()


# 9
def test_a_run_has_one_done_and_one_entry_however_often_it_dies(tmp_path: Path) -> None:
    for at in range(CALLS - 30, CALLS + 1):
        place = make(tmp_path / str(at))
        with contextlib.suppress(Died):
            APPLY.run(place, Acting(at, die))
        for again in (1, 5, 9):
            with contextlib.suppress(Died):
                commit.recover(place, files=Acting(again, die))
        commit.recover(place)
        done = [run.id for run in journal.runs(place) if run.state == "done"]
        assert entries(place) == done, at
        assert len(list(Path(place.state).rglob("done"))) == 1, at


# 10
def test_nothing_of_ours_is_named_inside_the_namespace(place: Place) -> None:
    APPLY.run(place, None)
    names = {str(p.relative_to(place.folder)) for p in Path(place.folder).rglob("*") if p.is_file()}
    assert names == {*NEW, LOG}


# 11
def test_a_mode_is_never_wider_than_its_sources(place: Place) -> None:
    folder = Path(place.folder)
    (folder / "facts/b.md").chmod(0o600)
    merged = (
        Write("facts/new.md", None, b"both\n", ("facts/a.md", "facts/b.md")),
        Write("facts/a.md", digest(b"alpha\n"), b"alpha 2\n", ("facts/b.md",)),
    )
    commit.transact(place, Transaction(RunKind.APPLY, "w", "person", merged))
    for name in ("new.md", "a.md"):
        assert stat.S_IMODE((folder / "facts" / name).stat().st_mode) == 0o600


# 12
def test_nothing_outside_store_and_state_is_opened_for_writing(
    place: Place, tmp_path: Path
) -> None:
    import sys

    opened: list[str] = []
    watching = True

    def watch(event: str, args: tuple[object, ...]) -> None:
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
        if watching and event == "open" and isinstance(args[2], int) and args[2] & writes:
            opened.append(str(args[0]))

    other = Path(place.root) / "memory" / "other.md"
    other.write_bytes(THEIRS)
    outside = sorted(Path(place.root).glob("*")), sorted(other.parent.glob("*"))
    sys.addaudithook(watch)  # it stays for the life of the process, and does nothing after this
    try:
        APPLY.run(place, None)
        UNDO.run(place, None)
    finally:
        watching = False
    whole = [path for path in opened if "/" in path]  # all others lie in folders held open
    assert len(whole) < len(opened)
    assert [path for path in whole if not path.startswith(place.state)] == []
    Path(place.state).parent.rename(tmp_path / "state")
    assert (sorted(Path(place.root).glob("*")), sorted(other.parent.glob("*"))) == outside
    assert other.read_bytes() == THEIRS


# 13
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_no_success_is_told_unless_applied_and_flushed(tmp_path: Path, code: int) -> None:
    """A flush that fails is never a success, but for the entry in the changelog, which waits."""

    def fail(_call: str) -> None:
        raise OSError(code, os.strerror(code))

    flushes = [n for n, call in enumerate(calls_of(APPLY), 1) if "sync" in call]
    for at in flushes:
        place = make(tmp_path / str(at))
        try:
            APPLY.run(place, Acting(at, fail))
        except StorageError:
            continue
        (run,) = journal.runs(place)
        assert (run.state, run.changelog) == ("done", "pending"), at
        assert live(place) == NEW, at
