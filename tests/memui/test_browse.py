"""Browse: the list, the text beside it, search, and editing from there."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Button

from engine.documents import digest, parse
from memui.app import Memui
from memui.presentation import Line
from memui.presentation.memories import Source
from memui.screens import editing
from memui.screens.dialogs import Confirm, Told
from memui.screens.reversing import ReversalScreen
from memui.widgets.row_list import RowList
from tests.memui.driving import drive, file_of, make_store, press, settle, shown, store_of, write


def test_memories_stand_under_their_folder_with_their_descriptions(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        rows = shown(pilot).split("\n")
        assert rows[1].strip() == "facts/  2"
        assert rows[2].split() == ["▌", "coffee", "Drinks", "flat", "whites"]
        assert rows[4].strip() == "projects/  1"
        assert "3 memories" in rows[0]

    drive(Memui(make_store(tmp_path)), script)


def test_the_cursor_never_stands_on_a_heading(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        seen = []
        for key in ["g", "j", "j", "j", "k", "k", "k", "G", "pageup"]:
            await press(pilot, key)
            seen.append(next(row for row in shown(pilot).split("\n") if "▌" in row).split()[1])
        assert seen == [
            *("coffee", "dark-mode", "atlas", "atlas"),
            *("dark-mode", "coffee", "coffee", "atlas", "coffee"),
        ]

    drive(Memui(make_store(tmp_path)), script)


def test_all_of_a_file_is_shown_its_frontmatter_too(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        assert 'description: "Drinks flat whites"' in shown(pilot)
        assert "5 With oat milk." in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_what_is_odd_about_a_file_is_said_in_words(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        assert "! a" in shown(pilot)
        assert "lines end in CRLF" in shown(pilot)
        assert "a symbolic link" not in shown(pilot)

    drive(Memui(make_store(tmp_path, {"a.md": "# a\r\nb\r\n"})), script)


def test_what_is_no_memory_stands_at_the_end_with_the_reason(tmp_path: Path) -> None:
    root = make_store(tmp_path)
    os.symlink("/etc/passwd", file_of(root, "out.md"))
    os.mkfifo(file_of(root, "pipe.md"))

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "G")
        assert "Not a memory: device, socket or FIFO." in shown(pilot)
        await press(pilot, "k", "e")
        assert "link that leaves the store, to /etc/passwd" in shown(pilot)
        assert "root:" not in shown(pilot)

    drive(Memui(root), script)


def test_an_empty_store_says_so_and_how_to_begin(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        assert "No memories yet." in shown(pilot)
        assert "add" in shown(pilot)

    drive(Memui(make_store(tmp_path, {})), script)


def test_only_rows_that_are_looked_at_are_made() -> None:
    made: list[int] = []

    def make(index: int, _cells: int) -> Line:
        made.append(index)
        return Line(())

    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield RowList()

        def on_mount(self) -> None:
            self.query_one(RowList).show(100_000, make)

    async def run() -> None:
        async with Alone().run_test(size=(80, 24)) as pilot:
            await pilot.pause()

    asyncio.run(run())
    assert made
    assert max(made) < 24


def test_search_finds_names_descriptions_and_texts(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        for word, hits in [
            ("atlas", ["projects/atlas"]),
            ("whites", ["facts/coffee"]),
            ("oat", ["facts/coffee"]),
            ("DARK", ["facts/dark-mode", "projects/atlas"]),
        ]:
            await press(pilot, "slash")
            await write(pilot, word)
            assert "hit" in shown(pilot)
            rows = shown(pilot).split("\n")[2:9]
            assert [row.strip("▌ ").split()[0] for row in rows if row.strip()] == hits
            await press(pilot, "escape")

    drive(Memui(make_store(tmp_path)), script)


def test_a_search_without_hits_says_what_it_sought(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "slash")
        await write(pilot, "zebra")
        assert "Nothing holds zebra." in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_leaving_the_search_stays_at_what_was_found(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "slash")
        await write(pilot, "launch")
        await press(pilot, "enter", "escape")
        assert "▌  atlas" in shown(pilot)
        assert "projects/  1" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_n_goes_through_the_hits_of_a_memory_and_on_to_the_next(tmp_path: Path) -> None:
    files = {"a.md": "# x\n\nsalt one\n\nsalt two\n", "b.md": "# y\n\nsalt three\n"}

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "slash")
        await write(pilot, "salt")
        await press(pilot, "enter")
        assert "▌ salt one" in shown(pilot)
        await press(pilot, "n")
        assert "▌ salt two" in shown(pilot)
        await press(pilot, "n")
        assert "▌ salt three" in shown(pilot)
        await press(pilot, "N")
        assert "▌ salt one" in shown(pilot)

    drive(Memui(make_store(tmp_path, files)), script)


def test_pasted_controls_never_get_into_the_search(tmp_path: Path) -> None:
    from textual import events

    from memui.widgets.line_input import LineInput

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "slash")
        field = pilot.app.screen.query_one(LineInput)
        field.post_message(events.Paste("a\x1b[2Jb\u202ec\tq"))
        await settle(pilot)
        assert field.value == "a[2Jbcq"

    drive(Memui(make_store(tmp_path)), script)


def test_a_rescan_keeps_the_cursor_on_its_memory(tmp_path: Path) -> None:
    root = make_store(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "j")
        file_of(root, "facts/a-new-one.md").write_text("# New\n")
        await press(pilot, "full_stop")
        assert "▌  dark-mode" in shown(pilot)
        assert "a-new-one" in shown(pilot)

    drive(Memui(root), script)


def test_the_text_is_read_in_the_whole_window_and_esc_goes_back(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "enter")
        assert "projects/" not in shown(pilot)
        await press(pilot, "escape")
        assert "projects/" in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


# Editing

Editor = Callable[[bytes], bytes]


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch) -> Callable[[Editor], None]:
    """Lets a function be the person's editor."""

    def use(made: Editor) -> None:
        monkeypatch.setattr(editing, "edit_text", lambda before, *_: made(before))
        monkeypatch.setattr(Memui, "suspend", lambda _self: contextlib.nullcontext())

    return use


