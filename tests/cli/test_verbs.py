"""Every verb of a review by flags: all of them are checked before any is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.review import Decision, Verdict, parse_saved_plan
from tests.cli.conftest import Call, Said
from tests.cli.plans import KILN, NET, delete, plan, update
from tests.conftest import Make, tree

TEA = '---\ndescription: "tea"\n---\n\n# Tea\n\n- Green.\n- Hot.\n- Two minutes.\n- In a pot.\n'
NEW_TEA = TEA.replace("Green", "Black").replace("pot", "cup")
"""Two blocks against `TEA`."""
FILES: dict[str, str | bytes] = {
    "facts/net.md": NET,
    "facts/kiln.md": KILN,
    "facts/tea.md": TEA,
}
EDITED = '---\ndescription: "net"\n---\n\n# Net\n\n- On Friday.\n'


class Case:
    """A store with a plan: delete net, delete kiln, update tea."""

    def __init__(self, memui: Call, root: Path, file: Path) -> None:
        self._memui, self.root, self.file = memui, root, file
        file.write_text(
            plan(
                delete("facts/net.md"),
                update("facts/kiln.md", KILN + "- Slow.\n"),
                update("facts/tea.md", NEW_TEA),
            )
        )
        memui(root, "check", file)
        self.before = tree(root)

    def apply(self, *words: object) -> Said:
        return self._memui(self.root, "apply", self.file, *words)

    def kept(self) -> tuple[Decision, ...]:
        (waiting,) = (self.root / ".memui" / "memory%2Fagent" / "plans").glob("*.json")
        return parse_saved_plan(waiting.read_bytes()).review.decisions

    def text(self, path: str) -> str:
        return (self.root / "memory/agent" / path).read_text()

    def is_untouched(self) -> bool:
        return tree(self.root) == self.before and set(self.kept()) == {Decision()}


@pytest.fixture
def case(memui: Call, store: Make, tmp_path: Path) -> Case:
    return Case(memui, store(FILES), tmp_path / "p.json")


def test_one_command_approves_rejects_with_a_reason_edits_and_leaves_blocks(
    case: Case, tmp_path: Path
) -> None:
    result = tmp_path / "kiln.md"
    result.write_text(KILN + "- Very slow.\n")
    words = ("--approve", "2-3", "--reject", "1", "--reason", "1=we need=it", "--leave", "3:2")
    done = case.apply(*words, "--edit", f"2={result}", "--yes", "--json")
    assert (done.code, done.json["written"]) == (0, ["facts/kiln.md", "facts/tea.md"])
    assert case.text("facts/kiln.md") == KILN + "- Very slow.\n"
    assert case.text("facts/tea.md") == TEA.replace("Green", "Black")
    assert case.text("facts/net.md") == NET
    first, second, third = case.kept()
    assert (first.verdict, first.reason) == (Verdict.REJECTED, "we need=it")
    assert second.content == KILN + "- Very slow.\n"
    assert third.left == (1,)


def test_the_text_of_an_edit_comes_from_standard_input_byte_for_byte(
    case: Case, typed: Callable[[bytes], None]
) -> None:
    typed((KILN + "- Ünï.").encode())
    assert case.apply("--edit", "2=-", "--approve", "2", "--yes").code == 0
    assert case.text("facts/kiln.md") == KILN + "- Ünï."


def test_an_edit_without_an_approval_is_kept_and_not_applied(case: Case, tmp_path: Path) -> None:
    result = tmp_path / "kiln.md"
    result.write_text(KILN + "- Very slow.\n")
    ended = case.apply("--edit", f"2={result}", "--yes")
    assert ended.code == 0
    assert "Action 2 is still to decide, edited: --approve 2 approves it." in ended.err
    assert tree(case.root) == case.before
    assert case.apply("--approve", "2", "--yes").code == 0
    assert case.text("facts/kiln.md") == KILN + "- Very slow.\n"


def test_saying_the_same_again_keeps_the_verdict_that_holds(case: Case, tmp_path: Path) -> None:
    result = tmp_path / "kiln.md"
    result.write_text(KILN + "- Very slow.\n")
    said = ("--edit", f"2={result}", "--leave", "3:1")
    assert case.apply(*said, "--json").code == 0
    asked = case.apply("--approve", "2-3", *said, "--dry-run", "--json").json
    assert [v["verdict"] for v in asked["verdicts"]] == ["pending", "approved", "approved"]
    assert case.apply("--approve", "2-3", "--reject", "1", "--yes").code == 0
    assert case.text("facts/tea.md") == TEA.replace("pot", "cup")


def test_a_reset_takes_back_the_verdict_the_reason_the_text_and_the_blocks(
    case: Case, tmp_path: Path
) -> None:
    result = tmp_path / "kiln.md"
    result.write_text(KILN + "- Very slow.\n")
    case.apply("--edit", f"2={result}", "--leave", "3:1", "--reject", "1", "--reason", "1=x")
    assert not case.is_untouched()
    assert case.apply("--reset", "1-3").code == 0
    assert case.is_untouched()


def test_no_block_is_left_any_more_with_none(case: Case) -> None:
    case.apply("--leave", "3:1,2")
    assert case.kept()[2].left == (0, 1)
    case.apply("--leave", "3:none")
    assert case.kept()[2].left == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--approve", "4"], "The plan has no action 4; it has 3."),
        (["--approve", "0"], "'0' is no action number."),
        (["--approve", ","], "--approve names no action."),
        (["--approve", "1,1-2"], "Action 1 stands twice in --approve."),
        (["--approve", "1", "--approve", "1"], "Action 1 stands twice in --approve."),
        (["--approve", "all", "--approve", "1"], "'all' is no action number."),
        (["--approve", "1", "--reject", "1"], "Action 1 is both approved and rejected."),
        (["--reason", "1=why"], "Action 1 is not rejected, so there is no reason to keep."),
        (["--reject", "1", "--reason", "1"], "--reason '1' is not understood."),
        (["--reject", "1", "--reason", "1=a", "--reason", "1=b"], "stands twice in --reason"),
        (["--edit", "2=none.md", "--edit", "2=other.md"], "Action 2 stands twice in --edit."),
        (["--edit", "2=-", "--edit", "3=-"], "Standard input can be the text of one action"),
        (["--edit", "1=any"], "Action 1 cannot be edited. A delete has no text to edit."),
        (["--edit", "9=any"], "The plan has no action 9"),
        (["--leave", "3:3"], "Action 3 has no block 3; it has 2."),
        (["--leave", "3:0"], "--leave 3:0 names no blocks."),
        (["--leave", "3=1"], "--leave '3=1' is not understood."),
        (["--leave", "1:1"], "Action 1: A delete has no blocks to take or leave"),
        (["--reset", "5"], "The plan has no action 5"),
    ],
)
def test_a_verb_that_cannot_be_meant_is_named_and_nothing_is_kept(
    case: Case, words: list[str], said: str
) -> None:
    # The rest of the line is fine: it is not kept either.
    rest = [] if "--approve" in words else ["--approve", "2"]
    ended = case.apply(*words, *rest, "--yes", "--json")
    assert ended.code == 2
    assert said in ended.json["error"]["message"]
    assert ended.json["error"]["next"]
    assert case.is_untouched()


HEAD = b'---\ndescription: "x"\n---\n\n'


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        pytest.param(None, 1, "cannot be read: No such file", id="missing"),
        pytest.param(b"\xff\xfe\x00", 3, "is not UTF-8", id="binary"),
        pytest.param(b"", 3, "empty", id="empty"),
        pytest.param(b"a\n", 3, "does not start with a line of exactly ---", id="bare"),
        pytest.param(b"x" * (8 << 20 | 1), 1, "is larger than 8 MiB.", id="large"),
        pytest.param(HEAD + "é".encode() * (3 << 20), 1, "larger than 16 MiB", id="large-in-json"),
    ],
)
def test_a_text_that_cannot_be_a_result_is_refused_and_nothing_is_kept(
    case: Case, tmp_path: Path, data: bytes | None, code: int, said: str
) -> None:
    result = tmp_path / "result.md"
    if data is not None:
        result.write_bytes(data)
    words = ("--edit", f"2={result}", "--approve", "2,3", "--reject", "1", "--yes")
    ended = case.apply(*words, "--json")
    assert ended.code == code
    assert said in ended.json["error"]["message"]
    assert ended.json["error"]["unchanged"] is True
    assert case.is_untouched()


def test_a_folder_as_the_text_of_an_edit_is_refused(case: Case, tmp_path: Path) -> None:
    ended = case.apply("--edit", f"2={tmp_path}", "--yes", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (1, "io")
    assert case.is_untouched()


def test_what_was_applied_cannot_be_edited_left_rejected_or_reset(
    case: Case, tmp_path: Path
) -> None:
    result = tmp_path / "tea.md"
    result.write_text(TEA)
    assert case.apply("--approve", "3", "--yes").code == 0
    for words in (
        ["--edit", f"3={result}"],
        ["--leave", "3:1"],
        ["--reject", "3"],
        ["--reset", "3"],
        ["--approve", "3"],
    ):
        ended = case.apply(*words, "--yes", "--json")
        assert ended.code == 4
        assert "Action 3 was applied in run" in ended.json["error"]["message"]


def test_a_conflict_keeps_no_verdict(case: Case) -> None:
    (case.root / "memory/agent/facts/kiln.md").write_text("theirs\n")
    ended = case.apply("--approve", "2", "--reject", "1", "--yes", "--json")
    assert (ended.code, ended.json["result"]) == (4, "conflict")
    assert set(case.kept()) == {Decision()}


def test_a_dry_run_names_verdicts_files_and_losses_and_writes_nothing(
    case: Case, tmp_path: Path
) -> None:
    result = tmp_path / "kiln.md"
    result.write_text(KILN + "- Very slow.\n")
    words = ("--approve", "1,3", "--edit", f"2={result}", "--leave", "3:2", "--dry-run")
    ended = case.apply(*words)
    assert ended.code == 0
    for line in (
        "Action 1 is approved.",
        "Action 2 is still to decide, edited.",
        "Action 3 is approved, without block 2.",
        "  facts/tea.md",
        "  facts/net.md",
        "Statements that nothing would say any more: ",
    ):
        assert line in ended.out
    assert "Nothing was changed." in ended.err
    told = case.apply(*words, "--json").json
    assert (told["dry_run"], told["result"], told["run"]) == (True, "applied", None)
    assert told["deleted"] == ["facts/net.md"]
    assert told["verdicts"][2]["left"] == [2]
    assert case.is_untouched()


def test_a_question_that_is_answered_no_keeps_no_verdict(case: Case, terminal: Call) -> None:
    words = ("apply", case.file, "--approve", "2", "--reject", "1", "--reason", "1=x")
    asked = terminal(case.root, *words, answer="n\n")
    assert "Action 1 is rejected: x." in asked.err
    assert case.is_untouched()


def test_the_command_that_is_offered_says_every_verb_again(
    case: Case, memui: Call, tmp_path: Path
) -> None:
    import shlex

    result = tmp_path / "the kiln.md"
    result.write_text(KILN + "- Very slow.\n")
    words = ("--approve", "2,3", "--reject", "1", "--reason", "1=it's ours", "--leave", "3:2")
    offered = case.apply(*words, "--edit", f"2={result}", "--json").json["error"]["next"]
    again = shlex.split(offered.partition(": ")[2])
    assert memui(*again[1:], "--json").json["result"] == "applied"
    assert case.text("facts/kiln.md") == KILN + "- Very slow.\n"
    assert case.kept()[0].reason == "it's ours"
