"""Who proposes: planners turn a snapshot and a request into a plan. They change nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from engine.documents import Snapshot
from engine.paths import Layout
from engine.plan import ALL_OPERATIONS, Limits, Operation, Plan


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a planner."""

    layout: Layout
    operations: tuple[Operation, ...] = ALL_OPERATIONS
    limits: Limits = field(default_factory=Limits)


class Planner(Protocol):
    """One way of proposing. `name` is recorded with the plan; `model` names a model, if any."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str | None: ...

    def propose(self, snapshot: Snapshot, request: Request) -> Plan:
        """A plan for the snapshot. Raises `PlannerError`, or `InvalidPlan` at stage `schema`."""
        ...
