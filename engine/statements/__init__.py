"""Statements: the smallest things that a memory says, each with what it stands under.

List items, sentences, table rows, lines of code, headings with nothing under them, the description
and every other line of frontmatter. Nothing that a person wrote is in no statement: a heading that
something stands under is the first part of the place of all that it heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.documents import decode, split
from engine.statements.body import ITEM, Body
from engine.statements.fields import read_fields
from engine.statements.statement import Kind, Statement, label, normalise, unmarked

__all__ = [
    "ITEM", "Kind", "Reading", "Statement", "label", "normalise", "read", "statements", "unmarked",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file says, in order: its statements, and the headings that head any of them."""

    statements: tuple[Statement, ...]
    headings: tuple[Statement, ...]


def statements(path: str, data: bytes) -> tuple[Statement, ...]:
    """Every statement of a file, in order. Total, in time linear in its size."""
    return read(path, data).statements


def read(path: str, data: bytes) -> Reading:
    """The statements of a file and the headings that they stand under. Total, linear.

    Of a file that is not text each line is a statement; bytes that do not decode are lone
    surrogates.
    """
    text, encoding = decode(data)
    body = Body(path)
    if encoding == "unknown":
        for number, line in enumerate(text.split("\n"), start=1):
            said = line.strip()
            mark = ITEM.match(said[:16])
            body.say(number, said[mark.end() :] if mark else said, "sentence")
        return Reading(tuple(body.said), ())
    front, rest, first_line, _ = split(text)
    fields = read_fields(path, front) if front is not None else []
    for number, raw in enumerate(rest.split("\n"), start=first_line):
        # A lone CR ends a line too: else "# Title<CR>fact" would be one long heading.
        for line in raw.rstrip("\r").split("\r"):
            body.take(number, line)
    body.close()
    return Reading((*fields, *body.said), tuple(body.heads))
