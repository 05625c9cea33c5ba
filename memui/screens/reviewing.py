"""Which plan the review screen is about."""

from __future__ import annotations

from dataclasses import replace

from engine.documents import digest
from engine.errors import NoPlan
from engine.plans import OpenedPlan, open_plan
from engine.review import parse_saved_plan
from engine.store import Store


def reopen(store: Store, opened: OpenedPlan | None) -> OpenedPlan:
    """A plan as it lies on disk now. Raises `NoPlan` if none waits, or it was taken away."""
    if opened is None:
        return open_plan(store, None)
    if opened.file is not None:
        return open_plan(store, opened.file)
    if opened.seen is None:
        return opened
    data = store.load_plan(opened.name)
    if data is None:
        raise NoPlan("The plan is not in the state folder any more.")
    return replace(opened, saved=parse_saved_plan(data), seen=digest(data))
