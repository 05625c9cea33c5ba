"""What a plan is validated against, with what several rules look at worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from engine.changes import Claim, claims
from engine.documents import Snapshot
from engine.errors import Violation
from engine.guards import content_violations
from engine.paths import Layout, identity
from engine.plan import ALL_OPERATIONS, Limits, Merge, Move, Operation, Plan, Update


@dataclass(frozen=True)
class Case:
    """What a plan is validated against.

    `one_call` says that the plan is the answer of one planner call over the whole snapshot, so that
    the limits of a call bind. `by_hand` holds the actions (0-based) whose content a person edited:
    what the file broke before in the same way is a warning there.
    """

    plan: Plan
    snapshot: Snapshot
    layout: Layout
    operations: tuple[Operation, ...] = ALL_OPERATIONS
    limits: Limits = field(default_factory=Limits)
    one_call: bool = False
    by_hand: frozenset[int] = frozenset()

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The plan's actions with their paths resolved."""
        return claims(self.plan, self.snapshot)

    @cached_property
    def contents(self) -> Mapping[int, str]:
        """Action -> the whole file that it writes."""
        return {
            index: action.content
            for index, action in enumerate(self.plan.actions)
            if isinstance(action, Merge | Update)
        }

    @cached_property
    def broken_contents(self) -> Mapping[int, tuple[Violation, ...]]:
        """Action -> what is wrong with the file that it writes, for those that break a rule."""
        return {
            index: tuple(found)
            for index, text in self.contents.items()
            if (found := content_violations(text))
        }

    @cached_property
    def targets(self) -> tuple[Claim, ...]:
        """The claims whose target a plan chooses freely: those of merges and moves."""
        return tuple(c for c in self.claims if isinstance(c.action, Merge | Move))

    @cached_property
    def written(self) -> Mapping[str, list[int]]:
        """Identity -> the actions that write it."""
        found: dict[str, list[int]] = {}
        for claim in self.claims:
            if claim.writes is not None:
                found.setdefault(identity(claim.writes), []).append(claim.index)
        return found

    @cached_property
    def removed(self) -> Mapping[str, list[int]]:
        """Identity -> the actions that remove it."""
        found: dict[str, list[int]] = {}
        for claim in self.claims:
            for path in claim.removes:
                found.setdefault(identity(path), []).append(claim.index)
        return found


Check = Callable[[Case], Iterator[tuple[int | None, str]]]
"""Finds what breaks one rule: (action, 0-based, or None for the whole plan; a clause)."""
