"""Which command, which store and what for, however it is written."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from memui.arguments import locate, parse
from memui.ending import UsageError
from memui.grammar import COMMANDS, VALUED, command_parser, main_parser
from tests.cli.conftest import Call
from tests.cli.plans import FILES, KILN, NET
from tests.conftest import Make


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["/nosuch", "list"], 1, "not-a-store"),
        (["list", "/nosuch"], 1, "not-a-store"),
        (["show", "/nosuch", "a.md"], 1, "not-a-store"),
        (["list"], 1, "not-a-store"),
        (["frob", "--json", "x"], 2, "usage"),
        (["lsit"], 2, "usage"),
        (["help"], 2, "usage"),
        (["show"], 2, "usage"),
        (["search"], 2, "usage"),
        (["list", "--nosuch"], 2, "usage"),
        (["list", "--js"], 2, "usage"),
        (["apply"], 2, "usage"),
        (["describe", "a.md", "two", "words"], 2, "usage"),
        (["recover", "--wait", "nan"], 2, "usage"),
        (["recover", "--wait", "-1"], 2, "usage"),
        (["x", "list", "--in", "y"], 2, "usage"),
        (["x", "demo"], 2, "usage"),
    ],
)
def test_bad_words_end_with_their_code(memui: Call, words: list[str], code: int, kind: str) -> None:
    ended = memui(*words, *([] if "--json" in words else ["--json"]))
    assert ended.code == code
    assert ended.json["error"]["code"] == kind
    assert ended.json["error"]["unchanged"] is True


@pytest.mark.parametrize(
    "words",
    [
        "list STORE",
        "STORE list",
        "list -C STORE",
        "-C STORE list",
        "list --in STORE",
        "--in=STORE list",
        "--json list STORE",
        "--json STORE list",
        "-C STORE --json list",
        "list --store STORE",
        "list STORE#agent",
        "STORE list --store agent --layout namespaced",
    ],
)
def test_a_store_may_stand_before_the_command_after_it_or_after_an_option(
    memui: Call, store: Make, words: str
) -> None:
    root = store(FILES)
    given = words.replace("STORE", str(root)).split()
    listed = memui(*given, *([] if "--json" in given else ["--json"]))
    assert [m["path"] for m in listed.json["memories"]] == sorted(FILES)


@pytest.mark.parametrize(
    "words", ["show STORE facts/net.md", "search STORE cone", "log STORE facts/net.md"]
)
def test_a_store_may_stand_before_what_a_command_works_on(
    memui: Call, store: Make, words: str
) -> None:
    root = store(FILES)
    assert memui(*words.replace("STORE", str(root)).split()).code == 0


def test_a_store_is_taken_from_the_environment_then_from_here_then_from_home(
    memui: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name in ((".", "here"), ("~", "home"), (str(tmp_path), "named")):
        folder = Path(place).expanduser() / ".strands" / "memory" / name / "facts"
        folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("MEMUI_STORE", str(tmp_path / ".strands"))
    assert memui("list", "--json").json["store"]["name"] == "named"
    monkeypatch.delenv("MEMUI_STORE")
    # The tests' home is the working folder: both names are found below one root.
    assert "here, home" in memui("list", "--json").json["error"]["message"]


def test_words_that_are_also_folders_mean_what_the_command_works_on(
    memui: Call, store: Make
) -> None:
    root = store(FILES)
    for name in ("cone", "1", "list"):
        Path(name).mkdir()
    assert memui("search", "cone", "-C", root, "--json").json["query"] == "cone"
    assert parse(["search", "cone"])[1].spec is None
    assert parse(["undo", "1"])[1].run == "1"
    assert parse(["undo", "./1"])[1].spec == "./1"
    assert parse(["log", "list"])[1].spec == "list"
    assert parse(["./list"])[1].spec == "./list"
    assert parse(["list", "list"])[1].spec == "list"


def test_a_name_that_starts_with_a_dash_is_given_after_two(memui: Call, store: Make) -> None:
    root = store({"facts/x.md": KILN + "- Not --json.\n", "-rf.md": NET})
    assert memui(root, "show", "--json", "--", "-rf.md").json["description"] == "net"
    assert memui(root, "search", "--", "--json").out == "facts/x.md:8  - Not --json.\n"


def test_a_word_close_to_a_command_is_answered_with_it(memui: Call) -> None:
    assert "plan" in memui("plna").err
    assert "plan" in memui("/x", "plna").err


def test_every_option_that_takes_a_value_is_known_before_the_command_is() -> None:
    parsers = [main_parser(), *map(command_parser, COMMANDS)]
    actions = [action for parser in parsers for action in parser._actions]
    taking = {
        option
        for action in actions
        if action.nargs is None and not isinstance(action, argparse._HelpAction)
        for option in action.option_strings
    }
    assert taking == VALUED


@pytest.mark.parametrize("name", COMMANDS)
def test_the_value_of_an_option_is_never_taken_for_a_command(name: str) -> None:
    assert locate(["-C", name, "list"]) == (None, "list", ["-C", name])
    assert locate(["--store", name, "x", "list"]) == ("x", "list", ["--store", name])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_in_one_sentence(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse([name, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert max(map(len, told.split("\n"))) <= 100
    assert COMMANDS[name].says[1:] in told
    assert COMMANDS[name].example in told


def test_one_sentence_a_command_is_in_the_help(memui: Call) -> None:
    told = memui("--help").out
    assert all(command.says in told for command in COMMANDS.values())


def test_a_store_named_twice_is_refused() -> None:
    with pytest.raises(UsageError):
        parse(["a", "list", "-C", "b"])
