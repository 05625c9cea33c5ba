"""The one place that prints. Text from outside reaches the terminal only through `visible`.

A line is a template of ours with `{}` for every field; fields are shown, never trusted. Messages
go to stderr, facts to stdout; JSON is ASCII, so that no byte of it can drive a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

from engine.characters import Shown, visible

RESET: Final = "\x1b[0m"
STYLES: Final = {
    "dim": "\x1b[2m",
    "bold": "\x1b[1m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "cyan": "\x1b[36m",
    "mark": "\x1b[7m",
}


@dataclass(frozen=True, slots=True)
class Styled:
    """A field with a style of `STYLES`; an empty style is none."""

    text: str
    style: str


Field = str | int | Styled


def width(text: str) -> int:
    """Cells that a shown text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, cells: int) -> str:
    """A text cut to a width, with `…` if anything was cut."""
    if width(text) <= cells:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, max(0, cells - 1)).rstrip() + "…"


class Console:
    """Where a command prints. Colour only on a terminal, and not with NO_COLOR."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees what is printed and can answer."""
        return self._out.isatty() and sys.stdin is not None and sys.stdin.isatty()

    @property
    def columns(self) -> int | None:
        """The terminal's width; None where output goes to a file or a pipe."""
        if not self._out.isatty():
            return None
        try:
            return os.get_terminal_size(self._out.fileno()).columns
        except OSError:
            return None

    def say(self, template: str = "", *fields: Field, keep: str = "") -> None:
        """Print a fact to stdout: our template, its `{}` filled with shown fields."""
        self._write(self._out, template, fields, keep)

    def tell(self, template: str = "", *fields: Field) -> None:
        """Print a message to stderr."""
        self._write(self._err, template, fields, "")

    def json(self, value: Any) -> None:
        """Print JSON to stdout, in ASCII."""
        self._out.write(json.dumps(value, ensure_ascii=True, indent=1) + "\n")

    def table(
        self, rows: Iterable[Sequence[Field]], *, indent: str = "", last_cut: bool = True
    ) -> None:
        """Print aligned columns; on a terminal the last one is cut to its width."""
        rows = list(rows)
        shown = [[self._text(field) for field in row] for row in rows]
        if not shown:
            return
        sizes = [max(width(row[n]) for row in shown) for n in range(len(shown[0]))]
        columns = self.columns
        for row, fields in zip(shown, rows, strict=True):
            left = len(indent)
            parts: list[str] = []
            for n, (text, field) in enumerate(zip(row, fields, strict=True)):
                final = n == len(row) - 1
                cell = text
                if final and columns is not None and last_cut:
                    cell = fit(text, max(10, columns - left))
                pad = "" if final else " " * (sizes[n] - width(cell) + 2)
                parts.append(self._dress(self._out, cell, field, cell == text) + pad)
                left += sizes[n] + 2
            self._out.write(indent + "".join(parts).rstrip() + "\n")

    def raw(self, data: bytes) -> None:
        """Write bytes as they are; for stdout that is no terminal."""
        self._out.flush()
        self._out.buffer.write(data)

    def ask(self, question: str) -> str:
        """Ask on the terminal, in words of ours; the answer, empty at its end."""
        self._err.write(question)
        self._err.flush()
        return sys.stdin.readline().strip()

    def line(self, question: str) -> str | None:
        """Ask for a line, in words of ours; None at the end of the input."""
        self.flush()
        self._err.write(question)
        self._err.flush()
        said = sys.stdin.readline()
        return said.rstrip("\n") if said else None

    def flush(self) -> None:
        """Hand everything to the system, so that its errors are met here."""
        self._out.flush()
        self._err.flush()

    def _text(self, field: Field) -> str:
        text = field.text if isinstance(field, Styled) else str(field)
        return visible(text)

    def _colours(self, stream: TextIO) -> bool:
        return stream.isatty() and not os.environ.get("NO_COLOR")

    def _write(self, stream: TextIO, template: str, fields: Sequence[Field], keep: str) -> None:
        parts = template.split("{}")
        if len(parts) != len(fields) + 1:
            raise ValueError(f"{template!r} takes {len(parts) - 1} fields, not {len(fields)}")
        line = parts[0]
        for part, field in zip(parts[1:], fields, strict=True):
            text = field.text if isinstance(field, Styled) else str(field)
            line += self._dress(stream, visible(text, keep=keep), field, whole=True) + part
        stream.write(line + "\n")

    def _dress(self, stream: TextIO, text: str, field: Field, whole: bool) -> str:
        """Style and marks: ours in reverse video, where there is a terminal to show it."""
        if not self._colours(stream):
            return text
        start = STYLES.get(field.style, "") if isinstance(field, Styled) else ""
        shown = visible(field.text if isinstance(field, Styled) else str(field))
        marks = text.marks if isinstance(text, Shown) else shown.marks if whole else ()
        parts, at = [start], 0
        for first, last in marks:
            parts += [text[at:first], STYLES["mark"], text[first:last], RESET, start]
            at = last
        parts.append(text[at:])
        if start or marks:
            parts.append(RESET)
        return "".join(parts)
