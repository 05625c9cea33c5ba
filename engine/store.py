"""A store of memories: the facade that front ends and programs use.

Synchronous; an event loop calls it in a thread. Every write is a run: checked, staged, recorded,
and taken back by `undo`.
"""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine import commit, journal
from engine.commit import Collected, Files, OnStep, Outcome, Recovered, Transaction, Write
from engine.documents import Snapshot, digest, first_sentence, parse, quote, set_description
from engine.errors import (
    Conflict,
    Holder,
    InvalidPlan,
    NotAStore,
    StorageError,
    Violation,
    run_number,
)
from engine.guards import content_violations, description_problem, path_violations
from engine.journal import ActionRecord, Run, RunKind
from engine.layouts import LAYOUT_FILE, Place, find
from engine.listing import Listing, iso, list_entries
from engine.paths import EXTENSION, Layout, identity
from engine.search import Hit, Searched, search
from engine.slugs import shipped_append, shipped_topic, slug
from engine.storage.tree import FILE, FOLDER, LINK, Tree
from engine.storage.walk import Entry, Other, judge, read_entry, walk

if TYPE_CHECKING:
    from engine.reversal import Choice, Reversal
    from engine.storage.local import LocalStorage

_ADD_TRIES = 20


@dataclass(frozen=True, slots=True)
class Added:
    """Where an added memory lies, and the run that wrote it."""

    path: str
    run: str


def open_stores(
    spec: str, *, name: str | None = None, layout: Layout | None = None
) -> tuple[Store, ...]:
    """Every store below a root; none for a Strands root that no agent has written to."""
    return tuple(Store(place) for place in find(spec, layout=layout, name=name))


def open_store(spec: str, *, name: str | None = None, layout: Layout | None = None) -> Store:
    """The one store that is meant. Raises `NotAStore` if there is none, or several."""
    stores = open_stores(spec, name=name, layout=layout)
    if not stores:
        raise NotAStore(
            f"{spec} is a Strands root, but holds no store yet.",
            hint="An agent makes one when it first remembers something.",
        )
    if len(stores) > 1:
        names = ", ".join(store.name for store in stores)
        raise NotAStore(
            f"{spec} holds {len(stores)} stores: {names}.", hint="Choose one with --store NAME."
        )
    return stores[0]


