"""The review: a plan, what it was made from, and what a person said of each action.

Values only. A `SavedPlan` travels plan -> review -> apply as one JSON file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.changes import Change
from engine.documents import Snapshot, digest
from engine.errors import InvalidPlan, Violation
from engine.paths import Layout
from engine.plan import (
    Action,
    Limits,
    Operation,
    Plan,
    load_json,
    parse_plan,
    schema_violations,
)

FORMAT: Final = "memui-plan"
VERSION: Final = 1


class Verdict(StrEnum):
    """What a person said of an action."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class _Saved(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class Decision(_Saved):
    """What was said of one action.

    `content` is the result as the person edited it, `left` are the blocks of the result (0-based)
    that are not taken (`engine.blocks`); `seen` is the fingerprint of what was decided on: when the
    action shows something else, the verdict no longer holds.
    """

    verdict: Verdict = Verdict.PENDING
    reason: str = ""
    content: str | None = None
    left: tuple[int, ...] = ()
    seen: str | None = None


class Review(_Saved):
    """One decision an action; `order` names the decided ones (0-based), the newest last."""

    decisions: tuple[Decision, ...] = ()
    order: tuple[int, ...] = ()

    @staticmethod
    def of(plan: Plan) -> Review:
        """The review of a plan that nobody has looked at."""
        return Review(decisions=(Decision(),) * len(plan.actions))

    def _with(self, index: int, decision: Decision, order: tuple[int, ...]) -> Review:
        decisions = (*self.decisions[:index], decision, *self.decisions[index + 1 :])
        return Review(decisions=decisions, order=order)

    def decide(self, index: int, verdict: Verdict, *, seen: str, reason: str = "") -> Review:
        """Approve, reject or reopen an action as it is shown now."""
        decision = Decision(
            verdict=verdict,
            reason=reason,
            content=self.decisions[index].content,
            left=self.decisions[index].left,
            seen=None if verdict is Verdict.PENDING else seen,
        )
        order = tuple(i for i in self.order if i != index)
        return self._with(index, decision, order if verdict is Verdict.PENDING else (*order, index))

    def edit(self, index: int, content: str | None) -> Review:
        """Replace the result of an action (None: back to the planner's). Its verdict reopens."""
        order = tuple(i for i in self.order if i != index)
        return self._with(index, Decision(content=content), order)

    def take(self, index: int, block: int, *, taken: bool) -> Review:
        """Take a block of an action's result (0-based), or leave it. Its verdict reopens."""
        before = self.decisions[index]
        left = {*before.left} - {block} if taken else {*before.left, block}
        order = tuple(i for i in self.order if i != index)
        decision = Decision(content=before.content, left=tuple(sorted(left)))
        return self._with(index, decision, order)

    def filled(self, other: Review) -> Review:
        """With what another review of the same plan says of actions of which this says nothing."""
        blank = Decision()
        new = {
            index: there
            for index, (here, there) in enumerate(zip(self.decisions, other.decisions, strict=True))
            if here == blank and there != blank
        }
        decisions = tuple(new.get(index, here) for index, here in enumerate(self.decisions))
        order = (*self.order, *(index for index in other.order if index in new))
        return Review(decisions=decisions, order=order)

    def contents(self) -> Mapping[int, str]:
        """Action -> what a person made of its result."""
        return {
            index: decision.content
            for index, decision in enumerate(self.decisions)
            if decision.content is not None
        }

    def left(self) -> Mapping[int, tuple[int, ...]]:
        """Action -> the blocks of its result that are not taken."""
        return {
            index: decision.left for index, decision in enumerate(self.decisions) if decision.left
        }


class StoreName(_Saved):
    """Which store a plan is for. Never a path: a plan travels from one machine to another."""

    layout: Layout
    name: str


class Rejected(_Saved):
    """An action that a person rejected, as it was proposed; `reason` is empty if they gave none."""

    action: Action
    reason: str = ""


class Feedback(_Saved):
    """What a person said of earlier plans: what they rejected, and their words, the newest last."""

    rejected: tuple[Rejected, ...] = ()
    words: tuple[str, ...] = ()


