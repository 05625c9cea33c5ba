"""Commands that are printed to be pasted do what they say, whatever a path is called."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from engine.characters import visible
from memui.arguments import parse
from memui.pasting import command_line, file_word, quoted
from tests.cli.conftest import Call
from tests.cli.plans import FILES, delete, plan
from tests.conftest import Make

ODD = (
    "a b",
    "it's",
    "-x",
    "--yes",
    "--keep",
    "$(touch x)`touch x`;&|<>!*?[~#",
    "\x1b]52;c;aGk=\x07",
    "\u202egnp",
    "new\nline\ttab\\",
    "caf\u00e9 \u65e5\u672c",
    "a\u200bb'\\x41",
    "\udcff\udcfe",
    "",
)


def by_shell(line: str) -> list[str]:
    """The words that bash makes of a line."""
    ran = subprocess.run(
        ["bash", "-c", f'said() {{ printf "%s\\0" "$@"; }}; said {line}'],
        capture_output=True,
        check=True,
    )
    return [os.fsdecode(word) for word in ran.stdout.split(b"\0")[:-1]]


def test_the_shell_reads_back_every_word_and_nothing_hidden_is_printed() -> None:
    line = quoted(ODD)
    assert visible(line) == line
    assert by_shell(line) == list(ODD)


@pytest.mark.parametrize("name", [word for word in ODD if word])
def test_a_printed_command_means_the_same_store_path_and_options(name: str) -> None:
    said = command_line(name, ["undo", "3", "--keep", name, "--store", name, "--yes"])
    command, asked = parse(by_shell(said)[1:])
    assert command is not None
    assert command.runs == "undo:undo"
    assert os.path.normpath(asked.spec) == os.path.normpath(name)
    assert (asked.run, asked.keep, asked.store, asked.yes) == ("3", [name], name, True)
    _, asked = parse(by_shell(command_line(name, ["check", file_word(name)]))[1:])
    assert os.path.normpath(asked.plan) == os.path.normpath(name)


@pytest.mark.parametrize("name", ["-n.md", "a b.md", "o'k.md", "hid\u200bden.md", "caf\u00e9.md"])
def test_the_choices_of_an_undo_can_be_pasted_for_any_memory(
    memui: Call, store: Make, name: str
) -> None:
    root = store({f"facts/{name}": "one\n", name: "one\n"})
    for path in (f"facts/{name}", name):
        assert memui(root, "describe", "--", path, "about one").code == 0
        (root / "memory/agent" / path).write_text("theirs\n")
        ended = memui(root, "undo", "--yes")
        assert ended.code == 4
        (line,) = [row for row in ended.err.split("\n") if "--take" in row]
        assert memui(*by_shell(line.strip())[1:]).code == 0
        assert (root / "memory/agent" / path).read_text() == "one\n"


def test_the_commands_after_a_plan_run_as_they_are_printed(
    memui: Call, store: Make, terminal: Call, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "-p.json"
    os.chdir(tmp_path)
    planned = memui(root, "plan", "--output=-p.json")
    lines = [row.strip() for row in planned.err.split("\n") if row.startswith("  ")]
    assert [shlex.split(line)[2] for line in lines] == ["check", "review", "apply"]
    assert lines[-1].endswith("--yes")
    assert memui(*shlex.split(lines[0])[1:]).code == 0
    assert memui(*shlex.split(lines[2])[1:], "--json").json["result"] == "applied"
    file.write_text(plan(delete("facts/kiln.md")))
    told = terminal(root, "plan", "-o", tmp_path / "other.json").err
    assert "--yes" not in told
