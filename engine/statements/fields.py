"""The statements of frontmatter."""

from __future__ import annotations

import unicodedata

from engine.frontmatter import Frontmatter
from engine.statements.statement import Statement, normalise


def read_fields(path: str, front: Frontmatter) -> list[Statement]:
    """The description, then every other key with the lines that go on it, and every comment."""
    found: list[Statement] = []

    def say(number: int, text: str) -> None:
        key = unicodedata.normalize("NFC", " ".join(text.split()))
        if key:
            found.append(Statement(path, number, text, key, (), "field"))

    description = " ".join((front.description or "").split())
    span = front.description_span
    described = front.text.count("\n", 0, span[0]) + 2 if span is not None else 0
    fields: list[list[tuple[int, str]]] = []
    for number, raw in enumerate(front.text.split("\n"), start=2):
        line = raw.strip()
        if not line:
            continue
        head, colon, _ = line.partition(":")
        if line.startswith("#"):
            say(number, line)
        elif colon and raw[0] not in " \t-" and len(head) <= 128:
            fields.append([(number, line)])
        elif fields:
            fields[-1].append((number, line))
        else:
            say(number, line)
    for (number, first), *rest in fields:
        if number != described or not description:
            whole = "\n".join([first, *(line for _, line in rest)])
            say(number, whole.removesuffix("description:"))
            continue
        found.append(
            Statement(path, number, description, normalise(description), (), "description")
        )
        if "frontmatter-duplicate" in front.warnings:
            say(number, first)  # YAML may have taken the other one
        say(number, _comment(first.partition(":")[2].strip()))
        for at, line in rest:
            if "\\" not in line and " ".join(line.split()).strip("\"'") not in description:
                say(at, line)
    found.sort(key=lambda statement: statement.line)
    return found


def _comment(value: str) -> str:
    """The comment that stands after a description's value on its line."""
    at = 0
    if value[:1] in {'"', "'"}:
        at = 1
        while at < len(value) and value[at] != value[0]:
            at += 2 if value[at] == "\\" and value[0] == '"' else 1
    _, mark, comment = value[at:].partition(" #")
    return f"#{comment}" if mark else ""
