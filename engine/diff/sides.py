"""The bytes of one version as lines, their ends and the rest; and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.documents import decode

_BOM = "\ufeff"
_CODECS = {"UTF-16 LE": "utf-16-le", "UTF-16 BE": "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Side:
    """One version. Each line has its end beside it, an empty one if it is a last line without.

    `usual` is empty if no line has an end. `mark` is a byte order mark that could be left out:
    UTF-16 has one that could not.
    """

    lines: list[str]
    ends: Sequence[str]
    usual: Literal["", "LF", "CRLF", "mixed"]
    mark: bool
    encoding: str


def read(data: bytes) -> Side:
    """The sides of a file. Total: bytes that are no text become lone surrogates."""
    text, encoding = decode(data)
    if encoding == "utf-16":
        encoding = "UTF-16 LE" if data.startswith(b"\xff") else "UTF-16 BE"
        mark = data[2:4] == data[:2]
    else:
        encoding = "UTF-8"
        mark = data.startswith(_BOM.encode())
    lines = text.split("\n")
    last = lines.pop()
    ends = ["\n"] * len(lines)
    usual: Literal["", "LF", "CRLF", "mixed"] = "LF" if lines else ""
    if crlf := text.count("\r\n"):
        usual = "CRLF" if crlf == len(lines) else "mixed"
        ends = ["\r\n" if line.endswith("\r") else "\n" for line in lines]
        lines = [line.removesuffix("\r") for line in lines]
    if last:
        lines.append(last)
        ends.append("")
    return Side(lines, ends, usual, mark, encoding)


def join(lines: Sequence[str], ends: Sequence[str], old: Side, new: Side, *, final: bool) -> bytes:
    """The bytes of these lines, marked and encoded as `old` is, or UTF-8 if `new` differs in that.

    `final` is whether the last line has an end; an empty one always has.
    """
    # After a carriage return a newline alone would be read as one end with it.
    pieces = [
        f"{line}\r\n" if line.endswith("\r") else f"{line}{end}"
        for line, end in zip(lines, ends, strict=True)
    ]
    if not final and lines[-1]:
        pieces[-1] = lines[-1]
    text = (_BOM if old.mark else "") + "".join(pieces)
    if old.encoding == new.encoding and old.encoding in _CODECS:
        return (_BOM + text).encode(_CODECS[old.encoding])
    return text.encode("utf-8", "surrogateescape")
