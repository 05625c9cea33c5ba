"""Calling memui in this process, with or without a terminal."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from memui.cli import run


class Said:
    """What a command printed, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        assert self.out.isascii()
        return json.loads(self.out)


Call = Callable[..., Said]


@pytest.fixture
def memui(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command line where nobody sits at a terminal."""

    def call(*words: object) -> Said:
        capsys.readouterr()
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts bytes on standard input, which is no terminal."""

    def put(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


class Terminal(io.StringIO):
    """A stream that says it is a terminal; it has no descriptor, so no width."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs a command line on a terminal where a person types `answer`."""

    def call(*words: object, answer: str = "") -> Said:
        out, err = Terminal(), Terminal()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            patch.setattr("sys.stderr", err)
            patch.setattr("sys.stdin", Terminal(answer))
            code = run([str(word) for word in words])
        return Said(code, out.getvalue(), err.getvalue())

    return call
