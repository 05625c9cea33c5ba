"""Noticing changes as a specification: what wakes, what does not, and without the library too."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memui import watching
from memui.watching import Watch, look

PATIENCE = 30.0
"""Seconds after which a test gives up: no test waits as long unless it fails."""


class Bell:
    """Counts how often it was rung."""

    def __init__(self) -> None:
        self._rung = threading.Semaphore(0)

    def ring(self) -> None:
        self._rung.release()

    def was_rung(self) -> bool:
        return self._rung.acquire(timeout=PATIENCE)


@contextmanager
def watched(folder: Path, quick: Callable[[], object] = lambda: None) -> Iterator[Bell]:
    bell = Bell()
    watch = Watch(str(folder), bell.ring, quick)
    watch.start()
    assert watch.wait_until_ready(PATIENCE)
    try:
        yield bell
    finally:
        watch.stop()


@pytest.fixture(params=["library", "polling"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store's folder, watched by the system or, without the library, by looking."""
    if request.param == "polling":
        monkeypatch.setitem(sys.modules, "watchfiles", None)
    monkeypatch.setattr(watching, "OFTEN", 0.1)
    monkeypatch.setattr(watching, "TURN", 0.1)
    made = tmp_path / "store"
    (made / "facts").mkdir(parents=True)
    (made / "facts" / "a.md").write_text("one")
    return made


def test_a_file_that_is_written_replaced_added_or_removed_wakes(folder: Path) -> None:
    with watched(folder) as bell:
        (folder / "facts" / "a.md").write_text("two")
        assert bell.was_rung()
        (folder / "t").write_text("six")
        (folder / "t").replace(folder / "facts" / "a.md")
        assert bell.was_rung()
        (folder / "new").mkdir()
        (folder / "new" / "b.md").write_text("b")
        assert bell.was_rung()
        (folder / "new" / "b.md").unlink()
        assert bell.was_rung()


def test_a_folder_that_vanishes_and_comes_back_wakes_and_is_watched_again(folder: Path) -> None:
    with watched(folder) as bell:
        shutil.rmtree(folder)
        assert bell.was_rung()
        folder.mkdir()
        (folder / "a.md").write_text("one")
        assert bell.was_rung()
        (folder / "a.md").write_text("three")
        assert bell.was_rung()


def test_what_is_looked_at_beside_the_folder_wakes_when_it_differs(folder: Path) -> None:
    said = ["one"]
    with watched(folder, lambda: said[0]) as bell:
        said[0] = "two"
        assert bell.was_rung()


def test_names_that_are_not_utf8_stop_nothing(folder: Path) -> None:
    with watched(folder) as bell:
        (folder / "facts" / "\udcff.md").write_text("odd")
        assert bell.was_rung()
        (folder / "facts" / "a.md").write_text("two")
        assert bell.was_rung()


def test_our_own_record_and_what_is_no_memory_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    before = look(str(tmp_path))
    (tmp_path / ".memui").mkdir()
    (tmp_path / ".memui" / "b.md").write_text("two")
    (tmp_path / ".git").mkdir()
    (tmp_path / "photo.png").write_bytes(b"x")
    assert look(str(tmp_path)) == before
    (tmp_path / "b.md").write_text("two")
    assert look(str(tmp_path)) != before


def test_a_folder_that_is_not_there_looks_like_nothing(tmp_path: Path) -> None:
    assert look(str(tmp_path / "gone")) == (None, "")


def test_a_watch_that_is_stopped_wakes_nobody_and_ends(folder: Path) -> None:
    bell = Bell()
    watch = Watch(str(folder), bell.ring)
    watch.start()
    assert watch.wait_until_ready(PATIENCE)
    watch.stop()
    assert watch.is_over(PATIENCE)
