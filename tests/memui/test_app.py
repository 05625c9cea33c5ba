"""The frame: where to begin, the three screens, what holds on all of them."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Input

from engine.commit import Recovered
from engine.errors import Holder, NotAStore, StoreLocked
from engine.store import Store
from memui.app import Memui, run_app
from memui.screens.browse import BrowseScreen
from memui.screens.dialogs import Told
from memui.screens.history import HistoryScreen
from memui.screens.too_small import TooSmall
from memui.screens.welcome import PickScreen, WelcomeScreen
from memui.widgets.bars import KeyBar
from tests.memui.driving import (
    drive,
    file_of,
    is_on,
    make_store,
    press,
    settle,
    shown,
    store_of,
    write,
)


def below(folder: Path) -> list[str]:
    """Every file and folder below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_without_a_store_the_welcome_stands_and_nothing_is_created(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        assert is_on(pilot, WelcomeScreen)
        assert "Where is my agent's memory?" in shown(pilot)
        await press(pilot, "1", "2", "3", "question_mark", "escape")
        assert is_on(pilot, WelcomeScreen)

    drive(Memui(None), script)
    assert below(Path.home()) == []


def test_a_folder_is_opened_from_the_welcome(tmp_path: Path) -> None:
    root = make_store(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "o")
        pilot.app.screen.query_one(Input).value = root
        await press(pilot, "enter")
        assert is_on(pilot, BrowseScreen)

    drive(Memui(None), script)


def test_a_path_that_is_no_folder_is_named_and_asked_for_again(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "o")
        await write(pilot, "/nowhere")
        await press(pilot, "enter")
        assert is_on(pilot, WelcomeScreen)
        assert "There is no folder /nowhere." in shown(pilot)

    drive(Memui(None), script)


def test_the_demo_opens_on_its_plan() -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "d")
        assert pilot.app.current_mode == "review"

    drive(Memui(None), script)


def test_a_root_without_a_store_says_who_makes_one(tmp_path: Path) -> None:
    root = tmp_path / ".strands"
    (root / "memory").mkdir(parents=True)

    async def script(pilot: Pilot[int]) -> None:
        assert "holds no store yet" in " ".join(shown(pilot).split())

    drive(Memui(str(root)), script)


def test_one_of_several_stores_is_picked(tmp_path: Path) -> None:
    root = tmp_path / ".strands"
    for name in ("alpha", "beta"):
        (root / "memory" / name).mkdir(parents=True)
        (root / "memory" / name / "a.md").write_text(f"# {name}\n")

    async def script(pilot: Pilot[int]) -> None:
        assert is_on(pilot, PickScreen)
        assert "1 memory" in shown(pilot)
        await press(pilot, "j", "enter")
        assert "# beta" in shown(pilot)

    drive(Memui(str(root)), script)


def test_a_path_that_is_no_store_is_refused_before_the_screen_is_taken() -> None:
    with pytest.raises(NotAStore):
        run_app("/nowhere", name=None, layout=None)


def test_the_three_screens_keep_where_one_was(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "j", "3")
        assert is_on(pilot, HistoryScreen)
        await press(pilot, "2", "1")
        assert is_on(pilot, BrowseScreen)
        assert "▌  dark-mode" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_a_click_on_its_name_leads_to_a_screen(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        at = shown(pilot).split("\n")[0].index("History")
        await pilot.click("#header", offset=(at, 0))
        await settle(pilot)
        assert is_on(pilot, HistoryScreen)

    drive(Memui(make_store(tmp_path)), script)


def test_a_small_terminal_says_what_it_needs_and_everything_is_kept(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "slash")
        await write(pilot, "oat")
        await pilot.resize_terminal(59, 24)
        await settle(pilot)
        assert is_on(pilot, TooSmall)
        assert "memui needs 60 × 15." in shown(pilot)
        await press(pilot, "3")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "oat"
        assert "1 hit" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_a_terminal_that_is_small_from_the_start_is_told_and_grows(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        assert "memui needs" in shown(pilot)
        await pilot.resize_terminal(100, 30)
        await settle(pilot)
        assert "Drinks flat whites" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script, (40, 10))


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 50)])
def test_every_row_of_every_screen_fits(tmp_path: Path, size: tuple[int, int]) -> None:
    async def script(pilot: Pilot[int]) -> None:
        for key in ("1", "2", "3"):
            await press(pilot, key)
            bar = pilot.app.screen.query_one(KeyBar).region
            assert (bar.y, bar.width, bar.height) == (size[1] - 1, size[0], 1)
            for widget in pilot.app.screen.query("RowList, PageView, MemoryView"):
                if widget.display and widget.region:
                    assert widget.region.right <= size[0]
                    assert widget.region.bottom < size[1]

    drive(Memui(make_store(tmp_path)), script, size)


