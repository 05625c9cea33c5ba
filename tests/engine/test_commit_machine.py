"""Edits, applies, undos, deaths, recoveries and outsiders in any order; a dict is the model."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine import commit, journal
from engine.commit import Files, Transaction, Write, open_for_writing
from engine.documents import digest
from engine.errors import Conflict, EngineError, StoreLocked
from engine.journal import RunKind
from tests.engine.faults import Acting, Died, die
from tests.faults.runs import entries, kept, live, reopen

PATHS = ("a.md", "b.md", "c.md", "facts/d.md", "lab/deep/e.md")
paths = st.sampled_from(PATHS)
calls = st.integers(1, 110)


class StoreMachine(RuleBasedStateMachine):
    """`model` is what the store must hold; `saved` every byte string that must not be lost."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="memui-machine-"))
        self.folder = self.root / "memory" / "agent"
        self.folder.mkdir(parents=True)
        self.place = reopen(self.root)
        self.model: dict[str, bytes] = {}
        self.saved: set[bytes] = set()
        self.number = 0

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def _text(self) -> bytes:
        self.number += 1
        return f"text {self.number}\n".encode()

    def _write(self, path: str, new: bytes | None) -> Write:
        old = self.model.get(path)
        return Write(path, None if old is None else digest(old), new)

    def _transact(self, changes: dict[str, bytes | None], files: Files | None = None) -> None:
        writes = tuple(self._write(path, new) for path, new in changes.items())
        commit.transact(self.place, Transaction(RunKind.APPLY, "w", "person", writes), files=files)
        self._set(changes)

    def _set(self, changes: dict[str, bytes | None]) -> None:
        """What a run of ours did: what it replaced must be kept from now on."""
        for path, new in changes.items():
            if path in self.model:
                self.saved.add(self.model[path])
            if new is None:
                self.model.pop(path, None)
            else:
                self.model[path] = new

    @rule(path=paths)
    def edit(self, path: str) -> None:
        """Create or rewrite one file."""
        self._transact({path: self._text()})

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        """Two files into a third, or into one of them."""
        self._transact(self._merge(data))

    def _merge(self, data: st.DataObject) -> dict[str, bytes | None]:
        one, two = data.draw(st.permutations(sorted(self.model)))[:2]
        free = [path for path in PATHS if path not in self.model]
        target = data.draw(st.sampled_from([one, *free]))
        return {one: None, two: None, target: self._text()}

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data(), at=calls, again=st.none() | calls)
    def die_in_a_merge(self, data: st.DataObject, at: int, again: int | None) -> None:
        """A death at a call, and perhaps another in the recovery."""
        before, changes = dict(self.model), self._merge(data)
        with contextlib.suppress(Died):
            self._transact(changes, Acting(at, die))
            return
        if again is not None:
            with contextlib.suppress(Died):
                commit.recover(self.place, files=Acting(again, die))
        commit.recover(self.place)
        if live(self.place) != before:
            self._set(changes)

    @rule(at=calls, name=st.sampled_from(["last", "1", "2", "5"]))
    def die_in_an_undo(self, at: int, name: str) -> None:
        """A death while something is taken back."""
        before = dict(self.model)
        try:
            self._undo(name, Acting(at, die))
        except Died:
            commit.recover(self.place)
            found = live(self.place)
            assert found in (before, self._inverse(before))
            self._set({path: found.get(path) for path in before if found.get(path) != before[path]})
            self.model = found

    def _inverse(self, before: dict[str, bytes]) -> dict[str, bytes]:
        """What the newest undo makes of a store."""
        found = dict(before)
        newest = journal.runs(self.place)[-1] if journal.runs(self.place) else None
        for step in newest.steps if newest is not None and newest.undoes else ():
            if step.new is None:
                found.pop(step.path, None)
            else:
                found[step.path] = journal.read_object(self.place, step.new)
        return found

    @rule(name=st.sampled_from(["last", "1", "2", "3", "4", "6", "9"]))
    def undo(self, name: str) -> None:
        """Take back a run; of an undo, that is a redo."""
        self._undo(name, None)

    def _undo(self, name: str, files: Files | None) -> None:
        try:
            run = journal.find(self.place, name)
        except EngineError:
            return
        as_left = all(
            self.model.get(step.path)
            == (None if step.new is None else journal.read_object(self.place, step.new))
            for step in run.steps
        )
        try:
            commit.undo(self.place, run.id, who="w", files=files)
        except Conflict:
            if as_left:
                raise
            return
        except EngineError:
            assert run.state != "done" or run.id in journal.undone_by(journal.runs(self.place))
            return
        for step in run.steps:
            old = None if step.old is None else journal.read_object(self.place, step.old)
            self._set({step.path: old})

    @rule(path=paths)
    def outsider_replaces(self, path: str) -> None:
        """Somebody else writes by temp and rename, or creates."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        text = self._text()
        temporary = (self.folder / path).with_name(".__strands_tmp_x")
        temporary.write_bytes(text)
        temporary.replace(self.folder / path)
        self.model[path] = text

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def outsider_appends(self, data: st.DataObject) -> None:
        """Somebody else adds to a file."""
        path = data.draw(st.sampled_from(sorted(self.model)))
        text = self.model[path] + self._text()
        with (self.folder / path).open("ab") as file:
            file.write(text[len(self.model[path]) :])
        self.model[path] = text

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def outsider_deletes(self, data: st.DataObject) -> None:
        """Somebody else removes a file."""
        path = data.draw(st.sampled_from(sorted(self.model)))
        (self.folder / path).unlink()
        del self.model[path]

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data(), at=calls)
    def outsider_in_the_middle(self, data: st.DataObject, at: int) -> None:
        """Somebody else replaces one of the files of a merge while it runs: they win."""
        changes = self._merge(data)
        path = data.draw(st.sampled_from(sorted(changes)))
        text = self._text()
        acted: list[str] = []

        def act(call: str) -> None:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            temporary = (self.folder / path).with_name(".__strands_tmp_x")
            temporary.write_bytes(text)
            temporary.replace(self.folder / path)
            acted.append(call)

        try:
            self._transact(changes, Acting(at, act))
        except Conflict as conflict:
            if [drift.path for drift in conflict.drifts] != [path]:
                raise
        if acted:
            self.model[path] = text

    @rule()
    def recover(self) -> None:
        """There is nothing unfinished: nothing happens."""
        assert commit.recover(self.place) == ()

    @precondition(lambda self: self.model)
    @rule()
    def second_writer(self) -> None:
        """Who comes while another holds the store is told so, and changes nothing."""
        path = sorted(self.model)[0]
        write = self._write(path, self._text())
        with open_for_writing(self.place), pytest.raises(StoreLocked) as caught:
            commit.transact(self.place, Transaction(RunKind.EDIT, "w", "person", (write,)))
        assert caught.value.holder is not None

    @invariant()
    def holds_what_the_model_says(self) -> None:
        """The store is as the dict."""
        assert live(self.place) == self.model

    @invariant()
    def has_lost_nothing(self) -> None:
        """What a run replaced can be had again, and every run has one end and one entry."""
        assert self.saved <= kept(self.place) | set(self.model.values())
        assert commit.unfinished(self.place) == ()
        done = [run.id for run in journal.runs(self.place) if run.state == "done"]
        assert sorted(entries(self.place)) == sorted(done)


TestStoreMachine = StoreMachine.TestCase
if settings().max_examples < 1000:  # an example is some twenty runs with all their flushes
    TestStoreMachine.settings = settings(max_examples=15, stateful_step_count=20)