class Store:
    """One store. `waiting` is told the holder before a lock is waited for."""

    def __init__(
        self,
        place: Place,
        *,
        files: Files | None = None,
        writable: bool = True,
        waiting: Callable[[Holder | None], None] | None = None,
    ) -> None:
        self.place = place if writable else replace(place, writable=False)
        self.waiting = waiting
        self.recovered: tuple[Recovered, ...] = ()
        self._files = files

    @property
    def name(self) -> str:
        """The store's name."""
        return self.place.name

    @property
    def layout(self) -> Layout:
        """How it lies on disk."""
        return self.place.layout

    @property
    def root(self) -> str:
        """The root that it was found below."""
        return self.place.root

    # Reading

    def _tree(self) -> Tree:
        try:
            return Tree(self.place.folder)
        except FileNotFoundError as error:
            raise StorageError(
                f"{self.place.folder} is not there any more.",
                hint="Nothing was changed. Bring the folder back, then look again.",
            ) from error
        except OSError as error:
            raise StorageError(f"{self.place.folder} cannot be read: {error.strerror}.") from error

    def _walk(self, tree: Tree) -> Iterator[Entry | Other]:
        for found in walk(tree):
            if not (isinstance(found, Other) and self._is_ours(found.path)):
                yield found

    def _is_ours(self, path: str) -> bool:
        return self.place.state_prefix != "" and path.split("/", maxsplit=1)[0] == ".memui"

    def listing(self) -> Listing:
        """Every memory with its description, and everything else with why it is none."""
        with self._tree() as tree:
            return list_entries(tree, self._walk(tree))

    def snapshot(self) -> Snapshot:
        """The bytes of every memory that can be read; `listing` names the others.

        What a link shows is left out: its target is in the snapshot under its own path.
        """
        files: dict[str, bytes] = {}
        with self._tree() as tree:
            for found in self._walk(tree):
                if isinstance(found, Entry) and found.link is None:
                    try:
                        files[found.path] = tree.read(found.path)
                    except OSError:
                        continue
        return Snapshot(files)

    def read(self, path: str) -> bytes:
        """One memory's bytes. Raises `StorageError` with the closest names if there is none."""
        path = self.resolve(path)
        with self._tree() as tree:
            try:
                kind = tree.look(path).kind
                link = "" if kind == LINK else None
                return read_entry(tree, Entry(path, 0, 0.0, link))
            except OSError as error:
                raise StorageError(
                    f"{path} cannot be read: {error.strerror}.", path=path
                ) from error

    def live(self, path: str) -> bytes | None:
        """The bytes at a path as spelled, None if there is no file. Raises `StorageError`."""
        with self._tree() as tree:
            try:
                return tree.read(path) if tree.look(path).kind == FILE else None
            except OSError as error:
                raise StorageError(
                    f"{path} cannot be read: {error.strerror}.", path=path
                ) from error

    def modified(self, path: str) -> str:
        """When a memory's file changed last: UTC, ISO 8601 with Z."""
        try:
            return iso(os.stat(os.path.join(self.place.folder, path)).st_mtime)
        except OSError as error:
            raise StorageError(f"{path} cannot be read: {error.strerror}.", path=path) from error

    def resolve(self, path: str) -> str:
        """The stored path that a spelling means: exact, or the only one of the same identity."""
        with self._tree() as tree:
            there = tree.look(path) if path and not path.startswith("/") else None
            if there is not None and there.kind in {FILE, LINK}:
                return path
            paths = [found.path for found in self._walk(tree)]
        if there is not None and there.kind == FOLDER:
            raise StorageError(
                f"{path} is a folder, not a memory.",
                path=path,
                hint="memui list shows what there is.",
            )
        key = identity(path)
        twins = [stored for stored in paths if identity(stored) == key]
        if len(twins) == 1:
            return twins[0]
        if twins:
            raise StorageError(f"{path} could be {' or '.join(twins)}.", path=path)
        close = difflib.get_close_matches(path, paths, 3, 0.5)
        hint = f"Did you mean {', '.join(close)}?" if close else "memui list shows what there is."
        raise StorageError(f"There is no memory {path}.", path=path, hint=hint)

    def no_memory(self, path: str) -> str:
        """Why what is stored at a path is no memory; empty if it is one. Raises `StorageError`."""
        with self._tree() as tree:
            try:
                found = judge(tree, path)
            except OSError as error:
                raise StorageError(
                    f"{path} cannot be read: {error.strerror}.", path=path
                ) from error
        return found.why if isinstance(found, Other) else ""

    def memory(self, path: str) -> str:
        """The stored path of a memory that a person wants to change. Raises `StorageError`."""
        self._refuse_read_only()
        path = self.resolve(path)
        why = self.no_memory(path)
        if why:
            raise StorageError(
                f"{path} is no memory: {why}.",
                path=path,
                hint="memui leaves it alone. Nothing was changed.",
            )
        return path

    def search(self, query: str) -> tuple[Hit, ...]:
        """The memories that hold every word of a query, the best first."""
        return search(query, self.searched())

    def searched(self) -> Iterator[Searched]:
        """Every memory as search sees it, for front ends that search again at each key."""
        with self._tree() as tree:
            for found in self._walk(tree):
                if isinstance(found, Entry):
                    try:
                        data = read_entry(tree, found)
                    except OSError:
                        continue
                    document = parse(data)
                    yield Searched(found.path, document.description, document.text)

    # Writing by hand

    def transact(
        self, transaction: Transaction, *, wait: float = 0.0, on_step: OnStep | None = None
    ) -> Outcome:
        """Commit a transaction: all of it or nothing (`engine.commit`)."""
        outcome, self.recovered = commit.transact(
            self.place,
            transaction,
            wait=wait,
            files=self._files,
            waiting=self.waiting,
            on_step=on_step,
        )
        if outcome.run:
            self._remember_layout()
        return outcome

    def _remember_layout(self) -> None:
        if self.layout in {Layout.SHIPPED, Layout.NAMESPACED} and not os.path.exists(
            journal.state_path(self.place, LAYOUT_FILE)
        ):
            commit.put_state(self.place, "", LAYOUT_FILE, f"{self.layout}\n".encode())

    def _by_hand(self, kind: RunKind, write: Write, who: str, reason: str, wait: float) -> Outcome:
        record = ActionRecord(1, str(kind), (write.path,), None, "approved", reason)
        return self.transact(
            Transaction(
                kind=kind, who=who, decided_by="person", writes=(write,), actions=(record,)
            ),
            wait=wait,
        )

    def _refuse_read_only(self) -> None:
        if not self.place.writable:
            raise StorageError(
                "The store is read-only.", hint="Nothing was changed. See who owns the folder."
            )

    def edit(self, path: str, data: bytes, *, base: str, who: str, wait: float = 0.0) -> Outcome:
        """Replace a memory's bytes, if it still holds what the person saw (`base`, a SHA-256).

        The result may not break a content rule that the file kept before. Raises `InvalidPlan`,
        `Conflict`, `StorageError`.
        """
        path = self.memory(path)
        before = self.read(path)
        if digest(before) == base:
            _refuse_worse(before, data)
        return self._by_hand(RunKind.EDIT, Write(path, base, data, (path,)), who, "", wait)

    def describe(self, path: str, description: str, *, who: str, wait: float = 0.0) -> Outcome:
        """Set a memory's description: one line changes. Raises as `edit` does."""
        path = self.memory(path)
        problem = description_problem(description)
        if problem is not None:
            raise _invalid("content-description", f"the description {problem}")
        before = self.read(path)
        try:
            after = set_description(before, description)
        except ValueError as error:
            raise _invalid("content-encoding", f"{path} cannot be described: {error}") from error
        write = Write(path, digest(before), after, (path,))
        return self._by_hand(RunKind.DESCRIBE, write, who, description, wait)

    def add(
        self,
        content: str,
        metadata: Mapping[str, object] | None = None,
        *,
        who: str,
        wait: float = 0.0,
    ) -> Added:
        """Add a memory; never overwrites one.

        The name comes from `metadata["path"]`, else from `metadata["title"]` or the first
        sentence, in `facts/` (in the folder itself where notes are plain). A `shipped` store
        appends to the topic's file, as its SDK does. Raises `InvalidPlan`, `Conflict`,
        `StorageError`.
        """
        self._refuse_read_only()
        if not content.strip():
            raise _invalid("content-empty", "there is nothing to add")
        told = dict(metadata or {})
        if self.layout is Layout.SHIPPED and not told.get("path"):
            return self._add_to_topic(content, who, wait)
        title = str(told.get("title") or "").strip() or first_sentence(content)
        text = f"---\ndescription: {quote(title or 'A memory')}\n---\n\n{content}\n"
        if told.get("path"):
            return self._add_at(_given_path(str(told["path"])), text, who, wait)
        folder = "" if self.layout in {Layout.FOLDER, Layout.SHIPPED} else "facts/"
        stem = slug(title) or f"entry-{int(time.time() * 1000)}"
        taken = self.snapshot_names()
        number = 0
        for _ in range(_ADD_TRIES):
            path = f"{folder}{stem}{f'-{number}' if number else ''}{EXTENSION}"
            while identity(path) in taken or path_violations(path):
                number += 1
                path = f"{folder}{stem}-{number}{EXTENSION}"
            try:
                return self._add_at(path, text, who, wait)
            except Conflict:  # somebody took the name just now
                taken.add(identity(path))
        raise StorageError(f"No free name for {stem} was found.")

    def snapshot_names(self) -> set[str]:
        """The identities of everything in the folder, memory or not."""
        with self._tree() as tree:
            return {identity(found.path) for found in walk(tree)}

    def _add_at(self, path: str, text: str, who: str, wait: float) -> Added:
        violations = path_violations(path)
        if violations:
            raise InvalidPlan("validation", violations)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise _invalid("content-encoding", "the text is not valid Unicode") from None
        outcome = self._by_hand(RunKind.ADD, Write(path, None, data), who, "", wait)
        return Added(path, outcome.run)

    def _add_to_topic(self, content: str, who: str, wait: float) -> Added:
        path = (shipped_topic(content) or f"entry-{int(time.time() * 1000)}") + EXTENSION
        for _ in range(_ADD_TRIES):
            with self._tree() as tree:
                there = tree.look(path)
                existing = tree.read(path) if there.kind == FILE else b""
            old = digest(existing) if there.kind == FILE else None
            text = existing.decode("utf-8", "surrogateescape")
            merged = shipped_append(text, content) if existing else content
            data = merged.encode("utf-8", "surrogateescape")
            try:
                outcome = self._by_hand(RunKind.ADD, Write(path, old, data, (path,)), who, "", wait)
                return Added(path, outcome.run)
            except Conflict:
                continue
        raise StorageError(f"{path} is written all the time by somebody else.", path=path)

    @property
    def storage(self) -> LocalStorage:
        """The store as a Strands storage; what is written through it is a run of its own."""
        from engine.storage.local import LocalStorage

        return LocalStorage(self.place.folder, self._put if self.place.writable else None)

    def _put(self, key: str, data: bytes | None) -> None:
        with self._tree() as tree:
            old = tree.look(key).digest
        if data is not None and (violations := path_violations(key)) and old is None:
            raise InvalidPlan("validation", violations)
        if old is None and data is None:
            return
        kind = RunKind.DELETE if data is None else RunKind.EDIT if old else RunKind.ADD
        self._by_hand(kind, Write(key, old, data, (key,)), "storage", "", 10.0)

    # What was done

    def runs(self, *, newest: int | None = None) -> tuple[Run, ...]:
        """Every run, or so many of the newest, the oldest first."""
        return journal.runs(self.place, newest=newest)

    def applied(self, plan: str) -> dict[int, str]:
        """Action number of a plan -> the run that applied it and holds."""
        return journal.applied(self.place, plan)

    def freed(self, plan: str) -> dict[int, str]:
        """Action number of a plan -> the undo that took it back last."""
        return journal.freed(self.place, plan)

    def reversal(
        self,
        run: str,
        *,
        actions: Collection[int] = (),
        choices: Mapping[str, Choice] | None = None,
        otherwise: Choice | None = None,
    ) -> Reversal:
        """What taking back a run, or single actions of it, would do now. Reads only."""
        from engine.reversal import reversal

        return reversal(self.place, run, actions=actions, choices=choices, otherwise=otherwise)

    def undo(
        self,
        run: str,
        *,
        who: str,
        actions: Collection[int] = (),
        choices: Mapping[str, Choice] | None = None,
        otherwise: Choice | None = None,
        decided_by: str = "person",
        wait: float = 0.0,
    ) -> Outcome:
        """Take back a run by number, id or `last`, or single actions of it.

        Raises `Conflict` naming the files that changed since and have no choice, `AlreadyUndone`,
        `EngineError`.
        """
        self._refuse_read_only()
        outcome, self.recovered = commit.undo(
            self.place,
            run,
            who=who,
            actions=actions,
            choices=choices,
            otherwise=otherwise,
            decided_by=decided_by,
            wait=wait,
            files=self._files,
            waiting=self.waiting,
        )
        return outcome

    def revert(
        self, found: Reversal, *, who: str, wait: float = 0.0, on_step: OnStep | None = None
    ) -> Outcome:
        """Do what a reversal that was shown says. Raises as `undo` does."""
        self._refuse_read_only()
        outcome, self.recovered = commit.revert(
            self.place,
            found,
            who=who,
            wait=wait,
            files=self._files,
            waiting=self.waiting,
            on_step=on_step,
        )
        return outcome

    def restore(
        self, path: str, version: str, *, base: str | None, who: str, wait: float = 0.0
    ) -> Outcome:
        """Give one memory an earlier version (`journal.earlier`), if it still holds what was seen.

        `base` is the SHA-256 of what the person saw, None for absence. Raises `Conflict`,
        `EngineError`.
        """
        self._refuse_read_only()
        data, was = journal.earlier(self.place, path, version)
        return self._by_hand(
            RunKind.RESTORE, Write(path, base, data, (path,), was=was), who, version, wait
        )

    def recover(self, *, wait: float = 0.0) -> tuple[Recovered, ...]:
        """Finish or take back what is unfinished, and say what became of it."""
        self._refuse_read_only()
        self.recovered = commit.recover(
            self.place, wait=wait, files=self._files, waiting=self.waiting
        )
        return self.recovered

    def collect(
        self,
        *,
        keep_days: int = commit.KEEP_DAYS,
        keep_runs: int = commit.KEEP_RUNS,
        dry: bool = False,
        wait: float = 0.0,
    ) -> Collected:
        """Shrink memui's record: a run stays if it is younger than `keep_days`, or one of the
        newest `keep_runs`, or needed. With `dry` only what would go is told.
        """
        if not dry:
            self._refuse_read_only()
        found, recovered = commit.collect(
            self.place,
            keep_days=keep_days,
            keep_runs=keep_runs,
            dry=dry,
            wait=wait,
            files=self._files,
            waiting=self.waiting,
        )
        self.recovered = self.recovered if dry else recovered
        return found

    def collected(self) -> dict[str, str]:
        """Run -> when it was collected."""
        return journal.collected(self.place)

    def unfinished(self) -> tuple[Run, ...]:
        """The runs that stopped in the middle. Reads only."""
        return commit.unfinished(self.place)

    def called(self, run: str) -> str:
        """What to call a run in a command: its number, or its id where two machines gave the same.

        `run` is an id.
        """
        same = [
            known for known in journal.run_ids(self.place) if run_number(known) == run_number(run)
        ]
        return run if len(same) > 1 else run_number(run)

    # Plans that wait

    def plans(self) -> tuple[str, ...]:
        """The names of the plans in the state folder."""
        names = self._plan_files()
        return tuple(sorted(n.removesuffix(".json") for n in names if n.endswith(".json")))

    def _plan_files(self) -> list[str]:
        try:
            names = os.listdir(os.path.join(self.place.state, "plans"))
        except OSError:
            return []
        return [name.removeprefix(self.place.state_prefix) for name in names]

    def load_plan(self, name: str) -> bytes | None:
        """The bytes of a waiting plan, None if there is none."""
        return journal.read_file(journal.state_path(self.place, "plans", f"{name}.json"))

    def save_plan(self, name: str, data: bytes) -> None:
        """Keep a plan in the state folder. Raises `StorageError`."""
        commit.put_state(self.place, "plans", f"{name}.json", data)

    def plan_file(self, name: str) -> str:
        """The path of a waiting plan's file."""
        return journal.state_path(self.place, "plans", f"{name}.json")

    def put_plan_aside(self, name: str, suffix: str) -> str:
        """Keep a waiting plan as `NAME.SUFFIX.discarded`; the path. Raises `StorageError`."""
        aside = f"{name}.{suffix}.discarded"
        commit.rename_state(self.place, "plans", f"{name}.json", aside)
        return journal.state_path(self.place, "plans", aside)

    def plans_aside(self) -> tuple[tuple[str, str], ...]:
        """(name, suffix) of every plan that was put aside, by name, then by suffix."""
        names = (name.rsplit(".", 2) for name in self._plan_files() if name.endswith(".discarded"))
        return tuple(sorted((parts[0], parts[1]) for parts in names if len(parts) == 3))

    def take_plan_back(self, name: str, suffix: str) -> None:
        """Let a plan that was put aside wait again. Raises `StorageError` if one of it does."""
        aside = f"{name}.{suffix}.discarded"
        commit.rename_state(self.place, "plans", aside, f"{name}.json")

    def drop_plan(self, name: str) -> None:
        """Forget a waiting plan."""
        commit.drop_state(self.place, "plans", f"{name}.json")


def _invalid(code: str, message: str) -> InvalidPlan:
    return InvalidPlan("validation", [Violation(code, message)], hint="Nothing was changed.")


def _given_path(path: str) -> str:
    lowered = path.lower()
    return lowered if lowered.endswith(EXTENSION) else lowered + EXTENSION


def _refuse_worse(before: bytes, after: bytes) -> None:
    """A hand edit may leave a file as odd as it was, but not break what it kept."""
    broken = {v.code for v in content_violations(before.decode("utf-8", "surrogateescape"))}
    text = after.decode("utf-8", "surrogateescape")
    worse = [v for v in content_violations(text) if v.code not in broken]
    if worse:
        raise InvalidPlan("validation", worse, hint="Nothing was changed.")
