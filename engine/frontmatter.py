"""Frontmatter: the YAML block at the head of a memory, read without trusting it.

One fast path reads the lines that most files consist of; everything else goes through PyYAML's
safe loader, after aliases, anchors, tags and deep nesting were refused. Where YAML fails, a line
reader still finds the description.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

FRONTMATTER_LIMIT: Final = 64 * 1024
"""Bytes of YAML that are read; a larger block is read by lines."""
DEPTH_LIMIT: Final = 4

_SIMPLE = re.compile(
    r'([A-Za-z_][A-Za-z0-9_-]*):[ ](?:("(?:[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff'
    r'\ufffe\uffff]|\\["\\/bfnrt])*")|([A-Za-z][A-Za-z0-9_./,()\' -]*[A-Za-z0-9_.)]))'
)
_WORDS_WITH_MEANING = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_KEY = re.compile(r"""(?:description|"description"|'description')[ \t]*:(?=[ \t\r\n]|$)""")


@dataclass(frozen=True, slots=True)
class Field:
    """One top-level key as it is written. `line` is 1-based within the file."""

    key: str
    raw: str
    line: int


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A frontmatter block. `text` is the YAML between its delimiters.

    `description` is None if there is no such key. `description_span` is where its lines stand in
    `text` (start, end without the last line's end), so that they can be replaced.
    """

    text: str
    description: str | None
    description_span: tuple[int, int] | None
    warnings: tuple[str, ...]

    def fields(self) -> tuple[Field, ...]:
        """The top-level keys with their raw values; continuation lines belong to their key."""
        found: list[Field] = []
        text = self.text.replace("\r\n", "\n").rstrip("\n")
        for number, line in enumerate(text.split("\n"), start=2):
            head, colon, rest = line.partition(":")
            if colon and line[:1] not in {" ", "\t", "#", "-"} and len(head) <= 128:
                found.append(Field(head.strip().strip("\"'"), rest.strip(), number))
            elif found and line.strip() and not line.lstrip().startswith("#"):
                last = found[-1]
                found[-1] = Field(last.key, f"{last.raw}\n{line.strip()}".strip(), last.line)
        return tuple(found)


def read_frontmatter(text: str) -> Frontmatter:
    """Read the YAML between the delimiters. Total: what is wrong becomes a warning."""
    fast = _read_simple(text)
    if fast is not None:
        return fast
    span = _description_span(text)
    if len(text) > FRONTMATTER_LIMIT:
        return Frontmatter(text, _read_line(text, span), span, ("frontmatter-too-large",))
    try:
        value, duplicate = _load(text)
    except _Refused:
        return Frontmatter(text, _read_line(text, span), span, ("frontmatter-invalid",))
    warnings = ("frontmatter-duplicate",) if duplicate else ()
    if value is None:
        return Frontmatter(text, None, None, warnings)
    if not isinstance(value, dict):
        return Frontmatter(text, _read_line(text, span), span, ("frontmatter-invalid",))
    if "description" not in value:
        return Frontmatter(text, None, None, warnings)
    description = value["description"]
    if isinstance(description, str):
        return Frontmatter(text, description, span, warnings)
    if description is None:
        return Frontmatter(text, "", span, warnings)
    raw = _read_line(text, span) or str(description)
    return Frontmatter(text, raw, span, (*warnings, "description-not-text"))


def _read_simple(text: str) -> Frontmatter | None:
    """The fast path: every line is `key: "quoted"` or `key: plain words`, no key twice."""
    if len(text) > FRONTMATTER_LIMIT:
        return None
    seen: set[str] = set()
    description: str | None = None
    span: tuple[int, int] | None = None
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        stop = len(text) if end < 0 else end
        line = text[at:stop].removesuffix("\r")
        match = _SIMPLE.fullmatch(line)
        if match is None or match[1] in seen or match[1].lower() in _WORDS_WITH_MEANING:
            return None
        seen.add(match[1])
        if match[1] == "description":
            plain = match[3]
            if plain is not None and plain.lower() in _WORDS_WITH_MEANING:
                return None
            description = plain if plain is not None else json.loads(match[2])
            span = (at, at + len(line))
        at = stop + 1
    return Frontmatter(text, description, span, ())


