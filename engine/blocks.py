"""The blocks of an action's result: what each changes, and the result without some of them.

A block is a run of changed lines between the result and the file that it is compared with: the one
it replaces, or, for a merge into a new file, the source that shares the most lines with it.
"""

from __future__ import annotations

from collections.abc import Collection

from engine.changes import Change, Edit
from engine.diff import opcodes, take
from engine.diff.sides import read
from engine.documents import decode
from engine.plan import Merge, Update


def result_of(change: Change) -> Edit | None:
    """The edit that writes what a merge or an update says; None for any other change."""
    if not isinstance(change.action, Merge | Update):
        return None
    return next((edit for edit in change.edits if edit.after is not None), None)


def old_side(change: Change) -> tuple[str, bytes]:
    """(path, bytes) of the file that a result is compared with; empty if there is none."""
    result = result_of(change)
    if result is None or result.after is None:
        return "", b""
    if result.before is not None or not isinstance(change.action, Merge):
        return result.path, result.before or b""
    best, most = ("", b""), 0
    new = read(result.after).lines
    for edit in change.edits:
        if edit.before is not None:
            old = read(edit.before).lines
            same = sum(
                1
                for is_same, start, stop, _, _ in opcodes(old, new)
                if is_same
                for line in old[start:stop]
                if line.strip()
            )
            if same > most:
                best, most = (edit.path, edit.before), same
    return best


def count_blocks(change: Change) -> int:
    """How many blocks a result has; none for a change without a text of its own."""
    result = result_of(change)
    if result is None or result.after is None:
        return 0
    _, old = old_side(change)
    return sum(not op[0] for op in opcodes(read(old).lines, read(result.after).lines))


def without(change: Change, left: Collection[int]) -> str | None:
    """The result without some blocks (0-based); others that it does not have are passed over.

    None if it cannot be: the change has no text of its own, or what it is compared with is none.
    """
    result = result_of(change)
    if result is None or result.after is None:
        return None
    _, old = old_side(change)
    blocks = range(sum(not op[0] for op in opcodes(read(old).lines, read(result.after).lines)))
    text, encoding = decode(take(old, result.after, frozenset(blocks) - frozenset(left)))
    return text if encoding == "utf-8" else None
