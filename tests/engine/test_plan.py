"""The JSON boundary: what is refused before anything is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.errors import InvalidPlan
from engine.plan import (
    ALL_OPERATIONS,
    Limits,
    load_json,
    parse_limits,
    parse_operations,
    parse_plan,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not JSON"),
        (b"{", "line 1"),
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
        (b'{"x": {"b": 1, "b": 2}}', "'b' stands twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"[" * 20 + b"]" * 20, "nested"),
        pytest.param(b"[" * 200_000, "nested", id="very deep"),
        pytest.param(b" " * (16 * 1024 * 1024 + 1), "16 MiB", id="too large"),
        pytest.param(b"1" * 5000, "refused", id="long number"),
    ],
)
def test_bad_json_is_refused_with_what_is_wrong(text: bytes, said: str) -> None:
    with pytest.raises(InvalidPlan, match=said) as caught:
        load_json(text)
    assert caught.value.stage == "schema"


def test_every_problem_names_its_action() -> None:
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(
            {"actions": [{"action": "delete", "path": 1}, {"action": "nope"}], "summary": ""}
        )
    assert {v.action for v in caught.value.violations} == {0, 1}


def test_a_million_bad_actions_are_refused_by_their_number() -> None:
    with pytest.raises(InvalidPlan, match="more than"):
        parse_plan({"actions": [None] * 100_001, "summary": ""})


def test_only_the_first_twenty_problems_are_listed() -> None:
    with pytest.raises(InvalidPlan) as caught:
        parse_plan({"actions": [{"action": "delete"}] * 500, "summary": ""})
    assert len(caught.value.violations) == 21
    assert "more problems" in caught.value.violations[-1].message


def test_unknown_fields_are_ignored_with_a_notice() -> None:
    plan, notices = parse_plan(
        {
            "actions": [{"action": "delete", "path": "a.md", "reason": "", "force": True}],
            "summary": "",
            "note": 1,
        }
    )
    assert "force" not in plan.model_dump_json()
    assert [(n.code, n.action) for n in notices] == [("unknown-field", None), ("unknown-field", 0)]


def test_a_move_is_saved_with_the_key_from() -> None:
    action = {"action": "move", "from": "a.md", "to": "b.md", "reason": ""}
    plan, _ = parse_plan({"actions": [action], "summary": ""})
    assert plan.model_dump()["actions"][0] == action


def test_a_lone_surrogate_survives_until_the_rules_refuse_it() -> None:
    plan, _ = parse_plan(
        load_json(
            json.dumps(
                {
                    "actions": [{"action": "delete", "path": "\udcff.md", "reason": ""}],
                    "summary": "",
                }
            )
        )
    )
    assert plan.actions[0].path == "\udcff.md"  # type: ignore[union-attr]


@pytest.mark.parametrize("value", [True, "8", 8.0, 0, -1, float("nan"), float("inf"), None])
def test_a_limit_is_a_positive_integer_and_nothing_that_looks_like_one(value: Any) -> None:
    with pytest.raises(InvalidPlan) as caught:
        parse_limits({"max_files": value})
    assert [v.code for v in caught.value.violations] == ["limit-not-positive-integer"]


def test_operations_are_kept_once_and_in_order() -> None:
    assert [*map(str, parse_operations(["prune", "deduplicate", "prune"]))] == [
        "prune",
        "deduplicate",
    ]
    assert parse_operations(None) == ALL_OPERATIONS
    assert parse_limits({}) == Limits()
