"""Looking: shapes, what is shown of hostile names and texts, and what looking warns of."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from memui.cli import run
from memui.grammar import COMMANDS
from tests.cli.conftest import Call
from tests.cli.plans import FILES, HOSTILE
from tests.conftest import Make


def test_the_shapes_of_looking(memui: Call, store: Make) -> None:
    root = store(FILES)
    listed = memui("list", root, "--json").json
    assert listed["store"] == {"name": "agent", "layout": "namespaced", "root": str(root)}
    assert [m["path"] for m in listed["memories"]] == sorted(FILES)
    assert set(listed["memories"][0]) >= {
        "path", "description", "title", "size", "modified", "warnings",
    }  # fmt: skip
    shown = memui(root, "show", "facts/net.md", "--json").json
    assert shown["description"] == "net"
    assert shown["encoding"] == "utf-8"
    assert len(shown["digest"]) == 64
    hits = memui("search", "CONE", "-C", root, "--json").json
    assert [(h["path"], h["line"], h["snippet"]) for h in hits["hits"]] == [
        ("facts/kiln.md", 7, "- Cone 6.")
    ]
    assert memui("log", "-C", root, "--json").json == {"runs": []}
    assert memui("doctor", root, "--json").json == {"problems": []}


def test_a_name_that_is_not_utf8_is_listed_shown_and_undone(memui: Call, store: Make) -> None:
    root = store({})
    folder = os.fsencode(root / "memory/agent/facts")
    with open(folder + b"/caf\xe9.md", "wb") as file:
        file.write(b"# Coffee\n")
    listed = memui(root, "list", "--json").json["memories"]
    assert listed[0]["path"] == "facts/caf<byte E9>.md"
    assert listed[0]["path_base64"] == "ZmFjdHMvY2Fm6S5tZA=="
    path = os.fsdecode(b"facts/caf\xe9.md")
    described = memui(root, "describe", path, "about coffee", "--json")
    assert described.code == 0
    assert memui(root, "log", "--json").code == 0
    assert memui(root, "undo", "--yes").code == 0
    with open(folder + b"/caf\xe9.md", "rb") as file:
        assert file.read() == b"# Coffee\n"


def test_no_escape_of_a_file_reaches_the_terminal(memui: Call, store: Make) -> None:
    name = "facts/evil\x1b[31m\u202e[/nope].md"
    root = store({name: f"---\ndescription: {HOSTILE}\n---\n\n# {HOSTILE}\n{HOSTILE}\n"})
    for words in (
        ["list"],
        ["search", "nope"],
        ["doctor"],
        ["log"],
        ["show", name],
        ["show", name, "--json"],
    ):
        ended = memui(root, *words)
        assert ended.code == 0
        for bad in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert bad not in ended.out + ended.err


def test_looking_warns_of_an_unfinished_run_and_recover_drives_it(memui: Call, store: Make) -> None:
    from engine.store import Store, open_store
    from tests.engine.faults import Acting, Died

    root = store(FILES)
    place = open_store(str(root)).place

    def die_taking(call: str) -> None:
        if call == "exchange":
            raise Died

    with pytest.raises(Died):
        Store(place, files=Acting(1, die_taking, always=True)).describe(
            "facts/net.md", "x", who="t"
        )
    listed = memui(root, "list")
    assert "stopped in the middle" in listed.err
    assert "recover" in listed.err
    problems = memui(root, "doctor", "--json").json["problems"]
    assert [p["code"] for p in problems] == ["unfinished-run"]
    done = memui(root, "recover", "--json").json["runs"]
    assert [r["result"] for r in done] == ["finished"]
    assert memui(root, "recover", "--json").json == {"runs": []}


def test_the_log_of_one_memory_holds_its_runs_only(memui: Call, store: Make) -> None:
    root = store(FILES)
    memui(root, "describe", "facts/net.md", "one")
    memui(root, "describe", "facts/kiln.md", "two")
    runs = memui(root, "log", "facts/kiln.md", "--json").json["runs"]
    assert [(r["kind"], r["actions"][0]["paths"]) for r in runs] == [
        ("describe", ["facts/kiln.md"])
    ]
    assert {"run", "kind", "time", "who", "actions"} <= set(runs[0])


def test_several_stores_are_told_apart_by_name(memui: Call, store: Make) -> None:
    root = store(FILES)
    (root / "memory/other").mkdir()
    refused = memui(root, "list", "--json")
    assert refused.code == 1
    assert "agent, other" in refused.json["error"]["message"]
    assert memui(root, "list", "--store", "other", "--json").json["store"]["name"] == "other"
    assert memui(f"{root}#agent", "list", "--json").json["store"]["name"] == "agent"
    assert "2 memories" not in memui(root).out
    assert "agent (namespaced): 3 memories" in memui(root).out


def test_a_read_only_store_can_be_looked_at_and_planned_for(
    memui: Call, store: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    monkeypatch.setattr("engine.layouts._writable", lambda path: False)
    assert memui(root, "list").code == 0
    assert memui(root, "plan", "-o", file).code == 0
    assert memui(root, "check", file).code == 0
    ended = memui(root, "apply", file, "--approve", "all", "--yes", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (1, "io")
    assert not (root / ".memui").exists()


def test_the_demo_says_where_it_is(memui: Call) -> None:
    made = memui("demo", "--json").json
    checked = memui(made["root"], "check", made["plan"], "--json")
    assert checked.code == 0
    assert {len(entry["needs"]) for entry in checked.json["ledger"]} == {0, 1}


def test_on_a_terminal_only_our_own_styles_reach_it(terminal: Call, store: Make) -> None:
    name = "facts/evil\x1b[31m.md"
    root = store({name: f"---\ndescription: {HOSTILE}\n---\n\n# {HOSTILE}\n"})
    ours = re.compile(r"\x1b\[(0|1|2|7|31|32|33|36)m")
    for words in (["list"], ["search", "nope"], ["doctor"], ["show", name]):
        ended = terminal(root, *words)
        assert ended.code == 0
        assert ours.search(ended.out)
        rest = ours.sub("", ended.out + ended.err)
        assert not any(char < " " and char != "\n" for char in rest)
        assert "\x9b" not in rest
        assert "\u202e" not in rest


def test_a_mark_that_a_file_spells_does_not_look_like_one_of_ours(
    terminal: Call, store: Make
) -> None:
    root = store({"facts/a.md": "<U+202E RLO> \u202e\n"})
    shown = terminal(root, "show", "facts/a.md").out
    assert "<U+202E RLO> \x1b[7m<U+202E RLO>\x1b[0m" in shown


def test_no_colour_is_sent_where_nobody_wants_it(
    terminal: Call, memui: Call, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store(FILES)
    assert "\x1b" not in memui(root, "list").out
    assert "\x1b" in terminal(root, "list").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in terminal(root, "list").out


def test_the_bytes_of_a_memory_go_to_a_pipe_and_never_onto_a_terminal(
    terminal: Call, store: Make, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    data = b"\xef\xbb\xbf# Caf\xe9\r\n\x1b[2J"
    root = store({"facts/a.md": data})
    assert run([str(root), "show", "facts/a.md", "--raw"]) == 0
    assert capfdbinary.readouterr().out == data
    refused = terminal(root, "show", "facts/a.md", "--raw")
    assert (refused.code, refused.out) == (2, "")


def test_json_holds_nothing_that_a_strict_reader_refuses(memui: Call, store: Make) -> None:
    root = store({"facts/a.md": b"x \xff y\n"})
    shown = memui(root, "show", "facts/a.md", "--json").json
    assert shown["body"] == "x <byte FF> y\n"
    shown["body"].encode()


def test_without_a_terminal_memui_names_its_stores_and_commands(memui: Call, store: Make) -> None:
    root = store(FILES)
    ended = memui(root)
    assert ended.code == 0
    assert "agent (namespaced): 3 memories" in ended.out
    assert all(f"memui {name} " in ended.out for name in COMMANDS)
    assert memui(root, "--json").json["stores"][0]["memories"] == 3


def test_without_a_terminal_and_a_store_memui_still_says_what_it_can_do(memui: Call) -> None:
    ended = memui()
    assert ended.code == 0
    assert "no ~/.strands" in ended.out
    assert "memui demo" in ended.out
    assert memui("--json").json == {"stores": []}


def test_every_looking_command_warns_of_an_unfinished_run_in_json_too(
    memui: Call, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store(FILES)
    assert memui(root, "describe", "facts/net.md", "x").code == 0
    run_id = memui(root, "log", "--json").json["runs"][0]["run"]
    os.unlink(root / ".memui" / "memory%2Fagent" / "runs" / run_id / "done")
    for words in (["list"], ["search", "net"], ["show", "facts/net.md"], ["log"], ["doctor"]):
        assert "stopped in the middle" in memui(root, *words, "--json").err
    assert "stopped in the middle" in memui(root).err


def test_a_path_that_no_run_changed_is_said_to_be_one(memui: Call, store: Make) -> None:
    root = store(FILES)
    memui(root, "describe", "facts/net.md", "one")
    assert "facts/kiln.md" in memui(root, "log", "facts/kiln.md").err
