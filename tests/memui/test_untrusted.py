"""Untrusted text on every screen: nothing of it drives the terminal, the app or the reader."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.pilot import Pilot

import memui
from engine.errors import StorageError
from engine.plans import open_plan
from engine.store import Store
from memui.app import Memui
from memui.presentation.net import Net
from tests.memui.driving import drive, file_of, make_store, press, settle, shown, store_of, write

# Source

PACKAGE: Final = Path(memui.__file__).parent
DOORS: Final = frozenset(["content", "own", "_static"])
"""The functions that make a `Content` of a text."""
TAKES_TEXT: Final = frozenset(
    ["Static", "Label", "Button", "Option", "add_option", "add_row", "add_column", "Markdown"]
)
TITLES: Final = frozenset(["border_title", "border_subtitle", "tooltip", "placeholder", "title"])


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Every module that draws."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def name_of(node: ast.expr) -> str:
    """The last name of what is called."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_content(node: ast.expr) -> bool:
    """Whether an expression is a `Content` by what makes it, never a `str`."""
    if isinstance(node, ast.Call):
        if name_of(node.func) in DOORS | {"head", "truncate"}:  # a str cannot be truncated
            return True
        if name_of(node.func) in {"assemble", "join"} and isinstance(node.func, ast.Attribute):
            return name_of(node.func.value) == "Content"
        return name_of(node.func) == "Content" and all(
            isinstance(argument, ast.Constant) for argument in node.args
        )
    if isinstance(node, ast.IfExp):
        return is_content(node.body) and is_content(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_content(node.left) and is_content(node.right)
    return False


def test_no_widget_is_given_a_raw_text() -> None:
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            draws = name_of(node.func) in TAKES_TEXT
            if name_of(node.func) == "update" and isinstance(node.func, ast.Attribute):
                draws = "widgets" in path.parts or "screens" in path.parts
            if draws:
                assert is_content(node.args[0]), f"{path}:{node.lineno}"


def test_no_title_tooltip_or_placeholder_comes_from_data() -> None:
    for path, tree in trees():
        for node in ast.walk(tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr in TITLES:
                    assert isinstance(node, ast.Assign)
                    assert isinstance(node.value, ast.Constant), f"{path}:{node.lineno}"
            if isinstance(node, ast.keyword) and node.arg in TITLES:
                literal = isinstance(node.value, ast.Constant)
                assert literal or "widgets" not in path.parts, f"{path}: {node.arg}"


@pytest.mark.parametrize(
    "name", ["from_markup", "notify", "Markdown", "MarkdownViewer", "open_url", "print", "eval"]
)
def test_nothing_that_parses_or_opens_is_called(name: str) -> None:
    for path, tree in trees():
        called = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and name_of(node.func) == name
        ]
        assert not called or path.name == "console.py", f"{path}:{called}"


# The net

controls = st.characters(categories=["Cc"])


@given(st.text(controls | st.characters(exclude_categories=["Cs"])))
def test_the_net_lets_no_control_through_and_counts_each(text: str) -> None:
    net = Net()
    made = net.apply([Segment(text, Style())], Color.parse("black"))
    kept = "".join(segment.text for segment in made)
    wanted = [char for char in text if char >= " " and not "\x7f" <= char <= "\x9f"]
    assert kept == "".join(wanted)
    assert net.leaked == len(text) - len(wanted)


# Screens

BOMBS: Final = (
    "\x1b]52;c;aGFja2Vk\x07",
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m\x90q\x9c",
    "[@click=app.quit]x[/]",
    "[/nope][bold]",
    "\u202egnp.exe\u2066",
    "\u200b\u2060\ufeff",
    "\u2028\u2029\x85",
    "\x00\x07\x08\x0b\x0c\r",
    "<U+202E RLO>",
)
HOSTILE: Final = "".join(BOMBS)
FORBIDDEN: Final = frozenset("\x1b\x9b\x00\x07\r\u202e\u2066\u200b\u2028\u2029\x85")


def hostile_store(tmp_path: Path) -> str:
    """A store where paths, descriptions, bodies and links are hostile; its root."""
    in_names = HOSTILE.replace("\x00", "").replace("/", "∕")
    text = f"---\ndescription: {json.dumps(HOSTILE)}\n---\n\n# {HOSTILE}\n\nbody {HOSTILE} end\n"
    lenient = f"---\ndescription: plain {HOSTILE}\n---\nzebra {HOSTILE}\n"
    root = make_store(
        tmp_path,
        {
            "facts/good.md": text,
            f"facts/{in_names[:60]}.md": text,
            f"{in_names[:40]}/x.md": lenient,
            "bytes.md": b"---\ndescription: \xff\xfe\x9b\n---\n\x80\x81\x1b[2J\n",
            "wide.md": "# " + "\u202e" * 500 + "x" * 5000 + "\n",
        },
    )
    bad = os.path.join(os.fsencode(root), b"knowledge", b"caf\xe9\x1b[2J.md")
    with open(bad, "wb") as file:
        file.write(b"# zebra\n")
    os.symlink(f"/nowhere/{in_names[:50]}", file_of(root, "link.md"))
    return root


def hostile_plan(root: str, folder: Path) -> Path:
    """A bare plan whose every text is hostile; its file."""
    path = folder / "plan.json"
    content = f"---\ndescription: {json.dumps(HOSTILE)}\n---\n\nnew {HOSTILE}\n"
    actions = [
        {"action": "update", "path": "facts/good.md", "content": content, "reason": HOSTILE},
        {"action": "delete", "path": HOSTILE, "reason": HOSTILE},
        {"action": "move", "from": "wide.md", "to": f"facts/{HOSTILE}.md", "reason": HOSTILE},
        {
            "action": "merge",
            "sources": ["bytes.md", "wide.md"],
            "target": "facts/merged.md",
            "content": content,
            "reason": HOSTILE,
        },
    ]
    path.write_text(json.dumps({"actions": actions, "summary": HOSTILE}))
    store_of(root)
    return path


def assert_harmless(pilot: Pilot[int]) -> None:
    """The app runs, nothing reached the net, and nothing that hides is on the screen."""
    assert pilot.app.is_running
    assert isinstance(pilot.app, Memui)
    assert pilot.app.leaked == 0
    assert not FORBIDDEN & set(shown(pilot))
    for strip in pilot.app.screen._compositor.render_strips():
        for segment in strip:
            meta = segment.style.meta if segment.style else {}
            assert "@click" not in meta


@pytest.mark.parametrize("size", [(60, 15), (200, 50)])
def test_a_hostile_store_can_be_browsed(tmp_path: Path, size: tuple[int, int]) -> None:
    async def script(pilot: Pilot[int]) -> None:
        for _ in range(9):
            assert_harmless(pilot)
            await pilot.click("#memory", offset=(6, 3))
            await pilot.press("escape")
            await press(pilot, "j")
        await press(pilot, "y")
        await press(pilot, "slash")
        await write(pilot, "zebra")
        assert "2 hits" in shown(pilot)
        assert_harmless(pilot)
        await press(pilot, "enter", "n", "h")
        assert_harmless(pilot)
        assert pilot.app.current_mode == "history"

    drive(Memui(hostile_store(tmp_path)), script, size)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_a_hostile_plan_can_be_reviewed(tmp_path: Path, size: tuple[int, int]) -> None:
    root = hostile_store(tmp_path)
    opened = open_plan(store_of(root), str(hostile_plan(root, tmp_path)))

    async def script(pilot: Pilot[int]) -> None:
        assert pilot.app.current_mode == "review"
        for _ in range(5):
            for key in ("t", "t", "t", "a", "r", "j"):
                await press(pilot, key)
                assert_harmless(pilot)
        await press(pilot, "g", "P")
        assert_harmless(pilot)

    drive(Memui(root, opened=opened), script, size)


def test_hostile_runs_can_be_read_and_taken_back(tmp_path: Path) -> None:
    root = hostile_store(tmp_path)
    store = store_of(root)
    for path in [memory.path for memory in store.listing().memories]:
        if path.endswith(("good.md", "x.md")) or "title" in path:
            store.describe(path, "plain [@click=app.quit]x[/]", who=f"eve{HOSTILE}")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "3")
        assert "eve␛]52;c;" in shown(pilot)
        for key in ("j", "c", "c", "u", "y", "g", "u", "y", "escape"):
            await press(pilot, key)
            assert_harmless(pilot)

    drive(Memui(root), script)