def test_what_recovery_did_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_store(tmp_path)
    store_of(root).describe("facts/coffee.md", "Drinks tea", who="me")
    run = store_of(root).runs()[0]
    monkeypatch.setattr(Store, "unfinished", lambda _self: (run,))

    def recover(self: Store, **_: object) -> tuple[Recovered, ...]:
        self.recovered = (Recovered(run.id, "taken-back", 1, 3, ()),)
        return self.recovered

    monkeypatch.setattr(Store, "recover", recover)

    async def script(pilot: Pilot[int]) -> None:
        said = " ".join(shown(pilot).split())
        assert f"run {run.seq} had stopped at 1 of 3 files: taken back" in said

    drive(Memui(root), script)


def test_a_lock_that_somebody_holds_is_said_with_the_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_store(tmp_path)
    store_of(root).describe("facts/coffee.md", "Drinks tea", who="me")
    before = file_of(root, "facts/coffee.md").read_bytes()

    def locked(*_: object, **__: object) -> None:
        raise StoreLocked(Holder(77, "far", "memui apply", "2026-01-01T00:00:00Z"))

    monkeypatch.setattr(Store, "revert", locked)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "u", "y")
        said = " ".join(shown(pilot).split())
        assert "in use by memui apply (process 77 on far" in said
        assert "Nothing was changed" in said

    drive(Memui(root), script)
    assert file_of(root, "facts/coffee.md").read_bytes() == before


def test_no_color_sends_no_colour_and_the_cursor_is_still_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(pilot: Pilot[int]) -> None:
        for key in ("1", "2", "3", "1", "slash"):
            await press(pilot, key)
            for strip in pilot.app.screen._compositor.render_strips():
                for style in (segment.style for segment in strip if segment.style):
                    assert style.color is None or style.color.is_default
                    assert style.bgcolor is None or style.bgcolor.is_default
        assert "▌" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


@pytest.mark.parametrize("screen", [BrowseScreen, HistoryScreen])
def test_the_help_of_a_screen_names_every_key_that_it_describes(
    screen: type[BrowseScreen | HistoryScreen],
) -> None:
    name = screen.__name__.removesuffix("Screen").lower()
    text = files("memui").joinpath("help", f"{name}.md").read_text(encoding="utf-8")
    words = set(text.split())
    signs = {"slash": "/", "full_stop": ".", "question_mark": "?", "colon": ":"}
    for binding in [*screen.BINDINGS, *Memui.BINDINGS]:
        assert isinstance(binding, Binding)
        if binding.description:
            assert signs.get(binding.key, binding.key) in words, binding


def test_help_opens_on_every_screen_and_esc_goes_back(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        for key, title in (("1", "Browse"), ("2", "Review"), ("3", "History")):
            await press(pilot, key, "question_mark")
            assert is_on(pilot, Told)
            assert title in shown(pilot)
            await press(pilot, "escape")
            assert not pilot.app.screen.is_modal

    drive(Memui(make_store(tmp_path)), script)


def test_the_palette_knows_every_command_by_name(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        named = {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
        assert {"Search", "Edit in $EDITOR", "Undo the last run", "History", "Quit"} <= named
        await press(pilot, "colon")
        await write(pilot, "history of")
        await pilot.pause(0.3)
        await press(pilot, "enter")
        assert is_on(pilot, HistoryScreen)

    drive(Memui(make_store(tmp_path)), script)


def test_q_quits_at_once(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await pilot.press("q")
        await pilot.pause()
        assert pilot.app.return_code == 0

    drive(Memui(make_store(tmp_path)), script)


def test_looking_writes_nothing_below_the_root(tmp_path: Path) -> None:
    root = make_store(tmp_path)
    before = below(Path(root))

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "j", "enter", "escape", "slash", "o", "escape", "2", "3", "c", "1")

    drive(Memui(root), script)
    assert below(Path(root)) == before
    assert not os.path.exists(os.path.join(root, ".memui"))


def test_a_read_only_store_is_never_opened_without_saying_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.layouts._writable", lambda _path: False)
    monkeypatch.setattr(Store, "plans", lambda _self: ("one", "two"))

    async def script(pilot: Pilot[int]) -> None:
        assert "read-only" in shown(pilot)
        await press(pilot, "3")
        assert "read-only" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script, (60, 15))
