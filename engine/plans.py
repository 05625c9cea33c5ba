"""Opening plan files: bare ones, saved ones, and those that wait in the state folder.

A bare plan says nothing of the store it was made for. The first command that opens one binds it:
a saved plan that is keyed by the bytes of the bare file goes to the state folder, and later
commands on the same bytes find it.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.changes import resolve
from engine.documents import digest
from engine.errors import (
    Conflict,
    Drift,
    EngineError,
    InvalidPlan,
    NoPlan,
    Refused,
    StorageError,
    Violation,
)
from engine.plan import ALL_OPERATIONS, PLAN_BYTES, Limits, load_json, parse_plan
from engine.review import (
    Review,
    SavedPlan,
    StoreName,
    base_of,
    is_saved_plan,
    parse_saved_plan,
    plan_id,
)
from engine.store import Store

_ID = re.compile("[0-9a-f]{4,12}")


@dataclass(frozen=True, slots=True)
class OpenedPlan:
    """A plan that was opened, and where its review is written.

    `file` is the path of a saved plan outside the state folder, or None for a waiting plan that is
    kept as `name`. `seen` is the digest of the bytes that were read (None: not written yet).
    `fresh` says that a bare plan was bound just now, so that there is no earlier state to compare
    the store with.
    """

    saved: SavedPlan
    name: str
    file: str | None
    seen: str | None
    notices: tuple[Violation, ...] = ()
    fresh: bool = False


def now() -> str:
    """The time, UTC, ISO 8601 with Z."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def open_plan(store: Store, argument: str | None) -> OpenedPlan:
    """Open a plan by file, by the id of a waiting one, or the newest that waits.

    Raises `NoPlan`, `InvalidPlan` at stage `schema` or `config`, `StorageError`.
    """
    if argument is None:
        waiting = waiting_plans(store)
        if not waiting:
            raise NoPlan("No plan is waiting for this store.", hint="Make one with memui plan.")
        return waiting[0]
    if os.path.lexists(argument):
        return _open_file(store, argument)
    if _ID.fullmatch(argument):
        found = [plan for plan in waiting_plans(store) if plan.saved.id.startswith(argument)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NoPlan(f"{argument} could be {' or '.join(p.saved.id for p in found)}.")
    raise NoPlan(
        f"There is no file {argument}, and no waiting plan of that id.",
        hint="Name a plan file, or leave it out to open the newest waiting plan.",
    )


def reopen(store: Store, opened: OpenedPlan | None) -> OpenedPlan:
    """A plan as it lies on disk now. Raises `NoPlan` if none waits, or it was taken away."""
    if opened is None:
        return open_plan(store, None)
    if opened.file is not None:
        return open_plan(store, opened.file)
    if opened.seen is None:
        return opened
    data = store.load_plan(opened.name)
    if data is None:
        raise NoPlan("The plan is not in the state folder any more.")
    return replace(opened, saved=parse_saved_plan(data), seen=digest(data))


def waiting_plans(store: Store) -> tuple[OpenedPlan, ...]:
    """The plans in the state folder that can be read, the newest first."""
    found: list[OpenedPlan] = []
    for name in store.plans():
        with contextlib.suppress(EngineError):
            data = store.load_plan(name)
            if data is not None:
                saved = parse_saved_plan(data)
                if saved.store == store_name(store):
                    found.append(OpenedPlan(saved, name, None, digest(data)))
    return tuple(sorted(found, key=lambda plan: (plan.saved.time, plan.name), reverse=True))


def store_name(store: Store) -> StoreName:
    """The store's identity, as plans carry it."""
    return StoreName(layout=store.place.layout, name=store.place.name)


def _open_file(store: Store, path: str) -> OpenedPlan:
    data = read_file(path)
    value = load_json(data)
    if is_saved_plan(value):
        saved = parse_saved_plan(data)
        own = store_name(store)
        if saved.store != own:
            theirs = f"{saved.store.name} ({saved.store.layout})"
            raise InvalidPlan(
                "config",
                [
                    Violation(
                        "other-store",
                        f"the plan is for the store {theirs}, not {own.name} ({own.layout})",
                    )
                ],
                hint="Open the store that it was made for.",
            )
        return OpenedPlan(saved, saved.id, path, digest(data), parse_plan(value["plan"])[1])
    plan, notices = parse_plan(value)
    source = digest(data)
    kept = store.load_plan(source)
    if kept is not None:
        return OpenedPlan(parse_saved_plan(kept), source, None, digest(kept), notices)
    snapshot = store.snapshot()
    base = base_of(resolve(plan, snapshot), snapshot)
    saved = SavedPlan(
        id=plan_id(plan, base),
        store=store_name(store),
        planner="file",
        operations=ALL_OPERATIONS,
        limits=Limits(),
        time=now(),
        base=base,
        plan=plan,
        review=Review.of(plan),
        source=source,
    )
    opened = OpenedPlan(saved, source, None, None, notices, fresh=True)
    try:
        return write_review(store, opened, saved) if store.place.writable else opened
    except StorageError:
        return opened  # it can be looked at; whoever writes a verdict is told why that fails


def read_file(path: str, limit: int = PLAN_BYTES) -> bytes:
    """A regular file's bytes; never blocks on a FIFO. Raises `StorageError`, `InvalidPlan`."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise StorageError(f"{path} is not a regular file.")
            if found.st_size > limit:
                size = limit // (1024 * 1024)
                raise InvalidPlan(
                    "schema", [Violation("schema", f"the file is larger than {size} MiB")]
                )
            with open(fd, "rb", closefd=False) as file:
                return file.read(limit + 1)
        finally:
            os.close(fd)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error


def keep_plan(store: Store, saved: SavedPlan) -> OpenedPlan:
    """Let a plan wait in the state folder, and open it. Raises `StorageError`, `Conflict`.

    The same plan may wait there already: then what was said of it stays, and the new review only
    says what is still to decide.
    """
    if not store.place.writable:
        raise StorageError(
            "The store is read-only, so the plan cannot wait in it.",
            hint="Write it to a file with -o FILE.",
        )
    data = store.load_plan(saved.id)
    opened = OpenedPlan(saved, saved.id, None, None if data is None else digest(data))
    if data is not None:
        with contextlib.suppress(InvalidPlan):  # what cannot be read is no review
            known = parse_saved_plan(data)
            review = known.review.filled(saved.review)
            if review == known.review:
                return replace(opened, saved=known)
            saved = known.reviewed(review)
    return write_review(store, opened, saved)


def discard(store: Store, opened: OpenedPlan) -> str:
    """Take a plan from those that wait; the path under which its file is kept.

    What was applied from it is undone as before: a run carries what its undo needs.
    Raises `NoPlan` for a file of the person's own, `Conflict` if it changed since it was opened.
    """
    if opened.file is not None:
        raise NoPlan(
            f"{opened.file} is a file of your own: memui discards only plans that wait.",
            hint="Delete it yourself. Nothing was changed.",
        )
    data = store.load_plan(opened.name)
    _unchanged(opened, None if data is None else digest(data), f"plan {opened.saved.id}")
    return store.put_plan_aside(opened.name, _stamp())


def _stamp() -> str:
    return now().replace("-", "").replace(":", "")


def bring_back(store: Store, plan: str) -> OpenedPlan:
    """Let a plan that was discarded wait again, by its id or the beginning of it.

    Of several discarded states of one plan the newest. Raises `NoPlan`, `StorageError`.
    """
    found = {name: suffix for name, suffix in store.plans_aside() if name.startswith(plan)}
    if not found:
        raise NoPlan(f"No plan {plan} was discarded.", hint="memui plans lists what there is.")
    if len(found) > 1:
        raise NoPlan(f"{plan} could be {' or '.join(sorted(found))}. Nothing was changed.")
    ((name, suffix),) = found.items()
    if name in store.plans():
        raise NoPlan(f"Plan {name} waits already.", hint="Nothing was changed.")
    store.take_plan_back(name, suffix)
    data = store.load_plan(name)
    if data is None:
        raise NoPlan(f"Plan {name} was taken away meanwhile.")
    return OpenedPlan(parse_saved_plan(data), name, None, digest(data))


def write_review(store: Store, opened: OpenedPlan, saved: SavedPlan) -> OpenedPlan:
    """Keep a review at once: into the plan's file, or into the state folder.

    Raises `Conflict` if the file is not what was read (somebody else reviews it too), `Refused` if
    it would be too large to be opened again.
    """
    data = saved.dump()
    if len(data) > PLAN_BYTES:
        raise Refused(
            f"With that the plan would be larger than {PLAN_BYTES // (1024 * 1024)} MiB.",
            hint="Nothing was changed. Edit the memory itself, once the plan is applied.",
        )
    if opened.file is None:
        on_disk = store.load_plan(opened.name)
        has = None if on_disk is None else digest(on_disk)
        _unchanged(opened, has, f"plan {saved.id}")
        store.save_plan(opened.name, data)
    else:
        has = digest(read_file(opened.file)) if os.path.lexists(opened.file) else None
        _unchanged(opened, has, opened.file)
        replace_file(opened.file, data)
    return replace(opened, saved=saved, seen=digest(data))


def _unchanged(opened: OpenedPlan, has: str | None, what: str) -> None:
    if has != opened.seen:
        raise Conflict(
            [Drift(what, "was changed since it was read")],
            hint="Somebody else reviews it too. Open it again to go on from their verdicts.",
        )


def replace_file(path: str, data: bytes) -> None:
    """Write a file outside the store whole or not at all: temp, fsync, rename.

    A file that exists keeps its mode; a link is followed to the file that it names.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else None
        fd, temp = tempfile.mkstemp(prefix=f".{name[:100]}.", dir=folder or ".")
        try:
            with open(fd, "wb") as file:
                file.write(data)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temp, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temp)
            raise
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}.", hint="Nothing was changed."
        ) from error
