"""The one place that prints: what it is given, and streams that are closed, full or old."""

from __future__ import annotations

import ast
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.characters import hidden
from engine.commit import open_for_writing
from engine.store import open_store
from memui.console import Console, Styled, fit, width
from tests.cli.conftest import Call, Terminal
from tests.cli.plans import FILES
from tests.conftest import Make

ROOT = Path(__file__).parents[2]
PRINTS = {"say", "tell", "ask"}


def constant(node: ast.expr) -> bool:
    """Whether an expression can only be a text of ours."""
    if isinstance(node, ast.IfExp):
        return constant(node.body) and constant(node.orelse)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_templates_are_literals_so_that_text_from_outside_is_always_a_field() -> None:
    seen = 0
    for path in sorted((ROOT / "memui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = ast.unparse(node.func.value)
            if node.func.attr in PRINTS and owner.rpartition(".")[2] in {
                "console",
                "Console()",
                "asks",
            }:
                seen += 1
                assert not node.args or constant(node.args[0]), f"{path.name}:{node.lineno}"
    assert seen > 40


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1), st.booleans())
def test_nothing_but_our_styles_is_ever_written(rows: list[tuple[str, str]], colour: bool) -> None:
    out = Terminal() if colour else io.StringIO()
    console = Console(out, out)
    console.table([Styled(left, "dim"), right] for left, right in rows)
    for left, right in rows:
        console.say("{} {}", Styled(left, "red"), right)
        console.tell("{}", right)
    text = out.getvalue()
    for code in ("0", "2", "7", "31"):
        text = text.replace(f"\x1b[{code}m", "")
    assert not [found for found in hidden(text) if found.char != "\n"]
    assert text.count("\n") == 3 * len(rows)


@given(st.text(), st.integers(1, 40))
def test_a_fitted_text_is_never_wider_than_it_may_be(text: str, cells: int) -> None:
    assert width(fit(text, cells)) <= cells


def test_one_long_name_moves_only_its_own_row() -> None:
    out = io.StringIO()
    Console(out, out).table([["a" * 60, "one"], ["bb", "two"], ["日本", "three"]])
    assert out.getvalue().split("\n")[:3] == ["a" * 60 + "  one", "bb    two", "日本  three"]


def test_a_field_too_many_is_a_bug() -> None:
    with pytest.raises(ValueError, match="takes 1 fields"):
        Console(io.StringIO(), io.StringIO()).say("{}", "a", "b")


def shell(command: str, root: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A command line of the shell; `memui` is this one."""
    # Buffered, as people run it: errors may come as late as the interpreter's last flush.
    environment = {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONPATH": str(ROOT)}
    environment |= {"R": str(root), **more}
    program = f'memui() {{ "{sys.executable}" -m memui "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=False, env=environment
    )


def test_a_reader_that_has_gone_ends_it_silently(store: Make) -> None:
    root = store({f"facts/n{n}.md": "x\n" * 20 for n in range(300)})
    for words in ("list", "list --json", "--help"):
        ran = shell(f'memui "$R" {words} | true; echo ${{PIPESTATUS[0]}}', root)
        assert (ran.stdout, ran.stderr) == ("141\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_a_failure(store: Make) -> None:
    root = store(FILES)
    for words in ("list", "list --json", "--help"):
        ran = shell(f'memui "$R" {words} >/dev/full', root)
        assert ran.returncode == 1
        assert ran.stderr == (
            "memui: Standard output cannot be written: No space left on device.\n"
        )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_run_whose_report_cannot_be_written_is_told_all_the_same(store: Make) -> None:
    root = store(FILES)
    for words in (
        'plan -o "$R"/../p.json; memui "$R" apply "$R"/../p.json --approve all --yes',
        "describe facts/kiln.md x",
        "undo --yes",
        "describe facts/kiln.md y --json",
    ):
        ran = shell(f'memui "$R" {words} >/dev/full', root)
        assert ran.returncode == 1
        number = len(open_store(str(root)).runs())
        assert f"Run {number}-" in ran.stderr
        assert " was made all the same. undo: memui " in ran.stderr


def test_facts_and_messages_keep_their_order_in_one_file(store: Make) -> None:
    root = store(FILES)
    told = shell('memui "$R" describe facts/net.md x 2>&1', root).stdout.split("\n")
    assert [line.partition(" ")[0] for line in told] == ["Described", "undo:", ""]


def test_closed_streams_are_said_or_borne(store: Make) -> None:
    root = store(FILES)
    ran = shell('memui "$R" apply x.json --yes >&-', root)
    assert (ran.returncode, "closed" in ran.stderr) == (1, True)
    assert shell('memui "$R" describe facts/net.md x 2>&-', root).returncode == 0
    assert shell('memui "$R" add <&-', root).returncode == 2


def test_an_old_terminals_encoding_is_borne(store: Make, tmp_path: Path) -> None:
    root = store({"facts/a.md": "---\ndescription: Größe → 本\n---\n\nx\n"})
    ran = shell('memui "$R" list', root, PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert ran.stdout == "facts/a.md  Gr\\xf6\\xdfe \\u2192 \\u672c\n"


def test_ctrl_c_is_one_line_and_its_own_exit_code(store: Make) -> None:
    root = store(FILES)
    words = [str(root), "describe", "facts/net.md", "x", "--wait", "600"]
    with (
        open_for_writing(open_store(str(root)).place),
        subprocess.Popen(
            [sys.executable, "-m", "memui", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as ran,
    ):
        assert ran.stderr is not None
        assert ran.stderr.readline().startswith(b"Waiting for ")
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate()
    assert (ran.returncode, out) == (130, b"")
    assert err == b"Stopped. Nothing was left half done.\n"


def test_ctrl_c_at_the_question_changes_nothing(
    terminal: Call, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store(FILES)
    assert terminal(root, "describe", "facts/net.md", "x").code == 0

    def interrupt(_: Terminal) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(Terminal, "readline", interrupt)
    assert terminal(root, "undo").code == 130
    assert "x" in (root / "memory/agent/facts/net.md").read_text().split("\n")[1]


def test_a_bug_is_one_line_and_its_place_is_told_on_request(
    memui: Call, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store(FILES)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("\x1b[2J")

    monkeypatch.setattr("engine.store.Store.listing", broken)
    ended = memui(root, "list", "--json")
    assert ended.code == 1
    assert "memui has a bug: ZeroDivisionError: ␛[2J" in ended.err
    assert "Traceback" not in ended.err
    assert ended.json["error"]["unchanged"] is False
    monkeypatch.setenv("MEMUI_DEBUG", "1")
    assert "Traceback" in memui(root, "list").err


def test_json_is_the_only_thing_on_stdout(memui: Call, store: Make) -> None:
    root = store(FILES)
    for words in (["list"], ["plan"], ["describe", "facts/net.md", "x"], ["undo", "--yes"], ["x"]):
        json.loads(memui(root, *words, "--json").out)