class _Refused(Exception):
    """The YAML is broken, or uses what a memory has no need of: why, and on which line of it."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.why, self.line = why, line


def yaml_problem(text: str) -> tuple[int, str] | None:
    """(0-based line of the YAML, a clause that says what is wrong there); None if it can be read.

    A block over `FRONTMATTER_LIMIT` and a key that stands twice are no matter of YAML here.
    """
    if len(text) > FRONTMATTER_LIMIT:
        return None
    try:
        value, _ = _load(text)
    except _Refused as refused:
        return min(refused.line, text.rstrip("\n").count("\n")), refused.why
    return None if value is None or isinstance(value, dict) else (0, "it holds no keys")


def _load(text: str) -> tuple[Any, bool]:
    """(value, whether a key stands twice). Raises `_Refused` for every way in which YAML fails."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            line = event.start_mark.line if event.start_mark else 0
            if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None):
                raise _Refused("anchors and aliases are not read", line)
            tag = getattr(event, "tag", None)
            if tag and tag != "!" and not isinstance(event, yaml.events.DocumentStartEvent):
                raise _Refused("tags are not read", line)
            if isinstance(event, yaml.events.CollectionStartEvent):
                depth += 1
                if depth > DEPTH_LIMIT:
                    raise _Refused(f"it is nested more than {DEPTH_LIMIT} deep", line)
            elif isinstance(event, yaml.events.CollectionEndEvent):
                depth -= 1
        node = yaml.compose(text, Loader=loader)
        keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        value = yaml.load(text, Loader=loader)  # noqa: S506 - one of the two safe loaders
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or getattr(error, "reason", None)
        raise _Refused(why or "it cannot be read", mark.line if mark else 0) from error
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise _Refused("a value of it cannot be read", 0) from error
    return value, len(keys) != len({str(key) for key in keys})


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        stop = len(text) if end < 0 else end
        yield at, stop
        at = stop + 1


def _description_span(text: str) -> tuple[int, int] | None:
    """Where the lines of the first `description` key stand: the key's and those that go on."""
    found: tuple[int, int] | None = None
    opened = ""
    for start, stop in _lines(text):
        line = text[start:stop].removesuffix("\r")
        if found is None:
            match = _KEY.match(line)
            if match is None:
                continue
            found = (start, start + len(line))
            value = line[match.end() :].strip()
            opened = value[:1] if value[:1] in {'"', "'"} and not _closes(value) else ""
            continue
        continues = opened or not line.strip() or line[:1] in {" ", "\t"}
        if not continues:
            break
        if line.strip():
            found = (found[0], start + len(line))
        if opened and _closes(opened + line):
            opened = ""
    return found


def _closes(value: str) -> bool:
    """Whether a quoted scalar that starts with its quote ends on the same line."""
    mark, at = value[0], 1
    while at < len(value):
        if mark == '"' and value[at] == "\\":
            at += 2
            continue
        if value[at] == mark:
            if mark == "'" and value[at + 1 : at + 2] == "'":
                at += 2
                continue
            return True
        at += 1
    return False


def _read_line(text: str, span: tuple[int, int] | None) -> str | None:
    """The description as a person would read it where YAML cannot: plain, quoted, `>` or `|`."""
    if span is None:
        return None
    lines = text[span[0] : min(span[1], span[0] + 4096)].replace("\r", "").split("\n")
    first = lines[0].partition(":")[2].strip()
    rest = [line.strip() for line in lines[1:]]
    if first[:1] in {">", "|"} and len(first) <= 3:
        return " ".join(line for line in rest if line)
    whole = " ".join([first, *rest]).strip()
    if len(whole) >= 2 and whole[0] == whole[-1] and whole[0] in {'"', "'"}:
        inner = whole[1:-1]
        return inner.replace("''", "'") if whole[0] == "'" else inner.replace('\\"', '"')
    return whole
