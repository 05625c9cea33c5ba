"""The watch: a write from a stale read is found and merged in again; an honest edit is neither."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.commit import Transaction, Write
from engine.documents import digest
from engine.journal import ActionRecord, RunKind
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


def test_an_agent_that_puts_the_result_in_one_line_is_not_reported(store: Store) -> None:
    write(store, OLD.replace("- Green tea.", "- Green tea, three minutes, no sugar."))
    assert overwritten(store) == ()


def test_a_repair_takes_nothing_away_though_its_carrier_lost_it_meanwhile(store: Store) -> None:
    tea, cat = (store.live(path) or b"" for path in ("tea.md", "cat.md"))
    record = ActionRecord(1, "update", ("tea.md", "cat.md"), None, "approved", "")
    moved = (
        Write("tea.md", digest(tea), tea.replace(b"- No sugar.\n", b"- In a pot.\n")),
        Write("cat.md", digest(cat), cat + b"- No sugar.\n"),
    )
    store.transact(Transaction(RunKind.APPLY, "tests", "person", moved, actions=(record,)))
    write(store, NEW + "- With milk.\n")
    write(store, cat.decode(), "cat.md")
    (item,) = (item for item in overwritten(store) if item.path == "tea.md")
    assert item.facts == ("In a pot.",)
    repair(store, [item], who="tests")
    assert (store.live("tea.md") or b"").decode() == NEW + "- In a pot.\n- With milk.\n"


def test_a_description_is_named_unless_the_other_writer_gave_one_too(store: Store) -> None:
    ours = NEW.replace('"Tea"', '"Ours"') + "- Loose leaves.\n"
    store.edit("tea.md", ours.encode(), base=digest(NEW.encode()), who="tests")
    write(store, NEW + "- With milk.\n")
    (item,) = overwritten(store)
    assert item.facts == ("Ours", "Loose leaves.")
    write(store, NEW.replace('"Tea"', '"Theirs"') + "- With milk.\n")
    found = overwritten(store)
    assert [item.facts for item in found] == [("Loose leaves.",)]
    repair(store, found, who="tests")
    text = (store.live("tea.md") or b"").decode()
    assert text == NEW.replace('"Tea"', '"Theirs"') + "- With milk.\n- Loose leaves.\n"


def test_two_edits_of_one_line_after_each_other_are_not_reported(store: Store) -> None:
    ours = NEW.replace("Three", "Four")
    store.edit("tea.md", ours.encode(), base=digest(NEW.encode()), who="tests")
    write(store, NEW.replace("Three", "Five"))
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


def file(lines: Collection[str]) -> bytes:
    return "".join(f"- {line}\n" for line in lines).encode()


SOME = st.lists(st.sampled_from("abcdefghij"), max_size=6, unique=True)


@given(SOME, SOME, LINES)
def test_an_append_to_the_earlier_text_is_stale_if_the_run_added_anything(
    old: list[str], new: list[str], tail: list[str]
) -> None:
    later = [f"later {line}" for line in tail]
    assert is_stale(file(old), file(new), file(old + later)) == bool(set(new) - set(old))


@given(SOME, SOME, SOME)
def test_an_edit_that_keeps_a_line_of_the_run_is_never_stale(
    old: list[str], new: list[str], here: list[str]
) -> None:
    if set(here) & (set(new) - set(old)):
        assert not is_stale(file(old), file(new), file(here))


@given(SOME, SOME, SOME)
def test_a_text_that_brings_nothing_of_the_earlier_one_back_is_never_stale(
    old: list[str], new: list[str], here: list[str]
) -> None:
    if old and not set(here) & set(old):
        assert not is_stale(file(old), file(new), file(here))


@given(SOME, SOME)
def test_the_result_of_a_run_is_never_stale(old: list[str], new: list[str]) -> None:
    assert not is_stale(file(old), file(new), file(new))
