"""Adding, editing and describing by hand, and the editor."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from memui.editor import EditorFailed, edit_text, rescue
from tests.cli.conftest import Call
from tests.cli.plans import FILES, KILN, NET
from tests.conftest import Make, tree


def test_adding_describing_and_editing_are_runs_that_undo_takes_back(
    memui: Call, store: Make, typed: Callable[[bytes], None]
) -> None:
    root = store(FILES)
    before = tree(root)
    typed(b"Green tea steeps for two minutes. Not longer.\n")
    added = memui(root, "add", "--json").json
    assert added["path"] == "facts/green-tea-steeps-for-two-minutes.md"
    assert memui(root, "describe", "facts/kiln.md", "firing", "--json").json["run"]
    assert 'description: "firing"' in (root / "memory/agent/facts/kiln.md").read_text()
    typed(NET.encode() + b"- Bring tea.\n")
    assert memui(root, "edit", "facts/net.md", "--from", "-", "--json").json["run"]
    for _ in range(3):
        assert memui(root, "undo", "--yes").code == 0
    after = tree(root)
    after.pop("memory/agent/consolidation-changelog.md")
    assert after == before
    assert memui(root, "undo", "--yes", "--json").json["result"] == "nothing"


def test_an_edit_may_not_break_what_the_file_kept(
    memui: Call, store: Make, typed: Callable[[bytes], None]
) -> None:
    root = store(FILES)
    typed(b"no frontmatter\n")
    ended = memui(root, "edit", "facts/net.md", "--from", "-", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (3, "invalid")
    assert (root / "memory/agent/facts/net.md").read_text() == NET


def test_the_editor_is_started_without_a_shell_on_a_copy_outside_the_store(
    store: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    script = tmp_path / "my editor"
    script.write_text(f'#!/bin/sh\necho "$1" > {seen}\nprintf \'more\\n\' >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{script}'")
    assert edit_text(b"text\n", "facts/$(touch owned) x.md") == b"text\nmore\n"
    assert str(store({})) not in seen.read_text()
    assert not (tmp_path / "owned").exists()


def test_a_text_is_added_from_a_flag_and_nothing_is_no_text(
    memui: Call, store: Make, typed: Callable[[bytes], None]
) -> None:
    root = store(FILES)
    added = memui(root, "add", "--text", "Tea steeps.", "--path", "facts/Tea", "--json").json
    assert added["path"] == "facts/tea.md"
    assert "Tea steeps." in (root / "memory/agent/facts/tea.md").read_text()
    typed(b" \n")
    assert memui(root, "add").code == 2
    assert memui(root, "add", "--text", "").code == 2
    assert memui(root, "add", "--text", "x", "--path", "../x").code == 3
    assert memui(root, "add", "--text", "x", "--path", "facts/tea").code == 4


def test_a_new_text_is_piped_in_where_no_editor_is_named(
    memui: Call, store: Make, typed: Callable[[bytes], None]
) -> None:
    root = store(FILES)
    typed(NET.encode() + b"- Bring tea.\n")
    assert memui(root, "edit", "facts/net.md").code == 0
    assert (root / "memory/agent/facts/net.md").read_text() == NET + "- Bring tea.\n"
    typed(b"")
    assert memui(root, "edit", "facts/net.md").code == 2


def script(folder: Path, body: str) -> str:
    """An editor: a shell script that is given the copy's path."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_where_nobody_types_a_named_editor_still_edits(
    memui: Call,
    store: Make,
    typed: Callable[[bytes], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    root = store(FILES)
    typed(b"what nobody asked for")
    monkeypatch.setenv("EDITOR", script(tmp_path, "printf '%s\\n' '- Slow.' >> \"$1\""))
    assert memui(root, "edit", "facts/kiln.md").code == 0
    assert (root / "memory/agent/facts/kiln.md").read_text() == KILN + "- Slow.\n"


def test_an_edit_that_cannot_be_saved_is_kept_and_named(
    memui: Call, store: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = store(FILES)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("EDITOR", script(tmp_path, 'echo mine > "$1"'))
    ended = memui(root, "edit", "facts/net.md", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (3, "invalid")
    kept = ended.err.partition(" is kept in ")[2].strip()
    assert Path(kept).read_text() == "mine\n"
    assert Path(kept).parent.stat().st_mode & 0o777 == 0o700
    assert (root / "memory/agent/facts/net.md").read_text() == NET


def test_an_edit_of_what_somebody_else_wrote_meanwhile_overwrites_nothing(
    memui: Call, store: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = store(FILES)
    live = root / "memory/agent/facts/net.md"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    body = f"printf '%s\\n' '- Mine.' >> \"$1\"; printf '%s\\n' '- Theirs.' >> '{live}'"
    monkeypatch.setenv("EDITOR", script(tmp_path, body))
    ended = memui(root, "edit", "facts/net.md", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (4, "stale")
    assert live.read_text() == NET + "- Theirs.\n"
    kept = ended.err.partition(" is kept in ")[2].strip()
    assert Path(kept).read_text() == NET + "- Mine.\n"


@pytest.mark.parametrize(("body", "kept"), [("exit 3", False), ('echo mine > "$1"; exit 3', True)])
def test_an_editor_that_fails_changes_nothing_and_what_it_wrote_is_kept(
    store: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, kept: bool
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("VISUAL", script(tmp_path, body))
    with pytest.raises(EditorFailed) as failed:
        edit_text(b"text\n", "facts/a.md")
    assert "status 3" in str(failed.value)
    copies = list(tmp_path.glob("memui-edit-*/*"))
    assert [copy.read_text() for copy in copies] == (["mine\n"] if kept else [])
    assert all(str(copy) in failed.value.hint for copy in copies)


@pytest.mark.parametrize("said", ["nosuch-editor", "'unclosed"])
def test_an_editor_that_cannot_be_started_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("EDITOR", said)
    with pytest.raises(EditorFailed, match=said):
        edit_text(b"text\n", "a.md")
    assert not list(tmp_path.glob("memui-*"))


class Person:
    """Saves the copy in another window before answering, or does not."""

    def __init__(self, text: bytes | None) -> None:
        self.text = text
        self.asked = ""

    def ask(self, question: str, *fields: object) -> str:
        self.asked = str(fields[0])
        if self.text is not None:
            Path(self.asked).write_bytes(self.text)
        return ""


def test_an_editor_that_returns_at_once_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("EDITOR", script(tmp_path, "exit 0"))
    person = Person(b"later\n")
    assert edit_text(b"text\n", "a.md", person) == b"later\n"
    assert not os.path.exists(person.asked)
    person = Person(None)
    assert edit_text(b"text\n", "a.md", person) == b"text\n"
    assert Path(person.asked).read_bytes() == b"text\n"  # a window may hold it still


def test_ctrl_c_in_the_editor_is_the_editors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    body = 'trap "echo interrupted >> $1" INT; kill -INT $PPID; kill -INT $$; exit 0'
    monkeypatch.setenv("EDITOR", script(tmp_path, body))
    before = signal.getsignal(signal.SIGINT)
    assert edit_text(b"text\n", "a.md") == b"text\ninterrupted\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_name_of_any_kind_becomes_a_plain_file_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("a/../../x.md", "-rf.md", "\x1b[2J.md", "\udcff.md", "\u202e", "本" * 300 + ".md"):
        kept = Path(rescue(b"x", name))
        assert kept.parent.parent == tmp_path
        assert kept.name.isprintable()
        assert not kept.name.startswith("-")


def test_what_is_hidden_or_no_markdown_is_looked_at_and_never_changed(
    memui: Call, store: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.conftest import tree

    other: dict[str, str | bytes] = {
        ".hidden/x.md": NET,
        ".dot.md": NET,
        "facts/.dot.md": NET,
        "notes.txt": NET,
        "consolidation-changelog.md": NET,
    }
    root = store({**FILES, **other})
    before = tree(root)
    monkeypatch.setenv("EDITOR", "false")  # it is not even started
    for path in other:
        shown = memui(root, "show", path)
        assert shown.code == 0
        assert f"{path} is no memory: " in shown.err
        for words in (["describe", path, "x"], ["edit", path]):
            ended = memui(root, *words, "--json")
            assert (ended.code, ended.json["error"]["code"]) == (1, "io")
            assert f"{path} is no memory: " in ended.json["error"]["message"]
            assert "Nothing was changed." in ended.json["error"]["next"]
    assert tree(root) == before
    assert not memui(root, "log", "--json").json["runs"]


def test_a_folder_that_is_called_as_a_memory_is_said_to_be_one(memui: Call, store: Make) -> None:
    root = store({**FILES, "dir.md/x.md": NET})
    (root / "memory/agent/empty.md").mkdir()
    for path in ("dir.md", "empty.md"):
        for words in (["show", path], ["describe", path, "x"], ["edit", path], ["log", path]):
            assert f"{path} is a folder, not a memory." in memui(root, *words).err
    assert memui(root, "describe", "dir.md/x.md", "about x").code == 0


def test_the_doctor_names_every_name_that_is_odd(memui: Call, store: Make) -> None:
    names = ("a\nb.md", "esc\x1b.md", "hid\u200bden.md", "\udcff.md", ".dot.md", "dir.md/x.md")
    root = store({f"facts/{name}": NET for name in names})
    told = memui(root, "doctor", "--json").json["problems"]
    assert sorted(p["message"] for p in told) == [
        "a folder that is called as a memory is",
        "a hidden file: it is read as no memory",
        "its name holds the invisible character U+000A",
        "its name holds the invisible character U+001B",
        "its name holds the invisible character U+200B",
        "its name is not valid Unicode",
    ]
    shown = memui(root, "doctor")
    assert (shown.code, "\x1b" in shown.out) == (0, False)
