"""What the agent sees each turn: the listing of paths and descriptions, and what it costs.

An agent that discloses its memory progressively is told one line a memory, `- path: description`,
and opens what it needs. So a description that is missing, vague, or the same as another's hides
what stands below it. Tokens are estimated as UTF-8 bytes divided by four, rounded up: no tokeniser
is asked, and the same text always costs the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from engine.changes import Edit
from engine.documents import Snapshot, parse
from engine.statements import normalise

BYTES_A_TOKEN: Final = 4
LONG: Final = 200
"""Characters of a description from which it costs more each turn than it tells."""
_WORD: Final = re.compile(r"[^\W_]+")
_SAYS_NOTHING: Final = frozenset(
    "a about all an and any are at context data details for from general info information is it"
    " important knowledge memory memories misc miscellaneous note notes of on other some stuff the"
    " things this to user users various with".split()
)
"""Words that do not tell one memory from another."""


@dataclass(frozen=True, slots=True)
class Line:
    """One memory as the agent sees it. `flags`: `no-description`, `vague`, `duplicate`, `long`."""

    path: str
    description: str
    tokens: int
    flags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line that is injected."""
        return f"- {self.path}: {self.description}"


@dataclass(frozen=True, slots=True)
class Injected:
    """The whole listing, by path."""

    lines: tuple[Line, ...]

    @property
    def tokens(self) -> int:
        """What it costs each turn."""
        return sum(line.tokens for line in self.lines)

    def after(self, edits: Iterable[Edit]) -> Injected:
        """The listing once these edits were made."""
        made = tuple(edits)
        gone = {edit.path for edit in made}
        lines = {line.path: line for line in self.lines if line.path not in gone}
        for edit in made:
            if edit.after is not None:
                lines[edit.path] = _line(edit.path, edit.after)
        return _flagged([lines[path] for path in sorted(lines)])

    def by_path(self) -> Mapping[str, Line]:
        """The lines by their path."""
        return {line.path: line for line in self.lines}


def tokens(text: str) -> int:
    """The estimate for a text."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)


def injected(snapshot: Snapshot) -> Injected:
    """The listing of a store as it is."""
    return _flagged([_line(path, data) for path, data in sorted(snapshot.files.items())])


def _line(path: str, data: bytes) -> Line:
    """A memory's line by itself: all its flags but `duplicate`."""
    document = parse(data)
    said = document.description
    flags = []
    if document.described_by != "frontmatter":
        flags.append("no-description")
    elif is_vague(said):
        flags.append("vague")
    if len(said) > LONG:
        flags.append("long")
    return Line(path, said, tokens(f"- {path}: {said}\n"), tuple(flags))


def _flagged(lines: Sequence[Line]) -> Injected:
    """The lines with the flag `duplicate` where several memories are described alike."""
    keys = [_same(line.description) for line in lines]
    times = Counter(keys)
    found = []
    for line, key in zip(lines, keys, strict=True):
        flags = tuple(flag for flag in line.flags if flag != "duplicate")
        if key and times[key] > 1:
            flags = (*flags, "duplicate")
        found.append(line if flags == line.flags else replace(line, flags=flags))
    return Injected(tuple(found))


@lru_cache(maxsize=1 << 14)
def _same(description: str) -> str:
    return normalise(description) if description else ""


def is_vague(description: str) -> bool:
    """Whether a description has fewer than two words that tell it from others.

    Scripts that are written without spaces make one word of a sentence: there one is enough.
    """
    words = [word.casefold() for word in _WORD.findall(description)]
    telling = [word for word in words if word not in _SAYS_NOTHING]
    if any(not word.isascii() and len(word) > 2 for word in telling):
        return False
    return len(telling) < 2
