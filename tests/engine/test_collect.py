"""Shrinking the state: what goes, what never goes, and a death at every call of it."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Collected, Files, Transaction, Write
from engine.documents import digest
from engine.errors import Conflict, EngineError, StorageError
from engine.journal import ActionRecord, RunKind
from engine.layouts import Place, find
from engine.paths import Layout
from engine.store import Store
from tests.engine.faults import Acting, Counting, Died, die
from tests.faults.power import Recording, cut
from tests.faults.runs import OLD, kept, live, make, reopen, transaction

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
PATH = "facts/a.md"


def long_ago() -> datetime:
    return LONG_AGO


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path / "root")


def write(
    place: Place,
    text: bytes,
    *,
    path: str = PATH,
    plan: str | None = None,
    clock: Callable[[], datetime] = long_ago,
    documents: dict[str, bytes] | None = None,
) -> str:
    file = Path(place.folder) / path
    old = digest(file.read_bytes()) if file.exists() else None
    outcome, _ = commit.transact(
        place,
        Transaction(
            RunKind.EDIT,
            "w",
            "person",
            (Write(path, old, text, (path,) if old else ()),),
            actions=(ActionRecord(1, "edit", (path,), None, "approved", ""),),
            plan=plan,
            documents=documents or {},
        ),
        clock=clock,
    )
    return outcome.run


def collect(
    place: Place, *, days: int = 30, runs: int = 1, files: Files | None = None
) -> Collected:
    return commit.collect(place, keep_days=days, keep_runs=runs, files=files)[0]


def names(place: Place) -> list[str]:
    return [run.id for run in journal.runs(place)]


def objects(place: Place) -> set[str]:
    return set(os.listdir(Path(place.state) / "objects"))


def test_a_run_goes_only_if_it_is_old_and_not_among_the_newest(place: Place) -> None:
    ids = [write(place, b"%d\n" % n) for n in range(4)]
    young = write(place, b"now\n", clock=lambda: datetime.now(UTC))
    found = collect(place, days=30, runs=3)
    assert found.runs == tuple(ids[:2])
    assert names(place) == [*ids[2:], young]
    assert collect(place, days=30, runs=0).runs == tuple(ids[2:])
    assert names(place) == [young]
    assert collect(place, days=0, runs=0).runs == (young,)
    assert collect(place).runs == ()


def test_what_is_kept_can_be_taken_back_and_what_only_collected_runs_had_is_gone(
    place: Place,
) -> None:
    ids = [write(place, b"%d\n" % n) for n in range(4)]
    collect(place, runs=2)
    assert objects(place) == {digest(b"1\n"), digest(b"2\n"), digest(b"3\n")}
    commit.undo(place, ids[3], who="w")
    commit.undo(place, ids[2], who="w")
    assert live(place)[PATH] == b"1\n"


def test_the_sizes_that_are_told_are_those_of_the_files(place: Place) -> None:
    for n in range(4):
        write(place, b"%d\n" % n * 5000)
    dry, _ = commit.collect(place, keep_days=0, keep_runs=1, dry=True)
    before = journal.state_size(place)
    assert len(names(place)) == 4
    found = collect(place, days=0, runs=1)
    assert (found.runs, found.objects, found.bytes) == (dry.runs, dry.objects, dry.bytes)
    # The lock says who holds it while it is held.
    assert found.kept_bytes == pytest.approx(journal.state_size(place), abs=200)
    record = os.path.getsize(journal.state_path(place, journal.COLLECTED))
    assert before - found.bytes + record == pytest.approx(found.kept_bytes, abs=400)


def test_a_collected_run_is_named_with_its_day_and_its_number_is_not_used_again(
    place: Place,
) -> None:
    ids = [write(place, b"1\n"), write(place, b"2\n")]
    commit.collect(place, keep_days=0, keep_runs=0, clock=lambda: datetime(2026, 3, 4, tzinfo=UTC))
    assert journal.runs(place) == ()
    assert journal.collected(place) == dict.fromkeys(ids, "2026-03-04T00:00:00Z")
    for name in ("2", ids[1]):
        with pytest.raises(EngineError, match="was collected on 2026-03-04"):
            commit.undo(place, name, who="w")
    assert write(place, b"3\n").startswith("3-")


def test_the_chain_of_an_undo_stays_whole(place: Place) -> None:
    first = write(place, b"1\n")
    undo, _ = commit.undo(place, first, who="w")
    redo, _ = commit.undo(place, undo.run, who="w")
    assert collect(place, days=0, runs=1).runs == ()
    assert names(place) == [first, undo.run, redo.run]
    other = write(place, b"2\n")
    assert collect(place, days=0, runs=1).runs == (first, undo.run, redo.run)
    assert names(place) == [other]


def test_a_waiting_plan_keeps_the_runs_that_applied_it_and_the_files_that_it_saw(
    place: Place,
) -> None:
    applied = write(place, b"1\n", plan="0123456789ab")
    write(place, b"2\n")
    write(place, b"3\n")
    plan = f'{{"id": "0123456789ab", "base": {{"facts/a.md": "{digest(b"2")}"}}}}'.encode()
    seen = f'{{"base": {{"facts/a.md": "{digest(bytes([50, 10]))}"}}'.encode()
    commit.put_state(place, "plans", "p.json", plan)
    commit.put_state(place, "plans", "broken.json", seen)
    collect(place, days=0, runs=0)
    assert names(place) == [applied]
    assert digest(b"2\n") in objects(place)
    commit.drop_state(place, "plans", "p.json")
    commit.drop_state(place, "plans", "broken.json")
    collect(place, days=0, runs=0)
    assert names(place) == []
    assert objects(place) == set()


def test_an_unfinished_run_of_another_machine_and_a_pending_entry_stay(place: Place) -> None:
    theirs = write(place, b"1\n")
    pending = write(place, b"2\n")
    mine = write(place, b"3\n")
    intent = Path(journal.run_folder(place, theirs)) / "intent"
    value = journal.unseal(intent.read_bytes())
    intent.write_bytes(journal.seal({**value, "machine": "another"}))
    (intent.parent / "done").unlink()
    (Path(journal.run_folder(place, pending)) / "logged").unlink()
    log = Path(place.changelog)
    log.unlink()
    log.mkdir()
    found = collect(place, days=0, runs=0)
    assert found.runs == (mine,)
    assert names(place) == [theirs, pending]
    assert {digest(b"1\n"), digest(b"2\n")} <= objects(place)


def test_no_object_goes_while_a_record_cannot_be_read(place: Place) -> None:
    damaged = write(place, b"1\n")
    gone = write(place, b"2\n")
    (Path(journal.run_folder(place, damaged)) / "intent").write_bytes(b"{")
    before = objects(place)
    assert collect(place, days=0, runs=0).runs == (gone,)
    assert objects(place) == before
    assert os.path.isdir(journal.run_folder(place, damaged))


def test_bytes_that_arrived_late_are_kept_and_named_before_the_run_goes(place: Place) -> None:
    with (Path(place.folder) / PATH).open("ab") as agent:  # opened before the run
        gone = write(place, b"ours\n")
        agent.write(b"late\n")
    (late,) = collect(place, days=0, runs=0).found
    data = OLD[PATH] + b"late\n"
    assert (late.path, late.run, late.digest, late.size) == (PATH, gone, digest(data), len(data))
    assert journal.read_object(place, late.digest) == data
    seen = journal.observations(place)[-1]
    assert (seen.path, seen.new, seen.late) == (PATH, late.digest, gone)


def test_bytes_that_arrived_late_in_the_changelog_are_kept(place: Place) -> None:
    write(place, b"1\n")
    with Path(place.changelog).open("ab") as agent:
        write(place, b"2\n")
        agent.write(b"an agent's line\n")
    (late,) = collect(place, days=0, runs=0).found
    assert journal.read_object(place, late.digest).endswith(b"an agent's line\n")
    assert collect(place, days=365_000, runs=0).found == ()


@pytest.mark.parametrize("overwritten", [False, True])
def test_somebody_elses_bytes_are_kept_unless_they_are_live(
    place: Place, overwritten: bool
) -> None:
    path = "facts/c.md"
    published: list[str] = []

    def overwrite(call: str) -> None:
        """Between the look at the file and its exchange: it is the second that is published."""
        if call == "publish":
            published.append(call)
            if len(published) == 2:
                (Path(place.folder) / path).write_bytes(b"theirs\n")

    with pytest.raises(Conflict):
        commit.transact(
            place, transaction(), files=Acting(1, overwrite, always=True), clock=long_ago
        )
    assert live(place)[path] == b"theirs\n"
    if overwritten:
        (Path(place.folder) / path).write_bytes(b"later\n")
    found = collect(place, days=0, runs=0)
    assert len(found.runs) == 1
    assert [late.digest for late in found.found] == ([digest(b"theirs\n")] if overwritten else [])
    assert b"theirs\n" in kept(place) | set(live(place).values())


def test_a_run_whose_folder_holds_what_is_no_file_stays(place: Place) -> None:
    odd = write(place, b"1\n")
    plain = write(place, b"2\n")
    (Path(journal.run_folder(place, odd)) / "hold" / "folder").mkdir()
    assert collect(place, days=0, runs=0).runs == (plain,)
    assert names(place) == [odd]


def old_runs(root: Path) -> tuple[Place, list[str]]:
    """Three old runs, one of them with late bytes, and one young one."""
    place = make(root)
    with (Path(place.folder) / PATH).open("ab") as agent:
        ids = [write(place, b"1\n")]
        agent.write(b"late\n")
    ids += [write(place, b"2\n"), write(place, b"3\n", path="facts/b.md")]
    return place, [*ids, write(place, b"4\n", clock=lambda: datetime.now(UTC))]


def calls(tmp_path: Path) -> int:
    files = Counting()
    collect(old_runs(tmp_path / "count")[0], files=files)
    return len(files.calls)


def check(place: Place, ids: list[str], at: object) -> None:
    """Nothing that is kept was lost, and every run is whole or named as collected."""
    there = {run.id: run for run in journal.runs(place)}
    gone = journal.collected(place)
    assert set(there) | set(gone) == set(ids), at
    assert not set(there) & set(gone), at
    assert ids[-1] in there, at
    assert not journal.damage(place), at
    for run in there.values():
        assert run.state == "done", at
        for step in run.steps:
            for wanted in filter(None, (step.old, step.new)):
                journal.read_object(place, wanted)
    assert OLD[PATH] + b"late\n" in kept(place), at


def test_killed_at_any_call_nothing_that_is_kept_is_lost(tmp_path: Path) -> None:
    total = calls(tmp_path)
    for at in range(1, total + 1):
        place, ids = old_runs(tmp_path / f"{at}")
        before = live(place)
        with pytest.raises(Died):
            collect(place, files=Acting(at, die))
        check(place, ids, at)
        commit.recover(place)
        check(place, ids, at)
        collect(place)
        check(place, ids, at)
        assert names(place) == ids[-1:], at
        assert objects(place) >= {digest(b"4\n"), digest(b"2\n")}
        assert sorted(os.listdir(Path(place.state) / "runs")) == ids[-1:], at
        assert live(place) == before, at
        commit.undo(place, "last", who="w")


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EACCES])
def test_an_error_at_any_call_is_told_or_harmless(tmp_path: Path, code: int) -> None:
    def fail(_call: str) -> None:
        raise OSError(code, os.strerror(code))

    for at in range(1, calls(tmp_path) + 1, 2):
        place, ids = old_runs(tmp_path / f"{at}")
        with contextlib.suppress(StorageError):
            collect(place, files=Acting(at, fail, always=True))
        check(place, ids, at)


def test_a_store_without_a_record_has_nothing_to_collect_and_gets_none(place: Place) -> None:
    assert Store(place).collect() == Collected((), 0, 0, 0, 0, ())
    assert not os.path.exists(place.state)


def test_a_power_cut_at_any_call_leaves_each_run_whole_or_named(tmp_path: Path) -> None:
    rng = random.Random(3)
    place, ids = old_runs(tmp_path / "r")
    commit.recover(place)
    recording = Recording(place.root)
    collect(place, files=recording)
    recording.step("end", "")
    for at, picture in enumerate(recording.pictures):
        for number in range(6):
            to = tmp_path / "cut"
            shutil.rmtree(to, ignore_errors=True)
            cut(picture, recording.roots, {place.root: to}, rng)
            there = reopen(to)
            check(there, ids, (at, number))
            assert live(there) == live(place)


def test_a_record_that_lies_among_the_memories_is_collected_too(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / ".memui").mkdir(parents=True)
    (folder / "a.md").write_bytes(b"0\n")
    (place,) = find(str(folder), layout=Layout.FOLDER)
    assert place.state_prefix
    with (folder / "a.md").open("ab") as agent:
        ids = [write(place, b"1\n", path="a.md")]
        agent.write(b"late\n")
    (folder / "b.md").write_bytes(b"theirs\n")
    ids.append(write(place, b"2\n", path="a.md"))
    found = collect(place, days=0, runs=1)
    assert found.runs == tuple(ids[:1])
    assert [late.digest for late in found.found] == [digest(b"0\nlate\n")]
    assert journal.read_object(place, digest(b"0\nlate\n")) == b"0\nlate\n"
    assert list(journal.collected(place)) == ids[:1]
    assert [seen.path for seen in journal.observations(place)] == ["a.md"]
    files = [p for p in Path(place.state).rglob("*") if p.is_file() and p.name != ".gitignore"]
    assert all(p.name.startswith(place.state_prefix) for p in files)


def test_collections_one_after_the_other_name_every_run_and_keep_what_the_kept_runs_had(
    place: Place,
) -> None:
    for number in range(6):
        (Path(place.folder) / PATH).write_bytes(b"agent %d\n" % number)
        write(place, b"ours %d\n" % number)
    first = collect(place, days=0, runs=3)
    second = collect(place, days=0, runs=2)
    assert (len(first.runs), len(second.runs)) == (3, 1)
    assert len(journal.collected(place)) == 4
    for number in (4, 5):
        assert {b"agent %d\n" % number, b"ours %d\n" % number} <= kept(place)


def test_what_the_collection_itself_saw_others_write_stays(place: Place) -> None:
    write(place, b"1\n")
    (Path(place.folder) / PATH).write_bytes(b"theirs\n")
    found = collect(place, days=0, runs=0)
    assert len(found.runs) == 1
    assert objects(place) == {digest(b"theirs\n")}
    assert [seen.new for seen in journal.observations(place)] == [digest(b"theirs\n")]
