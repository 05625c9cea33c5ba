"""The planner that reads its plan from a file, bare or saved."""

from __future__ import annotations

from engine.documents import Snapshot
from engine.plan import Plan, load_json, parse_plan
from engine.planner import Request
from engine.review import is_saved_plan, parse_saved_plan


class FilePlanner:
    """Answers what a file says, whatever it is asked."""

    name = "file"
    model: str | None = None
    reads_words = False

    def __init__(self, data: bytes) -> None:
        self._data = data

    def propose(self, snapshot: Snapshot, request: Request) -> Plan:  # noqa: ARG002 - a protocol
        """The file's plan. Raises `InvalidPlan` at stage `schema`."""
        value = load_json(self._data)
        if is_saved_plan(value):
            return parse_saved_plan(self._data).plan
        return parse_plan(value)[0]
