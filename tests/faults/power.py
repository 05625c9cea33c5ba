"""A power cut: what was not synced may be lost, in any combination.

The seam records what a run does to folders and files. A state after a cut holds, for every folder,
what was durable and any subset of what was changed since (so that renames across folders are torn
and operations reordered), and for every file that was not synced all, some or none of its bytes.
"""

from __future__ import annotations

import os
import random
import re
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from engine.commit import Files
from engine.journal import Attributes


@dataclass
class Node:
    """A file or a folder: what is durable of it, and what was done since."""

    folder: bool
    data: bytes = b""
    mode: int = 0o600
    synced: bool = False
    entries: dict[str, int] = field(default_factory=dict)
    pending: list[tuple[str, int | None]] = field(default_factory=list)

    def copy(self) -> Node:
        """The node as it is now."""
        return Node(
            self.folder, self.data, self.mode, self.synced, dict(self.entries), list(self.pending)
        )


class Recording(Files):
    """Does everything for real, and keeps a picture of the disk before every call."""

    def __init__(
        self, *roots: str, muted: frozenset[str] = frozenset(), together: bool = True
    ) -> None:
        """`muted` are kinds of flush, or call sites, that are left out, or `barrier` or `keep`.

        Without `together` the system cannot flush all files in one call.
        """
        super().__init__()
        self.nodes: dict[int, Node] = {}
        self.ids: dict[int, int] = {}
        self.pictures: list[dict[int, Node]] = []
        self.roots = {root: self._learn(root) for root in roots}
        self.muted = muted
        self.together = together
        self.sites: set[str] = set()
        self.victims: set[int] = set()
        """What a flush that was left out would have made durable."""
        self.first: int | None = None
        """The number of pictures when the first flush was left out."""
        self.before: Callable[[str, str], None] | None = None

    def _learn(self, path: str) -> int:
        """What lies on disk already is durable."""
        seen = os.stat(path, follow_symlinks=False)
        number = self._new(seen.st_ino, stat.S_ISDIR(seen.st_mode))
        node = self.nodes[number]
        node.synced, node.mode = True, stat.S_IMODE(seen.st_mode)
        if node.folder:
            for name in os.listdir(path):
                node.entries[name] = self._learn(os.path.join(path, name))
        elif stat.S_ISREG(seen.st_mode):
            node.data = Path(path).read_bytes()
        return number

    def _new(self, inode: int, folder: bool) -> int:
        number = len(self.nodes) + 1
        self.ids[inode] = number
        self.nodes[number] = Node(folder)
        return number

    def _node(self, fd: int) -> Node:
        return self.nodes[self.ids[os.fstat(fd).st_ino]]

    def _at(self, fd: int, name: str) -> int:
        return self.ids[os.stat(name, dir_fd=fd, follow_symlinks=False).st_ino]

    def step(self, call: str, name: str) -> None:
        if self.before is not None:
            self.before(call, name)
        self.pictures.append({n: node.copy() for n, node in self.nodes.items()})

    def outside(self, path: Path, data: bytes, *, durable: bool = False) -> None:
        """Somebody else replaces a file by temp and rename; agents flush nothing."""
        temporary = path.with_name(".__strands_tmp_x")
        temporary.write_bytes(data)
        temporary.replace(path)
        number = self._new(path.stat().st_ino, False)
        self.nodes[number].data = data
        above = self.nodes[self.ids[path.parent.stat().st_ino]]
        above.pending.append((path.name, number))
        if durable:
            self.nodes[number].synced = True
            self._settle(above)

    def _set(self, fd: int, name: str, number: int | None) -> None:
        self._node(fd).pending.append((name, number))

    def make_folder(self, fd: int, name: str, mode: int) -> None:
        super().make_folder(fd, name, mode)
        inode = os.stat(name, dir_fd=fd).st_ino
        number = self._new(inode, True)
        self.nodes[number].mode = mode
        self._set(fd, name, number)

    def remove_folder(self, fd: int, name: str) -> None:
        super().remove_folder(fd, name)
        self._set(fd, name, None)

    def create(self, fd: int, name: str, data: bytes, mode: int = 0o600) -> None:
        super().create(fd, name, data, mode)
        number = self._new(os.stat(name, dir_fd=fd).st_ino, False)
        self.nodes[number].data, self.nodes[number].mode = data, mode
        self._set(fd, name, number)

    def append(self, fd: int, name: str, data: bytes, at: int) -> None:
        fresh = name not in os.listdir(fd)
        super().append(fd, name, data, at)
        inode = os.stat(name, dir_fd=fd).st_ino
        number = self._new(inode, False) if fresh else self.ids[inode]
        node = self.nodes[number]
        node.data, node.synced = node.data[:at] + data, False
        if fresh:
            self._set(fd, name, number)

    def dress(
        self, fd: int, name: str, attributes: Attributes, like: tuple[int, str] | None
    ) -> None:
        super().dress(fd, name, attributes, like)
        self.nodes[self._at(fd, name)].mode = attributes.mode

    def _skipped(self, kind: str, name: str, *numbers: int) -> bool:
        """Whether a mutant leaves this flush out."""
        site = f"{_caller()} {kind} {_role(name)}".rstrip()
        self.sites.add(site)
        if not self.muted & {kind, site}:
            return False
        self.victims.update(numbers)
        if self.first is None:
            self.first = len(self.pictures)
        return True

    def flush(self, fd: int, name: str) -> None:
        super().flush(fd, name)
        number = self._at(fd, name)
        if not self._skipped("fsync", name, number):
            self.nodes[number].synced = True

    def flush_folder(self, fd: int, name: str) -> None:
        super().flush_folder(fd, name)
        if not self._skipped("fsync-folder", name, self.ids[os.fstat(fd).st_ino]):
            self._settle(self._node(fd))

    def flush_all(self, fd: int) -> bool:
        if not (self.together and super().flush_all(fd)):
            return False
        dirty = [n for n, node in self.nodes.items() if node.pending or not node.synced]
        if not self._skipped("syncfs", "", *dirty):
            for node in self.nodes.values():
                node.synced = True
                self._settle(node)
        return True

    def _left_out(self, what: str) -> bool:
        """Whether a mutant leaves this out."""
        if what not in self.muted:
            return False
        if self.first is None:
            self.first = len(self.pictures)
        return True

    def barrier(self, flush: Callable[[], None]) -> None:
        if not self._left_out("barrier"):
            super().barrier(flush)

    def copy(self, fd: int, name: str, to_fd: int, target: str) -> None:
        if not self._left_out("keep"):
            super().copy(fd, name, to_fd, target)

    @staticmethod
    def _settle(node: Node) -> None:
        for name, number in node.pending:
            if number is None:
                node.entries.pop(name, None)
            else:
                node.entries[name] = number
        node.pending.clear()

    def rename(self, from_fd: int, source: str, to_fd: int, target: str) -> None:
        number = self._at(from_fd, source)
        super().rename(from_fd, source, to_fd, target)
        self._set(to_fd, target, number)
        self._set(from_fd, source, None)

    def place(self, from_fd: int, source: str, to_fd: int, target: str) -> None:
        number = self._at(from_fd, source)
        super().place(from_fd, source, to_fd, target)
        self._set(to_fd, target, number)
        self._set(from_fd, source, None)

    def link(self, from_fd: int, source: str, to_fd: int, target: str) -> bool:
        if not super().link(from_fd, source, to_fd, target):
            return False
        self._set(to_fd, target, self._at(to_fd, target))
        return True

    def exchange(self, from_fd: int, source: str, to_fd: int, target: str) -> bool:
        if not super().exchange(from_fd, source, to_fd, target):
            return False
        self._set(from_fd, source, self._at(from_fd, source))
        self._set(to_fd, target, self._at(to_fd, target))
        return True

    def unlink(self, fd: int, name: str) -> None:
        super().unlink(fd, name)
        self._set(fd, name, None)


