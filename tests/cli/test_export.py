"""Exports: the review for people and programs without a terminal, and nothing hostile in it."""

from __future__ import annotations

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from engine.consolidation import decide, examine, propose
from engine.planner.file import FilePlanner
from engine.proposal import Proposal
from engine.store import open_store
from memui.cli import run
from memui.report.markdown import markdown
from memui.report.page import page
from memui.report.patch import patches
from memui.report.values import proposal_json

EVIL = (
    "</pre><script>alert(1)</script> ````\n\x1b]52;c;AAAA\x07 \u202e gnp.exe"
    " [x](javascript:1) <img src=x>"
)


def note(description: str, *facts: str) -> str:
    return f'---\ndescription: "{description}"\n---\n\n' + "".join(f"- {f}\n" for f in facts)


FILES = {
    "tea.md": note("Which tea", "Green tea.", "No sugar."),
    "brew.md": note("Brewing", "Three minutes."),
    "old.md": note("Old tea", "Green tea."),
    "cat.md": note("The cat Miso", "Has a cat."),
}
ACTIONS: list[dict[str, Any]] = [
    {
        "action": "merge",
        "sources": ["tea.md", "brew.md"],
        "target": "tea.md",
        "content": note("Which tea", "Black tea.", "No sugar.", "Three minutes."),
        "reason": f"Both are about tea. {EVIL}",
    },
    {"action": "delete", "path": "old.md", "reason": "Said elsewhere."},
    {"action": "move", "from": "cat.md", "to": "miso.md", "reason": "By name."},
]


def make(folder: Path, files: dict[str, str] = FILES) -> Path:
    folder.mkdir()
    for path, text in files.items():
        (folder / path).write_text(text)
    return folder


def proposed(folder: Path, actions: list[dict[str, Any]] = ACTIONS) -> Proposal:
    store = open_store(str(folder))
    data = json.dumps({"actions": actions, "summary": EVIL}).encode()
    saved = propose(store, FilePlanner(data))
    assert saved is not None
    store.save_plan(saved.id, saved.dump())
    return examine(store, saved)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "notes")


