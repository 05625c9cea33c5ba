"""The one place that prints. Text from outside reaches the terminal only through `visible`.

A line is a template of ours, written where it is printed, with `{}` for every field; fields are
shown, never trusted. Messages go to stderr, facts to stdout; JSON is ASCII, so that no byte of it
can drive a terminal.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, LiteralString, TextIO

from engine.characters import Shown, visible
from engine.errors import EngineError

RESET: Final = "\x1b[0m"
Style = Literal["plain", "dim", "bold", "red", "green", "yellow", "cyan", "mark"]
STYLES: Final[Mapping[Style, str]] = {
    "plain": "",
    "dim": "\x1b[2m",
    "bold": "\x1b[1m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "cyan": "\x1b[36m",
    "mark": "\x1b[7m",
}
ALIGNED: Final = 48
"""Cells up to which a column is aligned; a longer field moves only its own row."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A field with a style."""

    text: str
    style: Style


Field = str | int | Styled


class OutputFailed(EngineError):
    """Standard output cannot take what there is to say: closed, or its disk is full."""

    unchanged = False  # a run may have been made by the time its report fails


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
    """Where a command prints. Colour only on a terminal, and not with NO_COLOR.

    A closed stderr swallows messages; what stdout cannot take is an `OutputFailed`, or a
    `BrokenPipeError` where the reader has gone. `made` is the run that was made by then, and the
    command that takes it back: to be told all the same.
    """

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        # Python sets a stream to None where its descriptor is closed.
        streams: tuple[TextIO | None, TextIO | None] = (out or sys.stdout, err or sys.stderr)
        self._out, self._err = streams[0], streams[1] or io.StringIO()
        self._owed: list[str] = []
        for stream in (self._out, self._err):
            encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
            if isinstance(stream, io.TextIOWrapper) and not encoding.startswith("utf"):
                # What this terminal's encoding lacks is named, never an error.
                stream.reconfigure(errors="backslashreplace")

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees what is printed and can answer."""
        return self.is_screen and sys.stdin is not None and sys.stdin.isatty()

    @property
    def is_screen(self) -> bool:
        """Whether what is printed goes to a terminal."""
        return self._out is not None and self._out.isatty()

    @property
    def columns(self) -> int | None:
        """The terminal's width; None where output goes to a file or a pipe."""
        if self._out is None or not self.is_screen:
            return None
        try:
            return os.get_terminal_size(self._out.fileno()).columns
        except OSError:
            return None

    def say(self, template: LiteralString = "", *fields: Field) -> None:
        """Print a fact to stdout: our template, its `{}` filled with shown fields."""
        self._print(self._filled(self._out, template, fields) + "\n")

    def tell(self, template: LiteralString = "", *fields: Field) -> None:
        """Print a message to stderr."""
        self._message(self._filled(self._err, template, fields) + "\n")

    def owe(self, template: LiteralString, *fields: Field) -> None:
        """A message that must reach the person if stdout fails: `pay` prints it to stderr."""
        self._owed.append(self._filled(self._err, template, fields) + "\n")

    def pay(self) -> None:
        """Print what is owed, once: stdout could not take what was to be said."""
        owed, self._owed = self._owed, []
        for text in owed:
            with contextlib.suppress(OSError):
                self._err.write(text)
                self._err.flush()

    def json(self, value: Any) -> None:
        """Print JSON to stdout: in ASCII, and nothing that a strict reader would refuse."""
        self._print(json.dumps(_whole(value), ensure_ascii=True, indent=1) + "\n")

    def table(self, rows: Iterable[Sequence[Field]]) -> None:
        """Print aligned columns; on a terminal the last one is cut to its width."""
        rows = list(rows)
        shown = [[self._text(field) for field in row] for row in rows]
        if not shown:
            return
        cells = [[width(text) for text in row] for row in shown]
        last = len(shown[0]) - 1
        sizes = [max((c[n] for c in cells if c[n] <= ALIGNED), default=0) for n in range(last)]
        columns = self.columns
        plain = not self._colours(self._out)
        lines: list[str] = []
        for row, texts, widths in zip(rows, shown, cells, strict=True):
            left = 0
            parts: list[str] = []
            for n, (text, taken) in enumerate(zip(texts, widths, strict=True)):
                cut = n == last and columns is not None and left + taken > columns
                cell = fit(text, max(10, (columns or 0) - left)) if cut else text
                parts.append(cell if plain else self._dress(self._out, cell, row[n], text))
                if n < last:
                    gap = max(sizes[n] - taken, 0) + 2
                    parts.append(" " * gap)
                    left += taken + gap
            lines.append("".join(parts).rstrip() + "\n")
        self._print("".join(lines))

    def raw(self, data: bytes) -> None:
        """Write bytes as they are; for a stdout that is no terminal."""
        self.flush()
        if self._out is not None:
            with _output():
                self._out.buffer.write(data)

    def ask(self, question: LiteralString, *fields: Field) -> str:
        """Ask on the terminal; the answer, empty at its end."""
        self._message(self._filled(self._err, question, fields))
        try:
            return sys.stdin.readline().strip() if sys.stdin is not None else ""
        except UnicodeDecodeError:
            return ""

    def line(self, question: str) -> str | None:
        """Ask for a line, in words of ours; None at the end of the input."""
        self._message(question)
        try:
            said = sys.stdin.readline() if sys.stdin is not None else ""
        except UnicodeDecodeError:
            return None
        return said.rstrip("\n") if said else None

    def flush(self) -> None:
        """Hand everything to the system, so that its errors are met here."""
        if self._out is not None:
            with _output():
                self._out.flush()
        with contextlib.suppress(OSError):
            self._err.flush()

    def _print(self, text: str) -> None:
        with _output():
            if self._out is None:
                raise OSError(0, "it is closed")
            self._out.write(text)

    def _message(self, text: str) -> None:
        self.flush()  # facts that were said before a message stand before it
        with contextlib.suppress(OSError):
            self._err.write(text)
            self._err.flush()

    def _text(self, field: Field) -> Shown:
        return visible(field.text if isinstance(field, Styled) else str(field))

    def _colours(self, stream: TextIO | None) -> bool:
        return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")

    def _filled(self, stream: TextIO | None, template: str, fields: Sequence[Field]) -> str:
        parts = template.split("{}")
        if len(parts) != len(fields) + 1:
            raise ValueError(f"{template!r} takes {len(parts) - 1} fields, not {len(fields)}")
        line = parts[0]
        for part, field in zip(parts[1:], fields, strict=True):
            text = self._text(field)
            line += self._dress(stream, text, field, text) + part
        return line

    def _dress(self, stream: TextIO | None, cell: str, field: Field, whole: Shown) -> str:
        """Style and marks: ours in reverse video, where there is a terminal to show it.

        `cell` is the shown text `whole`, or a cut of it.
        """
        if not self._colours(stream):
            return cell
        start = STYLES[field.style] if isinstance(field, Styled) else ""
        parts, at = [start], 0
        for first, last in whole.marks:
            if first >= len(cell):
                break
            parts += [cell[at:first], STYLES["mark"], cell[first:last], RESET, start]
            at = last
        parts.append(cell[at:])
        if start or whole.marks:
            parts.append(RESET)
        return "".join(parts)


@contextlib.contextmanager
def _output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(f"Standard output cannot be written: {error.strerror}.") from error


def _whole(value: Any) -> Any:
    """A JSON value without half surrogates, which strict readers refuse: marks stand for them."""
    if isinstance(value, str):
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError:
            return "".join(str(visible(c)) if "\ud800" <= c <= "\udfff" else c for c in value)
        return value
    if isinstance(value, Mapping):
        return {key: _whole(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(held) for held in value]
    return value