def _caller() -> str:
    """The function of the commit that asked for a flush."""
    frame = sys._getframe(2)
    while os.path.basename(frame.f_code.co_filename) in {"power.py", "files.py"}:
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_code.co_qualname


def _role(name: str) -> str:
    """What a file or folder is for: the same for all runs."""
    if name.startswith("/"):
        return "above"
    name = re.sub(r"\.[0-9a-f]{8}\.new$", ".new", name)
    name = re.sub(r"[0-9a-f]{64}", "object", name)
    name = re.sub(r"\b[0-9]+-[0-9a-f]{8}\b", "run", name)
    name = re.sub(r"\b([0-9]+|changelog)-[0-9a-f]{12}\b", "conflict", name)
    return re.sub(r"^[0-9]+(?=$|\.)", "hold", name)


def cut(
    picture: dict[int, Node],
    roots: dict[str, int],
    to: dict[str, Path],
    rng: random.Random,
    victims: frozenset[int] = frozenset(),
) -> None:
    """Lay one of the states that a cut can leave on disk, at other places.

    With `victims` the cut is aimed: what is not durable of these is lost, all else is there.
    """
    likely = {0: 0.0, 1: 1.0}.get(rng.randrange(4), rng.random())

    def kept(number: int) -> float:
        return (0.0 if number in victims else 1.0) if victims else likely

    laid: dict[int, Path] = {}

    def lay(number: int, path: Path) -> None:
        node = picture[number]
        if not node.folder:
            if number in laid:  # a torn rename leaves one file under two names
                path.hardlink_to(laid[number])
                return
            laid[number] = path
            whole = node.synced or rng.random() < kept(number)
            data = node.data if whole else node.data[: rng.randrange(len(node.data) + 1)]
            path.write_bytes(data)
            path.chmod(node.mode)
            return
        path.mkdir(exist_ok=True)
        entries = dict(node.entries)
        for name, wanted in node.pending:
            if rng.random() < kept(number):
                if wanted is None:
                    entries.pop(name, None)
                else:
                    entries[name] = wanted
        for name, wanted in entries.items():
            lay(wanted, path / name)
        path.chmod(node.mode or 0o700)

    for root, number in roots.items():
        lay(number, to[root])
