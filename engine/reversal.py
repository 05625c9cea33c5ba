"""What taking back a run, or single actions of it, means for the files as they are now.

Reads only. A file that still holds what the run left goes back to what it was. Any other was
changed since, by another writer or by a later run: it is named, and nothing is decided for it.
The person may keep what is there, take what was there before the run, or have both merged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine import journal
from engine.documents import digest
from engine.errors import AlreadyUndone, Drift, EngineError, StorageError
from engine.joining import join
from engine.journal import ActionRecord, Attributes, Run, RunKind, Step
from engine.layouts import Place
from engine.ledger.placing import Said, said
from engine.statements import statements
from engine.storage.tree import FILE, Tree


class Choice(StrEnum):
    """What shall become of a file that changed since the run."""

    KEEP = "keep"
    """What is there stays."""
    TAKE = "take"
    """What was there before the run comes back."""
    MERGE = "merge"
    """What the run did is taken out of what is there, line by line."""


@dataclass(frozen=True, slots=True)
class Reverted:
    """One file of a reversal. Bytes are None for absence.

    `before` is what the run found, `left` what it wrote, `here` what is there now; `why` says, as a
    clause, that it changed since, and is empty if it did not. `merged` is None where a merge is
    not possible. `is_file` is false for a link, folder or device, which is never touched.
    """

    path: str
    action: int
    before: bytes | None
    left: bytes | None
    here: bytes | None
    was: Attributes | None = None
    why: str = ""
    merged: bytes | None = None
    choice: Choice | None = None
    is_file: bool = True

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What a person can choose; nothing for a file that did not change since."""
        if not self.why:
            return ()
        if not self.is_file or (self.before is None and self.here is None):
            return (Choice.KEEP,)
        merge = () if self.merged is None else (Choice.MERGE,)
        return (Choice.KEEP, Choice.TAKE, *merge)

    @property
    def open(self) -> bool:
        """Whether it waits for a choice."""
        return self.why != "" and self.choice is None

    @property
    def result(self) -> bytes | None:
        """What will be there."""
        if self.open or self.choice is Choice.KEEP:
            return self.here
        return self.merged if self.choice is Choice.MERGE else self.before

    @property
    def chosen(self) -> bool:
        """Whether the run's doing is taken out of it: all but what is kept."""
        return not self.open and self.choice is not Choice.KEEP


@dataclass(frozen=True, slots=True)
class Reversal:
    """A run, which of its actions are taken back, and what becomes of each file.

    `left` are the actions that are not among them and were not taken back before.
    """

    run: Run
    actions: tuple[ActionRecord, ...]
    files: tuple[Reverted, ...]
    left: frozenset[int] = frozenset()

    @property
    def open(self) -> tuple[Reverted, ...]:
        """The files that wait for a choice."""
        return tuple(file for file in self.files if file.open)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """What waits for a choice, as a conflict names it."""
        return tuple(Drift(file.path, file.why) for file in self.open)

    @property
    def taken_back(self) -> tuple[ActionRecord, ...]:
        """The actions of which something is taken back, as an undo records them."""
        numbers = {file.action for file in self.files if file.chosen}
        return tuple(
            replace(action, verdict="approved", reason="")
            for action in self.actions
            if (action.into or action.number) in numbers
        )

    @property
    def partial(self) -> bool:
        """Whether something of the run will still hold."""
        back = {action.number for action in self.taken_back}
        return bool(self.left) or any(action.number not in back for action in self.actions)

    def choosing(self, path: str, choice: Choice) -> Reversal:
        """The same with a choice for one file. Raises `EngineError` if it does not have it."""
        for file in self.files:
            if file.path == path and choice in file.choices:
                changed = replace(file, choice=choice)
                files = tuple(changed if other is file else other for other in self.files)
                return replace(self, files=files)
        raise EngineError(_no_choice(self, path, choice), hint="Nothing was changed.")


def _no_choice(reversal: Reversal, path: str, choice: Choice) -> str:
    file = next((file for file in reversal.files if file.path == path), None)
    if file is None:
        return f"Run {reversal.run.seq} did not touch {path}."
    if not file.why:
        return f"{path} is as run {reversal.run.seq} left it: there is nothing to choose."
    if choice is Choice.MERGE and file.is_file:
        return f"{path} cannot be merged: the same lines changed since, or one side is gone."
    return f"{path} {file.why}: it can only be kept."


