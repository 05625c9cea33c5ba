"""What the screens of one call share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import EngineError, NotAStore, StoreLocked, run_number
from engine.layouts import find
from engine.paths import Layout
from engine.plans import OpenedPlan
from engine.store import Store
from memui.pasting import command_line


@dataclass(slots=True)
class Session:
    """The open store, who acts, the plan under review and what has to be said next.

    `path` is the memory whose runs History shows, None for all runs. A notice is (text, whether it
    is bad). `farewells` are said on the terminal when the screens are gone. `watches` says whether
    what changes on disk is noticed without being asked for.
    """

    store: Store
    who: str
    opened: OpenedPlan | None = None
    path: str | None = None
    notices: list[tuple[str, bool]] = field(default_factory=list)
    farewells: list[str] = field(default_factory=list)
    watches: bool = False
    _named: tuple[str, ...] | None = None

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
        spec, *options = self._naming() or (self.store.place.folder,)
        return command_line(spec, [*words, *options])

    @property
    def names_store(self) -> bool:
        """Whether a command line can name this store: not where it was moved or replaced."""
        return self._naming() != ()

    def _naming(self) -> tuple[str, ...]:
        """The folder, and the options that it takes to mean this store; empty if none do."""
        if self._named is None:
            place = self.store.place
            layout, name = ("--layout", str(place.layout)), ("--store", place.name)
            tried = (
                (place.folder,),
                (place.folder, *layout),
                (place.root, *name),
                (place.root, *name, *layout),
            )
            self._named = next((words for words in tried if self._means_it(words)), ())
        return self._named

    def _means_it(self, words: Sequence[str]) -> bool:
        options = dict(zip(words[1::2], words[2::2], strict=True))
        layout = options.get("--layout")
        try:
            found = find(
                words[0],
                name=options.get("--store"),
                layout=None if layout is None else Layout(layout),
            )
        except NotAStore:
            return False
        place = self.store.place
        return len(found) == 1 and (found[0].folder, found[0].state) == (place.folder, place.state)

    def undo_command(self, run: str) -> str:
        """A command line that takes back a run (an id, or `last`), to be pasted."""
        name = run if run == "last" else self.store.called(run)
        return self.command("undo", name, "--yes")

    def told_recovered(self) -> str:
        """What opening for writing had to finish or take back; said once."""
        found = self.store.recovered
        self.store.recovered = ()
        return "; ".join(
            f"run {run_number(r.run)} had stopped at {r.done} of {r.total} files:"
            f" {r.result.replace('-', ' ')}"
            for r in found
        )


def failure(error: EngineError) -> str:
    """An engine's failure in one line: what is wrong, and what to do next."""
    if isinstance(error, StoreLocked):
        return f"{error} Nothing was changed; try again when it is done."
    return f"{error} {error.hint}".strip()
