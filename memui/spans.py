"""Action numbers as people write them: `1,3-5`."""

from __future__ import annotations

import re

from memui.ending import UsageError

_SPAN = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def numbers(text: str | None, total: int | None = None) -> frozenset[int]:
    """0-based indexes of what is written, none above `total` actions. Raises `UsageError`."""
    found: set[int] = set()
    for part in (text or "").split(","):
        word = part.strip()
        if not word:
            continue
        match = _SPAN.fullmatch(word)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if match is None or not 1 <= first <= last:
            raise UsageError(f"{word!r} is no action number.", hint="Write them as 1,3-5.")
        if total is not None and last > total:
            raise UsageError(f"The plan has no action {last}; it has {total}.")
        found.update(range(first - 1, last))
    return frozenset(found)
