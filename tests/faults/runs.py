"""The runs that the harness attacks.

One plan with one of everything: two files are merged into a third, one is updated, one deleted
because another says the same, one moved into new folders; the changelog gets its entry. It is
applied, undone, and applied to a folder of notes whose state lies among the notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine import commit
from engine.commit import Files, Transaction, Write
from engine.documents import digest
from engine.journal import ActionRecord, RunKind
from engine.layouts import Place, find
from engine.paths import Layout

LOG: Final = "consolidation-changelog.md"
OLD: Final[Mapping[str, bytes]] = {
    "facts/a.md": b"alpha\n",
    "facts/b.md": b"beta\n",
    "facts/c.md": b"gamma\n",
    "facts/d.md": b"delta\n",
    "facts/e.md": b"epsilon\n",
    "facts/f.md": b"epsilon, and more\n",
}
NEW: Final[Mapping[str, bytes]] = {
    "facts/ab.md": b"alpha beta\n",
    "facts/c.md": b"gamma 2\n",
    "facts/f.md": b"epsilon, and more\n",
    "lab/deep/d.md": b"delta\n",
}
"""a and b become ab, c is updated, d moves into new folders, e goes because f says it too."""
CARRIER: Final = "facts/f.md"
_ENTRY = re.compile(r"^<!-- memui run (\S+) -->$", re.MULTILINE)


def make(root: Path) -> Place:
    """A store of an agent with `OLD` in it."""
    _lay(root / "memory" / "agent")
    return reopen(root)


def make_notes(root: Path) -> Place:
    """A folder of notes with `OLD` in it, and the state among them under the hidden prefix."""
    _lay(root / "notes")
    (root / "notes" / ".memui").mkdir(mode=0o700)
    return reopen_notes(root)


def _lay(folder: Path) -> None:
    (folder / "facts").mkdir(parents=True)
    for path, data in OLD.items():
        (folder / path).write_bytes(data)


def reopen(root: Path) -> Place:
    """The place of an agent's store below a root."""
    (place,) = find(str(root), layout=Layout.NAMESPACED, name="agent")
    return place


def reopen_notes(root: Path) -> Place:
    """The place of a folder of notes below a root."""
    (place,) = find(str(root / "notes"), layout=Layout.FOLDER)
    return place


def transaction() -> Transaction:
    """From `OLD` to `NEW`."""
    writes = [
        Write(path, digest(OLD[path]) if path in OLD else None, data)
        for path, data in NEW.items()
        if OLD.get(path) != data
    ]
    writes += [Write(path, digest(OLD[path]), None) for path in OLD if path not in NEW]
    return Transaction(
        kind=RunKind.APPLY,
        who="tests",
        decided_by="person",
        writes=tuple(writes),
        reads={CARRIER: digest(OLD[CARRIER])},
        actions=(
            ActionRecord(1, "merge", ("facts/a.md", "facts/b.md"), "facts/ab.md", "approved", "r"),
        ),
        operations=("deduplicate",),
        summary="s",
    )


def _apply(place: Place, files: Files | None) -> None:
    commit.transact(place, transaction(), files=files)


def _undo(place: Place, files: Files | None) -> None:
    commit.undo(place, "1", who="tests", files=files)


def _make_applied(root: Path) -> Place:
    place = make(root)
    _apply(place, None)
    return place


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run from one state of a store to another."""

    name: str
    make: Callable[[Path], Place]
    reopen: Callable[[Path], Place]
    run: Callable[[Place, Files | None], None]
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]


APPLY: Final = Scenario("apply", make, reopen, _apply, OLD, NEW)
UNDO: Final = Scenario("undo", _make_applied, reopen, _undo, NEW, OLD)
NOTES: Final = Scenario("notes", make_notes, reopen_notes, _apply, OLD, NEW)
SCENARIOS: Final = {each.name: each for each in (APPLY, UNDO, NOTES)}


def live(place: Place) -> dict[str, bytes]:
    """Every memory's bytes. What is no regular file has none."""
    folder = Path(place.folder)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.md"))
        if path.is_file() and path.name != LOG and not path.is_relative_to(place.state)
    }


def kept(place: Place) -> set[bytes]:
    """Every byte string in the state folder."""
    return {p.read_bytes() for p in Path(place.state).rglob("*") if p.is_file()}


def conflicts(place: Place) -> set[bytes]:
    """What was kept of somebody else's, under the names that say so."""
    folder = Path(place.state) / "runs"
    return {p.read_bytes() for p in folder.glob("*/conflicts/*") if p.is_file()}


def entries(place: Place) -> list[str]:
    """The runs that the changelog names, in its order."""
    path = Path(place.changelog)
    return _ENTRY.findall(path.read_text()) if path.is_file() else []
