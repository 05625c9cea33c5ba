"""What the screens of one call share."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field

from engine.errors import EngineError, StoreLocked
from engine.plans import OpenedPlan
from engine.store import Store


@dataclass(slots=True)
class Session:
    """The open store, who acts, the plan under review and what has to be said next.

    `path` is the memory whose runs History shows, None for all runs. A notice is (text, whether it
    is bad). `watches` says whether what changes on disk is noticed without being asked for.
    """

    store: Store
    who: str
    opened: OpenedPlan | None = None
    path: str | None = None
    notices: list[tuple[str, bool]] = field(default_factory=list)
    watches: bool = False

    def where(self) -> str:
        """The store's layout and folder, as the header says it."""
        place = self.store.place
        home = os.path.expanduser("~")
        inside = place.folder.startswith(f"{home}/") and home != "/"
        folder = f"~{place.folder[len(home) :]}" if inside else place.folder
        return f"{place.layout} · {folder}"

    def counted(self, *counts: str) -> str:
        """Counts for the header, after what a person must know before anything else."""
        locked = () if self.store.place.writable else ("read-only",)
        return " · ".join([*locked, *filter(None, counts)])

    def take_notices(self) -> list[tuple[str, bool]]:
        """What has to be said, once."""
        found, self.notices = self.notices, []
        return found

    def command(self, *words: str) -> str:
        """A command line that does something with this store, to be pasted."""
        return shlex.join(["memui", self.store.place.folder, *words])

    def undo_command(self, run: str) -> str:
        """A command line that takes back a run, to be pasted."""
        return self.command("undo", run, "--yes")

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
    if isinstance(error, StoreLocked):
        return f"{error} Nothing was changed; try again when it is done."
    return f"{error} {error.hint}".strip()
