"""The words of the ledger: what can become of a statement, and what one change does to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.statements import Statement


class Fate(StrEnum):
    """What becomes of a statement."""

    KEPT = "kept"
    REWORDED = "reworded"
    MOVED = "moved"
    DROPPED = "dropped"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement's fate.

    `source` is None for what is new. `result` is the statement of the change's result that it
    became, or the one elsewhere in which it lives on, or, for a dropped one, the near one that took
    its place. `carrier` is the path where it stands outside the change; `needs` the change
    (0-based) that writes it there, for a dropped one the change that would.

    A kept entry with a carrier is *kept-from*: no source of the change says it, but the file
    `carrier` does; `source` is the statement there.

    Flags: `number date url negation name` for what differs from `result`; `order` for other order
    of words, steps or lines of code; `heading` for another place; `description` and `field` for
    frontmatter; `hidden` for characters that nobody sees.
    """

    fate: Fate
    source: Statement | None
    result: Statement | None = None
    carrier: str | None = None
    needs: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A link that would point at nothing: where it would stand, and what it points at."""

    path: str
    line: int
    to: str


@dataclass(frozen=True, slots=True)
class Account:
    """What one change does to what the store says.

    `carriers` are files outside the change that it relies on: what it takes away stands there, or
    what it writes comes from there. `needs` are the changes (0-based) whose results must hold what
    it takes away. `lossless` is the one word for low risk: nothing dropped, new, reworded or
    flagged, no description or other key of frontmatter changed, no link left dead, and every need
    approved.
    """

    index: int
    entries: tuple[Entry, ...]
    needs: tuple[int, ...]
    carriers: tuple[str, ...]
    lossless: bool
    dead_links: tuple[DeadLink, ...] = ()

    def of(self, fate: Fate) -> tuple[Entry, ...]:
        """The entries of one fate."""
        return tuple(entry for entry in self.entries if entry.fate is fate)

    @property
    def kept(self) -> int:
        """How many statements stay as they are."""
        return len(self.of(Fate.KEPT))

    @property
    def reworded(self) -> int:
        """How many say the same in other words."""
        return len(self.of(Fate.REWORDED))

    @property
    def moved(self) -> int:
        """How many live on elsewhere, or under another heading."""
        return len(self.of(Fate.MOVED))

    @property
    def dropped(self) -> tuple[Entry, ...]:
        """What nothing says any more."""
        return self.of(Fate.DROPPED)

    @property
    def new(self) -> tuple[Entry, ...]:
        """What no source said."""
        return self.of(Fate.NEW)
