"""A ledger that goes on from another one says what a new one would."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.changes import Change, resolve
from engine.documents import Snapshot
from engine.ledger import Ledger
from engine.plan import parse_plan
from tests.engine.test_ledger import actions, bodies, facts, head, names

results = st.lists(st.one_of(facts, st.just("")), max_size=4).map(
    lambda found: head("n", "".join(f"- {fact}\n" if fact else "```\nrun\n```\n" for fact in found))
)


def changes_of(chosen: list[dict[str, Any]], snapshot: Snapshot) -> tuple[Change, ...]:
    return resolve(parse_plan({"actions": chosen, "summary": ""})[0], snapshot)


def edited(
    files: dict[str, str], chosen: list[dict[str, Any]], at: int, content: str | None
) -> list[dict[str, Any]]:
    """The actions with another result of one; without a text, what its file says already."""
    at %= len(chosen)
    if "content" not in chosen[at]:
        return chosen
    if content is None:
        path = chosen[at].get("path") or chosen[at]["target"]
        content = files.get(path, "x\n")
    return [*chosen[:at], {**chosen[at], "content": content}, *chosen[at + 1 :]]


@given(
    st.dictionaries(names, bodies, min_size=1),
    st.lists(actions, min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), st.none() | results), min_size=1, max_size=3),
    st.sets(st.integers(0, 4)),
)
def test_after_edits_the_ledger_is_the_one_that_is_worked_out_anew(
    files: dict[str, str],
    chosen: list[dict[str, Any]],
    edits: list[tuple[int, str | None]],
    picked: set[int],
) -> None:
    snapshot = Snapshot({path: text.encode() for path, text in files.items()})
    approved = frozenset(i for i in picked if i < len(chosen))
    ledger = Ledger(changes_of(chosen, snapshot), snapshot)
    ledger.account(approved)
    for at, content in edits:
        chosen = edited(files, chosen, at, content)
        changes = changes_of(chosen, snapshot)
        ledger = ledger.following(changes)
        for runs in (approved, frozenset[int](), frozenset(range(len(chosen)))):
            assert ledger.account(runs) == Ledger(changes, snapshot).account(runs)
