"""Driving a decided run: forward until every file is new, or back until every file is old.

Convergence of content, not replay of steps: each step looks at what is there. What is neither old
nor new belongs to somebody else, who wins on that file; what of theirs we held is made durable
before it is live again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from typing import Final

from engine.commit.files import Files, is_file, taken
from engine.errors import Drift, EngineError
from engine.journal import Attributes, Run, Step, read_object
from engine.layouts import Place
from engine.storage.tree import FILE, Found, Tree, look_at

_GIVE_BACK_TRIES: Final = 200


class Foreign(EngineError):
    """A file holds neither what the run found nor what it writes."""

    def __init__(self, drift: Drift) -> None:
        super().__init__(f"{drift.path} {drift.why}")
        self.drift = drift


class Drive:
    """One run on its way. `store` and `state` are the folders held open."""

    def __init__(self, place: Place, files: Files, store: Tree, state: Tree, run: Run) -> None:
        self._place = place
        self._prefix = place.state_prefix
        self._files = files
        self._store = store
        self._run = run
        base = f"runs/{run.id}"
        self._hold = state.folder(f"{base}/hold")
        self._conflicts = state.folder(f"{base}/conflicts")
        self._folder = state.folder(base)
        self._touched: set[str] = set()
        self._order = sorted(enumerate(run.steps), key=lambda item: item[1].path)

    def _name(self, index: int) -> str:
        return f"{self._prefix}{index}"

    # Looking

    def _held(self, index: int) -> dict[str, str]:
        """Digest -> name of what lies in the hold for a step."""
        found: dict[str, str] = {}
        for name in (self._name(index), taken(self._name(index))):
            there = look_at(self._hold, name)
            if there.digest is not None:
                found.setdefault(there.digest, name)
        return found

    def _live(self, path: str) -> tuple[int, str]:
        folder, _, _ = path.rpartition("/")
        self._touched.add(folder)
        return self._store.parent(path)

    def done_steps(self) -> int:
        """How many files are as the run wants them."""
        return sum(self._store.look(s.path).digest == s.new for s in self._run.steps)

    def _ready(self, index: int, wanted: str | None, shall: Attributes | None) -> None:
        """See that the hold has what is to be published.

        A power cut can tear an exchange, so that one file lies under both names and the other
        under none; then it is made again from its object.
        """
        name = self._name(index)
        if wanted is None or look_at(self._hold, name).digest == wanted:
            return
        again = f"{name}.again"
        with contextlib.suppress(FileNotFoundError):
            self._files.unlink(self._hold, again)
        self._files.create(self._hold, again, read_object(self._place, wanted))
        if shall is not None:
            self._files.dress(self._hold, again, shall, None)
        self._files.flush(self._hold, again)
        self._files.rename(self._hold, again, self._hold, name)
        self._files.flush_folder(self._hold, "hold")

    def _is_alone(self, index: int, step: Step, there: Found) -> bool:
        """Whether a live file has no other name than, after a power cut, one in our hold."""
        links = 0 if there.stat is None else there.stat.st_nlink
        return there.kind == FILE and links <= 1 + (step.old in self._held(index))

    # Forward

    def forward(self, stop: Callable[[], None]) -> None:
        """Publish every new file, then take every file that goes.

        `stop` is called between steps and may raise. Raises `Foreign`, OSError.
        """
        for index, step in self._order:
            if step.new is not None:
                stop()
                self._publish(index, step)
        self._files.barrier(self._flush)
        for index, step in self._order:
            if step.new is None:
                stop()
                self._remove(index, step)
        self._flush()

    def _publish(self, index: int, step: Step) -> None:
        there = self._store.look(step.path)
        if there.digest == step.new:
            return
        hold = (self._hold, self._name(index))
        if step.old is None:
            if not there.absent:
                raise Foreign(Drift(step.path, "was created by another writer"))
            self._ready(index, step.new, step.shall)
            try:
                self._files.publish(step.path, hold, self._live(step.path), replaces=False)
            except FileExistsError:
                raise Foreign(Drift(step.path, "was created by another writer")) from None
            return
        if there.absent:
            self._finish_swap(index, step, wanted=step.new)
            return
        if there.digest != step.old or not self._is_alone(index, step, there):
            raise Foreign(Drift(step.path, "changed on disk"))
        self._ready(index, step.new, step.shall)
        try:
            captured = self._files.publish(step.path, hold, self._live(step.path), replaces=True)
        except (FileExistsError, FileNotFoundError):
            raise Foreign(Drift(step.path, "changed on disk")) from None
        if captured.digest == step.old and is_file(captured):
            return
        self._give_back(index, step.path, captured, ours=step.new)
        raise Foreign(Drift(step.path, "changed on disk"))

    def _finish_swap(self, index: int, step: Step, *, wanted: str | None) -> None:
        """A file is absent. If we took it and died before putting another there, go on."""
        held = self._held(index)
        aside = taken(self._name(index))
        if wanted in held and look_at(self._hold, aside).kind == FILE:
            try:
                self._files.place(self._hold, held[wanted], *self._live(step.path))
            except FileExistsError:
                raise Foreign(Drift(step.path, "changed on disk")) from None
            if held[wanted] != aside:
                self._files.rename(self._hold, aside, self._hold, self._name(index))
            return
        raise Foreign(Drift(step.path, "was deleted"))

    def _remove(self, index: int, step: Step) -> None:
        there = self._store.look(step.path)
        if there.absent:
            return
        if there.digest != step.old or not self._is_alone(index, step, there):
            raise Foreign(Drift(step.path, "changed on disk"))
        hold = (self._hold, self._name(index))
        if step.old in self._held(index):
            self._files.unlink(*hold)  # a power cut left it under both names
        try:
            captured = self._files.take(step.path, self._live(step.path), hold)
        except FileNotFoundError:
            return
        if captured.digest == step.old and is_file(captured):
            return
        self._keep(index, self._name(index), captured)
        with contextlib.suppress(FileExistsError):
            self._files.place(*hold, *self._live(step.path))
        raise Foreign(Drift(step.path, "changed on disk"))

    # Somebody else's bytes

    def _keep(self, index: int, name: str, captured: Found) -> None:
        """Make a captured file durable under a name of its own, before it is live again."""
        if captured.kind == FILE and captured.digest is not None:
            kept = f"{self._prefix}{index}-{captured.digest[:12]}"
            self._files.copy(self._hold, name, self._conflicts, kept)

    def _give_back(self, index: int, path: str, captured: Found, ours: str | None) -> None:
        """Ours is live, theirs is in the hold: swap until what comes back is ours."""
        hold = (self._hold, self._name(index))
        for _ in range(_GIVE_BACK_TRIES):
            self._keep(index, hold[1], captured)
            try:
                captured = self._files.publish(path, hold, self._live(path), replaces=True)
            except FileNotFoundError:  # ours was deleted: theirs goes back where it was
                with contextlib.suppress(FileExistsError):
                    self._files.place(*hold, *self._live(path))
                return
            except FileExistsError:
                return
            if captured.digest == ours or captured.absent:
                return
        self._keep(index, hold[1], captured)

    # Back

    def back(self) -> tuple[Drift, ...]:
        """Put every old file back; what an outsider wrote since stays and is named.

        Raises OSError; then the run stays unfinished.
        """
        found: list[Drift] = []
        for index, step in reversed(self._order):
            why = self._restore(index, step)
            if why is not None:
                found.append(Drift(step.path, why))
        self._flush()
        return tuple(reversed(found))

    def _restore(self, index: int, step: Step) -> str | None:
        there = self._store.look(step.path)
        if there.digest == step.old and (there.digest is not None or there.absent):
            return None
        held = self._held(index)
        if there.absent:
            return self._bring_back(index, step, held)
        if there.digest != step.new or step.new is None:
            return "was changed by another writer; theirs was left"
        if step.old is None:
            return self._withdraw(index, step, held)
        hold = (self._hold, self._name(index))
        if step.old in held and held[step.old] != hold[1]:
            self._files.rename(self._hold, held[step.old], *hold)
        self._ready(index, step.old, step.was)
        try:
            captured = self._files.publish(step.path, hold, self._live(step.path), replaces=True)
        except (FileExistsError, FileNotFoundError):
            return "was changed by another writer; theirs was left"
        if captured.digest == step.new:
            return None
        self._give_back(index, step.path, captured, ours=step.old)
        return "was changed by another writer; theirs was left"

    def _bring_back(self, index: int, step: Step, held: dict[str, str]) -> str | None:
        """A file is absent: ours to bring back only if it was we who took it."""
        if step.old is None:
            return None
        ours = step.new is None or look_at(self._hold, taken(self._name(index))).kind == FILE
        if not ours or step.old not in held:
            return "was deleted by another writer"
        try:
            self._files.place(self._hold, held[step.old], *self._live(step.path))
        except FileExistsError:
            return "was created by another writer; theirs was left"
        return None

    def _withdraw(self, index: int, step: Step, held: dict[str, str]) -> str | None:
        """A new file is live, and holds what we write: it is taken away."""
        hold = (self._hold, self._name(index))
        if step.new in held:
            self._files.unlink(*hold)  # never published, or a power cut left it under both names
        captured = self._files.take(step.path, self._live(step.path), hold)
        if captured.digest == step.new:
            return None
        self._keep(index, hold[1], captured)
        with contextlib.suppress(FileExistsError):
            self._files.place(*hold, *self._live(step.path))
        return "was changed by another writer; theirs was left"

    # Folders

    def remove_folders(self, folders: list[str]) -> None:
        """Remove the folders that the run made, if they are empty again."""
        for folder in sorted(folders, key=len, reverse=True):
            self._store.forget(folder)
            try:
                self._files.remove_folder(*self._store.parent(folder))
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}:
                    raise

    def _flush(self) -> None:
        for folder in sorted(self._touched):
            self._files.flush_folder(self._store.folder(folder), folder or os.curdir)
        if self._touched:
            self._files.flush_folder(self._hold, "hold")
        self._touched.clear()
