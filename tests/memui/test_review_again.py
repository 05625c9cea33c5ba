"""Planning again and other plans as a specification: what is handed over, what stays, what goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from engine.consolidation import examine, propose
from engine.documents import Snapshot
from engine.errors import PlannerError
from engine.plan import Plan, Update
from engine.planner import Request
from engine.planner.file import FilePlanner
from engine.planner.rules import RulesPlanner
from engine.plans import open_plan, waiting_plans
from engine.review import SavedPlan, Verdict
from engine.store import Store, open_store
from memui.app import Memui
from memui.screens.dialogs import Confirm
from memui.screens.plans import PlansScreen
from memui.screens.replanning import FeedbackDialog
from memui.screens.review import ReviewScreen
from memui.widgets.page_view import PageView
from tests.memui.driving import drive, is_on, make_store, press, settle, shown, write
from tests.memui.reviews import (
    FILES,
    app_on,
    memory,
    plan_json,
    proposal_of,
    put,
    screen_of,
    text_of,
    tree,
    under_review,
)

COPIES = {
    "facts/a.md": memory("Tea", "Tea steeps for two minutes."),
    "facts/b.md": memory("Tea", "Tea steeps for two minutes."),
    "facts/c.md": memory("Coffee", "Coffee is black."),
    "facts/d.md": memory("Coffee", "Coffee is black."),
}
HOSTILE = "\x1b]52;c;aGk=\x07\u202e[@click=app.quit]x[/][/nope]"


def planned(folder: Path) -> tuple[str, Store, SavedPlan]:
    """A store with two copies in it, and the rules planner's plan for it, which waits."""
    root = make_store(folder, COPIES)
    store = open_store(root)
    saved = propose(store, RulesPlanner(), one_call=False)
    assert saved is not None
    store.save_plan(saved.id, saved.dump())
    return root, store, saved


def waiting(store: Store) -> dict[str, SavedPlan]:
    return {plan.saved.id: plan.saved for plan in waiting_plans(store)}


def dialog_text(pilot: Pilot[int]) -> str:
    """Everything that the dialog lists, also what is scrolled away."""
    return text_of(pilot.app.screen.query_one(PageView).page)


class Stub:
    """A planner that a test answers for."""

    name = "rules"
    model: str | None = None
    reads_words = True

    def __init__(self, actions: tuple[Update, ...] = (), error: Exception | None = None) -> None:
        self.asked: list[Request] = []
        self._actions, self._error = actions, error
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def propose(self, snapshot: Snapshot, request: Request) -> Plan:
        self.asked.append(request)
        request.tell("thinking hard")
        self.begun.set()
        self.go_on.wait(60)
        request.tell("thinking harder")
        if self._error is not None:
            raise self._error
        return Plan(actions=self._actions, summary=HOSTILE)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """Answers for whichever planner is asked again."""
    found = Stub()
    monkeypatch.setattr("memui.screens.replanning.planner_of", lambda _: found)
    yield found
    found.go_on.set()


def test_the_dialog_names_what_was_rejected_and_why_and_that_words_are_not_read(
    tmp_path: Path,
) -> None:
    root, _, saved = planned(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "R")
        await write(pilot, "both matter")
        await press(pilot, "enter", "f")
        assert is_on(pilot, FeedbackDialog)
        text = dialog_text(pilot)
        assert "told of 1 rejected action" in text
        assert f"delete {getattr(saved.plan.actions[0], 'path', '')}  both matter" in text
        assert "does not read words" in text
        await press(pilot, "escape")
        assert is_on(pilot, ReviewScreen)
        assert len(waiting(open_store(root))) == 1

    drive(app_on(root), script)


def test_a_new_plan_leaves_out_what_was_rejected_and_carries_the_rest_over(tmp_path: Path) -> None:
    root, store, saved = planned(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "r")
        put(pilot, 1)
        await press(pilot, "a", "f")
        await write(pilot, "keep the tea")
        await press(pilot, "enter")
        assert is_on(pilot, ReviewScreen)
        found = waiting(store)
        (new,) = (plan for plan in found.values() if plan.id != saved.id)
        assert set(found) == {saved.id, new.id}
        assert new.replaces == saved.id
        assert new.plan.actions == saved.plan.actions[1:]
        assert new.review.decisions[0].verdict is Verdict.APPROVED
        assert new.feedback is not None
        assert [each.action for each in new.feedback.rejected] == [saved.plan.actions[0]]
        assert new.feedback.words == ("keep the tea",)
        assert "does not read words" in new.plan.summary
        assert proposal_of(pilot).saved.id == new.id
        text = " ".join(shown(pilot).split())
        assert f"Plan {new.id} is new. What you decided of 1 action is carried over." in text
        await press(pilot, "P", "y")  # and what was carried over is what an apply runs
        assert len(store.runs()) == 1

    drive(app_on(root), script, (120, 40))


