"""The lines between the rooms that no linter sees: what a call loads, and who may print."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("textual", "strands", "boto3", "asyncio", "pydantic")


@pytest.mark.parametrize("words", [["--version"], ["list"], ["doctor"], ["log"], ["search", "x"]])
def test_looking_commands_load_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    code = (
        "import sys; from memui.cli import run; run(sys.argv[1:]);"
        f"print('LOADED', [m for m in {HEAVY!r} if m in sys.modules])"
    )
    where = [] if words == ["--version"] else ["-C", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-c", code, *words, *where],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert "LOADED []" in ran.stdout


def test_planning_loads_neither_textual_nor_strands(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    code = (
        "import sys; from memui.cli import run; run(sys.argv[1:]);"
        "print('LOADED', [m for m in ('textual', 'strands') if m in sys.modules])"
    )
    out = tmp_path / "p.json"
    ran = subprocess.run(
        [sys.executable, "-c", code, "plan", "-C", str(tmp_path), "-o", str(out)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert "LOADED []" in ran.stdout


def calls(path: Path) -> list[tuple[int, str, ast.Call]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = node.func
            text = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
            found.append((node.lineno, text, node))
    return found


@pytest.mark.parametrize("folder", ["engine", "memui"])
def test_nothing_prints_but_the_console(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        if path.name == "console.py":
            continue
        source = path.read_text()
        assert "sys.stdout.write" not in source, path
        assert "sys.stderr.write" not in source, path
        assert [n for n, name, _ in calls(path) if name == "print"] == [], path


RAW = {"Static", "Label", "Button", "notify", "OptionList", "add_row", "add_leaf"}
DOORS = {"content", "own", "_static", "assemble"}


def test_widgets_of_textual_take_contents_only() -> None:
    """A `str` would be parsed as markup: `[@click=...]` would run."""
    for path in sorted((ROOT / "memui").rglob("*.py")):
        for line, name, call in calls(path):
            if name not in RAW:
                continue
            for argument in call.args[:1]:
                door = (
                    argument.func.id
                    if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Name)
                    else ""
                )
                assert door in DOORS, f"{path.name}:{line}"


def test_the_readme_lists_every_rule() -> None:
    from engine.rules import RULES

    readme = (ROOT / "README.md").read_text()
    for rule in RULES:
        assert f"`{rule.code}`" in readme


def test_the_prompt_tells_every_rule_with_its_limits() -> None:
    from engine.documents import Snapshot
    from engine.plan import ALL_OPERATIONS, Limits
    from engine.prompt import prompt
    from engine.rules import RULES

    limits = Limits(max_files=77, max_directories=5)
    told = prompt(Snapshot({"a.md": b"x"}), ALL_OPERATIONS, limits, "0" * 32).system
    for rule in RULES:
        assert rule.tell(limits) in told
    assert "77 files" in told