def test_an_edit_is_a_run_that_undo_takes_back(
    tmp_path: Path, editor: Callable[[Editor], None]
) -> None:
    root = make_store(tmp_path)
    before = file_of(root, "facts/coffee.md").read_bytes()
    editor(lambda text: text + b"No sugar.\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "e")
        assert file_of(root, "facts/coffee.md").read_bytes() == before + b"No sugar.\n"
        assert "No sugar." in shown(pilot)
        await press(pilot, "u", "y")
        assert file_of(root, "facts/coffee.md").read_bytes() == before
        assert "is taken back" in shown(pilot)

    drive(Memui(root), script)
    assert [str(run.kind) for run in store_of(root).runs()] == ["edit", "undo"]


def test_an_edit_of_what_changed_meanwhile_overwrites_nothing_and_is_kept(
    tmp_path: Path, editor: Callable[[Editor], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_store(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def meanwhile(text: bytes) -> bytes:
        file_of(root, "facts/coffee.md").write_text("# The agent was here\n")
        return text + b"Mine.\n"

    editor(meanwhile)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "e")
        assert isinstance(pilot.app.screen, Told)
        assert "facts/coffee.md  changed on disk" in shown(pilot)

    drive(Memui(root), script)
    assert file_of(root, "facts/coffee.md").read_text() == "# The agent was here\n"
    kept = next(tmp_path.glob("memui-rescue-*/*"))
    assert kept.read_bytes().endswith(b"Mine.\n")


def test_an_edit_that_breaks_what_the_file_kept_is_refused_and_kept(
    tmp_path: Path, editor: Callable[[Editor], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_store(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    editor(lambda _text: b"no frontmatter any more\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "e")
        assert "The text breaks a rule that the memory kept before." in shown(pilot)

    drive(Memui(root), script)
    assert "Drinks flat whites" in file_of(root, "facts/coffee.md").read_text()
    assert list(tmp_path.glob("memui-rescue-*/*"))


def test_a_file_that_is_not_utf8_is_not_edited_as_text(
    tmp_path: Path, editor: Callable[[Editor], None]
) -> None:
    root = make_store(tmp_path, {"a.md": b"caf\xe9\n"})
    editor(lambda _text: pytest.fail("the editor was opened"))

    async def script(pilot: Pilot[int]) -> None:
        assert "caf<byte E9>" in shown(pilot)
        await press(pilot, "e")
        assert "is not UTF-8" in shown(pilot)

    drive(Memui(root), script)


def test_where_the_terminal_cannot_be_left_the_command_is_named(tmp_path: Path) -> None:
    root = make_store(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "e")
        assert "edit facts/coffee.md" in shown(pilot)

    drive(Memui(root), script)


# Undo and the clipboard


def test_undo_names_its_files_and_starts_on_the_safe_button(tmp_path: Path) -> None:
    root = make_store(tmp_path)
    store_of(root).describe("facts/coffee.md", "Drinks tea", who="me")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, Confirm)
        assert "changed back facts/coffee.md" in shown(pilot)
        assert pilot.app.focused is pilot.app.screen.query_one("#back", Button)
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, Confirm)
        await press(pilot, "enter")
        assert "Nothing was changed." in shown(pilot)

    drive(Memui(root), script)
    assert "Drinks tea" in file_of(root, "facts/coffee.md").read_text()


def test_undo_without_a_run_says_that_there_is_none(tmp_path: Path) -> None:
    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "u")
        assert "There is no run to take back." in shown(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_undo_of_what_changed_since_names_the_file_and_touches_nothing(tmp_path: Path) -> None:
    root = make_store(tmp_path)
    store_of(root).describe("facts/coffee.md", "Drinks tea", who="me")
    file_of(root, "facts/coffee.md").write_text("# Newer\n")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "u", "y")
        assert isinstance(pilot.app.screen, ReversalScreen)
        assert "facts/coffee.md" in shown(pilot)
        assert "changed" in shown(pilot)

    drive(Memui(root), script)
    assert file_of(root, "facts/coffee.md").read_text() == "# Newer\n"


def test_y_copies_the_whole_path(tmp_path: Path) -> None:
    root = make_store(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "y")
        assert pilot.app.clipboard == str(file_of(root, "facts/coffee.md"))

    drive(Memui(root), script)


def test_a_path_that_a_shell_would_act_on_is_not_copied(tmp_path: Path) -> None:
    root = make_store(tmp_path, {"a\nrm -rf ~\n.md": "# a\n"})

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "y")
        assert pilot.app.clipboard == ""
        assert "was not copied" in shown(pilot)

    drive(Memui(root), script)


def test_a_read_only_store_says_so_and_refuses_edits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: Callable[[Editor], None]
) -> None:
    root = make_store(tmp_path)
    monkeypatch.setattr("engine.layouts._writable", lambda _path: False)
    editor(lambda _text: pytest.fail("the editor was opened"))

    async def script(pilot: Pilot[int]) -> None:
        assert "read-only" in shown(pilot)
        await press(pilot, "e")
        assert "read-only store" in shown(pilot)

    drive(Memui(root), script)


def test_headings_are_told_from_comments_in_code_and_from_frontmatter() -> None:
    text = b"---\n# a comment\n---\n# Title\n```sh\n# make\n```\n# Next\n"
    paints = [made.runs[0].paint for made in Source(parse(text))]
    assert paints == ["dim", "dim", "dim", "title", "dim", "plain", "dim", "title"]


def test_the_lines_that_hold_most_of_the_words_are_the_hits() -> None:
    source = Source(parse(b"salt\nsalt and pepper\npepper\npepper, salt\n"), ("salt", "pepper"))
    assert source.blocks == (range(1, 2), range(3, 4))


def test_what_a_stale_write_took_is_said_and_w_merges_it_in_again(tmp_path: Path) -> None:
    root = make_store(tmp_path)
    coffee = file_of(root, "facts/coffee.md")
    before = coffee.read_text()
    after = before + "Never after four.\n"
    store = store_of(root)
    store.edit("facts/coffee.md", after.encode(), base=digest(before.encode()), who="me")
    coffee.write_text(before + "In a small cup.\n")

    async def script(pilot: Pilot[int]) -> None:
        said = " ".join(shown(pilot).split())
        assert "overwrote what run 1 wrote: 1 fact gone. w merges them in." in said
        await press(pilot, "w")
        assert "Merge into 1 file again?" in shown(pilot)
        assert "Never after four." in shown(pilot)
        await press(pilot, "y")
        assert "Merged in, by run 2" in shown(pilot)

    drive(Memui(root), script)
    assert coffee.read_text() == before + "In a small cup.\nNever after four.\n"
