"""Taking back a run, single actions of it, or one file: what is refused, named and chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine import consolidation
from engine.documents import digest
from engine.errors import AlreadyUndone, Conflict, EngineError
from engine.planner.file import FilePlanner
from engine.reversal import Choice
from engine.store import Store, open_store


def note(description: str, *facts: str) -> str:
    items = "".join(f"- {fact}\n" for fact in facts)
    return f'---\ndescription: "{description}"\n---\n\n{items}'


FILES = {
    "tea.md": note("Tea", "Drinks green tea."),
    "brew.md": note("Brewing", "Brews tea for three minutes."),
    "cat.md": note("The cat", "Has a cat named Miso."),
    "trains.md": note("Travel", "Prefers trains."),
    "rail.md": note("Rail", "Prefers trains.", "Has a rail card."),
}
TEA = note("Tea", "Drinks green tea.", "Brews tea for three minutes.")
RAIL = note("Rail", "Prefers trains.", "Has a rail card.", "Sits at the window.")
ACTIONS: Sequence[Mapping[str, Any]] = (
    {"action": "update", "path": "tea.md", "content": TEA, "reason": "Takes in the brewing."},
    {"action": "delete", "path": "brew.md", "reason": "Said in tea.md."},
    {"action": "update", "path": "rail.md", "content": RAIL, "reason": "A window seat."},
    {"action": "move", "from": "cat.md", "to": "miso.md", "reason": "By name."},
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "notes"
    folder.mkdir()
    for path, text in FILES.items():
        (folder / path).write_text(text)
    return open_store(str(folder))


def apply(store: Store, *numbers: int) -> str:
    """Apply these actions (1-based) of the plan, as a run of their own; its id."""
    data = json.dumps({"actions": ACTIONS, "summary": ""}).encode()
    saved = getattr(store, "saved", None) or consolidation.propose(store, FilePlanner(data))
    assert saved is not None
    store.__dict__["saved"] = saved
    decided = consolidation.decide(
        consolidation.examine(store, saved), approve=[n - 1 for n in numbers]
    )
    return consolidation.apply(store, decided, who="tests").run


def live(store: Store) -> dict[str, str]:
    return {path: data.decode() for path, data in store.snapshot().files.items()}


def waiting(store: Store) -> set[int]:
    """The actions of the plan that are not applied (1-based)."""
    return {1, 2, 3, 4} - set(store.applied(store.__dict__["saved"].id))


def test_one_action_of_a_run_is_taken_back_and_the_others_stay(store: Store) -> None:
    run = apply(store, 1, 2, 3, 4)
    store.undo(run, who="tests", actions=[4])
    assert live(store)["cat.md"] == FILES["cat.md"]
    assert "miso.md" not in live(store)
    assert live(store)["rail.md"] == RAIL
    assert waiting(store) == {4}


def test_an_undo_of_the_rest_takes_back_what_an_undo_of_one_action_left(store: Store) -> None:
    run = apply(store, 1, 2, 3, 4)
    assert store.reversal(run, actions=[4]).partial
    store.undo(run, who="tests", actions=[4])
    assert not store.reversal(run).partial
    store.undo(run, who="tests")
    assert live(store) == FILES
    assert waiting(store) == {1, 2, 3, 4}
    with pytest.raises(AlreadyUndone):
        store.undo(run, who="tests")


def test_an_action_that_holds_the_facts_of_another_is_not_taken_back_alone(store: Store) -> None:
    run = apply(store, 1, 2)
    before = live(store)
    with pytest.raises(EngineError, match=r"tea.md holds facts that action 2 of run 1-") as caught:
        store.undo(run, who="tests", actions=[1])
    assert "--action 1,2" in caught.value.hint
    assert live(store) == before
    store.undo(run, who="tests", actions=[1, 2])
    assert live(store) == FILES


def test_a_run_that_holds_the_facts_of_a_later_run_is_not_taken_back_first(store: Store) -> None:
    first = apply(store, 1)
    second = apply(store, 2)
    before = live(store)
    with pytest.raises(EngineError, match=r"action 2 of run 2-") as caught:
        store.undo(first, who="tests")
    assert live(store) == before
    assert "--action 2" in caught.value.hint
    store.undo(second, who="tests")
    store.undo(first, who="tests")
    assert live(store) == FILES


def test_what_needs_facts_that_are_gone_is_not_done_again_alone(store: Store) -> None:
    run = apply(store, 1, 2)
    undo = store.undo(run, who="tests").run
    with pytest.raises(EngineError, match=r"Action 2 removes facts that tea\.md held"):
        store.undo(undo, who="tests", actions=[2])
    assert live(store) == FILES
    store.undo(undo, who="tests")
    assert live(store)["tea.md"] == TEA
    assert waiting(store) == {3, 4}


def test_a_delete_is_done_again_only_while_its_facts_are_said_elsewhere(store: Store) -> None:
    apply(store, 1)
    undo = store.undo(apply(store, 2), who="tests").run
    path = Path(store.place.folder) / "tea.md"
    path.write_text(FILES["tea.md"])
    with pytest.raises(EngineError, match=r"tea\.md held"):
        store.undo(undo, who="tests")
    path.write_text(TEA + "- Likes oolong.\n")
    store.undo(undo, who="tests")
    assert "brew.md" not in live(store)


def test_facts_that_stay_in_the_earlier_version_keep_nothing_from_being_taken_back(
    store: Store,
) -> None:
    (Path(store.place.folder) / "tea.md").write_text(TEA)
    text = TEA + "- Likes oolong.\n"
    edit = store.edit("tea.md", text.encode(), base=digest(TEA.encode()), who="tests").run
    apply(store, 2)
    store.undo(edit, who="tests")
    assert live(store)["tea.md"] == TEA


def test_an_undo_of_one_action_is_itself_taken_back(store: Store) -> None:
    run = apply(store, 3, 4)
    after = live(store)
    undo = store.undo(run, who="tests", actions=[3]).run
    assert live(store)["rail.md"] == FILES["rail.md"]
    store.undo(undo, who="tests")
    assert live(store) == after
    assert waiting(store) == {1, 2}


def test_an_action_that_the_run_does_not_have_is_refused(store: Store) -> None:
    run = apply(store, 3)
    with pytest.raises(EngineError, match="has no action 9"):
        store.undo(run, who="tests", actions=[9])


@pytest.mark.parametrize(
    ("choice", "expected"), [(Choice.KEEP, "theirs\n"), (Choice.TAKE, FILES["rail.md"])]
)
def test_a_file_that_changed_since_is_kept_or_taken_as_chosen(
    store: Store, choice: Choice, expected: str
) -> None:
    run = apply(store, 3, 4)
    (Path(store.place.folder) / "rail.md").write_text("theirs\n")
    with pytest.raises(Conflict) as caught:
        store.undo(run, who="tests")
    assert [(d.path, d.why) for d in caught.value.drifts] == [("rail.md", "changed on disk")]
    store.undo(run, who="tests", choices={"rail.md": choice})
    assert live(store)["rail.md"] == expected
    assert live(store)["cat.md"] == FILES["cat.md"]
    assert (3 in waiting(store)) == (choice is Choice.TAKE)


def test_a_merge_takes_out_what_the_run_did_and_leaves_what_came_since(store: Store) -> None:
    run = apply(store, 3)
    path = Path(store.place.folder) / "rail.md"
    path.write_text(RAIL.replace("- Prefers trains.\n", "- Prefers night trains.\n"))
    found = store.reversal(run)
    assert found.open[0].choices == (Choice.KEEP, Choice.TAKE, Choice.MERGE)
    store.undo(run, who="tests", otherwise=Choice.MERGE)
    assert live(store)["rail.md"] == note("Rail", "Prefers night trains.", "Has a rail card.")


def test_lines_that_both_changed_are_not_merged_by_themselves(store: Store) -> None:
    run = apply(store, 3)
    path = Path(store.place.folder) / "rail.md"
    path.write_text(RAIL.replace("- Sits at the window.", "- Sits in the quiet coach."))
    assert Choice.MERGE not in store.reversal(run).open[0].choices
    with pytest.raises(EngineError, match="cannot be merged"):
        store.undo(run, who="tests", choices={"rail.md": Choice.MERGE})


def test_a_file_that_somebody_deleted_since_comes_back_only_if_it_is_taken(store: Store) -> None:
    run = apply(store, 3, 4)
    (Path(store.place.folder) / "rail.md").unlink()
    with pytest.raises(Conflict, match=r"rail\.md was deleted by another writer"):
        store.undo(run, who="tests")
    store.undo(run, who="tests", otherwise=Choice.KEEP)
    assert "rail.md" not in live(store)
    assert live(store)["cat.md"] == FILES["cat.md"]


def test_what_was_deleted_after_it_was_moved_does_not_come_back_unasked(store: Store) -> None:
    run = apply(store, 4)
    (Path(store.place.folder) / "miso.md").unlink()
    with pytest.raises(Conflict, match=r"miso\.md was deleted by another writer"):
        store.undo(run, who="tests")
    assert "cat.md" not in live(store)


def test_a_link_that_was_put_in_the_place_of_a_file_can_only_be_kept(store: Store) -> None:
    run = apply(store, 3, 4)
    path = Path(store.place.folder) / "rail.md"
    path.unlink()
    path.symlink_to("tea.md")
    assert store.reversal(run).open[0].choices == (Choice.KEEP,)
    store.undo(run, who="tests", otherwise=Choice.KEEP)
    assert path.is_symlink()


def test_what_a_reversal_showed_is_what_runs_or_nothing(store: Store) -> None:
    run = apply(store, 3)
    path = Path(store.place.folder) / "rail.md"
    path.write_text("theirs\n")
    found = store.reversal(run, otherwise=Choice.TAKE)
    path.write_text("theirs, once more\n")
    with pytest.raises(Conflict):
        store.revert(found, who="tests")
    assert path.read_text() == "theirs, once more\n"


def test_a_choice_for_a_file_that_has_none_is_refused(store: Store) -> None:
    run = apply(store, 3)
    with pytest.raises(EngineError, match="nothing to choose"):
        store.undo(run, who="tests", choices={"rail.md": Choice.KEEP})
    with pytest.raises(EngineError, match="did not touch"):
        store.undo(run, who="tests", choices={"tea.md": Choice.KEEP})


def test_one_file_is_given_an_earlier_version_and_that_can_be_taken_back(store: Store) -> None:
    run = apply(store, 3, 4)
    store.restore("rail.md", run, base=digest(RAIL.encode()), who="tests")
    assert live(store)["rail.md"] == FILES["rail.md"]
    assert "miso.md" in live(store)
    store.undo("last", who="tests")
    assert live(store)["rail.md"] == RAIL


def test_a_version_is_named_by_run_or_by_digest_and_others_are_refused(store: Store) -> None:
    run = apply(store, 3)
    before = digest(FILES["rail.md"].encode())
    store.restore("rail.md", before[:12], base=digest(RAIL.encode()), who="tests")
    assert live(store)["rail.md"] == FILES["rail.md"]
    for version, said in ((run, "did not touch"), ("f" * 12, "has no version")):
        with pytest.raises(EngineError, match=said):
            store.restore("tea.md", version, base=None, who="tests")


def test_an_earlier_version_is_not_put_over_what_changed_meanwhile(store: Store) -> None:
    run = apply(store, 3)
    (Path(store.place.folder) / "rail.md").write_text("theirs\n")
    with pytest.raises(Conflict):
        store.restore("rail.md", run, base=digest(RAIL.encode()), who="tests")
    assert live(store)["rail.md"] == "theirs\n"


def test_a_merge_result_is_never_wider_than_its_narrowest_source(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for path, mode in (("a.md", 0o644), ("b.md", 0o600)):
        (folder / path).write_text(note(path, f"Fact of {path}."))
        (folder / path).chmod(mode)
    store = open_store(str(folder))
    content = note("a.md", "Fact of a.md.", "Fact of b.md.")
    merge = {"action": "merge", "sources": ["a.md", "b.md"], "target": "a.md"}
    data = json.dumps({"actions": [{**merge, "content": content, "reason": ""}], "summary": ""})
    saved = consolidation.propose(store, FilePlanner(data.encode()))
    assert saved is not None
    decided = consolidation.decide(consolidation.examine(store, saved), approve="all")
    consolidation.apply(store, decided, who="tests")
    assert (folder / "a.md").stat().st_mode & 0o777 == 0o600
