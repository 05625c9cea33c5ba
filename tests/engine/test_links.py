"""Links of memories: which there are, what they mean, and which a change leaves dead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.ledger import DeadLink
from engine.links import Targets, links
from tests.engine.test_ledger import account, delete, head, merge, move, update


def found(text: str) -> list[tuple[int, str]]:
    return [(link.line, link.to) for link in links(text)]


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("see [a](facts/a.md)", "facts/a.md"),
        ("see [a](<facts/a b.md> 'title')", "facts/a b.md"),
        ("see [a](facts/a%20b.md#part)", "facts/a b.md"),
        ("[a]: ../a.md", "../a.md"),
        ("see [[a]] now", "a"),
        ("see [[facts/a#Part|the note]]", "facts/a"),
    ],
)
def test_a_link_to_a_memory_is_found(text: str, to: str) -> None:
    assert found(text) == [(1, to)]


@pytest.mark.parametrize(
    "text",
    [
        "see [a](https://example.com/a.md)", "[a](mailto:a@b.md)", "[a](#part)", "[a](image.png)",
        "```\n[a](a.md)\n```", "[[]]", "a [b] c", "[a](a.md",
    ],
)  # fmt: skip
def test_what_is_no_link_to_a_memory_is_not(text: str) -> None:
    assert not found(text)


def test_a_path_is_meant_from_the_files_folder_or_from_the_top_and_a_name_from_anywhere() -> None:
    store = Targets(["facts/a.md", "b.md", "deep/er/Name.md"])
    text = "[x](a.md) [x](../b.md) [x](/facts/a.md) [x](facts/a.md) [[name]] [[none]]"
    assert [store.of(link, "facts/c.md") for link in links(text)] == [
        "facts/a.md", "b.md", "facts/a.md", "facts/a.md", "deep/er/Name.md", None,
    ]  # fmt: skip


@given(st.text(alphabet="[]()<>#|a.md:\n `", max_size=200))
def test_any_text_has_links_of_its_own_lines(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 and to for line, to in found(text))


FILES = {
    "a.md": head("a", "- one\n"),
    "b.md": head("b", "- one\n- see [a](a.md)\n"),
    "c.md": head("c", "- see [[a]]\n"),
}


def test_a_delete_names_every_link_to_what_it_removes_and_is_not_lossless() -> None:
    (gone,) = account(FILES, delete("a.md"))
    assert gone.dead_links == (DeadLink("b.md", 6, "a.md"), DeadLink("c.md", 5, "a.md"))
    assert not gone.lossless


def test_a_link_that_another_approved_action_takes_out_is_not_dead() -> None:
    actions = delete("a.md"), update("c.md", head("c", "- nothing\n"))
    with_both, _ = account(FILES, *actions)
    assert [link.path for link in with_both.dead_links] == ["b.md"]
    alone, _ = account(FILES, *actions, approved={0})
    assert [link.path for link in alone.dead_links] == ["b.md", "c.md"]


def test_a_link_that_another_approved_action_writes_is_dead_too() -> None:
    actions = delete("a.md"), update("c.md", head("c", "- see [[a]]\n- and [[a|it]] again\n"))
    with_both, _ = account(FILES, *actions)
    assert [link.line for link in with_both.dead_links if link.path == "c.md"] == [5, 6]


def test_a_move_breaks_links_to_it_and_its_own_that_start_from_its_folder() -> None:
    files = {**FILES, "deep/d.md": head("d", "- [e](e.md)\n"), "deep/e.md": head("e", "- two\n")}
    (moved,) = account(files, move("deep/d.md", "other/d.md"))
    assert moved.dead_links == (DeadLink("other/d.md", 5, "e.md"),)
    (moved,) = account(FILES, move("a.md", "facts/a.md"))
    assert [link.path for link in moved.dead_links] == ["b.md"]  # [[a]] still finds it


def test_a_merge_into_one_of_its_sources_leaves_links_to_that_alone() -> None:
    (merged,) = account(FILES, merge("a.md", "b.md", "a.md", "- one\n- see [a](a.md)\n"))
    assert merged.dead_links == ()
    (merged,) = account(FILES, merge("a.md", "b.md", "b.md", "- one\n- see [a](a.md)\n"))
    assert DeadLink("b.md", 6, "a.md") in merged.dead_links


def test_a_link_that_was_dead_before_is_nobodys_fault() -> None:
    files = {"a.md": head("a", "- see [[nowhere]]\n")}
    (same,) = account(files, update("a.md", head("a", "- see [[nowhere]]\n- more\n")))
    assert same.dead_links == ()
    (new,) = account(files, update("a.md", head("a", "- see [[elsewhere]]\n")))
    assert [link.to for link in new.dead_links] == ["elsewhere"]