def test_a_plan_that_comes_again_unchanged_is_kept_once_with_its_verdicts(tmp_path: Path) -> None:
    root, store, saved = planned(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "a", "f", "enter")
        assert "The planner proposes the same actions again." in dialog_text(pilot)
        await press(pilot, "escape")
        assert set(waiting(store)) == {saved.id}
        assert waiting(store)[saved.id].review.decisions[0].verdict is Verdict.APPROVED

    drive(app_on(root), script)


def test_when_everything_was_rejected_there_is_nothing_new_and_the_old_plan_stays(
    tmp_path: Path,
) -> None:
    root, store, saved = planned(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        for index in (0, 1):
            put(pilot, index)
            await press(pilot, "r")
        await press(pilot, "f", "enter")
        assert "nothing to propose" in dialog_text(pilot)
        assert "Left out, as rejected before: 2." in dialog_text(pilot)
        await press(pilot, "escape")
        assert proposal_of(pilot).saved.id == saved.id
        assert set(waiting(store)) == {saved.id}

    drive(app_on(root), script)


def test_a_planner_that_can_is_given_the_words_and_the_rejections(
    tmp_path: Path, stub: Stub
) -> None:
    root, _, saved = planned(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "r", "f")
        assert "does not read words" not in dialog_text(pilot)
        await write(pilot, "be careful")
        await press(pilot, "enter")
        (request,) = stub.asked
        assert request.feedback is not None
        assert request.feedback.words == ("be careful",)
        assert request.feedback.rejected[0].action == saved.plan.actions[0]
        assert request.operations == saved.operations

    drive(app_on(root), script)


def test_esc_while_it_plans_leaves_nothing_behind(tmp_path: Path, stub: Stub) -> None:
    root, store, saved = planned(tmp_path)
    stub.go_on.clear()
    stub._actions = (Update(action="update", path="facts/a.md", content=FILES["facts/bug.md"],
                            reason=""),)  # fmt: skip

    async def script(pilot: Pilot[int]) -> None:
        before = tree(root)
        await press(pilot, "f")
        await pilot.press("enter")
        while not stub.begun.is_set():
            await pilot.pause(0.01)
        await pilot.pause()
        assert "thinking hard …" in shown(pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert is_on(pilot, ReviewScreen)
        stub.go_on.set()
        await settle(pilot)
        assert is_on(pilot, ReviewScreen)
        assert set(waiting(store)) == {saved.id}
        assert proposal_of(pilot).saved.id == saved.id
        assert tree(root) == before

    drive(app_on(root), script)


def test_a_planner_that_fails_says_so_and_nothing_is_lost(tmp_path: Path, stub: Stub) -> None:
    root, store, saved = planned(tmp_path)
    stub._error = PlannerError(f"No answer {HOSTILE}")

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "f", "enter")
        assert "No answer" in dialog_text(pilot)
        assert "The old plan stays as it is." in dialog_text(pilot)
        await press(pilot, "enter", "escape")
        assert set(waiting(store)) == {saved.id}

    drive(app_on(root), script)


def test_a_plan_from_a_file_is_taken_up_by_the_rules_planner_which_says_so(tmp_path: Path) -> None:
    root, _ = under_review(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "f")
        assert "came from a file" in dialog_text(pilot)

    drive(app_on(root), script)


def test_a_read_only_store_says_how_to_get_a_new_plan_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _, saved = planned(tmp_path)
    monkeypatch.setattr("engine.layouts._writable", lambda _: False)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "f")
        assert is_on(pilot, ReviewScreen)
        text = " ".join(shown(pilot).split())
        assert "The store is read-only" in text
        assert f"plan --again {saved.id} -o FILE" in text

    drive(app_on(root), script, (120, 40))


# Other plans