def reversal(
    place: Place,
    name: str,
    *,
    actions: Collection[int] = (),
    choices: Mapping[str, Choice] | None = None,
    otherwise: Choice | None = None,
) -> Reversal:
    """Taking back a run (number, id or `last`), or those of its `actions` (1-based), as of now.

    `choices` are by path; `otherwise` is for the files that changed and are not among them, where
    it is possible. Raises `AlreadyUndone`, `EngineError` for what cannot be taken back,
    `StorageError`.
    """
    run = journal.find(place, name)
    known = known_since(place, run)
    _refuse_unheld(run)
    chosen = _chosen(run, known, frozenset(actions))
    numbers = {action.number for action in chosen}
    with Tree(place.folder) as store:
        files = tuple(
            _reverted(place, store, run, step, known)
            for step in run.steps
            if step.action in numbers
        )
    back = journal.taken_back(known)
    left = {n for n in run.numbers if (run.id, n) not in back} - {a.number for a in chosen}
    found = Reversal(run, chosen, files, frozenset(left))
    for path, choice in (choices or {}).items():
        found = found.choosing(path, choice)
    if otherwise is not None:
        for file in found.open:
            if otherwise in file.choices:
                found = found.choosing(file.path, otherwise)
    refuse_bereft(place, found, known)
    return found


def known_since(place: Place, run: Run) -> tuple[Run, ...]:
    """The runs that have a say in taking back one: those since the run that it goes back to."""
    first = run
    while first.undoes is not None:
        try:
            before = journal.find(place, first.undoes)
        except EngineError:
            break
        if before.seq >= first.seq:
            break
        first = before
    return journal.runs(place, since=first.seq)


def _refuse_unheld(run: Run) -> None:
    if run.state == "taken-back":
        raise EngineError(f"Run {run.seq} changed nothing: it was taken back.")
    if run.state == "unfinished":
        raise EngineError(
            f"Run {run.seq} stopped in the middle, on another machine or in another copy of the"
            " store.",
            hint="It can be finished there, with memui recover.",
        )


def _chosen(run: Run, known: Sequence[Run], numbers: frozenset[int]) -> tuple[ActionRecord, ...]:
    """The actions that are meant: those asked for with what was folded into them, or all left."""
    back = journal.taken_back(known)
    own = {action.number: action for action in run.changing}
    missing = sorted(numbers - own.keys())
    if missing:
        has = ", ".join(map(str, sorted(own)))
        raise EngineError(
            f"Run {run.seq} has no action {missing[0]}.", hint=f"It has changed files by {has}."
        )
    owners = {own[number].into or number for number in numbers}
    asked = [a for a in run.changing if not numbers or (a.into or a.number) in owners]
    left = tuple(action for action in asked if (run.id, action.number) not in back)
    if asked and not left:
        raise AlreadyUndone(run.id, back[run.id, asked[0].number])
    return left


def refuse_undone(found: Reversal, known: Sequence[Run]) -> None:
    """Raise `AlreadyUndone` if somebody took the same back meanwhile."""
    back = journal.taken_back(known)
    done = [back.get((found.run.id, action.number)) for action in found.actions]
    if done and None not in done:
        raise AlreadyUndone(found.run.id, str(done[0]))


def refuse_bereft(place: Place, found: Reversal, known: Sequence[Run]) -> None:
    """Raise `EngineError` where facts would be lost that another action moved into these files.

    An action that stays applied relies on the memories that carry on what it removed; so does one
    that is done again.
    """
    for number, of, carrier in bereft(place, found, known):
        again = "which does not say them any more"
        if number in {action.number for action in found.actions}:
            raise EngineError(
                f"Action {number} removes facts that {carrier} held, {again}.",
                hint="Nothing was changed. Do what wrote them there again first, or plan again.",
            )
        numbers = ",".join(str(n) for n in sorted({number, *(a.number for a in found.actions)}))
        first = f"Take that back first: memui undo {of.seq} --action {number}"
        raise EngineError(
            f"{carrier} holds facts that action {number} of run {of.id} removed elsewhere: they"
            " would be lost.",
            hint=f"Take back both: --action {numbers}" if of.id == found.run.id else first,
        )


