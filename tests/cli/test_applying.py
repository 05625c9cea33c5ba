"""From a plan to files and back: what is asked, applied, skipped, refused and undone."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.plans import FILES, KILN, NET, delete, plan, update
from tests.conftest import Make, tree


def test_plan_check_apply_undo_leaves_every_byte_mode_and_owner(
    memui: Call, store: Make, tmp_path: Path
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
    memui: Call, store: Make, tmp_path: Path
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
    assert again.json["error"]["message"] == "Action 1 was applied in run 1."


def test_an_undone_action_waits_again(memui: Call, store: Make, tmp_path: Path) -> None:
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
    memui: Call, store: Make, tmp_path: Path
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
    memui: Call, store: Make, tmp_path: Path
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


def test_what_changes_files_asks_first_and_without_a_terminal_refuses(
    memui: Call, store: Make, tmp_path: Path
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


def test_an_undo_that_would_overwrite_names_what_changed(memui: Call, store: Make) -> None:
    root = store(FILES)
    assert memui(root, "describe", "facts/net.md", "one").code == 0
    (root / "memory/agent/facts/net.md").write_text("theirs\n")
    ended = memui(root, "undo", "--yes", "--json")
    assert (ended.code, ended.json["result"]) == (4, "conflict")
    (conflict,) = ended.json["conflicts"]
    assert (conflict["path"], conflict["why"]) == ("facts/net.md", "changed on disk")
    assert conflict["choices"] == ["keep", "take"]
    assert (root / "memory/agent/facts/net.md").read_text() == "theirs\n"


def test_two_reviewers_of_one_file_do_not_overwrite_each_other(
    memui: Call, store: Make, tmp_path: Path
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


def test_an_apply_with_nothing_approved_says_so_and_asks_for_nothing(
    memui: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md")))
    ended = memui(root, "apply", file)
    assert (ended.code, "nothing is approved" in ended.out) == (0, True)


def test_an_empty_store_has_nothing_to_plan(memui: Call, store: Make) -> None:
    ended = memui(store({}), "plan", "--json")
    assert (ended.code, ended.json["actions"]) == (0, 0)


def test_on_a_terminal_every_file_is_named_before_the_question_and_no_is_the_default(
    terminal: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md"), update("facts/kiln.md", KILN + "- Slow.\n")))
    before = tree(root)
    for answer in ("", "\n", "n\n", "x\n"):
        ended = terminal(root, "apply", file, "--approve", "all", answer=answer)
        assert ended.code == 0
        assert "facts/copy.md" in ended.err
        assert "facts/kiln.md" in ended.err
        assert tree(root) == before
    assert terminal(root, "apply", file, "--approve", "all", answer="y\n").code == 0
    assert not (root / "memory/agent/facts/copy.md").exists()
    assert terminal(root, "undo", answer="\n").code == 0
    assert not (root / "memory/agent/facts/copy.md").exists()
    assert terminal(root, "undo", answer="yes\n").code == 0
    assert (root / "memory/agent/facts/copy.md").exists()


def test_a_plan_is_listed_on_a_terminal_with_every_standing(
    terminal: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    actions = [delete("facts/copy.md"), delete("ghost.md"), delete("facts/net.md")]
    file.write_text(plan(*actions, delete("facts/kiln.md")))
    assert terminal(root, "check", file).out.count("pending") == 3
    assert terminal(root, "apply", file, "--approve", "1", "--reject", "3", "--yes").code == 0
    (root / "memory/agent/facts/kiln.md").write_text("changed\n")
    told = terminal(root, "check", file).out
    for word in ("applied", "invalid", "rejected", "stale"):
        assert word in told


def test_what_would_be_skipped_is_said_before_the_question(
    terminal: Call, store: Make, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {"facts/a.md": KILN, "facts/b.md": NET, "facts/c.md": "old\n"}
    root, file = store(files), tmp_path / "p.json"
    more = update("facts/a.md", KILN + "- On Tuesday.\n- At 20:00.\n")
    file.write_text(plan(more, delete("facts/b.md"), delete("facts/c.md")))
    asked = terminal(root, "apply", file, "--approve", "all", "--reject", "1", answer="n\n")
    assert "Action 2 needs action 1, which does not run, so it is skipped." in asked.err
    assert "  facts/b.md" not in asked.err
    assert "  facts/c.md" in asked.err
    asked = terminal(root, "apply", file, "--approve", "2", answer="n\n")
    assert "so its facts are dropped" in asked.err
    assert "  facts/b.md" in asked.err


def test_nothing_is_asked_where_everything_is_skipped(
    terminal: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store({"facts/a.md": KILN, "facts/b.md": NET}), tmp_path / "p.json"
    more = update("facts/a.md", KILN + "- On Tuesday.\n- At 20:00.\n")
    file.write_text(plan(more, delete("facts/b.md")))
    ended = terminal(root, "apply", file, "--approve", "all", "--reject", "1")
    assert ended.code == 5
    assert "skipped action 2: needs action 1, which does not run" in ended.out
    assert "Apply this?" not in ended.err


def stale_plan(memui: Call, root: Path, file: Path) -> None:
    """A plan of two deletes and an update, the second of which is stale."""
    longer = update("facts/net.md", NET + "- Slow.\n")
    file.write_text(plan(delete("facts/copy.md"), delete("facts/kiln.md"), longer))
    assert memui(root, "check", file).code == 0
    (root / "memory/agent/facts/kiln.md").write_text("changed\n")


def test_a_stale_action_stops_before_the_question(
    memui: Call, terminal: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    stale_plan(memui, root, file)
    before = tree(root)
    asked = terminal(root, "apply", file, "--approve", "1-2", answer="y\n")
    assert asked.code == 4
    assert "facts/kiln.md changed on disk" in asked.err
    assert "Apply this?" not in asked.err
    assert "--on-stale skip" in asked.err
    assert tree(root) == before


def test_what_is_printed_is_exactly_what_runs(
    memui: Call, terminal: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    stale_plan(memui, root, file)
    words = (root, "apply", file, "--approve", "all", "--on-stale", "skip")
    asked = terminal(*words, answer="n\n")
    named = {line.strip() for line in asked.err.split("\n") if line.startswith("  ")}
    assert "Action 2: facts/kiln.md changed on disk, so it is skipped." in asked.err
    assert "tokens a turn now" in asked.err
    done = memui(*words, "--yes", "--json")
    assert named == {*done.json["written"], *done.json["deleted"]}
    assert [s["action"] for s in done.json["skipped"]] == [2]


def test_the_command_that_is_offered_without_a_terminal_does_it(
    memui: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "a plan.json"
    file.write_text(plan(delete("facts/copy.md"), delete("facts/kiln.md")))
    words = ("apply", file, "--approve", "1", "--reject", "2", "--on-stale", "skip", "--json")
    offered = memui(root, *words).json["error"]["next"].partition(": ")[2]
    assert memui(*shlex.split(offered)[1:], "--json").json["deleted"] == ["facts/copy.md"]
    offered = memui(root, "undo", "--json").json["error"]["next"].partition(": ")[2]
    assert memui(*shlex.split(offered)[1:], "--json").json["result"] == "undone"


@pytest.mark.parametrize("name", ["list", "-x", "my notes", "a'b", "n#1"])
def test_the_undo_command_works_when_pasted_in_the_same_folder(memui: Call, name: str) -> None:
    folder = Path(name)
    folder.mkdir()
    (folder / "a.md").write_text("x\n")
    added = memui(f"--in={name}", "describe", "a.md", "about x", "--layout", "folder", "--json")
    assert memui(*shlex.split(added.json["undo"])[1:], "--json").json["result"] == "undone"
    assert (folder / "a.md").read_text() == "x\n"


def test_the_undo_command_names_a_layout_that_was_overridden(memui: Call, store: Make) -> None:
    root = store(FILES)
    path = "memory/agent/facts/net.md"
    words = ("describe", path, "x", "--layout", "folder", "--json")
    undo = shlex.split(memui(root, *words).json["undo"])
    assert memui(*undo[1:], "--json").json["result"] == "undone"
    assert (root / path).read_text() == NET


def test_an_action_both_approved_and_rejected_is_refused(
    memui: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "p.json"
    file.write_text(plan(delete("facts/copy.md")))
    assert memui(root, "apply", file, "--approve", "1", "--reject", "1", "--yes").code == 2
    for wrong in ("0", "2", "1-", "2-1", "x", "-1", "all,1"):
        assert memui(root, "apply", file, f"--approve={wrong}", "--yes").code == 2
    assert (root / "memory/agent/facts/copy.md").exists()


def test_a_run_that_is_taken_back_already_is_nothing_to_do(memui: Call, store: Make) -> None:
    root = store(FILES)
    assert memui(root, "undo", "--json").json["result"] == "nothing"
    memui(root, "describe", "facts/net.md", "one")
    assert memui(root, "undo", "1", "--yes", "--json").json["result"] == "undone"
    again = memui(root, "undo", "1", "--yes", "--json")
    assert (again.code, again.json["result"]) == (0, "nothing")
    assert memui(root, "undo", "9", "--yes").code == 1


def test_undo_takes_back_what_stopped_in_the_middle_first(memui: Call, store: Make) -> None:
    root = store(FILES)
    memui(root, "describe", "facts/kiln.md", "one")
    memui(root, "describe", "facts/net.md", "two")
    run_id = memui(root, "log", "--json").json["runs"][-1]["run"]
    os.unlink(root / ".memui" / "memory%2Fagent" / "runs" / run_id / "done")
    ended = memui(root, "undo", "--yes", "--json")
    assert ended.json["of"] == run_id
    assert "Run 2 had stopped at 1 of 1 files: finished." in ended.err
    assert (root / "memory/agent/facts/net.md").read_text() == NET


def test_a_plan_is_written_neither_among_the_memories_nor_over_another_file(
    memui: Call, store: Make, tmp_path: Path
) -> None:
    root, file = store(FILES), tmp_path / "notes.txt"
    file.write_text("mine\n")
    inside = root / "memory" / "agent" / "p.json"
    before = tree(root)
    assert memui(root, "plan", "-o", inside).code == 2
    assert memui(root, "plan", "-o", file).code == 2
    assert file.read_text() == "mine\n"
    assert tree(root) == before
    assert memui(root, "plan", "-o", tmp_path / "p.json").code == 0
    assert memui(root, "plan", "-o", tmp_path / "p.json").code == 0


def test_a_waiting_plan_is_named_by_its_id(memui: Call, store: Make) -> None:
    root = store(FILES)
    made = memui(root, "plan", "--json").json
    assert os.path.exists(made["file"])
    assert memui(root, "check", made["plan"], "--json").json["plan"] == made["plan"]
    assert memui(root, "apply", made["plan"], "--approve", "all", "--yes").code == 0
