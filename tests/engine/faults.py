"""A file seam that dies, fails or lets an outsider act at a chosen call."""

from __future__ import annotations

from collections.abc import Callable

from engine.commit import Files


class Died(BaseException):
    """The process ended here."""


class Counting(Files):
    """Counts the calls of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def step(self, call: str, name: str) -> None:
        self.calls.append(call)


class Acting(Files):
    """Does something before call number `at` (1-based), or before it and every later one."""

    def __init__(self, at: int, act: Callable[[str], None], *, always: bool = False) -> None:
        super().__init__()
        self._at, self._act, self._always = at, act, always
        self.count = 0

    def step(self, call: str, name: str) -> None:
        self.count += 1
        if self.count == self._at or (self._always and self.count > self._at):
            self._act(call)


class WithoutExchange(Acting):
    """The same on a file system that cannot swap two names."""

    def __init__(self, at: int, act: Callable[[str], None], *, always: bool = False) -> None:
        super().__init__(at, act, always=always)
        self.exchanges = False


def die(_call: str) -> None:
    """End the process."""
    raise Died


class LosingExchange(Files):
    """On a file system that cannot swap two names from the n-th time on."""

    def __init__(self, ordinal: int) -> None:
        super().__init__()
        self._left = ordinal

    def exchange(self, from_fd: int, source: str, to_fd: int, target: str) -> bool:
        self._left -= 1
        if self._left <= 0:
            self.exchanges = False
        return super().exchange(from_fd, source, to_fd, target)
