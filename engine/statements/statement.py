"""A statement, and what two spellings of one share."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

Kind = Literal["description", "field", "item", "sentence", "row", "heading", "code"]

_MARK_RUN = re.compile(r"`+|\*+|_+")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    `line` is 1-based in its file. `text` is as written, without list mark. `key` is what is
    compared (`normalise`; of code and of frontmatter fields the letters' case stays, of code the
    indentation too). `heading` is the place: the headings above, then the label (`Never:`) or table
    head that it stands under, then the list items that it is nested in, each normalised.
    `titled` says that `heading` starts with a first-level heading, `ordered` that it is an item of
    a numbered list.
    """

    path: str
    line: int
    text: str
    key: str
    heading: tuple[str, ...]
    kind: Kind
    titled: bool = False
    ordered: bool = False

    @property
    def sequenced(self) -> bool:
        """Whether its place among its neighbours is part of what it says."""
        return self.ordered or self.kind == "code"


def normalise(text: str) -> str:
    """What two spellings of one statement share.

    NFC, case-folded, spaces folded, emphasis and code marks and the final stop off. Text of nothing
    but marks and stops is its own key.
    """
    return _known(text) if len(text) <= _SHORT else _normalise(text)


_SHORT: Final = 400
"""Characters up to which what a text normalises to is remembered: files of a store repeat lines."""


def _normalise(text: str) -> str:
    bare = unmarked(text)
    if bare.isascii():
        folded = bare.lower()
    else:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", bare).casefold())
    return " ".join(folded.split()).rstrip(".。;, ") or " ".join(text.split())


_known = lru_cache(maxsize=1 << 15)(_normalise)


def unmarked(text: str) -> str:
    """The text without the marks of emphasis and code that open and close at edges of words.

    `snake_case`, `2*3`, `*.py`, `__init__` and a struck `~~word~~` keep theirs.
    """
    if "*" not in text and "_" not in text and "`" not in text:
        return text
    runs = list(_MARK_RUN.finditer(text))
    ticks = Counter(run[0] for run in runs if run[0][0] == "`")
    opened: dict[str, list[tuple[int, int]]] = {}
    cut: list[tuple[int, int]] = []
    code: str | None = None
    for run in runs:
        mark, (start, end) = run[0], run.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if mark[0] == "`":
            ticks[mark] -= 1
            if code is None and ticks[mark] > 0:
                code = mark
                opened[mark] = [] if before.isalnum() else [(start, end)]
            elif code == mark:
                code = None
                if opened[mark] and not after.isalnum():
                    cut += [opened[mark].pop(), (start, end)]
            continue
        if code is not None:
            continue
        waiting = opened.setdefault(mark, [])
        if before and not before.isspace() and not after.isalnum() and waiting:
            begin, inner = waiting.pop()
            if not (mark[0] == "_" and len(mark) > 1 and text[inner:start].isidentifier()):
                cut += [(begin, inner), (start, end)]
        elif after and not after.isspace() and not before.isalnum():
            waiting.append((start, end))
    parts: list[str] = []
    at = 0
    for start, end in sorted(cut):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def label(text: str) -> str:
    """A heading or a label as part of a place: `Never:` and `**Never**` are one."""
    return normalise(text).rstrip(": \uff1a")
