"""A run at work as a specification: what it shows, and that nothing leaves it halfway."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from engine.commit import Files
from engine.store import Store
from memui.app import Memui
from memui.screens.dialogs import Confirm, Told
from memui.screens.history import HistoryScreen
from memui.screens.too_small import TooSmall
from memui.screens.working import Working
from tests.memui.driving import drive, file_of, is_on, make_store, press, settle, shown, store_of


class Held(Files):
    """Stops at a call until it is let go on."""

    def __init__(self, call: str) -> None:
        super().__init__()
        self.reached, self.go_on = threading.Event(), threading.Event()
        self._call = call

    def step(self, call: str, name: str) -> None:
        if call == self._call:
            self.reached.set()
            self.go_on.wait(20)

    @contextmanager
    def letting_go(self) -> Iterator[None]:
        """Whatever a test finds, the run goes on afterwards."""
        try:
            yield
        finally:
            self.go_on.set()


async def until_reached(pilot: Pilot[int], held: Held) -> None:
    """Wait until the run is where it is held, and drawn."""
    while not held.reached.is_set():
        await pilot.pause(0.02)
    await pilot.pause(0.3)


def described(tmp_path: Path) -> str:
    """A store with one run; its root."""
    root = make_store(tmp_path)
    store_of(root).describe("facts/coffee.md", "Drinks tea", who="ann@here")
    return root


def held_in(app: Memui, held: Held) -> None:
    """Have the store of an app go through a seam."""
    assert app.session is not None
    app.session.store = Store(app.session.store.place, files=held)


@pytest.mark.parametrize("key", ["q", "escape", "ctrl+c", "ctrl+q"])
def test_an_undo_at_work_shows_its_steps_and_no_key_leaves_it(tmp_path: Path, key: str) -> None:
    root, held = described(tmp_path), Held("publish")
    app = Memui(root)

    async def script(pilot: Pilot[int]) -> None:
        held_in(app, held)
        await press(pilot, "3", "u")
        assert isinstance(app.screen, Confirm)
        with held.letting_go():
            await pilot.press("y")
            await until_reached(pilot, held)
            assert "Taking back run 1 …" in shown(pilot)
            assert "✓ keep what they hold" in shown(pilot)
            assert "› write  0 of 1" in shown(pilot)
            await pilot.press(key, "1", "3")
            assert is_on(pilot, Working)
            assert "It cannot be left halfway." in shown(pilot)
        await settle(pilot)
        assert is_on(pilot, HistoryScreen)
        assert "Run 1 is taken back, as run 2" in shown(pilot)

    drive(app, script)
    assert "Drinks flat whites" in file_of(root, "facts/coffee.md").read_text()


def test_a_run_that_ends_behind_another_screen_is_told_when_that_one_goes(tmp_path: Path) -> None:
    root, held = described(tmp_path), Held("publish")
    app = Memui(root)

    async def script(pilot: Pilot[int]) -> None:
        held_in(app, held)
        await press(pilot, "3", "u")
        with held.letting_go():
            await pilot.press("y")
            await until_reached(pilot, held)
            await pilot.resize_terminal(30, 8)
            await pilot.pause()
            assert is_on(pilot, TooSmall)
        await settle(pilot)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert is_on(pilot, HistoryScreen)
        assert "Run 1 is taken back, as run 2" in shown(pilot)

    drive(app, script)


def test_a_file_that_changes_behind_the_question_is_named_and_left(tmp_path: Path) -> None:
    root = described(tmp_path)
    coffee = file_of(root, "facts/coffee.md")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3", "u")
        coffee.write_text("# Newer\n")
        await press(pilot, "y")
        assert is_on(pilot, Told)
        assert "facts/coffee.md  changed on disk" in shown(pilot)
        await press(pilot, "escape")
        assert "Run 1 was not taken back. Nothing was changed." in shown(pilot)

    drive(Memui(root), script)
    assert coffee.read_text() == "# Newer\n"