def test_a_hostile_error_is_shown_like_any_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_self: Store, _path: str) -> bytes:
        raise StorageError(HOSTILE, hint=HOSTILE)

    monkeypatch.setattr(Store, "read", fails)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "e")
        assert "[@click=app.quit]x[/]" in "".join(shown(pilot).split())
        assert_harmless(pilot)

    drive(Memui(make_store(tmp_path)), script)


def test_hostile_paths_and_store_names_are_harmless_in_the_welcome_and_the_picker(
    tmp_path: Path,
) -> None:
    root = tmp_path / ".strands"
    for name in ("plain", "x\x1b[2J[@click=app.quit]y\u202e"):
        (root / "memory" / name).mkdir(parents=True)
        (root / "memory" / name / "a.md").write_text("# a\n")

    async def picking(pilot: Pilot[int]) -> None:
        assert_harmless(pilot)
        await press(pilot, "j", "enter")
        assert_harmless(pilot)

    drive(Memui(str(root)), picking)

    async def welcome(pilot: Pilot[int]) -> None:
        assert_harmless(pilot)

    drive(Memui(f"/nowhere/{HOSTILE.replace(chr(0), '')}"), welcome)


def test_a_paste_on_a_list_presses_no_key(tmp_path: Path) -> None:
    from textual import events

    async def script(pilot: Pilot[int]) -> None:
        pilot.app.post_message(events.Paste("q\nuy\x1b"))
        await settle(pilot)
        assert_harmless(pilot)

    drive(Memui(make_store(tmp_path)), script)
