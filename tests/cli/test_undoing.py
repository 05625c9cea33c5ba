"""`memui undo`: of a run, of one action, of one memory; what changed since is named and chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.consolidation import apply, decide, examine
from engine.plans import open_plan
from engine.store import Store
from tests.cli.conftest import Call
from tests.memui.reviews import DELETE, FILES, MOVE, NEEDS, UPDATE, under_review


@pytest.fixture
def applied(tmp_path: Path) -> tuple[str, Store]:
    """A store with one run of four actions: (its root, the store)."""
    root, store = under_review(tmp_path)
    opened = open_plan(store, None)
    decided = decide(examine(store, opened.saved), approve=[DELETE, UPDATE, NEEDS, MOVE])
    apply(store, decided, who="tests")
    return root, store


def paths(store: Store) -> set[str]:
    return set(store.snapshot().files)


def test_one_action_is_taken_back_and_the_rest_stays(
    memui: Call, applied: tuple[str, Store]
) -> None:
    root, store = applied
    ended = memui(root, "undo", "1", "--action", "5", "--yes", "--json")
    assert (ended.code, ended.json["result"]) == (0, "undone")
    assert "facts/bug.md" in paths(store)
    assert "facts/backup-old.md" not in paths(store)


def test_an_action_that_holds_the_facts_of_another_is_refused_and_named(
    memui: Call, applied: tuple[str, Store]
) -> None:
    root, store = applied
    before = store.snapshot().files
    ended = memui(root, "undo", "1", "--action", "3", "--yes")
    assert ended.code != 0
    assert "facts/deploy.md holds facts that action 4" in ended.err
    assert "--action 3,4" in ended.err
    assert store.snapshot().files == before


def test_what_changed_since_is_named_with_its_choices_and_nothing_is_done(
    memui: Call, applied: tuple[str, Store]
) -> None:
    root, store = applied
    file = Path(store.place.folder) / "facts/deploy.md"
    file.write_text(file.read_text().replace("- Ring the bell.", "- Ring it twice."))
    before = store.snapshot().files
    ended = memui(root, "undo", "--yes")
    assert ended.code == 4
    assert "facts/deploy.md changed on disk" in ended.err
    assert "--keep facts/deploy.md" in ended.err
    assert "--take facts/deploy.md" in ended.err
    assert store.snapshot().files == before


def test_a_choice_decides_and_a_keep_leaves_the_file(
    memui: Call, applied: tuple[str, Store]
) -> None:
    root, store = applied
    file = Path(store.place.folder) / "facts/backup-old.md"
    file.write_text("theirs\n")
    ended = memui(root, "undo", "--keep", "facts/backup-old.md", "--yes", "--json")
    assert ended.json["kept"] == ["facts/backup-old.md"]
    assert file.read_text() == "theirs\n"
    assert "facts/bug.md" in paths(store)


def test_a_merge_is_asked_for_with_its_diff_and_done_with_yes(
    memui: Call, applied: tuple[str, Store]
) -> None:
    root, store = applied
    file = Path(store.place.folder) / "facts/deploy.md"
    file.write_text(file.read_text().replace('"Deploys"', '"When we deploy"'))
    ended = memui(root, "undo", "--on-conflict", "merge")
    assert ended.code == 2
    assert "-- Ring the bell." in ended.err
    assert "--on-conflict merge --yes" in ended.err
    assert memui(root, "undo", "--on-conflict", "merge", "--yes").code == 0
    assert "When we deploy" in file.read_text()
    assert "Ring the bell" not in file.read_text()


def test_one_memory_is_given_the_version_from_before_a_run(
    memui: Call, applied: tuple[str, Store]
) -> None:
    root, store = applied
    file = Path(store.place.folder) / "facts/deploy.md"
    ended = memui(root, "undo", "--path", "facts/deploy.md", "--yes", "--json")
    assert (ended.code, ended.json["result"]) == (0, "undone")
    assert file.read_text() == FILES["facts/deploy.md"]
    assert "facts/bug.md" not in paths(store)
    again = memui(root, "undo", "1", "--path", "facts/deploy.md", "--yes", "--json")
    assert again.json["result"] == "nothing"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--action", "x"], "no action number"),
        (["--action", "9", "--yes"], "has no action 9"),
        (["--keep", "a.md", "--take", "a.md"], "named twice"),
        (["--path", "nope.md"], "No run of memui changed nope.md"),
        (["--path", "facts/deploy.md", "--action", "1"], "stands alone"),
        (["--keep", "facts/editor.md", "--yes"], "did not touch"),
    ],
)
def test_what_cannot_be_meant_is_said_and_nothing_is_changed(
    memui: Call, applied: tuple[str, Store], words: list[str], said: str
) -> None:
    root, store = applied
    before = store.snapshot().files
    ended = memui(root, "undo", *words)
    assert ended.code != 0
    assert said in ended.err
    assert store.snapshot().files == before
