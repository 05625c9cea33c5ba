"""The history of one memory: runs, what others wrote, moves, and the file as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import commit
from engine.commit import Transaction, Write
from engine.documents import digest
from engine.errors import EngineError, StorageError
from engine.journal import ActionRecord, RunKind
from engine.store import Store
from engine.timeline import AGENT, read_version, timeline, touching
from tests.faults.runs import make

D, MOVED = "facts/d.md", "lab/d.md"
TEXT = "---\ndescription: d\n---\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(make(tmp_path / "root"))
    agent(store, TEXT + "0\n")
    return store


def agent(store: Store, text: str | None, path: str = D) -> None:
    file = Path(store.place.folder) / path
    if text is None:
        file.unlink()
    else:
        file.write_text(text)


def edit(store: Store, text: str, path: str = D) -> str:
    data = store.read(path)
    return store.edit(path, (TEXT + text).encode(), base=digest(data), who="me@here").run


def move(store: Store, start: str = D, end: str = MOVED) -> str:
    data = store.read(start)
    record = ActionRecord(1, "move", (start,), end, "approved", "")
    writes = (Write(end, None, data, (start,)), Write(start, digest(data), None))
    return store.transact(
        Transaction(RunKind.APPLY, "me@here", "policy", writes, actions=(record,))
    ).run


def look(store: Store) -> None:
    with commit.open_for_writing(store.place):
        pass


def told(store: Store, path: str = D) -> list[tuple[str, str | None]]:
    """(by, text) of every version."""
    found: list[tuple[str, str | None]] = []
    for version in timeline(store, path):
        text: str | None = None
        if version.digest is not None and (version.kept or version.run is None):
            text = "?"
            if version.kept:
                data = read_version(store, path, version.digest)[1].decode()
                text = data.removeprefix(TEXT).rstrip("\n")
        found.append((version.by, text))
    return found


def test_every_version_is_there_oldest_first_with_who_made_it(store: Store) -> None:
    edit(store, "1\n")
    agent(store, TEXT + "2\n")
    look(store)
    edit(store, "3\n")
    store.undo("last", who="me@here")
    assert told(store) == [
        (AGENT, "0"),
        ("you", "1"),
        (AGENT, "2"),
        ("you", "3"),
        ("undo", "2"),
    ]
    first, *_, last = timeline(store, D)
    assert "run 1 found it" in first.note
    assert (last.note, last.who, last.size) == ("undo of run 2", "me@here", len(TEXT) + 2)


def test_a_memory_is_followed_over_its_moves_and_their_undo(store: Store) -> None:
    edit(store, "1\n")
    moved = move(store)
    edit(store, "2\n", MOVED)
    versions = timeline(store, MOVED)
    assert [(v.by, v.path) for v in versions] == [
        (AGENT, D),
        ("you", D),
        ("policy", MOVED),
        ("you", MOVED),
    ]
    assert versions[2].note == f"moved from {D}"
    assert len(touching(store, MOVED)) == 3
    assert timeline(store, D)[-1].note == f"moved to {MOVED}"
    store.undo("last", who="w")
    store.undo(moved, who="w")
    back = timeline(store, D)
    assert [v.path for v in back] == [D, D, MOVED, MOVED, MOVED, D]
    assert back[-1].note == f"undo of run 2; moved from {MOVED}"


def test_the_live_file_is_a_version_if_nothing_made_it_so(store: Store) -> None:
    assert [(v.by, v.run, v.kept) for v in timeline(store, D)] == [(AGENT, None, False)]
    edit(store, "1\n")
    assert len(timeline(store, D)) == 2
    agent(store, TEXT + "2\n")
    live = timeline(store, D)[-1]
    assert (live.by, live.kept, live.digest) == (AGENT, False, digest((TEXT + "2\n").encode()))
    agent(store, None)
    gone = timeline(store, D)[-1]
    assert (gone.by, gone.digest, gone.note) == (AGENT, None, "deleted since")
    look(store)
    assert [v.digest for v in timeline(store, D)][-2:] == [timeline(store, D)[-2].digest, None]


def test_a_version_that_was_overwritten_between_two_looks_shows_as_the_run_found_it(
    store: Store,
) -> None:
    edit(store, "1\n")
    agent(store, TEXT + "2\n")
    Path(store.place.state, "look").unlink()
    edit(store, "3\n")
    found = timeline(store, D)
    assert told(store) == [(AGENT, "0"), ("you", "1"), (AGENT, "2"), ("you", "3")]
    assert "when it was written is not known" in found[2].note


def test_an_unknown_path_has_no_version(store: Store) -> None:
    assert timeline(store, "facts/none.md") == ()
    assert touching(store, "facts/none.md") == ()


def test_an_earlier_version_is_read_by_run_and_by_digest(store: Store) -> None:
    first, second = edit(store, "1\n"), edit(store, "2\n")
    one = (TEXT + "1\n").encode()
    for name in ("1", first, digest(one)[:8]):
        assert read_version(store, D, name)[1] == one
    assert read_version(store, D, second)[1] == (TEXT + "2\n").encode()
    with pytest.raises(EngineError, match="has no version 9"):
        read_version(store, D, "9")
    (Path(store.place.state) / "objects" / digest(one)).unlink()
    with pytest.raises(StorageError, match="not kept"):
        read_version(store, D, "1")


def test_what_was_collected_leaves_the_other_versions_in_order(store: Store) -> None:
    edit(store, "1\n")
    edit(store, "2\n")
    edit(store, "3\n")
    store.collect(keep_days=0, keep_runs=1)
    assert told(store) == [(AGENT, "2"), ("you", "3")]
