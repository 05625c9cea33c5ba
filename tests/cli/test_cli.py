"""The command line as people and scripts meet it: shapes, exit codes, and every bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memui.cli import run
from tests.conftest import Make, tree

NET = '---\ndescription: "net"\n---\n\n# Net\n\n- On Tuesday.\n- At 20:00.\n'
KILN = '---\ndescription: "kiln"\n---\n\n# Kiln\n\n- Cone 6.\n'
FILES: dict[str, str | bytes] = {
    "facts/net.md": NET,
    "facts/copy.md": NET,
    "facts/kiln.md": KILN,
}


class Said:
    """What a command printed, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        assert self.out.isascii()
        return json.loads(self.out)


@pytest.fixture
def memui(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: object) -> Said:
        capsys.readouterr()
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call


def plan(*actions: dict[str, Any]) -> str:
    return json.dumps({"actions": list(actions), "summary": "tidy"})


def delete(path: str) -> dict[str, Any]:
    return {"action": "delete", "path": path, "reason": "old"}


def update(path: str, content: str) -> dict[str, Any]:
    return {"action": "update", "path": path, "content": content, "reason": "new"}


def test_the_shapes_of_looking(memui: Any, store: Make) -> None:
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


def test_plan_check_apply_undo_leaves_every_byte_mode_and_owner(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    (root / "memory/agent/facts/net.md").chmod(0o640)
    before = tree(root)
    planned = memui(root, "plan", "--planner", "rules", "-o", file, "--json").json
    assert planned["actions"] == 1
    assert planned["file"] == str(file)
    assert tree(root) == before
    checked = memui(root, "check", file, "--json")
    assert checked.code == 0
    assert checked.json["valid"]
    assert checked.json["ledger"][0]["dropped"] == []
    applied = memui(root, "apply", file, "--approve", "all", "--yes", "--json").json
    assert applied["result"] == "applied"
    assert applied["deleted"]
    assert tree(root) != before
    words = applied["undo"].split()
    assert words[0] == "memui"
    assert memui(*words[1:], "--json").json["result"] == "undone"
    after = tree(root)
    after.pop("memory/agent/consolidation-changelog.md")
    assert after == before


def test_a_bare_plan_is_applied_in_two_parts_and_checked_again(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md"), delete("facts/kiln.md")))
    first = memui(root, "apply", file, "--approve", "1", "--yes", "--json")
    assert (first.code, first.json["result"]) == (0, "applied")
    assert "never seen" in first.err
    (root / "memory/agent/facts/kiln.md").write_text("changed\n")
    second = memui(root, "apply", file, "--approve", "2", "--yes", "--json")
    assert (second.code, second.json["result"]) == (4, "conflict")
    assert second.json["conflicts"] == [{"path": "facts/kiln.md", "why": "changed on disk"}]
    assert (root / "memory/agent/facts/kiln.md").read_text() == "changed\n"
    again = memui(root, "apply", file, "--approve", "1", "--yes", "--json")
    assert again.code == 4
    assert first.json["run"] in again.json["error"]["message"]


def test_an_undone_action_waits_again(memui: Any, store: Make, tmp_path: Path) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md")))
    assert memui(root, "apply", file, "--approve", "all", "--yes").code == 0
    assert memui(root, "apply", file, "--approve", "all", "--yes", "--json").json["result"] == (
        "nothing"
    )
    assert memui(root, "undo", "--yes").code == 0
    assert memui(root, "apply", file, "--yes", "--json").json["result"] == "nothing"
    assert memui(root, "apply", file, "--approve", "all", "--yes").code == 0
    assert not (root / "memory/agent/facts/copy.md").exists()


def test_bulk_approval_skips_a_delete_whose_carrier_is_rejected(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store({"facts/a.md": KILN, "facts/b.md": NET}), tmp_path / "p.json"
    file.write_text(
        plan(update("facts/a.md", KILN + "- On Tuesday.\n- At 20:00.\n"), delete("facts/b.md"))
    )
    ledger = memui(root, "check", file, "--json").json["ledger"]
    assert ledger[1]["needs"] == [1]
    assert {d["text"] for d in ledger[1]["dropped"]} >= {"On Tuesday.", "At 20:00."}
    done = memui(root, "apply", file, "--approve", "all", "--reject", "1", "--yes", "--json")
    assert (done.code, done.json["result"]) == (5, "partial")
    assert done.json["skipped"] == [{"action": 2, "why": "needs action 1, which does not run"}]
    assert (root / "memory/agent/facts/b.md").read_text() == NET


def test_a_stale_action_is_skipped_on_request_and_the_rest_applied(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md"), delete("facts/kiln.md")))
    assert memui(root, "check", file).code == 0
    (root / "memory/agent/facts/kiln.md").write_text("changed\n")
    stale = memui(root, "check", file, "--json")
    assert stale.code == 4
    assert stale.json["stale"] == [{"path": "facts/kiln.md", "why": "changed on disk"}]
    words = ("apply", file, "--approve", "all", "--on-stale", "skip", "--yes", "--json")
    done = memui(root, *words)
    assert (done.code, done.json["deleted"]) == (5, ["facts/copy.md"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('{"actions": [], "actions": [], "summary": ""}', "stands twice"),
        ("[]", "object"),
        ('{"actions": [{"action": "zap"}], "summary": ""}', "zap"),
        ('{"format": "other"}', "memui-plan"),
        ('{"format": "memui-plan", "version": 2}', "version 2"),
    ],
)
def test_a_plan_that_is_none_is_refused_with_its_fault(
    memui: Any, store: Make, tmp_path: Path, text: str, said: str
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(text)
    before = tree(root)
    for words in (["check", file], ["apply", file, "--approve", "all", "--yes"]):
        ended = memui(root, *words, "--json")
        assert ended.code == 3
        assert said in ended.json["error"]["message"]
        assert ended.json["error"]["code"] == "invalid"
        assert said in memui(root, *words).err
    assert tree(root) == before


def test_every_violation_is_named_by_action_at_once(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("ghost.md"), update("facts/net.md", ""), delete("facts/kiln.md")))
    checked = memui(root, "check", file, "--json")
    assert checked.code == 3
    assert [(v["action"], v["code"]) for v in checked.json["violations"]] == [
        (1, "unknown-path"),
        (2, "content-empty"),
    ]
    refused = memui(root, "apply", file, "--approve", "all", "--yes", "--json")
    assert (refused.code, refused.json["result"]) == (3, "invalid")
    valid = memui(root, "apply", file, "--approve", "3", "--yes", "--json")
    assert (valid.code, valid.json["deleted"]) == (0, ["facts/kiln.md"])


def test_a_plan_of_another_store_is_refused(memui: Any, store: Make, tmp_path: Path) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    other = tmp_path / "notes"
    other.mkdir()
    (other / "a.md").write_text("x\n")
    (other / "b.md").write_text("x\n")
    assert memui(other, "plan", "-o", file).code == 0
    ended = memui(root, "apply", file, "--approve", "all", "--yes", "--json")
    assert ended.code == 3
    assert "notes" in ended.json["error"]["message"]


def test_two_reviewers_of_one_file_do_not_overwrite_each_other(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    from engine.errors import Conflict
    from engine.plans import open_plan, write_review
    from engine.review import Verdict
    from engine.store import open_store

    root, file = store(FILES), tmp_path / "p.json"
    assert memui(root, "plan", "-o", file).code == 0
    opened = open_store(str(root))
    mine, theirs = open_plan(opened, str(file)), open_plan(opened, str(file))
    review = mine.saved.review.decide(0, Verdict.REJECTED, seen="")
    write_review(opened, mine, mine.saved.reviewed(review))
    with pytest.raises(Conflict):
        write_review(opened, theirs, theirs.saved)


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["/nosuch", "list"], 1, "not-a-store"),
        (["list"], 1, "not-a-store"),
        (["frob", "--json", "x"], 2, "usage"),
        (["show"], 2, "usage"),
        (["list", "--nosuch"], 2, "usage"),
        (["apply"], 2, "usage"),
    ],
)
def test_bad_words_end_with_their_code(memui: Any, words: list[str], code: int, kind: str) -> None:
    ended = memui(*words, *([] if "--json" in words else ["--json"]))
    assert ended.code == code
    assert ended.json["error"]["code"] == kind
    assert ended.json["error"]["unchanged"] is True


def test_a_name_that_starts_with_a_dash_is_given_after_two(memui: Any, store: Make) -> None:
    root = store({"facts/x.md": KILN, "-rf.md": NET})
    assert memui(root, "show", "--json", "--", "-rf.md").json["description"] == "net"


def test_a_file_is_no_store(memui: Any, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert memui("-C", tmp_path / "x", "list", "--json").json["error"]["code"] == "not-a-store"


def test_what_changes_files_asks_first_and_without_a_terminal_refuses(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md")))
    before = tree(root)
    ended = memui(root, "apply", file, "--approve", "all")
    assert ended.code == 2
    assert "facts/copy.md" in ended.err
    assert "--yes" in ended.err
    assert tree(root) == before
    assert memui(root, "review", file).code == 2


def test_a_fifo_as_plan_or_memory_never_blocks(memui: Any, store: Make, tmp_path: Path) -> None:
    root = store(FILES)
    os.mkfifo(tmp_path / "pipe.json")
    os.mkfifo(root / "memory/agent/facts/pipe.md")
    assert memui(root, "check", tmp_path / "pipe.json", "--json").json["error"]["code"] == "io"
    listed = memui(root, "list", "--json").json
    assert listed["others"] == [{"path": "facts/pipe.md", "why": "device, socket or FIFO"}]
    assert memui(root, "show", "facts/pipe.md", "--json").code == 1


def test_a_name_that_is_not_utf8_is_listed_shown_and_undone(memui: Any, store: Make) -> None:
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


HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\u202e[@click=app.quit]x[/][/nope]\x9b31m"


def test_no_escape_of_a_file_reaches_the_terminal(memui: Any, store: Make) -> None:
    name = "facts/evil\x1b[31m\u202e[/nope].md"
    root = store({name: f"---\ndescription: {HOSTILE}\n---\n\n# {HOSTILE}\n{HOSTILE}\n"})
    for words in (["list"], ["search", "nope"], ["doctor"], ["log"], ["show", name, "--json"]):
        ended = memui(root, *words)
        assert ended.code == 0
        for bad in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert bad not in ended.out + ended.err


def test_adding_describing_and_editing_are_runs_that_undo_takes_back(
    memui: Any, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store(FILES)
    before = tree(root)

    def typed(text: str) -> None:
        import io

        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    typed("Green tea steeps for two minutes. Not longer.\n")
    added = memui(root, "add", "--json").json
    assert added["path"] == "facts/green-tea-steeps-for-two-minutes.md"
    assert memui(root, "describe", "facts/kiln.md", "firing", "--json").json["run"]
    assert 'description: "firing"' in (root / "memory/agent/facts/kiln.md").read_text()
    typed(NET + "- Bring tea.\n")
    assert memui(root, "edit", "facts/net.md", "--from", "-", "--json").json["run"]
    for _ in range(3):
        assert memui(root, "undo", "--yes").code == 0
    after = tree(root)
    after.pop("memory/agent/consolidation-changelog.md")
    assert after == before
    assert memui(root, "undo", "--yes").code == 1


def test_an_edit_may_not_break_what_the_file_kept(
    memui: Any, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    root = store(FILES)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no frontmatter\n")))
    ended = memui(root, "edit", "facts/net.md", "--from", "-", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (3, "invalid")
    assert (root / "memory/agent/facts/net.md").read_text() == NET


def test_the_editor_is_started_without_a_shell_on_a_copy_outside_the_store(
    store: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from memui.editor import edit_text

    seen = tmp_path / "seen"
    script = tmp_path / "my editor"
    script.write_text(f'#!/bin/sh\necho "$1" > {seen}\nprintf \'more\\n\' >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{script}'")
    assert edit_text(b"text\n", "facts/$(touch owned) x.md") == b"text\nmore\n"
    assert str(store({})) not in seen.read_text()
    assert not (tmp_path / "owned").exists()


def test_a_read_only_store_can_be_looked_at_and_planned_for(
    memui: Any, store: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    monkeypatch.setattr("engine.layouts._writable", lambda path: False)
    assert memui(root, "list").code == 0
    assert memui(root, "plan", "-o", file).code == 0
    assert memui(root, "check", file).code == 0
    ended = memui(root, "apply", file, "--approve", "all", "--yes", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (1, "io")
    assert not (root / ".memui").exists()


def test_an_empty_store_has_nothing_to_plan(memui: Any, store: Make) -> None:
    ended = memui(store({}), "plan", "--json")
    assert (ended.code, ended.json["actions"]) == (0, 0)


def test_the_demo_says_where_it_is(memui: Any) -> None:
    made = memui("demo", "--json").json
    checked = memui(made["root"], "check", made["plan"], "--json")
    assert checked.code == 0
    assert {len(entry["needs"]) for entry in checked.json["ledger"]} == {0, 1}


def test_a_broken_pipe_is_silent(store: Make) -> None:
    root = store({f"facts/n{n}.md": "x\n" * 20 for n in range(300)})
    shell = f"{sys.executable} -m memui {root} list | head -1"
    ran = subprocess.run(
        ["sh", "-c", shell],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert ran.stderr == ""


def test_a_locked_store_names_its_holder_and_ends_with_6(memui: Any, store: Make) -> None:
    from engine.commit import open_for_writing
    from engine.store import open_store

    root = store(FILES)
    with open_for_writing(open_store(str(root)).place):
        ended = memui(root, "describe", "facts/net.md", "x", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (6, "locked")
    assert str(os.getpid()) in ended.json["error"]["message"]


def test_looking_warns_of_an_unfinished_run_and_recover_drives_it(memui: Any, store: Make) -> None:
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


def test_an_undo_that_would_overwrite_names_what_changed(memui: Any, store: Make) -> None:
    root = store(FILES)
    assert memui(root, "describe", "facts/net.md", "one").code == 0
    (root / "memory/agent/facts/net.md").write_text("theirs\n")
    ended = memui(root, "undo", "--yes", "--json")
    assert (ended.code, ended.json["result"]) == (4, "conflict")
    assert ended.json["conflicts"] == [{"path": "facts/net.md", "why": "changed on disk"}]
    assert (root / "memory/agent/facts/net.md").read_text() == "theirs\n"


def test_the_log_of_one_memory_holds_its_runs_only(memui: Any, store: Make) -> None:
    root = store(FILES)
    memui(root, "describe", "facts/net.md", "one")
    memui(root, "describe", "facts/kiln.md", "two")
    runs = memui(root, "log", "facts/kiln.md", "--json").json["runs"]
    assert [(r["kind"], r["actions"][0]["paths"]) for r in runs] == [
        ("describe", ["facts/kiln.md"])
    ]
    assert {"run", "kind", "time", "who", "actions"} <= set(runs[0])


def test_several_stores_are_told_apart_by_name(memui: Any, store: Make) -> None:
    root = store(FILES)
    (root / "memory/other").mkdir()
    refused = memui(root, "list", "--json")
    assert refused.code == 1
    assert "agent, other" in refused.json["error"]["message"]
    assert memui(root, "list", "--store", "other", "--json").json["store"]["name"] == "other"
    assert memui(f"{root}#agent", "list", "--json").json["store"]["name"] == "agent"
    assert "2 memories" not in memui(root).out
    assert "agent (namespaced): 3 memories" in memui(root).out


def test_an_apply_with_nothing_approved_says_so_and_asks_for_nothing(
    memui: Any, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md")))
    ended = memui(root, "apply", file)
    assert (ended.code, "nothing is approved" in ended.out) == (0, True)


def test_every_usage_error_says_what_to_do_next(
    memui: Any, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    root = store(FILES)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for words in (["add"], ["edit", "facts/net.md"], ["review"], ["describe", "facts/net.md"]):
        ended = memui(root, *words, "--json")
        assert ended.code == 2
        assert ended.json["error"]["next"]


@pytest.mark.parametrize("words", [["plan"], ["check"], ["list"], ["doctor"], ["log"]])
def test_commands_end_well_on_a_real_terminal_with_colours(
    store: Make, tmp_path: Path, words: list[str]
) -> None:
    """A pipe takes no style, so only a terminal meets a field without one."""
    import pty

    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md")))
    given = [*words, str(file)] if words == ["check"] else words
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "memui", str(root), *given]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm"}
    ran = subprocess.run(
        command, stdin=theirs, stdout=theirs, stderr=theirs, check=False, timeout=60, env=env
    )
    os.close(theirs)
    shown = os.read(ours, 65536).decode("utf-8", "replace") if words != ["log"] else ""
    os.close(ours)
    assert ran.returncode == 0, shown
    assert "bug" not in shown


def test_an_edit_that_cannot_be_saved_keeps_the_text_and_says_where(
    memui: Any, store: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store(FILES)
    file = root / "memory/agent/facts/net.md"
    script = tmp_path / "editor"
    script.write_text(f"#!/bin/sh\nprintf 'mine\\n' >> \"$1\"\nprintf 'theirs\\n' > {file}\n")
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    ended = memui(root, "edit", "facts/net.md", "--json")
    assert ended.code == 4
    kept = ended.json["error"]["next"].rpartition(" ")[2]
    assert Path(kept).read_text() == NET + "mine\n"
    assert file.read_text() == "theirs\n"
