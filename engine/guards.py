"""What every write must keep, a plan's and a person's alike: safe paths, whole contents."""

from __future__ import annotations

import json
import re
from typing import Final

from engine.characters import has_visible
from engine.documents import split
from engine.errors import Violation
from engine.paths import (
    CHANGELOG,
    EXTENSION,
    has_traversal,
    is_encodable,
    is_reserved,
    name_problem,
)

_DESCRIPTION_LINE = re.compile(r"description: +(\".*\")")
_DESCRIPTION_PROBLEM: Final = (
    'the frontmatter must hold one line description: "..." in double quotes, with text in it'
)


def content_violations(text: str) -> list[Violation]:
    """What is wrong with a whole file that a planner or a person wrote."""
    found: list[Violation] = []
    if not is_encodable(text):
        found.append(Violation("content-encoding", "the content holds half a surrogate pair"))
    if not text.strip():
        return [*found, Violation("content-empty", "the content is empty")]
    opened = text.startswith("---\n")
    front, body, _, _ = split(text)
    if not opened or front is None or "\r" in text[: len(text) - len(body)]:
        why = "does not start with a line of exactly ---"
        if opened:
            why = "has a frontmatter that is never closed with a line of exactly ---"
        return [*found, Violation("content-frontmatter", f"the content {why}")]
    if front.warnings and set(front.warnings) & {"frontmatter-invalid", "frontmatter-too-large"}:
        if _quoted_description(front.text) is None:
            found.append(Violation("content-description", _DESCRIPTION_PROBLEM))
        else:
            found.append(
                Violation("content-frontmatter", "the frontmatter is not YAML that can be read")
            )
    elif "frontmatter-duplicate" in front.warnings:
        found.append(Violation("content-frontmatter", "a frontmatter key stands twice"))
        if _quoted_description(front.text) is None:
            found.append(Violation("content-description", _DESCRIPTION_PROBLEM))
    elif (said := _quoted_description(front.text)) is None or said != front.description:
        found.append(Violation("content-description", _DESCRIPTION_PROBLEM))
    if not has_visible(body):
        found.append(Violation("content-body", "the body holds nothing that can be seen"))
    return found


def _quoted_description(text: str) -> str | None:
    """The description, if exactly one line gives it in double quotes and it is one line of text."""
    lines = [line for line in text.split("\n") if line.startswith("description:")]
    match = _DESCRIPTION_LINE.fullmatch(lines[0].rstrip(" \t")) if len(lines) == 1 else None
    if match is None:
        return None
    try:
        said = json.loads(match[1])
    except ValueError:
        return None
    return said if isinstance(said, str) and description_problem(said) is None else None


def description_problem(description: str) -> str | None:
    """Why a description cannot stand, as a clause; None if it can."""
    if not has_visible(description):
        return "is empty"
    if re.search("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", description):
        return "has more than one line"
    if not is_encodable(description):
        return "is not valid Unicode"
    return None


def path_violations(path: str) -> list[Violation]:
    """The safety rules for a path that a person chose (`add`, `move`, `edit`)."""
    if has_traversal(path):
        return [Violation("path-traversal", f"the path {path} is not a plain path in the store")]
    if is_reserved(path):
        return [
            Violation("path-reserved", f"{CHANGELOG} is reserved for the record of what was done")
        ]
    if not path.lower().endswith(EXTENSION):
        return [Violation("path-extension", f"the path {path!r} does not end in {EXTENSION}")]
    *folders, name = path.split("/")
    found = [
        Violation("directory-name", f"the folder name {folder!r} {problem}")
        for folder in folders
        if (problem := name_problem(folder))
    ]
    if problem := name_problem(name, extension=EXTENSION):
        found.append(Violation("filename", f"the file name {name!r} {problem}"))
    return found
