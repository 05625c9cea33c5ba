"""What the bytes of a change say that a reviewer must not overlook, whatever else is approved."""

from __future__ import annotations

from engine.changes import Change
from engine.characters import hidden
from engine.documents import parse
from engine.plan import Merge, Move, Update


def standing_flags(change: Change) -> tuple[str, ...]:
    """`hidden characters` if new ones come, `description changed`: the agent reads it each turn."""
    found = []
    if _hides(change):
        found.append("hidden characters")
    if _redescribes(change):
        found.append("description changed")
    return tuple(found)


def _hides(change: Change) -> bool:
    action = change.action
    if isinstance(action, Move):
        return bool(hidden(action.to))
    if not isinstance(action, Merge | Update):
        return False
    found = {h.char for h in hidden(action.content)}
    if not found:
        return False
    before = {
        h.char
        for edit in change.edits
        if edit.before
        for h in hidden(edit.before.decode("utf-8", "surrogateescape"))
    }
    return not found <= before


def _redescribes(change: Change) -> bool:
    return any(
        edit.before is not None
        and edit.after is not None
        and parse(edit.before).description != parse(edit.after).description
        for edit in change.edits
    )
