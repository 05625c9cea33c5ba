"""Blocks: a result without some of them is what is checked, counted, approved and applied."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine import consolidation
from engine.blocks import count_blocks, without
from engine.changes import resolve
from engine.documents import Snapshot
from engine.plan import parse_plan
from engine.planner.file import FilePlanner
from engine.proposal import Proposal
from engine.review import Verdict, parse_saved_plan
from engine.store import Store, open_store

HEAD = '---\ndescription: "Tea"\n---\n\n'
BEFORE = HEAD + "- Green tea.\n- No sugar.\n- Three minutes.\n- At four.\n"
AFTER = HEAD + "- Black tea.\n- No sugar.\n- Five minutes.\n- At four.\n- With milk.\n"
LINES = st.lists(st.sampled_from("abcdef"), max_size=12).map("\n".join)


def update(content: str) -> Mapping[str, Any]:
    return {"action": "update", "path": "tea.md", "content": content, "reason": "r"}


def proposal(folder: Path, *actions: Mapping[str, Any]) -> tuple[Store, Proposal]:
    (folder / "tea.md").write_text(BEFORE)
    store = open_store(str(folder))
    data = json.dumps({"actions": actions, "summary": ""}).encode()
    saved = consolidation.propose(store, FilePlanner(data))
    assert saved is not None
    return store, consolidation.examine(store, saved)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def test_a_block_that_is_left_stays_as_the_file_has_it(folder: Path) -> None:
    store, found = proposal(folder, update(AFTER))
    assert count_blocks(found.changes[0]) == 3
    found = found.reviewed(found.saved.review.take(0, 1, taken=False))
    assert found.plan.actions[0].content == AFTER.replace("Five", "Three")  # type: ignore[union-attr]
    assert found.flags(0)[-1] == "in part"
    found = consolidation.decide(found, approve=[0])
    consolidation.apply(store, found, who="tests")
    assert (folder / "tea.md").read_text() == AFTER.replace("Five", "Three")
    assert store.runs()[0].actions[0].verdict == "edited"


def test_the_ledger_counts_what_the_partial_result_drops_and_no_more(folder: Path) -> None:
    _, found = proposal(folder, update(AFTER))
    whole = {entry.source.text for entry in found.accounts[0].dropped if entry.source}
    found = found.reviewed(found.saved.review.take(0, 0, taken=False))
    part = {entry.source.text for entry in found.accounts[0].dropped if entry.source}
    assert part < whole
    assert "Green tea." not in part


def test_an_approval_falls_when_a_block_is_left_after_it(folder: Path) -> None:
    _, found = proposal(folder, update(AFTER))
    found = consolidation.decide(found, approve=[0])
    found = found.reviewed(found.saved.review.take(0, 2, taken=False))
    assert found.verdict(0) is Verdict.PENDING
    assert not found.approved


def test_left_blocks_are_in_the_plan_file_and_come_back_with_it(folder: Path) -> None:
    _, found = proposal(folder, update(AFTER))
    review = found.saved.review.take(0, 2, taken=False).take(0, 0, taken=False)
    saved = parse_saved_plan(found.saved.reviewed(review).dump())
    assert saved.review.decisions[0].left == (0, 2)
    assert saved.review.take(0, 0, taken=True).decisions[0].left == (2,)


def test_a_partial_result_may_be_no_worse_than_the_file_was(folder: Path) -> None:
    _, found = proposal(folder, update("# Tea\n\n" + AFTER.removeprefix(HEAD)))
    assert found.verdicts.broken == {0}
    found = found.reviewed(found.saved.review.take(0, 0, taken=False))
    assert not found.verdicts.broken


def test_an_edit_of_the_result_starts_with_every_block_taken(folder: Path) -> None:
    _, found = proposal(folder, update(AFTER))
    review = found.saved.review.take(0, 1, taken=False).edit(0, AFTER + "- Edited.\n")
    assert review.decisions[0].left == ()


def test_the_blocks_of_a_merge_into_a_new_file_are_those_against_its_closest_source() -> None:
    files = {"a.md": BEFORE.encode(), "b.md": (HEAD + "- With milk.\n").encode()}
    merge = {"action": "merge", "sources": ["b.md", "a.md"], "target": "c.md", "reason": ""}
    plan, _ = parse_plan({"actions": [{**merge, "content": AFTER}], "summary": ""})
    (change,) = resolve(plan, Snapshot(files))
    assert count_blocks(change) == 3
    assert without(change, {0, 1, 2}) == BEFORE


@given(LINES, LINES, st.sets(st.integers(0, 8)))
def test_no_block_left_is_the_result_and_every_block_left_is_the_file(
    before: str, after: str, left: set[int]
) -> None:
    assume(before != after)
    plan, _ = parse_plan({"actions": [update(after)], "summary": ""})
    (change,) = resolve(plan, Snapshot({"tea.md": before.encode()}))
    every = range(count_blocks(change))
    assert without(change, ()) == after
    assert without(change, every) == (before if every else after)
    some = without(change, left)
    assert some is not None
    assert set(some.split("\n")) <= {*before.split("\n"), *after.split("\n")}
