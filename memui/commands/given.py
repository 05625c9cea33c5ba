"""Text that a person gives to a command: in a file, or on standard input."""

from __future__ import annotations

import sys
from typing import Final

from engine.errors import InvalidPlan, StorageError
from engine.plans import read_file
from memui.ending import UsageError

_MEGABYTES: Final = 8
LIMIT: Final = _MEGABYTES * 1024 * 1024
"""Bytes of a text that is given."""


def read(source: str) -> bytes:
    """The bytes of a file, or of standard input for `-`. Raises `StorageError`, `UsageError`."""
    if source != "-":
        try:
            return read_file(source, LIMIT)
        except InvalidPlan:
            raise StorageError(
                f"{source} is larger than {_MEGABYTES} MiB.", hint="Nothing was changed."
            ) from None
        except StorageError as error:
            raise StorageError(str(error), hint="Nothing was changed.") from error
    if sys.stdin is None:
        raise UsageError("Standard input is closed. Nothing was changed.")
    data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise UsageError(f"The text is larger than {_MEGABYTES} MiB.", hint="Nothing was changed.")
    return data


def is_typed() -> bool:
    """Whether standard input is a person at a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