class SavedPlan(_Saved):
    """A plan with its base and its review (format `memui-plan`, version 1).

    `base` maps every path that the plan reads or touches to the SHA-256 of its bytes when the plan
    was made; None says that there was no such file. `one_call` says that it is the answer of one
    planner call over the whole store. `source` is the SHA-256 of the bare plan file that it was
    made from, if any. `replaces` is the id of the plan after which it was made, `feedback` what was
    said of that one and of those before it.
    """

    format: Literal["memui-plan"] = "memui-plan"
    version: Literal[1] = 1
    id: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]
    store: StoreName
    planner: str
    model: str | None = None
    operations: tuple[Operation, ...]
    limits: Limits
    one_call: bool = False
    time: str
    base: Mapping[str, str | None]
    plan: Plan
    review: Review
    source: str | None = None
    replaces: Annotated[str, Field(pattern="^[0-9a-f]{12}$")] | None = None
    feedback: Feedback | None = None

    @model_validator(mode="after")
    def _one_decision_an_action(self) -> SavedPlan:
        if len(self.review.decisions) != len(self.plan.actions):
            raise ValueError("the review has not one decision for every action")
        known = range(len(self.plan.actions))
        if any(index not in known for index in self.review.order):
            raise ValueError("the review's order names an action that the plan lacks")
        if plan_id(self.plan, self.base) != self.id:
            raise ValueError("the id is not that of these actions and this base")
        return self

    def effective(self) -> Plan:
        """The plan with the results that a person edited."""
        return self.plan.with_contents(self.review.contents())

    @cached_property
    def _unreviewed(self) -> bytes:
        """The file's bytes up to the review, which comes last: a verdict writes only that anew."""
        rest = self.model_dump(mode="python", exclude={"review"})
        return json.dumps(rest, ensure_ascii=True, indent=1, default=str).encode()[:-2]

    def reviewed(self, review: Review) -> SavedPlan:
        """The same plan with another review."""
        new = super().model_copy(update={"review": review})
        new.__dict__["_unreviewed"] = self._unreviewed
        return new

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values; the bytes that are remembered are those of this one."""
        new = super().model_copy(update=update, deep=deep)
        new.__dict__.pop("_unreviewed", None)
        return new

    def dump(self) -> bytes:
        """The file's bytes: ASCII JSON, so that no byte of it can drive a terminal."""
        return b'%b,\n "review": %b\n}\n' % (self._unreviewed, _dumped(self.review))


def _dumped(review: Review) -> bytes:
    """A review as JSON, one decision a line."""
    known: dict[int, str] = {}
    for decision in review.decisions:
        if id(decision) not in known:  # most are one and the same: nothing was said yet
            known[id(decision)] = json.dumps(decision.model_dump(), ensure_ascii=True)
    lines = ",\n   ".join(known[id(decision)] for decision in review.decisions)
    order = json.dumps(review.order)
    return f'{{\n  "decisions": [\n   {lines}\n  ],\n  "order": {order}\n }}'.encode()


def plan_id(plan: Plan, base: Mapping[str, str | None]) -> str:
    """First 12 hex digits of the SHA-256 of the canonical JSON of (actions, base)."""
    canonical = json.dumps(
        {"actions": [action.model_dump() for action in plan.actions], "base": dict(base)},
        ensure_ascii=True,
        sort_keys=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def base_of(changes: tuple[Change, ...], snapshot: Snapshot) -> dict[str, str | None]:
    """What a plan relies on: path -> digest, None for a path that must not exist."""
    base: dict[str, str | None] = {}
    for change in changes:
        for path in change.reads:
            base[path] = snapshot.digests[path]
        for edit in change.edits:
            base[edit.path] = None if edit.before is None else digest(edit.before)
    return dict(sorted(base.items()))


def fingerprint(change: Change) -> str:
    """What a person decides on: every path with its bytes before and after."""
    shown = [
        [edit.path, *(None if data is None else digest(data) for data in (edit.before, edit.after))]
        for edit in change.edits
    ]
    return hashlib.sha256(json.dumps(shown, ensure_ascii=True).encode()).hexdigest()[:16]


def is_saved_plan(value: Any) -> bool:
    """Whether decoded JSON claims to be a saved plan rather than a bare one."""
    return isinstance(value, dict) and "format" in value


def parse_saved_plan(data: bytes) -> SavedPlan:
    """A saved plan from its file. Raises `InvalidPlan` at stage `schema`."""
    value = load_json(data)
    if not is_saved_plan(value) or value.get("format") != FORMAT:
        raise InvalidPlan("schema", [Violation("schema", f"this is no {FORMAT} file")])
    if value.get("version") != VERSION:
        message = f"this file has version {value.get('version')!r}; this memui reads {VERSION}"
        raise InvalidPlan("schema", [Violation("schema", message)])
    if isinstance(value.get("plan"), dict):
        parse_plan(value["plan"])
    try:
        return SavedPlan.model_validate(value)
    except ValidationError as error:
        raise InvalidPlan("schema", schema_violations(error)) from None
