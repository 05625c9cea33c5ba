"""What the screens of one call share."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from engine.errors import EngineError
from engine.plans import OpenedPlan
from engine.store import Store


@dataclass(slots=True)
class Session:
    """The open store, who acts, the plan under review and what has to be said next.

    `undo_words` is the command line that takes back a run, without the run.
    """

    store: Store
    who: str
    opened: OpenedPlan | None = None
    path: str | None = None
    notices: list[str] = field(default_factory=list)

    def where(self) -> str:
        """The store's layout and folder, as the header says it."""
        place = self.store.place
        locked = "" if place.writable else " · read-only"
        return f"{place.layout} · {place.folder}{locked}"

    def undo_command(self, run: str) -> str:
        """A command line that takes back a run, to be pasted."""
        return shlex.join(["memui", self.store.place.folder, "undo", run, "--yes"])

    def told_recovered(self) -> str:
        """What opening for writing had to finish or take back; said once."""
        found = self.store.recovered
        self.store.recovered = ()
        return "; ".join(
            f"run {r.run} had stopped at {r.done} of {r.total} files: {r.result.replace('-', ' ')}"
            for r in found
        )


def failure(error: EngineError) -> str:
    """An engine's failure in one line: what is wrong, and what to do next."""
    return f"{error} {error.hint}".strip()