def two_plans(folder: Path) -> tuple[str, Store, str, str]:
    """A store with two plans that wait: (root, store, the rules planner's, that from a file)."""
    root, store, saved = planned(folder)
    content = memory("Tea", f"Tea {HOSTILE}")
    action = {"action": "update", "path": "facts/a.md", "content": content, "reason": HOSTILE}
    other = propose(store, FilePlanner(plan_json([action], HOSTILE)), one_call=False)
    assert other is not None
    store.save_plan(other.id, other.dump())
    return root, store, saved.id, other.id


def app_with(root: str, plan: str) -> Memui:
    return Memui(root, opened=open_plan(open_store(root), plan))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_every_plan_is_listed_with_who_made_it_and_how_it_stands(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    root, _, rules, other = two_plans(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "a", "o")
        assert is_on(pilot, PlansScreen)
        text = shown(pilot)
        assert f"▸ {rules}" in text
        assert other in text
        assert "1 to decide · 1 approved" in text
        assert "1 to decide · 0 approved" in text

    drive(app_with(root, rules), script, size)


def test_enter_opens_another_plan_and_it_is_the_one_that_keys_are_about(tmp_path: Path) -> None:
    root, store, rules, other = two_plans(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "o")
        plans = pilot.app.screen
        assert isinstance(plans, PlansScreen)
        while plans.chosen is None or plans.chosen.saved.id != other:
            await press(pilot, "j" if plans._rows.cursor == 0 else "k")
        await press(pilot, "enter")
        assert is_on(pilot, ReviewScreen)
        assert proposal_of(pilot).saved.id == other
        await press(pilot, "r")
        assert waiting(store)[other].review.decisions[0].verdict is Verdict.REJECTED
        assert waiting(store)[rules].review.order == ()
        await press(pilot, "u", "u")  # no step of the other plan is taken back
        assert waiting(store)[rules].review.order == ()

    drive(app_with(root, rules), script)


def test_a_discarded_plan_is_asked_for_kept_and_brought_back(tmp_path: Path) -> None:
    root, store, rules, other = two_plans(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "a", "o", "d")
        assert is_on(pilot, Confirm)
        await press(pilot, "escape")
        assert set(waiting(store)) == {rules, other}
        await press(pilot, "d", "y")
        assert set(waiting(store)) == {other}
        assert f"Plan {rules} is discarded. u brings it back." in shown(pilot)
        await press(pilot, "u")
        assert set(waiting(store)) == {rules, other}
        assert waiting(store)[rules].review.decisions[0].verdict is Verdict.APPROVED
        await press(pilot, "d", "y", "escape")
        assert proposal_of(pilot).saved.id == other  # what is left is what is reviewed

    drive(app_with(root, rules), script)


def test_what_was_applied_from_a_discarded_plan_is_taken_back_as_before(tmp_path: Path) -> None:
    root, store, saved = planned(tmp_path)
    before = tree(root)

    async def script(pilot: Pilot[int]) -> None:
        put(pilot, 0)
        await press(pilot, "a", "P", "y", "escape")
        assert tree(root) != before
        await press(pilot, "o", "d")
        assert "What was applied stays applied" in dialog_text(pilot)
        await press(pilot, "y", "escape")
        assert "No plan is waiting" in shown(pilot)
        store.undo("last", who="sam")
        assert tree(root) == before
        store.collect(keep_days=0, keep_runs=0)  # and gc spares what a discarded plan knows
        await press(pilot, "o", "u")
        assert examine(store, waiting(store)[saved.id]).counts().total == 2

    drive(app_on(root), script)


def test_a_plan_that_somebody_reviews_meanwhile_is_not_discarded(tmp_path: Path) -> None:
    root, store, rules, other = two_plans(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "o", "d")
        saved = waiting(store)[rules]
        review = saved.review.decide(0, Verdict.REJECTED, seen="x")
        store.save_plan(rules, saved.reviewed(review).dump())
        await press(pilot, "y")
        assert set(waiting(store)) == {rules, other}
        assert "changed since it was read" in " ".join(shown(pilot).split())

    drive(app_with(root, rules), script)


def test_a_store_without_plans_says_how_to_make_one(tmp_path: Path) -> None:
    root = make_store(tmp_path)

    async def script(pilot: Pilot[int]) -> None:
        await press(pilot, "2", "f")
        assert "There is no plan here to plan again from." in shown(pilot)
        await press(pilot, "o", "d", "enter", "u")
        assert "No plan was discarded." in shown(pilot)
        assert "Make one:" in shown(pilot)
        await press(pilot, "escape")
        assert screen_of(pilot).proposal is None

    drive(Memui(root), script)
