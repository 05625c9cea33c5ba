"""The ledger: for no set of verdicts is a statement lost that was not counted."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.changes import resolve
from engine.documents import Snapshot
from engine.ledger import Account, Fate, Ledger
from engine.paths import Layout
from engine.plan import parse_plan
from engine.rules import Case, validate
from engine.statements import statements


def head(description: str, body: str) -> str:
    return f'---\ndescription: "{description}"\n---\n\n{body}'


def account(
    files: dict[str, str], *actions: dict[str, Any], approved: set[int] | None = None
) -> tuple[Account, ...]:
    plan, _ = parse_plan({"actions": list(actions), "summary": ""})
    snapshot = Snapshot({path: text.encode() for path, text in files.items()})
    changes = resolve(plan, snapshot)
    chosen = frozenset(range(len(changes))) if approved is None else frozenset(approved)
    return Ledger(changes, snapshot).account(chosen)


def update(path: str, content: str) -> dict[str, Any]:
    return {"action": "update", "path": path, "content": content, "reason": ""}


def delete(path: str) -> dict[str, Any]:
    return {"action": "delete", "path": path, "reason": ""}


def merge(a: str, b: str, target: str, body: str) -> dict[str, Any]:
    return {
        "action": "merge",
        "sources": [a, b],
        "target": target,
        "content": head("n", body),
        "reason": "",
    }


def move(source: str, to: str) -> dict[str, Any]:
    return {"action": "move", "from": source, "to": to, "reason": ""}


def said(found: Any) -> list[str]:
    return [entry.source.text for entry in found]


def test_a_line_carried_verbatim_under_the_same_heading_is_kept_and_not_flagged() -> None:
    old = head("net", "# Net\n- On Tuesday.\n- At 20:00.\n")
    (found,) = account({"a.md": old}, update("a.md", old + "- Bring tea.\n"))
    assert found.kept == 3
    assert [e.flags for e in found.of(Fate.KEPT)] == [(), (), ()]
    assert [e.result.text for e in found.new if e.result] == ["Bring tea."]


def test_a_dropped_line_is_counted_with_its_place() -> None:
    old = head("net", "# Net\n- On Tuesday.\n- At 20:00.\n")
    (found,) = account({"a.md": old}, update("a.md", head("net", "# Net\n- On Tuesday.\n")))
    assert [(e.source.path, e.source.line, e.source.text) for e in found.dropped if e.source] == [
        ("a.md", 7, "At 20:00.")
    ]
    assert not found.lossless


def test_another_number_is_no_rewording() -> None:
    old, new = "The net is on 3.690 MHz on Tuesdays.", "The net is on 3.615 MHz on Tuesdays."
    (found,) = account({"a.md": head("n", old)}, update("a.md", head("n", new)))
    assert found.reworded == 0
    (entry,) = found.dropped
    assert entry.flags == ("number",)
    assert entry.result is not None
    assert entry.result.text == new


@pytest.mark.parametrize(
    ("old", "new", "flag"),
    [
        ("Always restart the worker.", "Never restart the worker.", "negation"),
        ("Ask Maria about the kiln key.", "Ask Peter about the kiln key.", "name"),
        ("Docs are at https://a.example/x now", "Docs are at https://b.example/x now", "url"),
        ("Moved on 2024-01-05 to the lab", "Moved on 2024-02-05 to the lab", "date"),
    ],
)
def test_a_changed_hard_fact_is_dropped_and_flagged(old: str, new: str, flag: str) -> None:
    (found,) = account({"a.md": head("n", old)}, update("a.md", head("n", new)))
    assert [flag in entry.flags for entry in found.dropped] == [True]


def test_other_words_for_the_same_are_reworded() -> None:
    old, new = "Glaze the pots before firing them.", "Before firing them, glaze the pots."
    (found,) = account({"a.md": head("n", old)}, update("a.md", head("n", new)))
    assert (found.reworded, len(found.dropped)) == (1, 0)
    assert not found.lossless


def test_a_line_under_another_heading_is_moved_and_flagged() -> None:
    old = head("n", "# T\n## Do\n- restart\n## Never\n- sleep\n")
    new = head("n", "# T\n## Never\n- sleep\n- restart\n")
    (found,) = account({"a.md": old}, update("a.md", new))
    (entry,) = found.of(Fate.MOVED)
    assert entry.flags == ("heading",)
    assert not found.lossless


def test_a_changed_description_is_flagged_and_never_lossless() -> None:
    (found,) = account({"a.md": head("net times", "x\n")}, update("a.md", head("radio", "x\n")))
    assert any("description" in e.flags for e in found.entries)
    assert not found.lossless


def test_another_frontmatter_key_is_a_statement_too() -> None:
    old = '---\ndescription: "n"\nowner: maria\n---\n\nx\n'
    (found,) = account({"a.md": old}, update("a.md", head("n", "x\n")))
    assert said(found.dropped) == ["owner: maria"]


def test_a_delete_that_another_file_covers_is_lossless_and_names_the_carrier() -> None:
    files = {"a.md": "# T\n- one\n", "b.md": "# T\n- one\n- two\n"}
    (found,) = account(files, delete("a.md"))
    assert found.lossless
    assert found.carriers == ("b.md",)


def test_mutual_deletes_of_copies_are_both_counted_as_dropping() -> None:
    files = {"a.md": "one\n", "b.md": "one\n"}
    first, second = account(files, delete("a.md"), delete("b.md"))
    assert [said(a.dropped) for a in (first, second)] == [["one"], ["one"]]
    alone, _ = account(files, delete("a.md"), delete("b.md"), approved={0})
    assert alone.lossless


def test_a_delete_needs_the_update_that_carries_its_facts() -> None:
    files = {"a.md": "- one\n", "b.md": "- two\n"}
    actions = update("a.md", head("n", "- one\n- two\n")), delete("b.md")
    _, with_it = account(files, *actions, approved={0, 1})
    assert (with_it.needs, len(with_it.dropped)) == ((0,), 0)
    _, without = account(files, *actions, approved={1})
    assert without.needs == (0,)
    assert said(without.dropped) == ["two"]


def test_a_move_loses_nothing() -> None:
    action = {"action": "move", "from": "a.md", "to": "b/a.md", "reason": ""}
    (found,) = account({"a.md": "# T\n- one\n"}, action)
    assert found.lossless


def test_a_merge_into_an_unchanged_file_counts_that_file_as_its_result() -> None:
    text = head("n", "# T\n- one\n")
    action = {
        "action": "merge", "sources": ["a.md", "b.md"], "target": "a.md", "content": text,
        "reason": "",
    }  # fmt: skip
    (found,) = account({"a.md": text, "b.md": "# T\n- one\n- two\n"}, action)
    assert said(found.dropped) == ["two"]
    assert found.kept >= 2


@given(st.text(max_size=200))
def test_no_written_word_is_in_no_statement(text: str) -> None:
    found = statements("a.md", text.encode("utf-8", "replace"))
    joined = " ".join(s.text for s in found)
    for word in text.split():
        bare = word.strip("#>-*+|`~=_:0123456789.) []xX\\")
        if bare.isalnum() and bare.isascii() and len(bare) > 2:
            assert bare in joined


facts = st.sampled_from(["one", "two", "three 3", "four"])
bodies = st.lists(facts, max_size=4).map(lambda found: "".join(f"- {f}\n" for f in found) or "x\n")
names = st.sampled_from(["a.md", "b.md", "c.md"])
actions = st.one_of(
    st.builds(delete, names),
    st.builds(lambda p, b: update(p, head("n", b)), names, bodies),
    st.builds(merge, names, names, st.sampled_from(["a.md", "b.md", "new.md"]), bodies),
    st.builds(move, names, st.sampled_from(["m.md", "n.md"])),
)


@given(
    st.dictionaries(names, bodies, min_size=1),
    st.lists(actions, min_size=1, max_size=4),
    st.sets(st.integers(0, 3)),
)
def test_what_applying_loses_was_counted_as_dropped(
    files: dict[str, str], chosen: list[dict[str, Any]], picked: set[int]
) -> None:
    plan, _ = parse_plan({"actions": chosen, "summary": ""})
    snapshot = Snapshot({path: text.encode() for path, text in files.items()})
    if validate(Case(plan, snapshot, Layout.NAMESPACED)).violations:
        return
    changes = resolve(plan, snapshot)
    approved = frozenset(i for i in picked if i < len(changes))
    approved |= {i for i in range(len(changes)) if changes[i].into in approved}
    approved -= {
        i for i in approved if (into := changes[i].into) is not None and into not in approved
    }
    left = dict(snapshot.files)
    for index in approved:
        for edit in changes[index].edits:
            if edit.after is None:
                left.pop(edit.path, None)
            else:
                left[edit.path] = edit.after

    def keys(found: dict[str, bytes]) -> set[str]:
        return {s.key for path, data in found.items() for s in statements(path, data)}

    accounts = Ledger(changes, snapshot).account(approved)
    counted = {e.source.key for i in approved for e in accounts[i].dropped if e.source}
    reworded = {e.source.key for i in approved for e in accounts[i].of(Fate.REWORDED) if e.source}
    assert keys(dict(snapshot.files)) - keys(left) <= counted | reworded


@given(bodies, st.sets(facts))
def test_planted_drops_and_inventions_are_all_found(body: str, gone: set[str]) -> None:
    kept = [line for line in body.split("\n") if line.removeprefix("- ") not in gone]
    new = "\n".join([*kept, "- invented 99"]) + "\n"
    (found,) = account({"a.md": head("n", body)}, update("a.md", head("n", new)))
    expected = {line.removeprefix("- ") for line in body.split("\n")} & gone
    assert expected <= {e.source.text for e in found.dropped if e.source}
    assert "invented 99" in {e.result.text for e in found.new if e.result}
    assert not list(chain.from_iterable(e.flags for e in found.of(Fate.KEPT)))
