"""Driving a decided run: forward until every file is new, or back until every file is old.

Convergence of content, not replay of steps: each step looks at what is there. What is neither old
nor new belongs to somebody else, who wins on that file; what of theirs we held is made durable
before it is live again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engine.commit.check import drifts
from engine.commit.files import FLUSH_ALONE, Files, is_file, seen, taken
from engine.commit.giving import Spot, give_back
from engine.commit.progress import SILENT, Phase, Telling
from engine.commit.stage import make_store_folders
from engine.errors import Drift, EngineError, StorageError
from engine.journal import Attributes, Run, Step, read_object
from engine.layouts import Place
from engine.storage.tree import FILE, Found, Tree

_GONE: Final = frozenset([errno.ENOENT, errno.ENOTDIR, errno.ELOOP])
_CHANGED: Final = "changed on disk"
_CREATED: Final = "was created by another writer"
_DELETED: Final = "was deleted"
_LEFT: Final = "was changed by another writer; theirs was left"


class Foreign(EngineError):
    """Files hold neither what the run found nor what it writes."""

    def __init__(self, *found: Drift) -> None:
        super().__init__("; ".join(f"{drift.path} {drift.why}" for drift in found))
        self.drifts = found


@dataclass(frozen=True, slots=True)
class _Seen:
    """One step as it was looked at: the live file, and what the hold has of it.

    `held` maps digests to where the file with it lies; `beside` says that something lies in the
    place beside the hold; `given` that somebody else's file was given back.
    """

    live: Found
    held: Mapping[str, Spot]
    beside: bool
    given: bool = False


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
        self._touched: set[str] = set()
        self._linked: list[Spot] = []
        self.reached: set[int] = set()
        """The steps whose old file may be out of its place by our hand."""
        self._order = sorted(enumerate(run.steps), key=lambda item: item[1].path)

    def _spot(self, index: int) -> Spot:
        return self._hold, f"{self._prefix}{index}"

    def _aside(self, index: int) -> Spot:
        return self._hold, taken(f"{self._prefix}{index}")

    # Looking

    def _look(self, path: str) -> Found:
        try:
            return self._store.look(path)
        except PermissionError:
            return seen(*self._store.parent(path))

    def _see(self, index: int, step: Step, *, given: bool) -> _Seen:
        live = self._look(step.path)
        beside, spot = seen(*self._aside(index)), seen(*self._spot(index))
        return self._as_seen(index, live, beside, spot, given=given)

    def _as_seen(
        self, index: int, live: Found, beside: Found, spot: Found, *, given: bool = False
    ) -> _Seen:
        held: dict[str, Spot] = {}
        if beside.digest is not None:
            held[beside.digest] = self._aside(index)
        if spot.digest is not None:
            held[spot.digest] = self._spot(index)
        return _Seen(live, held, not beside.absent, given)

    def _live(self, path: str) -> Spot:
        self._touched.add(path.rpartition("/")[0])
        return self._store.parent(path)

    def done_steps(self) -> int:
        """How many files are as the run wants them."""
        return sum(self._look(step.path).digest == step.new for step in self._run.steps)

    # What a death left in the hold

    def _settle(self, index: int, step: Step, *, back: bool) -> _Seen:
        """Put right what a death in the middle of a call left, and say how it is then.

        A name in the hold that the live file has too (a move in two calls, or one that a power cut
        tore) goes. What was captured of somebody else's, and not given back yet, goes back now.
        """
        self._touched.add(step.path.rpartition("/")[0])
        there = self._look(step.path)
        aside, spot = self._aside(index), self._spot(index)
        beside = seen(*aside)
        found = seen(*spot)
        if self._is_settled(step, beside, there) and self._is_settled(step, found, there):
            return self._as_seen(index, there, beside, found)
        given = False
        for each in (aside, spot):
            found = seen(*each)
            if self._is_settled(step, found, there):
                continue
            if _is_same(found, there):
                self._files.flush_folder(self._live(step.path)[0], step.path.rpartition("/")[0])
                self._files.unlink(*each)
            else:
                given = self._return(index, step, each, found, there, back=back) or given
        return self._see(index, step, given=given)

    @staticmethod
    def _is_settled(step: Step, found: Found, live: Found) -> bool:
        """Whether what the hold has is nothing, or ours and not live too."""
        if found.absent:
            return True
        ours = found.digest is not None and found.digest in {step.old, step.new}
        return ours and not _is_same(found, live)

    def _return(
        self, index: int, step: Step, spot: Spot, found: Found, there: Found, *, back: bool
    ) -> bool:
        """Give a captured file back, if what is live is ours; a later writer's stays.

        On the way back what was restored by an exchange is ours too.
        """
        ours = {step.new, step.old if back and step.new is not None else None} - {None}
        if there.absent:
            self._keep(index, spot, found)
            self._place_home(spot, step.path)
            return True
        if there.digest not in ours:
            self._keep(index, spot, found)
            return False
        if spot != self._spot(index):
            self._files.rename(*spot, *self._spot(index))
        self._give_back(index, step.path, found, there.digest)
        return True

    def _ready(self, index: int, wanted: str, shall: Attributes | None, there: _Seen) -> None:
        """See that the hold has what is to be published, and that the place beside it is free.

        A power cut can tear an exchange, so that one file lies under both names and the other
        under none; then it is made again from its object.
        """
        spot = self._spot(index)
        held = there.held.get(wanted)
        beside = there.beside
        if held == self._aside(index):
            self._files.rename(*held, *spot)
            beside = False
        elif held is None:
            again = (self._hold, f"{spot[1]}.again")
            with contextlib.suppress(FileNotFoundError):
                self._files.unlink(*again)
            self._files.create(*again, self._object(wanted))
            if shall is not None:
                self._files.dress(*again, shall, None)
            self._files.flush(*again)
            self._files.rename(*again, *spot)
            self._files.flush_folder(self._hold, "hold")
        if beside:
            self._files.unlink(*self._aside(index))  # old or new, and both are objects

    def _object(self, digest: str) -> bytes:
        try:
            return read_object(self._place, digest)
        except StorageError as error:
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from error  # may work again later
            raise

    # Forward

    def forward(self, stop: Callable[[], None], telling: Telling = SILENT) -> None:
        """Publish every new file, then take every file that goes.

        `stop` is called between steps and may raise. Raises `Foreign`, `StorageError`, OSError.
        """
        written = [(i, s, s.new) for i, s in self._order if s.new is not None]
        for done, (index, step, new) in enumerate(written):
            stop()
            telling(Phase.WRITE, done, len(written))
            with _about(step.path):
                self._publish(index, step, new)
        telling(Phase.BARRIER)
        self._files.barrier(self._flush)
        self._refuse_moved(step.path for step in self._run.steps)
        # What goes lives on in what was published: that must still be there, as we wrote it.
        held = {step.path: step.new for step in self._run.steps if step.new is not None}
        wanted = {**self._run.reads, **held}
        found = self._files.precondition("between", lambda: drifts(self._store, wanted))
        if found:
            raise Foreign(*found)
        removed = [(i, s) for i, s in self._order if s.new is None]
        for done, (index, step) in enumerate(removed):
            stop()
            telling(Phase.REMOVE, done, len(removed))
            with _about(step.path):
                self._remove(index, step)
        self._flush()
        self._refuse_moved(self._run.written)

    def _publish(self, index: int, step: Step, new: str) -> None:
        there = self._settle(index, step, back=False)
        if there.given:
            raise Foreign(Drift(step.path, _CHANGED))
        if there.live.digest == new:
            return
        if step.old is None:
            self._create(index, step, there)
            return
        if there.live.absent:
            self._finish_swap(index, step, new, there)
            return
        if there.live.digest != step.old or not is_file(there.live):
            raise Foreign(Drift(step.path, _CHANGED))
        self._ready(index, new, step.shall, there)
        self.reached.add(index)
        try:
            captured = self._files.publish(
                step.path, self._spot(index), self._live(step.path), replaces=True
            )
        except (FileExistsError, FileNotFoundError):
            raise Foreign(Drift(step.path, _CHANGED)) from None
        self.reached.discard(index)
        if captured.digest == step.old and is_file(captured):
            return
        self._give_back(index, step.path, captured, new)
        raise Foreign(Drift(step.path, _CHANGED))

    def _create(self, index: int, step: Step, there: _Seen) -> None:
        if not there.live.absent:
            raise Foreign(Drift(step.path, _CREATED))
        if step.new not in there.held:
            # It was live already; whoever deleted it since does not get it back.
            raise Foreign(Drift(step.path, _DELETED))
        try:
            self._files.publish(step.path, self._spot(index), self._live(step.path), replaces=False)
        except FileExistsError:
            raise Foreign(Drift(step.path, _CREATED)) from None

    def _finish_swap(self, index: int, step: Step, wanted: str, there: _Seen) -> None:
        """A file is absent. If we took it and died before putting another there, go on."""
        held = there.held.get(wanted)
        aside = self._aside(index)
        if held is None or seen(*aside).digest != step.old:
            raise Foreign(Drift(step.path, _DELETED))
        try:
            self._files.place(*held, *self._live(step.path))
        except FileExistsError:
            raise Foreign(Drift(step.path, _CHANGED)) from None
        self._files.rename(*aside, *self._spot(index))

    def _remove(self, index: int, step: Step) -> None:
        there = self._settle(index, step, back=False)
        if there.given:
            raise Foreign(Drift(step.path, _CHANGED))
        if there.live.absent:
            return
        if there.live.digest != step.old or not is_file(there.live):
            raise Foreign(Drift(step.path, _CHANGED))
        self.reached.add(index)
        try:
            captured = self._files.take(step.path, self._live(step.path), self._spot(index))
        except FileNotFoundError:
            return
        except FileExistsError:  # it was taken already, and somebody made it again
            raise Foreign(Drift(step.path, _CREATED)) from None
        if captured.digest == step.old and is_file(captured):
            return
        self._keep(index, self._spot(index), captured)
        self._place_home(self._spot(index), step.path)
        raise Foreign(Drift(step.path, _CHANGED))

    def _refuse_moved(self, paths: Iterable[str]) -> None:
        """Raise `Foreign` for folders that do not lie where they did: somebody moved them."""
        found: list[Drift] = []
        for folder in sorted({path.rpartition("/")[0] for path in paths}):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                held = os.fstat(self._store.folder(folder))
                try:
                    there = os.stat(folder or ".", dir_fd=self._store.fd, follow_symlinks=False)
                except OSError as error:
                    if error.errno not in _GONE:
                        raise
                    there = None
                if there is None or not os.path.samestat(held, there):
                    found.append(Drift(folder, "was moved or removed by another writer"))
        if found:
            raise Foreign(*found)

    # Somebody else's bytes

    def _keep(self, index: int, spot: Spot, captured: Found) -> None:
        """Make a captured file durable under a name of its own, before it is live again."""
        if captured.kind == FILE and captured.digest is not None:
            kept = f"{self._prefix}{index}-{captured.digest[:12]}"
            self._files.copy(*spot, self._conflicts, kept)

    def _give_back(self, index: int, path: str, captured: Found, ours: str | None) -> None:
        spot = self._spot(index)
        give_back(
            self._files,
            path,
            spot,
            self._live(path),
            captured,
            ours,
            lambda found: self._keep(index, spot, found),
        )

    def _place_home(self, spot: Spot, path: str) -> bool:
        """Put a held file where it was; False if something is there.

        A folder that was emptied by us may have been removed by somebody who tidies up.
        """
        try:
            try:
                self._files.place(*spot, *self._live(path))
            except FileNotFoundError:
                make_store_folders(self._files, self._store, path.rpartition("/")[0])
                self._files.place(*spot, *self._live(path))
        except FileExistsError:
            return False
        return True

    # Back

    def back(self) -> tuple[Drift, ...]:
        """Put every old file back; what an outsider wrote since stays and is named.

        Raises OSError; then the run stays unfinished.
        """
        found: list[Drift] = []
        for index, step in reversed(self._order):
            try:
                with _about(step.path):
                    why = self._restore(index, step)
            except StorageError as error:
                why = f"could not be put back: {error}"
            except OSError as error:
                if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                    raise
                why = "lies in a folder that another writer replaced; it is kept as an object"
            if why is not None:
                found.append(Drift(step.path, why))
        self._flush()
        for spot in self._linked:
            self._files.unlink(*spot)
        self._linked.clear()
        return tuple(reversed(found))

    def _restore(self, index: int, step: Step) -> str | None:
        there = self._settle(index, step, back=True)
        if there.given:
            return _LEFT
        if there.live.absent:
            return None if step.old is None else self._bring_back(step, step.old, there)
        if there.live.digest is not None and there.live.digest == step.old:
            return None
        if there.live.digest != step.new or step.new is None or step.new in there.held:
            # Ours was never published if it still is in the hold: the same bytes are theirs.
            return _LEFT
        if step.old is None:
            return self._withdraw(index, step)
        self._ready(index, step.old, step.was, there)
        try:
            captured = self._files.publish(
                step.path, self._spot(index), self._live(step.path), replaces=True
            )
        except (FileExistsError, FileNotFoundError):
            return _LEFT
        if captured.digest == step.new:
            return None
        self._give_back(index, step.path, captured, step.old)
        return _LEFT

    def _bring_back(self, step: Step, old: str, there: _Seen) -> str | None:
        """A file is absent: ours to bring back only if it was we who took it."""
        held = there.held.get(old)
        ours = step.new is None or there.beside
        if held is None or not ours:
            return "was deleted by another writer"
        if not self._link_home(held, step.path):
            return f"{_CREATED}; theirs was left"
        return None

    def _link_home(self, spot: Spot, path: str) -> bool:
        """Put a held file where it was, under both names until the one in the store is durable.

        A power cut can tear a move between folders, so that the file lies under no name; then it
        could not be told from one that somebody else deleted. False if something is there.
        """
        try:
            if self._files.link(*spot, *self._live(path)):
                self._linked.append(spot)
                return True
        except FileExistsError:
            return False
        except FileNotFoundError:
            pass  # its folder was removed: the move makes it again
        return self._place_home(spot, path)

    def _withdraw(self, index: int, step: Step) -> str | None:
        """A new file is live, and it is the one that we published: it is taken away."""
        spot = self._spot(index)
        try:
            captured = self._files.take(step.path, self._live(step.path), spot)
        except FileNotFoundError:
            return None
        if captured.digest == step.new:
            return None
        self._keep(index, spot, captured)
        self._place_home(spot, step.path)
        return _LEFT

    # Folders

    def remove_folders(self, folders: list[str]) -> None:
        """Remove the folders that the run made, if they are empty again."""
        for folder in sorted(folders, key=len, reverse=True):
            self._store.forget(folder)
            try:
                self._files.remove_folder(*self._store.parent(folder))
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, *_GONE}:
                    raise

    def _flush(self) -> None:
        """Make every folder that was changed durable: one by one, or all with the file system."""
        together = len(self._touched) > FLUSH_ALONE and self._files.flush_all(self._hold)
        if together:
            self._touched.clear()
        for folder in sorted(self._touched):
            try:
                fd = self._store.folder(folder)
            except OSError as error:
                if error.errno not in _GONE:
                    raise
                continue
            self._files.flush_folder(fd, folder or os.curdir)
        if self._touched:
            self._files.flush_folder(self._hold, "hold")
        self._touched.clear()


@contextlib.contextmanager
def _about(path: str) -> Iterator[None]:
    """A failure names the file of the store, not the place where its new bytes are held."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def _is_same(one: Found, other: Found) -> bool:
    """Whether two names are one file."""
    return (
        one.stat is not None and other.stat is not None and os.path.samestat(one.stat, other.stat)
    )
