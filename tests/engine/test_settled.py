"""The index of settled runs: it changes no answer, whatever becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import commit, journal
from engine.commit import Transaction, Write
from engine.commit.opened import SETTLED_AT_ONCE
from engine.documents import digest
from engine.journal import ActionRecord, RunKind
from engine.layouts import Place
from tests.engine.faults import Counting
from tests.faults.runs import make

PATH = "facts/a.md"


def write(place: Place, text: str, plan: str | None = None) -> str:
    file = Path(place.folder) / PATH
    old = file.read_bytes()
    record = ActionRecord(1, "update", (PATH,), None, "approved", "")
    step = Write(PATH, digest(old), text.encode(), (PATH,))
    outcome, _ = commit.transact(
        place,
        Transaction(RunKind.APPLY, "t", "person", (step,), actions=(record,), plan=plan),
    )
    return outcome.run


def index(place: Place) -> Path:
    return Path(place.state) / journal.SETTLED


def answers(place: Place) -> object:
    plans = ("aaaaaaaaaaaa", "bbbbbbbbbbbb")
    return (
        [(run.id, run.plan, run.undoes, run.state, run.numbers) for run in journal.runs(place)],
        [(s.id, s.plan, s.undoes, s.state, s.numbers) for s in journal.standings(place)],
        [journal.applied(place, plan) for plan in plans],
        [journal.freed(place, plan) for plan in plans],
        journal.find(place, "last").id,
        commit.unfinished(place),
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make(tmp_path / "root")
    for number in range(SETTLED_AT_ONCE):
        write(place, f"{number}\n", "aaaaaaaaaaaa" if number % 3 else "bbbbbbbbbbbb")
    commit.undo(place, "last", who="t")
    return place


def test_settled_runs_are_noted_together_and_not_read_again_by_a_later_opening(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(journal.unsettled(place)) < SETTLED_AT_ONCE
    read: list[str] = []
    plain = journal.read_run

    def counted(place: Place, name: str) -> journal.Run | None:
        read.append(name)
        return plain(place, name)

    monkeypatch.setattr(journal, "read_run", counted)
    commit.recover(place)
    assert set(read) <= set(journal.unsettled(place))
    assert len(read) < 5


def test_the_index_says_what_the_records_say(place: Place) -> None:
    with_index = answers(place)
    assert with_index[0] == with_index[1]  # type: ignore[index]
    index(place).unlink()
    assert answers(place) == with_index


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_no_truncation_and_no_altered_byte_of_the_index_changes_an_answer(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    place = _shared(tmp_path_factory)
    whole = index(place).read_bytes()
    expected = answers(place)
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        index(place).write_bytes(whole[:at])
    else:
        index(place).write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :])
    try:
        assert answers(place) == expected
    finally:
        index(place).write_bytes(whole)


_SHARED: list[Place] = []


def _shared(factory: pytest.TempPathFactory) -> Place:
    if not _SHARED:
        place = make(factory.mktemp("settled") / "root")
        for number in range(SETTLED_AT_ONCE + 1):
            write(place, f"{number}\n", "aaaaaaaaaaaa")
        _SHARED.append(place)
    return _SHARED[0]


def test_a_run_whose_folder_is_gone_is_forgotten_and_one_that_appears_is_read(
    place: Place,
) -> None:
    import shutil

    first = journal.runs(place)[0]
    folder = Path(journal.run_folder(place, first.id))
    aside = Path(place.root) / "aside"
    shutil.move(folder, aside)
    assert first.id not in [s.id for s in journal.standings(place)]
    shutil.move(aside, folder)
    assert first.id in [s.id for s in journal.standings(place)]


def test_a_run_that_is_not_finished_is_never_in_the_index(place: Place) -> None:
    last = journal.runs(place)[-1]
    (Path(journal.run_folder(place, last.id)) / "done").unlink()
    assert last.id in journal.unsettled(place)
    assert [run.id for run in commit.unfinished(place)] == [last.id]


def test_most_openings_flush_nothing_for_the_index(place: Place) -> None:
    files = Counting()
    commit.recover(place, files=files)
    assert not [call for call in files.calls if "sync" in call]


def test_the_displaced_logs_of_settled_runs_go_once_the_live_log_says_all_of_them(
    place: Place,
) -> None:
    held = list(Path(place.state).glob("runs/*/hold/changelog"))
    assert len(held) < 5
    text = Path(place.changelog).read_text()
    assert text.count("<!-- memui run") == SETTLED_AT_ONCE + 1


def test_a_displaced_log_that_somebody_still_wrote_to_stays(tmp_path: Path) -> None:
    place = make(tmp_path / "root")
    first = write(place, "0\n")
    second = write(place, "1\n")
    held = Path(journal.run_folder(place, second)) / "hold" / "changelog"
    held.write_bytes(held.read_bytes() + b"late words of an agent\n")
    for number in range(2, SETTLED_AT_ONCE + 2):
        write(place, f"{number}\n")
    assert b"late words" in held.read_bytes()
    assert first not in journal.unsettled(place)