class Tags(HTMLParser):
    """Every tag of a page, and what it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_page_has_no_tag_and_no_reference_of_anybody_else(folder: Path) -> None:
    text = page(proposed(folder))
    tags = Tags()
    tags.feed(text)
    assert tags.tags.isdisjoint({"script", "img", "a", "link", "iframe", "pre"})
    assert tags.attributes.isdisjoint({"src", "href", "onerror", "onclick"})
    assert "&lt;script&gt;" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "U+202E" in text


def test_the_page_and_the_markdown_name_every_action_verdict_loss_and_reason(folder: Path) -> None:
    found = decide(proposed(folder), approve=[0], reject=[1])
    for text in (page(found), markdown(found)):
        for said in (
            "tea.md",
            "old.md",
            "miso.md",
            "approved",
            "rejected",
            "Which tea",
            "Black tea",
        ):
            assert said in text, said
        assert "dropped" in text
        assert "tokens now" in text


def test_no_fence_of_the_markdown_is_closed_by_what_it_holds(tmp_path: Path) -> None:
    folder = make(tmp_path / "notes", {"a.md": note("A note", "x", "````", "# not a heading")})
    update = {"action": "update", "path": "a.md", "content": note("A note", "y"), "reason": ""}
    text = markdown(proposed(folder, [update]))
    fences = [line for line in text.split("\n") if line.startswith("```")]
    assert len(fences) == 2
    assert fences[0] == "`````diff"
    assert not any(line.startswith("# not") for line in text.split("\n"))


def test_hostile_words_have_no_marks_of_markdown_left(folder: Path) -> None:
    text = markdown(proposed(folder))
    assert "[x](javascript" not in text
    assert "<script>" not in text
    assert "\x1b" not in text


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_patch_makes_with_git_exactly_what_apply_would(folder: Path) -> None:
    found = decide(proposed(folder), approve="all")
    expected = dict(found.after().files)
    (folder.parent / "p.patch").write_bytes(patches(found))
    subprocess.run(["git", "apply", "../p.patch"], cwd=folder, check=True)
    assert {p.name: p.read_bytes() for p in folder.glob("*.md")} == expected


def test_the_json_holds_edits_blocks_ledger_and_tokens(folder: Path) -> None:
    found = decide(proposed(folder), approve=[0])
    found = found.reviewed(found.saved.review.take(0, 0, taken=False))
    value = json.loads(json.dumps(proposal_json(found)))
    merge = value["actions"][0]
    assert merge["left"] == [1]
    assert merge["verdict"] == "pending"
    assert merge["result"]["path"] == merge["result"]["against"] == "tea.md"
    assert [block["taken"] for block in merge["result"]["blocks"]] == [False, True]
    assert value["format"] == "memui-review"
    assert (value["violations"], value["warnings"]) == ([], [])
    assert {e["path"] for e in merge["edits"]} == {"tea.md", "brew.md"}
    assert value["listing"]["before"]["tokens"] > 0
    assert value["actions"][2]["ledger"]["lossless"] is True


def test_the_ledger_in_json_says_of_every_statement_what_became_of_it(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "notes",
        {
            "a.md": note("A", "The kettle is filled every morning.", "Stays.", "Gone for good."),
            "b.md": note("B", "Lives here too."),
            "c.md": note("C", "Lives here too."),
        },
    )
    content = note("A", "Every morning the kettle is filled.", "Stays.", "Brand new.")
    actions = [
        {"action": "update", "path": "a.md", "content": content, "reason": ""},
        {"action": "delete", "path": "c.md", "reason": ""},
    ]
    update, delete = proposal_json(proposed(folder, actions))["actions"]
    ledger = update["ledger"]
    assert [(d["path"], d["line"], d["text"]) for d in ledger["dropped"]] == [
        ("a.md", 7, "Gone for good.")
    ]
    assert [n["text"] for n in ledger["new"]] == ["Brand new."]
    (reworded,) = ledger["changed"]
    assert (reworded["fate"], reworded["to"]["text"]) == (
        "reworded",
        "Every morning the kettle is filled.",
    )
    moved = [c for c in delete["ledger"]["changed"] if c["fate"] == "moved"]
    assert ("Lives here too.", "b.md") in [(c["from"]["text"], c["to"]["path"]) for c in moved]
    assert "b.md" in delete["ledger"]["carriers"]


def test_every_form_numbers_the_blocks_as_leave_takes_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = proposed(folder)
    blocks = proposal_json(found)["actions"][0]["result"]["blocks"]
    assert [block["block"] for block in blocks] == [1, 2]
    assert run([str(folder), "apply", found.saved.id, "--leave", "1:2", "--approve", "1"]) == 2
    assert run([str(folder), "apply", found.saved.id, "--leave", "1:2"]) == 0
    capsys.readouterr()
    for form, says in (
        ("md", "@@ block 2, left: the file stays as it is here @@"),
        ("html", '<tr class="block"><td class="n"></td><td>block 2, left:'),
        ("json", '"taken": false'),
    ):
        assert run([str(folder), "export", "--format", form]) == 0
        text = capsys.readouterr().out
        assert says in text
        assert "block 1" in text or form == "json"
        assert text.count("left: the file") == (form != "json")


def test_a_merge_into_a_new_file_is_shown_against_the_source_that_it_is_most_like(
    folder: Path,
) -> None:
    merge = {**ACTIONS[0], "target": "brewing.md", "reason": ""}
    found = proposed(folder, [merge])
    result = proposal_json(found)["actions"][0]["result"]
    assert (result["path"], result["against"]) == ("brewing.md", "tea.md")
    assert "new, +2 −1 against tea.md" in markdown(found)
    assert "new, +2 −1 against tea.md" in page(found)


def test_the_listing_says_what_the_agent_would_see_if_exactly_the_approved_ran(
    folder: Path,
) -> None:
    found = decide(proposed(folder), approve=[2])
    value = proposal_json(found)["listing"]
    assert "cat.md" in {line["path"] for line in value["before"]["lines"]}
    assert "miso.md" in {line["path"] for line in value["after"]["lines"]}
    assert "old.md" in {line["path"] for line in value["after"]["lines"]}
    text = markdown(found).partition("## What the agent will see")[2]
    assert "-- cat.md: The cat Miso\n" not in text
    assert "- cat.md: The cat Miso" in text
    assert "+ miso.md: The cat Miso" in text


def test_what_stands_in_the_way_is_said_in_every_form(folder: Path) -> None:
    found = proposed(folder, [*ACTIONS, {"action": "delete", "path": "ghost.md", "reason": ""}])
    (folder / "old.md").write_text("theirs\n")
    found = examine(open_store(str(folder)), found.saved)
    for text in (markdown(found), page(found)):
        assert "old.md" in text
        assert "changed on disk" in text
        assert "breaks a rule" in text
    value = proposal_json(found)
    assert value["actions"][1]["stale"] == [{"path": "old.md", "why": "changed on disk"}]
    assert value["violations"][0]["code"] == "unknown-path"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_patch_in_a_file_or_a_pipe_is_raw_and_applies_whatever_the_bytes_are(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    odd = "a b\t'ü\u202e.md"
    folder = make(
        tmp_path / "notes",
        {
            odd: note("A", "x\x1b[2J\u200b", "one\r"),
            "crlf.md": note("C", "y").replace("\n", "\r\n"),
            "end.md": note("E", "z").rstrip("\n"),
        },
    )
    actions = [
        {
            "action": "update",
            "path": path,
            "content": (folder / path).read_bytes().decode().replace("\r\n", "\n")
            + "- more\u2028 \x07",
            "reason": "",
        }
        for path in (odd, "crlf.md", "end.md")
    ]
    found = decide(proposed(folder, actions), approve=[])
    expected = {e.path: e.after for change in found.changes for e in change.edits}
    assert len(expected) == 3
    assert run([str(folder), "export", "--format", "patch"]) == 0
    piped = capfdbinary.readouterr().out
    assert run([str(folder), "export", "-o", str(tmp_path / "p.patch")]) == 0
    assert (tmp_path / "p.patch").read_bytes() == piped
    subprocess.run(["git", "apply", "../p.patch"], cwd=folder, check=True)
    assert {path: (folder / path).read_bytes() for path in expected} == expected


def test_a_page_asks_the_browser_for_nothing(folder: Path) -> None:
    text = page(proposed(folder))
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert text.index("Content-Security-Policy") < text.index("<style>")
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize(
    ("ending", "starts"), [("md", "# Review"), ("html", "<!doctype"), ("json", "{"), ("patch", "#")]
)
def test_the_format_follows_the_name_of_the_file(
    folder: Path, tmp_path: Path, ending: str, starts: str
) -> None:
    proposed(folder)
    target = tmp_path / f"review.{ending}"
    assert run([str(folder), "export", "-o", str(target)]) == 0
    assert target.read_text().startswith(starts)


def test_a_format_that_there_is_not_is_a_usage_error_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proposed(folder)
    assert run([str(folder), "export", "--format", "pdf"]) == 2
    assert "invalid choice: 'pdf'" in capsys.readouterr().err
