"""How far a run is, as a list of steps that fills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.commit import Phase, Progress
from engine.commit.progress import ORDER
from memui.presentation import Line, line

_STEPS: Final = {
    Phase.LOCK: "lock the store",
    Phase.CHECK: "check that every file is what you saw",
    Phase.KEEP: "keep what they hold",
    Phase.WRITE: "write",
    Phase.BARRIER: "make it durable",
    Phase.REMOVE: "remove",
    Phase.CHANGELOG: "note it in the changelog",
    Phase.DONE: "done",
}


def progress_lines(progress: Progress) -> Iterator[Line]:
    """The steps of a run: what is done, what is at work, what is to come."""
    if progress.phase is Phase.BACK:
        yield line(("It cannot go on: everything is put back as it was.", "warn"))
        return
    now = ORDER.index(progress.phase)
    for at, phase in enumerate(ORDER):
        sign, paint = ("✓", "plain") if at < now else ("›", "bold") if at == now else ("·", "dim")
        counted = f"  {progress.done} of {progress.total}" if at == now and progress.total else ""
        yield line((f"{_STEPS[phase]}{counted}", paint), gutter=f" {sign} ")
