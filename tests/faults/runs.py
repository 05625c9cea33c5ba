"""The runs that the harness attacks: a merge, an update, a delete, a move into a new folder."""

from __future__ import annotations

from pathlib import Path

from engine.commit import Transaction, Write
from engine.documents import digest
from engine.journal import ActionRecord, RunKind
from engine.layouts import Place, find
from engine.paths import Layout

LOG = "consolidation-changelog.md"
OLD = {
    "facts/a.md": b"alpha\n",
    "facts/b.md": b"beta\n",
    "facts/c.md": b"gamma\n",
    "facts/d.md": b"delta\n",
    "facts/e.md": b"epsilon\n",
}
NEW = {
    "facts/a.md": b"alpha beta\n",
    "facts/c.md": b"gamma 2\n",
    "lab/d.md": b"delta\n",
}
"""a takes b in, c is updated, d moves into a new folder, e is deleted."""


def make(root: Path) -> Place:
    """A store with `OLD` in it."""
    folder = root / "memory" / "agent"
    for path, data in OLD.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return reopen(root)


def reopen(root: Path) -> Place:
    """The place of a store below a root."""
    (place,) = find(str(root), layout=Layout.NAMESPACED, name="agent")
    return place


def transaction() -> Transaction:
    """From `OLD` to `NEW`."""
    writes = [
        Write(path, digest(OLD[path]) if path in OLD else None, data) for path, data in NEW.items()
    ]
    writes += [Write(path, digest(OLD[path]), None) for path in OLD if path not in NEW]
    return Transaction(
        kind=RunKind.APPLY,
        who="tests",
        decided_by="person",
        writes=tuple(writes),
        actions=(ActionRecord(1, "merge", ("facts/a.md", "facts/b.md"), None, "approved", "r"),),
        operations=("deduplicate",),
        summary="s",
    )


def live(place: Place) -> dict[str, bytes]:
    """Every memory's bytes."""
    folder = Path(place.folder)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOG
    }


def kept(place: Place) -> set[bytes]:
    """Every byte string in the state folder."""
    return {p.read_bytes() for p in Path(place.state).rglob("*") if p.is_file()}
