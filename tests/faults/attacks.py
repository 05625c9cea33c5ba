"""The attacks: each runs, recovers, and counts what was lost or mixed."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine import commit, journal
from engine.errors import EngineError, StorageError
from engine.layouts import Place
from tests.engine.faults import Acting, Counting, Died, WithoutExchange, die
from tests.faults.power import Recording, cut
from tests.faults.runs import NEW, OLD, kept, live, make, reopen, transaction


@dataclass
class Figures:
    """What an attack counted. `bad` holds the first few cases that went wrong."""

    tried: int = 0
    lost: int = 0
    mixed: int = 0
    other: int = 0
    bad: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.mixed or self.other)

    def judge(self, place: Place, what: str) -> None:
        """Count the state of a store after recovery."""
        self.tried += 1
        found = live(place)
        if found not in (OLD, NEW):
            self.mixed += 1
            self._note(f"{what}: mixed {sorted(found)}")
        everywhere = set(found.values()) | kept(place)
        if any(data not in everywhere for data in OLD.values()):
            self.lost += 1
            self._note(f"{what}: lost")
        if commit.unfinished(place):
            self.wrong(f"{what}: still unfinished")

    def wrong(self, what: str) -> None:
        """Count anything else that must not be."""
        self.other += 1
        self._note(what)

    def _note(self, what: str) -> None:
        if len(self.bad) < 10:
            self.bad.append(what)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for stores, in memory where there is one."""
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    folder = Path(tempfile.mkdtemp(prefix="memui-faults-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def calls_of_a_run() -> int:
    """How many mutating and syncing calls the run makes."""
    with scratch() as folder:
        files = Counting()
        commit.transact(make(folder / "r"), transaction(), files=files)
        return len(files.calls)


def kills(every: int = 1) -> Figures:
    """Die at every call of a run, with and without exchange, and at every call of recovery."""
    figures = Figures()
    calls = calls_of_a_run()
    with scratch() as folder:
        for seam in (Acting, WithoutExchange):
            for at in range(1, calls + 12, every):
                for again in (None, *range(1, 40, 3 * every)):
                    place = make(folder / f"{seam.__name__}-{at}-{again}")
                    with contextlib.suppress(Died):
                        commit.transact(place, transaction(), files=seam(at, die))
                    if again is not None:
                        with contextlib.suppress(Died):
                            commit.recover(place, files=seam(again, die))
                    commit.recover(place)
                    figures.judge(place, f"{seam.__name__} {at} {again}")
                    shutil.rmtree(place.root)
    return figures


def errors(every: int = 1) -> Figures:
    """Fail at every call, once and for good; no silent success."""
    figures = Figures()
    calls = calls_of_a_run()
    codes = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EPERM, errno.EROFS)
    with scratch() as folder:
        for code in codes:
            for always in (False, True):
                for at in range(1, calls + 1, every):
                    place = make(folder / f"{code}-{always}-{at}")
                    ended = _fail(place, at, code, always=always)
                    commit.recover(place)
                    figures.judge(place, f"errno {code} always={always} at {at}")
                    if ended and live(place) != NEW:
                        figures.wrong(f"errno {code} at {at}: a success that did nothing")
                    shutil.rmtree(place.root)
    return figures


def _fail(place: Place, at: int, code: int, *, always: bool) -> bool:
    def fail(_call: str) -> None:
        raise OSError(code, os.strerror(code))

    try:
        commit.transact(place, transaction(), files=Acting(at, fail, always=always))
    except StorageError:
        return False
    return True


def power(
    states: int = 4, muted: frozenset[str] = frozenset(), seed: int = 1, *, first: bool = False
) -> Figures:
    """Cut the power before every call, `states` ways each; un-synced changes are lost at will.

    `first` stops at the first thing that goes wrong: enough to see that a mutant is noticed.
    """
    figures = Figures()
    rng = random.Random(seed)
    with scratch() as folder:
        place = make(folder / "r")
        with commit.open_for_writing(place):
            pass  # the state folder is there and durable
        recording = Recording(place.root, muted=muted)
        commit.transact(place, transaction(), files=recording)
        recording.step("end", "")
        order = list(enumerate(recording.pictures))
        if first:
            rng.shuffle(order)
        for at, picture in order:
            for number in range(states):
                if first and not figures.clean:
                    return figures
                to = folder / "cut"
                shutil.rmtree(to, ignore_errors=True)
                cut(picture, recording.roots, {place.root: to}, rng)
                there = reopen(to)
                _adopt(there)
                try:
                    commit.recover(there)
                except EngineError as error:
                    figures.wrong(f"power {at}.{number}: {error}")
                    continue
                figures.judge(there, f"power {at}.{number}")
                if at == len(recording.pictures) - 1 and live(there) != NEW:
                    figures.wrong(f"power {at}.{number}: a success that did not last")
    return figures


def _adopt(place: Place) -> None:
    """The copy is the same disk: its runs are this machine's."""
    own = (Path(place.state) / "machine").read_text()
    writer = f"{own}-{os.stat(place.state).st_ino:x}"
    for intent in (Path(place.state) / "runs").rglob("intent"):
        with contextlib.suppress(journal.Damaged):
            value = journal.unseal(intent.read_bytes())
            intent.write_bytes(journal.seal({**value, "machine": writer}))


MUTANTS = ("fsync", "fsync-folder", "syncfs")


def mutants(states: int = 40) -> Figures:
    """Leave out each kind of flush: the power cuts must notice. Counts those that went unseen."""
    figures = Figures()
    for kind in MUTANTS:
        figures.tried += 1
        if power(states, frozenset([kind]), first=True).clean:
            figures.wrong(f"nothing noticed that {kind} was left out")
    return figures


_CHILD = """
import sys
from pathlib import Path
from engine import commit
from tests.faults.runs import reopen, transaction
place = reopen(Path(sys.argv[1]))
if sys.argv[2] == "apply":
    commit.transact(place, transaction())
else:
    commit.recover(place)
"""
_SYSCALLS = ("renameat2", "rename", "renameat", "linkat", "unlinkat", "mkdirat", "fsync", "syncfs")


def processes(every: int = 1, most: int = 400) -> Figures:
    """Real processes, killed by strace at every mutating system call, and again in recovery."""
    figures = Figures()
    root = Path(__file__).parents[2]

    def child(place: Place, verb: str, call: str, when: int) -> bool:
        """Run it with a kill at a call; whether it was killed."""
        ran = subprocess.run(
            [
                *("strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}"),
                *("-e", f"inject={call}:signal=SIGKILL:when={when}"),
                *(sys.executable, "-c", _CHILD, place.root, verb),
            ],
            cwd=root,
            capture_output=True,
            check=False,
        )
        return ran.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}

    with scratch() as folder:
        for call in _SYSCALLS:
            when = 1
            while figures.tried < most:
                place = make(folder / f"{call}-{when}")
                if not child(place, "apply", call, when):
                    break
                child(place, "recover", call, 1 + when % 3)
                commit.recover(place)
                figures.judge(place, f"{call} {when}")
                shutil.rmtree(place.root)
                when += every
    return figures


ATTACKS: dict[str, tuple[Callable[[], Figures], Callable[[], Figures]]] = {
    "kills": (lambda: kills(4), kills),
    "errors": (lambda: errors(4), errors),
    "power": (lambda: power(4), lambda: power(500)),
    "mutants": (mutants, lambda: mutants(400)),
    "processes": (lambda: processes(3, 12), processes),
}
"""Name -> (bounded, deep)."""
