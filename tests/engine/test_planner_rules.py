"""The rules planner: it folds copies away, and never loses a statement."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.changes import resolve
from engine.documents import Snapshot
from engine.ledger import Ledger
from engine.paths import Layout
from engine.plan import ALL_OPERATIONS, Delete, Merge, Operation, Plan
from engine.planner import Request
from engine.planner.rules import RulesPlanner
from engine.rules import Case, validate


def plan_for(files: dict[str, bytes], *operations: Operation) -> Plan:
    request = Request(Layout.NAMESPACED, operations or ALL_OPERATIONS)
    return RulesPlanner().propose(Snapshot(files), request)


def test_a_copy_is_deleted_with_the_file_named_that_says_the_same() -> None:
    plan = plan_for({"a/net.md": b"# Net\n- On Tuesday.\n", "net.md": b"# Net\n\n* on  tuesday\n"})
    (action,) = plan.actions
    assert isinstance(action, Delete)
    assert action.path == "a/net.md"
    assert "net.md" in action.reason


def test_a_covered_file_is_deleted_and_the_fuller_one_stays() -> None:
    plan = plan_for({"a.md": b"# T\n- one\n- two\n", "b.md": b"# T\n- one\n"})
    assert [getattr(a, "path", None) for a in plan.actions] == ["b.md"]


def test_the_same_line_under_another_heading_covers_nothing() -> None:
    files = {"a.md": b"# T\n- two\n## Never\n- one\n", "b.md": b"# T\n- one\n"}
    assert plan_for(files).actions == ()


def test_with_deduplicate_alone_a_merge_keeps_the_text_and_gains_a_description() -> None:
    files = {"a.md": b"# T\n- one\n", "b.md": b"# T\n- one\n"}
    (action,) = plan_for(files, Operation.DEDUPLICATE).actions
    assert isinstance(action, Merge)
    assert action.content == '---\ndescription: "T"\n---\n\n# T\n- one\n'


def test_a_store_without_copies_gets_an_empty_plan_that_says_so() -> None:
    plan = plan_for({"a.md": b"one\n", "b.md": b"two\n"})
    assert plan.actions == ()
    assert "no copies" in plan.summary


def test_reorganize_alone_is_not_the_rules_planners_business() -> None:
    assert plan_for({"a.md": b"x\n", "b.md": b"x\n"}, Operation.REORGANIZE).actions == ()


def test_what_is_not_utf8_is_left_alone() -> None:
    assert plan_for({"a.md": b"caf\xe9\n", "b.md": b"caf\xe9\n"}).actions == ()


lines = st.lists(st.sampled_from(["- one\n", "- two\n", "* One.\n", "# T\n", "## U\n", "text\n"]))
stores = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "facts/c.md", "facts/d.md", "e.md"]),
    lines.map(lambda found: "".join(found).encode()),
)
asked = st.sampled_from([ALL_OPERATIONS, (Operation.DEDUPLICATE,), (Operation.PRUNE,)])


@given(stores, asked)
def test_every_plan_is_valid_and_drops_nothing(
    files: dict[str, bytes], operations: tuple[Operation, ...]
) -> None:
    snapshot = Snapshot(files)
    plan = plan_for(files, *operations)
    assert validate(Case(plan, snapshot, Layout.NAMESPACED, operations)).violations == ()
    changes = resolve(plan, snapshot)
    everything = frozenset(range(len(changes)))
    assert [a.dropped for a in Ledger(changes, snapshot).account(everything) if a.dropped] == []
