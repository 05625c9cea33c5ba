"""The rules: one counterexample each that only that rule rejects, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.changes import resolve
from engine.documents import Snapshot
from engine.guards import content_violations, path_violations
from engine.paths import Layout, identity
from engine.plan import ALL_OPERATIONS, Limits, Operation, parse_plan
from engine.rules import RULES, Case, Verdicts, validate

GOOD = '---\ndescription: "kiln"\n---\n\nCone 6.\n'
FILES = {
    "facts/kiln.md": GOOD.encode(),
    "facts/net.md": b"The net is on Tuesday.\n",
    "facts/tea.md": b"Green tea.\n",
}


def merge(*sources: str, target: str, content: str = GOOD) -> dict[str, Any]:
    return {
        "action": "merge",
        "sources": list(sources),
        "target": target,
        "content": content,
        "reason": "r",
    }


def update(path: str, content: str = GOOD) -> dict[str, Any]:
    return {"action": "update", "path": path, "content": content, "reason": "r"}


def delete(path: str) -> dict[str, Any]:
    return {"action": "delete", "path": path, "reason": "r"}


def move(source: str, to: str) -> dict[str, Any]:
    return {"action": "move", "from": source, "to": to, "reason": "r"}


def judge(
    *actions: dict[str, Any],
    files: dict[str, bytes] | None = None,
    layout: Layout = Layout.NAMESPACED,
    operations: tuple[Operation, ...] = ALL_OPERATIONS,
    one_call: bool = True,
    by_hand: frozenset[int] = frozenset(),
    **limits: int,
) -> Verdicts:
    plan, _ = parse_plan({"actions": list(actions), "summary": ""})
    case = Case(
        plan,
        Snapshot(FILES if files is None else files),
        layout,
        operations,
        Limits(**limits),
        one_call=one_call,
        by_hand=by_hand,
    )
    return validate(case)


KILN, NET, TEA = "facts/kiln.md", "facts/net.md", "facts/tea.md"
TWINS = {**FILES, "facts/Net.md": b"Another net.\n"}
COUNTEREXAMPLES: dict[str, Verdicts] = {
    "action-not-allowed": judge(delete(NET), operations=(Operation.DEDUPLICATE,)),
    "too-many-actions": judge(delete(NET), delete(TEA), max_actions_per_plan=1),
    "output-too-large": judge(update(NET), max_generated_bytes=10),
    "result-too-large": judge(
        update(NET, GOOD + "x" * 200), max_input_bytes=200, max_generated_bytes=1000
    ),
    "unknown-path": judge(delete("facts/ghost.md")),
    "path-alias": judge(delete("facts/NET.md"), files=TWINS),
    "merge-sources": judge(merge(NET, target=NET)),
    "path-traversal": judge(move(NET, "radio/../net.md")),
    "path-reserved": judge(move(NET, "Consolidation-Changelog.md")),
    "path-extension": judge(move(NET, "radio/net.txt")),
    "path-depth": judge(move(NET, "a/b/net.md")),
    "directory-name": judge(move(NET, "ham_radio/net.md")),
    "filename": judge(move(NET, "radio/con.md")),
    "directory-limit": judge(move(NET, "radio/net.md"), max_directories=1),
    "target-collision": judge(move(NET, "radio/x.md"), move(TEA, "radio/x.md")),
    "write-delete-conflict": judge(update(NET), delete(NET)),
    "target-exists": judge(move(NET, TEA)),
    "source-claimed-twice": judge(move(NET, "radio/a.md"), move(NET, "radio/b.md")),
    "content-empty": judge(update(NET, " \n")),
    "content-frontmatter": judge(update(NET, "no frontmatter\n")),
    "content-description": judge(update(NET, "---\ntopic: x\n---\n\nbody\n")),
    "content-body": judge(update(NET, '---\ndescription: "x"\n---\n\u2800\n')),
    "content-encoding": judge(update(NET, GOOD + "\ud800")),
}


def test_every_rule_has_a_counterexample() -> None:
    assert set(COUNTEREXAMPLES) == {rule.code for rule in RULES}


@pytest.mark.parametrize("code", COUNTEREXAMPLES)
def test_a_counterexample_breaks_its_rule_and_no_other(code: str) -> None:
    assert {v.code for v in COUNTEREXAMPLES[code].violations} == {code}


def test_all_violations_are_reported_at_once_in_the_order_of_the_plan() -> None:
    found = judge(delete("ghost.md"), update(NET, ""), move(TEA, "../out.md"))
    assert [(v.action, v.code) for v in found.violations] == [
        (0, "unknown-path"),
        (1, "content-empty"),
        (2, "path-traversal"),
    ]


def test_the_limits_of_a_call_do_not_bind_a_plan_that_is_no_single_call() -> None:
    found = judge(delete(NET), delete(TEA), one_call=False, max_actions_per_plan=1)
    assert found.violations == ()


def test_a_shipped_store_stays_flat() -> None:
    codes = {v.code for v in judge(move(NET, "radio/net.md"), layout=Layout.SHIPPED).violations}
    assert codes == {"path-depth"}


def test_a_folder_store_gets_no_new_folder() -> None:
    assert {v.code for v in judge(move(NET, "radio/net.md"), layout=Layout.FOLDER).violations} == {
        "directory-name"
    }
    assert judge(move(NET, "facts/other.md"), layout=Layout.FOLDER).violations == ()


def test_a_target_in_an_existing_folder_keeps_the_folders_spelling() -> None:
    plan, _ = parse_plan({"actions": [move("a.md", "old stuff/B.md")], "summary": ""})
    snapshot = Snapshot({"a.md": b"a", "Old Stuff/x.md": b"x"})
    (change,) = resolve(plan, snapshot)
    assert change.target == "Old Stuff/b.md"


def test_what_a_file_broke_before_is_a_warning_when_a_person_edits_it() -> None:
    found = judge(update(NET, "The net moved.\n"), by_hand=frozenset([0]))
    assert found.violations == ()
    assert {w.code for w in found.warnings} == {"content-frontmatter"}


def test_what_a_file_did_not_break_before_is_refused_when_a_person_edits_it() -> None:
    found = judge(update(KILN, "no frontmatter any more\n"), by_hand=frozenset([0]))
    assert {v.code for v in found.violations} == {"content-frontmatter"}


def test_a_plan_that_empties_the_store_is_valid_but_warned_of() -> None:
    found = judge(delete(KILN), delete(NET), delete(TEA))
    assert found.violations == ()
    assert {w.code for w in found.warnings} == {"empties-store"}


@pytest.mark.parametrize(
    "path", ["a.md", "facts/a.md", "a/b/c/d.md", "facts/日本語.md", "v1.2.md", "o'brien [1].md"]
)
def test_a_person_may_choose_any_portable_path(path: str) -> None:
    assert path_violations(path) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../a.md", "path-traversal"),
        ("a\\b.md", "path-traversal"),
        ("consolidation-changelog.md", "path-reserved"),
        ("a.txt", "path-extension"),
        ("", "path-extension"),
        ("/a.md", "directory-name"),
        ("a//b.md", "directory-name"),
        (".git/a.md", "directory-name"),
        (".a.md", "filename"),
        ("a\u202e.md", "filename"),
        ("nul.md", "filename"),
        ("aux.notes.md", "filename"),
        ("a\udcff.md", "filename"),
    ],
)
def test_a_person_may_not_choose_an_unsafe_path(path: str, code: str) -> None:
    assert code in {v.code for v in path_violations(path)}


@given(st.text(max_size=60))
def test_content_rules_are_total(text: str) -> None:
    content_violations(text)
    content_violations(f'---\ndescription: "x"\n{text}')


@given(st.text(max_size=30))
def test_identity_is_idempotent(text: str) -> None:
    assert identity(identity(text)) == identity(text)


names = st.sampled_from(["facts/a.md", "facts/b.md", "c.md", "d.md"])
targets = st.sampled_from(["facts/a.md", "c.md", "new.md", "lab/x.md", "facts/A.md"])
actions = st.one_of(
    st.builds(delete, names),
    st.builds(update, names),
    st.builds(move, names, targets),
    st.builds(lambda a, b, t: merge(a, b, target=t), names, names, targets),
)


@given(st.lists(actions, max_size=6), st.data())
def test_any_subset_of_a_valid_plan_is_valid(chosen: list[dict[str, Any]], data: Any) -> None:
    files = {name: GOOD.encode() for name in ("facts/a.md", "facts/b.md", "c.md", "d.md")}
    if judge(*chosen, files=files).violations:
        return
    subset = data.draw(
        st.lists(st.sampled_from(range(len(chosen))), unique=True) if chosen else st.just([])
    )
    assert judge(*(chosen[i] for i in subset), files=files).violations == ()


@given(st.lists(actions, max_size=6))
def test_no_two_edits_of_a_valid_plan_touch_one_path(chosen: list[dict[str, Any]]) -> None:
    files = {name: GOOD.encode() for name in ("facts/a.md", "facts/b.md", "c.md", "d.md")}
    if judge(*chosen, files=files).violations:
        return
    plan, _ = parse_plan({"actions": chosen, "summary": ""})
    paths = [e.path for change in resolve(plan, Snapshot(files)) for e in change.edits]
    assert len(paths) == len(set(map(identity, paths)))
