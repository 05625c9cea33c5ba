"""The watch: a write from a stale read is found and merged in again; an honest edit is neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.documents import digest
from engine.store import Store, open_store
from engine.watch import is_stale, overwritten, repair

OLD = '---\ndescription: "Tea"\n---\n\n- Green tea.\n'
NEW = OLD + "- Three minutes.\n- No sugar.\n"
LINES = st.lists(st.text("abc", min_size=1, max_size=3), max_size=6, unique=True)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text(OLD)
    (folder / "cat.md").write_text('---\ndescription: "Cat"\n---\n\n- Miso.\n')
    store = open_store(str(folder))
    store.edit("tea.md", NEW.encode(), base=digest(OLD.encode()), who="tests")
    return store


def write(store: Store, text: str, path: str = "tea.md") -> None:
    (Path(store.place.folder) / path).write_text(text)


def test_a_stale_append_is_found_with_the_facts_that_are_gone(store: Store) -> None:
    write(store, OLD + "- With milk.\n")
    (item,) = overwritten(store)
    assert item.path == "tea.md"
    assert item.facts == ("Three minutes.", "No sugar.")
    assert "2 facts no longer live" in item.why


def test_a_repair_keeps_what_both_wrote_and_is_a_run_that_can_be_undone(store: Store) -> None:
    write(store, OLD + "- With milk.\n")
    repair(store, overwritten(store), who="tests")
    text = (Path(store.place.folder) / "tea.md").read_text()
    assert text == OLD + "- With milk.\n- Three minutes.\n- No sugar.\n"
    assert overwritten(store) == ()
    store.undo("last", who="tests")
    assert (Path(store.place.folder) / "tea.md").read_text() == OLD + "- With milk.\n"


@pytest.mark.parametrize(
    "text", [NEW + "- With milk.\n", NEW.replace("Three", "Four"), NEW.replace("- No sugar.\n", "")]
)
def test_an_edit_that_started_from_what_the_run_wrote_is_never_reported(
    store: Store, text: str
) -> None:
    write(store, text)
    assert overwritten(store) == ()


def test_a_later_run_of_ours_is_never_reported(store: Store) -> None:
    store.undo("last", who="tests")
    assert overwritten(store) == ()


def test_a_file_that_was_deleted_or_whose_facts_live_elsewhere_is_not_reported(
    store: Store,
) -> None:
    write(store, OLD)
    write(store, "- Three minutes.\n- No sugar.\n", "brew.md")
    assert overwritten(store) == ()
    (Path(store.place.folder) / "tea.md").unlink()
    assert overwritten(store) == ()


def test_a_memory_that_a_run_removed_and_a_stale_write_made_again_is_named(store: Store) -> None:
    before = (Path(store.place.folder) / "cat.md").read_bytes()
    store._put("cat.md", None)
    write(store, before.decode() + "- Purrs.\n", "cat.md")
    (item,) = overwritten(store)
    assert item.came_back
    assert "came back" in item.why
    write(store, "# Another cat altogether\n", "cat.md")
    assert overwritten(store) == ()


@given(LINES, LINES, LINES)
def test_an_append_to_the_old_text_is_stale_and_one_to_the_new_text_is_not(
    base: list[str], added: list[str], later: list[str]
) -> None:
    old = "".join(f"o{line}\n" for line in base).encode()
    more = "".join(f"n{line}\n" for line in added).encode()
    tail = "".join(f"t{line}\n" for line in later).encode()
    assert not is_stale(old, old + more, old + more + tail)
    assert is_stale(old, old + more, old + tail) == bool(added)
