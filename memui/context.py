"""What a command knows: the console, which store is meant, and who acts."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.characters import visible
from engine.errors import Holder, NotAStore, StorageError, run_number
from engine.paths import Layout
from memui.console import Console
from memui.pasting import command_line

if TYPE_CHECKING:
    from engine.store import Store

TERMINAL_WAIT = 10.0
"""Seconds that a command on a terminal waits for another run."""


@dataclass(slots=True)
class Context:
    """One call of a command. `spec` is the store as the person gave it, None if they did not."""

    console: Console
    spec: str | None
    name: str | None
    layout: Layout | None
    json: bool
    yes: bool
    wait_for: float | None

    @property
    def who(self) -> str:
        """The person, for the record."""
        return who()

    @property
    def wait(self) -> float:
        """Seconds to wait for another run."""
        if self.wait_for is not None:
            return self.wait_for
        return TERMINAL_WAIT if self.console.is_terminal else 0.0

    @property
    def root(self) -> str:
        """The root that is meant: given, or `$MEMUI_STORE`, `./.strands`, `~/.strands`."""
        return self.spec or default_root()

    def store(self) -> Store:
        """The one store that is meant. Raises `NotAStore`."""
        from engine.store import open_store

        store = open_store(self.root, name=self.name, layout=self.layout)
        store.waiting = self._waiting
        return store

    def looked_at(self) -> Store:
        """The store, for a command that only looks: it warns of what stopped in the middle."""
        store = self.store()
        self.warn_unfinished(store)
        return store

    def stores(self) -> tuple[Store, ...]:
        """Every store below the root. Raises `NotAStore`."""
        from engine.store import open_stores

        return open_stores(self.root, name=self.name, layout=self.layout)

    def _waiting(self, holder: Holder | None) -> None:
        self.console.tell("Waiting for {} ...", str(holder) if holder else "another run")

    def command(self, *words: str) -> str:
        """A command line that does something with the same store, to be pasted."""
        named = ["--store", self.name] if self.name else []
        layout = ["--layout", str(self.layout)] if self.layout else []
        return command_line(self.spec, [*words, *named, *layout])

    def to_do(self, *words: str) -> str:
        """A command line that asks first, where somebody can be asked; else it must not ask."""
        return self.command(*words, *(() if self.console.is_terminal else ("--yes",)))

    def undo_command(self, store: Store, run: str) -> str:
        """The command line that takes back a run (an id); empty where no run was made."""
        return self.command("undo", store.called(run), "--yes") if run else ""

    def warn_unfinished(self, store: Store) -> None:
        """Say that a run stopped in the middle; looking never drives it."""
        from engine.commit import is_own

        for run in store.unfinished():
            if not is_own(store.place, run):
                self.console.tell(
                    "Run {} ({}) stopped in the middle on another machine or in a copy of this"
                    " folder. It is never finished here; run memui recover there.",
                    run.seq,
                    str(run.kind),
                )
                continue
            self.console.tell(
                "Run {} ({}) stopped in the middle. {} finishes it or takes it back.",
                run.seq,
                str(run.kind),
                self.command("recover"),
            )

    def owe_run(self, store: Store, run: str) -> None:
        """See that a run (an id) and its undo are named even if stdout fails."""
        if run:
            undo = self.undo_command(store, run)
            self.console.owe("Run {} is done all the same. undo: {}", run_number(run), undo)

    def tell_after(self, store: Store, run: str = "") -> None:
        """After a write: what opening had to finish, and what was overwritten since.

        `run` is the id of what was done; it and its undo are named even if stdout fails.
        """
        self.owe_run(store, run)
        for found in store.recovered:
            self.console.tell(
                "Run {} had stopped at {} of {} files: {}.",
                run_number(found.run),
                found.done,
                found.total,
                found.result.replace("-", " "),
            )
        from engine.watch import overwritten

        try:
            facts = sum(len(item.facts) for item in overwritten(store))
        except StorageError as error:  # the write itself is done, and ended well
            self.console.tell("What others wrote since could not be checked: {}", str(error))
            return
        if facts:
            self.console.tell(
                "Another writer overwrote what a run wrote: {} no longer live. {} merges them in.",
                f"{facts} {'fact is' if facts == 1 else 'facts are'}",
                self.to_do("recover", "--facts"),
            )


def default_root() -> str:
    """The store of who names none. Raises `NotAStore` if there is none."""
    named = os.environ.get("MEMUI_STORE")
    if named:
        return named
    for root in ("./.strands", os.path.expanduser("~/.strands")):
        if os.path.isdir(root):
            return root
    raise NotAStore(
        "No store was named, and there is no ./.strands and no ~/.strands.",
        hint="memui PATH opens a folder of memories; memui demo shows one.",
    )


def who() -> str:
    """The person and the machine."""
    import getpass
    import socket

    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.geteuid())
    return f"{user}@{socket.gethostname()}"


def path_fields(path: str) -> dict[str, Any]:
    """`path`, and its bytes in base64 where it is not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return {
            "path": str(visible(path)),
            "path_base64": base64.b64encode(os.fsencode(path)).decode(),
        }
    return {"path": path}


def shown_path(path: str) -> str:
    """A path for a JSON list: as it is, or with marks where it is not UTF-8."""
    return str(path_fields(path)["path"])