def bereft(place: Place, found: Reversal, known: Sequence[Run]) -> Iterator[tuple[int, Run, str]]:
    """(number of an action, its run, the memory that would not say any more what it removed)."""
    before = journal.taken_back(known)
    undo = replace(
        found.run,
        id=f"{known[-1].seq + 1}-00000000",
        kind=RunKind.UNDO,
        undoes=found.run.id,
        actions=tuple(replace(action, verdict="approved") for action in found.actions),
    )
    after = journal.taken_back([*known, undo])
    changed = {file.path: file for file in found.files if file.result != file.here}
    for run in known:
        for action in run.changing if run.undoes is None and run.state == "done" else ():
            if not action.carriers or (run.id, action.number) in after:
                continue
            if (run.id, action.number) in before:
                lost = _unsaid(place, run, action, changed)
            elif run.seq >= found.run.seq:
                lost = _unsaid_since(place, run, action, changed)
            else:
                continue  # what it relied on was written before, and comes back
            yield from ((action.number, run, carrier) for carrier in lost)


def _unsaid_since(
    place: Place, run: Run, action: ActionRecord, changed: Mapping[str, Reverted]
) -> Iterator[str]:
    """The carriers of an action that say now what it removed, and would not say it any more."""
    for path in action.carriers:
        file = changed.get(path)
        if file is not None:
            removed = _removed(place, run, action)
            if removed & _keys(path, file.here) - _keys(path, file.result):
                yield path


def _unsaid(
    place: Place, run: Run, action: ActionRecord, changed: Mapping[str, Reverted]
) -> Iterator[str]:
    """The carriers of an action that is done again which do not say now what they said then."""
    wrote = {step.path: step.new for step in run.steps}
    with Tree(place.folder) as store:
        for path in action.carriers:
            then = wrote.get(path, run.reads.get(path))
            if path in changed:
                now = changed[path].result
            else:
                now = store.read(path) if store.look(path).kind == FILE else None
            if now is not None and digest(now) == then:
                continue
            try:
                held = None if then is None else journal.read_object(place, then)
            except StorageError:  # it was only read then, and nobody kept it
                yield path
                continue
            if _removed(place, run, action) & _keys(path, held) - _keys(path, now):
                yield path


def _removed(place: Place, run: Run, action: ActionRecord) -> frozenset[Said]:
    """What the files of an action said before it and do not say after it."""
    own = [step for step in run.steps if step.action == (action.into or action.number)]
    had: set[Said] = set()
    has: set[Said] = set()
    for step in own:
        if step.old is not None:
            had |= _keys(step.path, journal.read_object(place, step.old))
        if step.new is not None:
            has |= _keys(step.path, journal.read_object(place, step.new))
    return frozenset(had - has)


def _keys(path: str, data: bytes | None) -> frozenset[Said]:
    return frozenset() if data is None else frozenset(map(said, statements(path, data)))


def _reverted(place: Place, store: Tree, run: Run, step: Step, known: Sequence[Run]) -> Reverted:
    before = None if step.old is None else journal.read_object(place, step.old)
    try:
        there = store.look(step.path)
    except OSError as error:
        raise StorageError(
            f"{step.path} cannot be read: {error.strerror}.", path=step.path
        ) from error
    found = Reverted(step.path, step.action, before, None, None, step.was)
    if not there.absent and there.kind != FILE:
        left = None if step.new is None else journal.read_object(place, step.new)
        return replace(found, left=left, why=f"is a {there.kind}", is_file=False)
    if there.digest == step.new:
        left = None if step.new is None else store.read(step.path)
        return replace(found, left=left, here=left)
    left = None if step.new is None else journal.read_object(place, step.new)
    here = None if there.digest is None else store.read(step.path)
    if there.digest == step.old and not there.absent:
        return replace(found, left=left, here=before)
    merged = None
    if before is not None and left is not None and here is not None:
        merged = join(left, before, here).data
    why = _why(run, step, None if here is None else digest(here), known)
    return replace(found, left=left, here=here, why=why, merged=merged)


def _why(run: Run, step: Step, here: str | None, known: Sequence[Run]) -> str:
    """Who changed a file: a later run of ours, if it is as that left it, else somebody else."""
    later = [
        (other, theirs)
        for other in known
        if other.seq > run.seq and other.state == "done"
        for theirs in other.steps
        if theirs.path == step.path
    ]
    if later and later[-1][1].new == here:
        return f"was changed by run {later[-1][0].id}"
    if here is None:
        return "was deleted by another writer"
    return "was created by another writer" if step.new is None else "changed on disk"
