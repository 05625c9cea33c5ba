"""What others wrote between two looks: seen once, told from ours, and never in a run's way."""

from __future__ import annotations

import errno
import os
import time
from importlib import import_module
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Files, Transaction, Write
from engine.commit.observe import FILE_LIMIT
from engine.documents import digest
from engine.errors import StorageError
from engine.journal import UNKNOWN, Observation, RunKind
from engine.layouts import Place
from engine.storage.walk import Other
from tests.engine.faults import Acting, Counting, Died, die
from tests.faults.runs import NEW, OLD, kept, live, make, transaction

A = "facts/a.md"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path / "root")


def look(place: Place, files: Files | None = None) -> None:
    with commit.open_for_writing(place, files=files):
        pass


def agent(place: Place, path: str, data: bytes | None) -> None:
    file = Path(place.folder) / path
    if data is None:
        file.unlink()
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def seen(place: Place) -> list[tuple[str, str | None, str | None]]:
    return [(each.path, each.old, each.new) for each in journal.observations(place)]


def old_files(place: Place) -> None:
    """Files that changed long enough ago to be trusted by their times."""
    until = time.time_ns() + 60_000_000
    while time.time_ns() < until:
        pass


def test_the_first_look_keeps_no_bytes_and_observes_nothing(place: Place) -> None:
    look(place)
    assert journal.observations(place) == ()
    assert os.listdir(Path(place.state) / "objects") == []
    table = journal.last_look(place)
    assert table is not None
    assert set(table.rows) == set(OLD)


def test_a_write_a_new_file_and_a_deletion_are_observed_once_each_with_their_bytes(
    place: Place,
) -> None:
    look(place)
    agent(place, A, b"theirs\n")
    agent(place, "facts/new.md", b"new\n")
    agent(place, "facts/b.md", None)
    look(place)
    look(place)
    old = {path: digest(data) for path, data in OLD.items()}
    assert seen(place) == [
        (A, old[A], digest(b"theirs\n")),
        ("facts/new.md", None, digest(b"new\n")),
        ("facts/b.md", old["facts/b.md"], None),
    ]
    assert journal.read_object(place, digest(b"theirs\n")) == b"theirs\n"
    assert journal.read_object(place, digest(b"new\n")) == b"new\n"


def test_what_was_never_read_before_is_told_as_unknown(place: Place) -> None:
    old_files(place)
    look(place)
    agent(place, A, b"theirs\n")
    look(place)
    assert seen(place) == [(A, UNKNOWN, digest(b"theirs\n"))]


def test_what_our_own_runs_wrote_is_not_observed(place: Place) -> None:
    look(place)
    commit.transact(place, transaction())
    look(place)
    commit.undo(place, "last", who="w")
    look(place)
    assert live(place) == OLD
    assert seen(place) == []


def test_what_others_wrote_over_a_run_is_observed_against_it(place: Place) -> None:
    look(place)
    outcome, _ = commit.transact(place, transaction())
    agent(place, "facts/c.md", b"theirs\n")
    agent(place, "lab/deep/d.md", None)
    look(place)
    assert seen(place) == [
        ("facts/c.md", digest(NEW["facts/c.md"]), digest(b"theirs\n")),
        ("lab/deep/d.md", digest(NEW["lab/deep/d.md"]), None),
    ]
    assert {each.after for each in journal.observations(place)} == {outcome.run}


def test_what_others_wrote_before_a_run_is_seen_by_its_own_opening(place: Place) -> None:
    look(place)
    agent(place, "facts/z.md", b"z\n")
    commit.transact(place, transaction())
    assert seen(place) == [("facts/z.md", None, digest(b"z\n"))]


def test_a_file_that_only_was_touched_is_not_observed(place: Place) -> None:
    look(place)
    os.utime(Path(place.folder) / A, ns=(1, 1))
    look(place)
    assert seen(place) == []


def test_a_large_file_is_noted_by_its_digest_alone(place: Place) -> None:
    look(place)
    data = b"x" * (FILE_LIMIT + 1)
    agent(place, A, data)
    look(place)
    (found,) = journal.observations(place)
    assert (found.new, found.size) == (digest(data), len(data))
    with pytest.raises(StorageError, match="not kept"):
        journal.read_object(place, digest(data))


def test_a_look_without_an_observation_flushes_nothing_and_one_with_many_flushes_twice(
    place: Place,
) -> None:
    look(place)
    quiet = Counting()
    look(place, quiet)
    assert not [call for call in quiet.calls if "sync" in call]
    for number in range(50):
        agent(place, f"facts/n{number}.md", b"%d\n" % number)
    busy = Counting()
    look(place, busy)
    assert len([call for call in busy.calls if "sync" in call]) == 2
    assert len(seen(place)) == 50


def test_a_run_of_any_size_over_any_number_of_observations_stays_in_its_budget_of_flushes(
    place: Place,
) -> None:
    look(place)
    for number in range(60):
        agent(place, f"facts/n{number}.md", b"%d\n" % number)
    files = Counting()
    commit.transact(place, transaction(), files=files)
    folders = {
        "/".join(path.split("/")[:depth])
        for path in (*OLD, *NEW)
        for depth in range(path.count("/") + 1)
    }
    assert len([call for call in files.calls if "sync" in call]) <= 16 + len(folders)
    assert len(seen(place)) == 60


