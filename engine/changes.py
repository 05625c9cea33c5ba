"""From actions to edits: one file each, bytes before and after.

Everything after this room looks at edits: what the diff shows, what the ledger counts and what the
commit writes are the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.documents import Snapshot
from engine.paths import identity
from engine.plan import Action, Delete, Merge, Move, Plan, Update


@dataclass(frozen=True, slots=True)
class Reference:
    """A path as an action spells it, and what it can mean in the store.

    `stored` holds one path if it is known, none if it is not, several if it is ambiguous.
    """

    spelling: str
    stored: tuple[str, ...]

    @property
    def path(self) -> str | None:
        """The stored path, if there is exactly one."""
        return self.stored[0] if len(self.stored) == 1 else None


@dataclass(frozen=True, slots=True)
class Claim:
    """What one action wants of the store.

    `sources` are read and, but for the target, removed; `target` is written (None for a delete).
    `new_path` is the path that a target gets if no file is stored under it.
    """

    index: int
    action: Action
    sources: tuple[Reference, ...]
    target: Reference | None
    new_path: str | None
    alias_folder: bool = False

    @property
    def writes(self) -> str | None:
        """The stored or new path that is written, if it is decided."""
        if self.target is None or len(self.target.stored) > 1:
            return None
        return self.target.path or self.new_path

    @property
    def removes(self) -> tuple[str, ...]:
        """The stored paths that vanish."""
        if isinstance(self.action, Update):
            return ()
        kept = self.writes if isinstance(self.action, Merge) else None
        paths = dict.fromkeys(source.path for source in self.sources if source.path is not None)
        return tuple(path for path in paths if path != kept)


def claims(plan: Plan, snapshot: Snapshot) -> tuple[Claim, ...]:
    """What every action of a plan wants, its paths resolved against the snapshot."""
    return tuple(_claim(index, action, snapshot) for index, action in enumerate(plan.actions))


def _claim(index: int, action: Action, snapshot: Snapshot) -> Claim:
    def refer(path: str) -> Reference:
        return Reference(path, snapshot.spellings(path))

    match action:
        case Merge():
            sources, target = action.sources, action.target
        case Update():
            sources, target = (action.path,), action.path
        case Delete():
            return Claim(index, action, (refer(action.path),), None, None)
        case Move():
            sources, target = (action.from_,), action.to
    new_path, alias = _new_path(target, snapshot)
    return Claim(
        index, action, tuple(map(refer, sources)), refer(target), new_path, alias_folder=alias
    )


def _new_path(target: str, snapshot: Snapshot) -> tuple[str, bool]:
    """(the path under which a new target is stored, whether its folder is ambiguous).

    New paths are lower case, otherwise as spelled; a folder that exists keeps its spelling.
    """
    folder, slash, name = target.rpartition("/")
    if not slash:
        return name.lower(), False
    spellings = snapshot.folders.get(identity(folder), ())
    if len(spellings) == 1:
        return f"{spellings[0]}/{name.lower()}", False
    if folder in spellings:
        return f"{folder}/{name.lower()}", False
    return target.lower(), len(spellings) > 1


@dataclass(frozen=True, slots=True)
class Edit:
    """One file, before and after. None means that there is no such file."""

    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Change:
    """An action with its edits: the target first, then what vanishes, by path.

    `folded` are the deletes of the same plan that this change makes redundant: they share its row
    and its verdict. `into` is the index of the change that this delete was folded into. A change
    that cannot be worked out (a path that is unknown or ambiguous) has no edits.
    """

    index: int
    action: Action
    edits: tuple[Edit, ...]
    reads: tuple[str, ...]
    folded: tuple[int, ...] = ()
    into: int | None = None

    @property
    def target(self) -> str | None:
        """The path that is written, if any."""
        return next((edit.path for edit in self.edits if edit.after is not None), None)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the change reads, writes or removes."""
        return tuple(dict.fromkeys([*self.reads, *(edit.path for edit in self.edits)]))


def resolve(plan: Plan, snapshot: Snapshot) -> tuple[Change, ...]:
    """One change an action, in the order of the plan. Total: an impossible action has no edits."""
    wanted = claims(plan, snapshot)
    consumers: dict[str, int] = {}
    for claim in wanted:
        if not isinstance(claim.action, Delete):
            for path in claim.removes:
                consumers.setdefault(path, claim.index)
    first_delete: dict[str, int] = {}
    folded: dict[int, list[int]] = {}
    into: dict[int, int] = {}
    for claim in wanted:
        if isinstance(claim.action, Delete) and claim.removes:
            path = claim.removes[0]
            owner = consumers.get(path, first_delete.get(path))
            if owner is None:
                first_delete[path] = claim.index
            else:
                folded.setdefault(owner, []).append(claim.index)
                into[claim.index] = owner
    return tuple(
        Change(
            claim.index,
            claim.action,
            () if claim.index in into else _edits(claim, snapshot),
            tuple(dict.fromkeys(s.path for s in claim.sources if s.path is not None)),
            tuple(folded.get(claim.index, ())),
            into.get(claim.index),
        )
        for claim in wanted
    )


def _edits(claim: Claim, snapshot: Snapshot) -> tuple[Edit, ...]:
    if any(source.path is None for source in claim.sources):
        return ()
    removed = tuple(Edit(path, snapshot.files[path], None) for path in sorted(claim.removes))
    match claim.action:
        case Delete():
            return removed
        case Move():
            source = claim.sources[0].path
            if claim.writes is None or source is None or claim.writes == source:
                return ()
            after = snapshot.files[source]
        case Merge() | Update():
            if claim.writes is None:
                return ()
            after = claim.action.content.encode("utf-8", "surrogatepass")
    before = snapshot.files.get(claim.writes)
    written = () if before == after else (Edit(claim.writes, before, after),)
    return written + removed
