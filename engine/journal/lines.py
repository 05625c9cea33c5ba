"""Files of the state folder that hold one sealed record a line."""

from __future__ import annotations

from typing import Any

from engine.errors import Drift
from engine.journal.reading import read_file, state_path
from engine.journal.records import Damaged, unseal
from engine.layouts import Place


def read_lines(place: Place, name: str) -> list[dict[str, Any]]:
    """Every record that can be trusted, in order. Raises `StorageError`."""
    return [record for _, record in _lines(read_file(state_path(place, name)) or b"") if record]


def line_damage(place: Place, name: str) -> tuple[Drift, ...]:
    """The lines that cannot be trusted. A last line that was never ended is no damage."""
    path = state_path(place, name)
    return tuple(
        Drift(path, f"line {number} is truncated or was altered; the others are read")
        for number, record in _lines(read_file(path) or b"")
        if record is None
    )


def whole(data: bytes) -> int:
    """How many bytes of a file are whole lines; what is behind them was torn by a death."""
    return data.rfind(b"\n") + 1


def _lines(data: bytes) -> list[tuple[int, dict[str, Any] | None]]:
    found: list[tuple[int, dict[str, Any] | None]] = []
    for number, line in enumerate(data[: whole(data)].split(b"\n")[:-1], 1):
        try:
            found.append((number, unseal(line)))
        except Damaged:
            found.append((number, None))
    return found
