"""Who proposes: planners turn a snapshot and a request into a plan. They change nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from engine.documents import Snapshot
from engine.paths import Layout
from engine.plan import ALL_OPERATIONS, Limits, Operation, Plan
from engine.review import Feedback

Tell = Callable[[str], None]
"""Is told in a few words what a planner is doing. Raises `Cancelled` if the person left off."""


def tell_nobody(_doing: str) -> None:
    """A `Tell` for which nobody waits."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a planner. `feedback` is what was said of the plan before this one."""

    layout: Layout
    operations: tuple[Operation, ...] = ALL_OPERATIONS
    limits: Limits = field(default_factory=Limits)
    feedback: Feedback | None = None
    tell: Tell = tell_nobody


class Planner(Protocol):
    """One way of proposing. `name` is recorded with the plan; `model` names a model, if any.

    `reads_words` says whether it heeds the words of a `Feedback`, and not only what was rejected.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str | None: ...

    @property
    def reads_words(self) -> bool: ...

    def propose(self, snapshot: Snapshot, request: Request) -> Plan:
        """A plan for the snapshot.

        Raises `PlannerError`, `InvalidPlan` at stage `schema`, and what `request.tell` raises.
        """
        ...
