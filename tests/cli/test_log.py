"""`memui log`: the newest runs first, and no more records read than are printed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from engine.journal import Run, reading
from engine.layouts import Place
from engine.store import open_store
from tests.cli.conftest import Call
from tests.cli.plans import FILES
from tests.conftest import Make

RUNS = 55


@pytest.fixture
def root(store: Make) -> Path:
    """A store with a few more runs than are shown at once; the newest takes one back."""
    root = store(FILES)
    opened = open_store(str(root))
    for number in range(RUNS - 1):
        opened.describe("facts/net.md", f"number {number}", who="me")
    opened.undo(str(RUNS - 1), who="me")
    return root


def numbers(out: str) -> list[int]:
    """The numbers of the runs that were printed."""
    return [int(line.split()[0]) for line in out.split("\n") if line[:4].strip().isdigit()]


def test_the_newest_runs_are_shown_and_the_rest_is_counted_with_the_way_to_it(
    memui: Call, root: Path
) -> None:
    told = memui(root, "log")
    assert numbers(told.out) == list(range(RUNS, RUNS - 50, -1))
    assert f"undone by run {RUNS}-" in told.out.split("\n")[2]
    (line,) = told.err.strip().split("\n")
    assert line.startswith("5 older runs are not shown: memui ")
    words = line.partition(": ")[2].removesuffix(" prints them too.")
    assert numbers(memui(*shlex.split(words)[1:]).out) == list(range(RUNS, 0, -1))
    assert "not shown" not in memui(root, "log", "--all").err


def test_how_many_are_shown_can_be_said_and_json_has_all_unless_it_is(
    memui: Call, root: Path
) -> None:
    assert numbers(memui(root, "log", "-n", "2").out) == [RUNS, RUNS - 1]
    assert numbers(memui(root, "log", "-n", "0").out) == []
    assert "1 older run is" in memui(root, "log", "--newest", RUNS - 1).err
    assert len(memui(root, "log", "--json").json["runs"]) == RUNS
    assert [
        r["run"].split("-")[0] for r in memui(root, "log", "-n", "1", "--json").json["runs"]
    ] == [str(RUNS)]
    for words in (["-n", "-1"], ["-n", "x"], ["-n", "1", "facts/net.md"]):
        assert memui(root, "log", *words).code == 2


def test_no_record_is_read_that_is_not_printed(
    memui: Call, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = reading.read_run

    def counted(place: Place, name: str) -> Run | None:
        read.append(name)
        return whole(place, name)

    memui(root, "describe", "facts/kiln.md", "x")  # all but the newest are in the index
    monkeypatch.setattr(reading, "read_run", counted)
    assert memui(root, "log", "-n", "3").code == 0
    assert sorted(set(read), key=lambda name: int(name.split("-")[0])) == read
    assert len(read) == 3
