"""A plan's file: a verdict writes the review anew, and every byte says what the value says."""

from __future__ import annotations

from engine.plan import ALL_OPERATIONS, Limits, parse_plan
from engine.review import Review, SavedPlan, StoreName, Verdict, parse_saved_plan, plan_id


def _saved() -> SavedPlan:
    plan, _ = parse_plan(
        {
            "actions": [{"action": "delete", "path": f"{n}.md", "reason": "é\x1b"} for n in "abc"],
            "summary": "s",
        }
    )
    return SavedPlan(
        id=plan_id(plan, {}),
        store=StoreName(layout="design", name="knowledge"),
        planner="file",
        operations=ALL_OPERATIONS,
        limits=Limits(),
        time="2026-01-01T00:00:00Z",
        base={},
        plan=plan,
        review=Review.of(plan),
    )


def test_what_is_written_is_read_again_with_every_verdict() -> None:
    saved = _saved()
    for index, verdict in enumerate((Verdict.APPROVED, Verdict.REJECTED)):
        review = saved.review.decide(index, verdict, seen="x", reason='"why"\n')
        saved = saved.reviewed(review)
        assert parse_saved_plan(saved.dump()) == saved
    assert saved.dump().isascii()
    assert saved.dump().count(b"\n") > 3


def test_a_copy_with_other_values_writes_the_other_values() -> None:
    saved = _saved()
    assert saved.dump()
    other = saved.model_copy(update={"planner": "another"})
    assert parse_saved_plan(other.dump()).planner == "another"
    assert parse_saved_plan(other.reviewed(other.review).dump()).planner == "another"