def test_a_record_that_claims_odd_digests_or_runs_is_not_read(place: Place) -> None:
    look(place)
    good: dict[str, object] = {
        "time": "t",
        "path": A,
        "old": None,
        "new": "0" * 64,
        "size": 1,
        "after": None,
    }
    bad: list[dict[str, object]] = [
        {"new": "../../x"},
        {"old": "0"},
        {"after": "x"},
        {"late": "../y"},
        {"size": None},
    ]
    lines = [journal.seal({**good, **each}) for each in [{}, *bad]]
    Path(journal.state_path(place, journal.OBSERVATIONS)).write_bytes(b"".join(lines))
    assert seen(place) == [(A, None, "0" * 64)]


def test_a_look_that_cannot_be_written_fails_no_run_and_sees_the_same_later(place: Place) -> None:
    look(place)
    agent(place, "facts/z.md", b"z\n")

    def full(call: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for at in range(1, 9):
        look(place, Acting(at, full, always=True))
        assert commit.unfinished(place) == ()
    look(place)
    assert seen(place) == [("facts/z.md", None, digest(b"z\n"))]


def test_killed_at_any_call_a_look_is_taken_again_and_tells_each_change_once(
    tmp_path: Path,
) -> None:
    at = 0
    while True:
        at += 1
        place = make(tmp_path / f"{at}")
        look(place)
        agent(place, A, b"theirs\n")
        agent(place, "facts/z.md", b"z\n")
        try:
            look(place, Acting(at, die))
            break
        except Died:
            look(place)
        assert sorted(path for path, _, _ in seen(place)) == [A, "facts/z.md"], at
        assert {b"theirs\n", b"z\n"} <= kept(place)
        assert not journal.observation_damage(place), at
        for each in journal.observations(place):
            journal.read_object(place, each.new or "")
    assert at > 5


def test_a_torn_last_line_is_no_damage_and_is_replaced(place: Place) -> None:
    look(place)
    agent(place, A, b"1\n")
    look(place)
    file = Path(journal.state_path(place, journal.OBSERVATIONS))
    with file.open("ab") as open_file:
        open_file.write(b'{"time": "2026')
    assert not journal.observation_damage(place)
    agent(place, A, b"2\n")
    look(place)
    assert [new for _, _, new in seen(place)] == [digest(b"1\n"), digest(b"2\n")]


def test_an_altered_line_is_named_and_the_others_are_read(place: Place) -> None:
    look(place)
    for text in (b"1\n", b"2\n"):
        agent(place, A, text)
        look(place)
    file = Path(journal.state_path(place, journal.OBSERVATIONS))
    file.write_bytes(file.read_bytes().replace(digest(b"1\n").encode(), digest(b"9").encode(), 1))
    assert [new for _, _, new in seen(place)] == [digest(b"2\n")]
    assert [drift.why for drift in journal.observation_damage(place)] == [
        "line 1 is truncated or was altered; the others are read"
    ]


@pytest.mark.parametrize("data", [b"", b"{}\n{}", b"\xff\n[]", b"[1]\n\n"])
def test_a_table_that_cannot_be_trusted_counts_as_none(place: Place, data: bytes) -> None:
    look(place)
    agent(place, A, b"theirs\n")
    Path(journal.state_path(place, journal.LOOK)).write_bytes(data)
    assert journal.last_look(place) is None
    look(place)
    assert seen(place) == []


def test_files_below_a_folder_that_cannot_be_read_do_not_count_as_deleted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(place)
    closed = [Other("facts", "cannot be read: Permission denied")]
    with monkeypatch.context() as patched:
        patched.setattr(import_module("engine.commit.observe"), "walk", lambda _tree: iter(closed))
        look(place)
    assert seen(place) == []
    look(place)
    assert seen(place) == []


def test_old_observations_are_collected_with_their_bytes(place: Place) -> None:
    look(place)
    for text in (b"1\n", b"2\n"):
        agent(place, A, text)
        look(place)
    commit.collect(place, keep_days=1, keep_runs=0)
    assert len(seen(place)) == 2
    lines = [
        journal.dump_observation(
            Observation("2020-01-01T00:00:00Z", o.path, o.old, o.new, o.size, o.after)
        )
        for o in journal.observations(place)
    ]
    Path(journal.state_path(place, journal.OBSERVATIONS)).write_bytes(b"".join(lines))
    commit.collect(place, keep_days=1, keep_runs=0)
    assert seen(place) == []
    assert os.listdir(Path(place.state) / "objects") == []


def test_an_edit_by_hand_after_an_outside_write_keeps_both_versions(place: Place) -> None:
    look(place)
    agent(place, A, b"theirs\n")
    write = Write(A, digest(b"theirs\n"), b"mine\n", (A,))
    commit.transact(place, Transaction(RunKind.EDIT, "w", "person", (write,)))
    assert journal.read_object(place, digest(b"theirs\n")) == b"theirs\n"
    assert [path for path, _, _ in seen(place)] == [A]
