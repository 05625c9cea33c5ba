"""The links of memories: what a text points at, and whether a store has it.

`[text](path.md)` and `[name]: path.md` as CommonMark has them; `[[name]]`, `[[folder/name|text]]`
and `[[name#heading]]` as Obsidian does. Addresses with a scheme, and places in the same file, are
no links to memories.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from engine.paths import EXTENSION, identity

_LINK: Final = re.compile(
    r"\[\[(?P<wiki>[^\[\]\n]{1,500})\]\]"
    r"|\]\((?:<(?P<angle>[^<>\n]{1,500})>|(?P<plain>[^()\s]{1,500}))(?:[ \t][^()\n]{0,200})?\)"
    r"|^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]+(?P<ref>\S{1,500})",
    re.MULTILINE,
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_SUFFIXES: Final = (EXTENSION, ".markdown")


@dataclass(frozen=True, slots=True)
class Link:
    """One link. `line` is 1-based in its file; `to` is the target as written, without its anchor.

    `wiki` links name a memory anywhere in the store, others a path from the file's own folder.
    """

    line: int
    to: str
    wiki: bool


def links(text: str) -> Iterator[Link]:
    """The links of a text to memories, in order; none in fenced code. Total, linear."""
    if "](" not in text and "[[" not in text and "]:" not in text:
        return
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if fence or "[" not in line:
            continue
        for found in _LINK.finditer(line):
            wiki = found["wiki"]
            said = wiki or found["angle"] or found["plain"] or found["ref"]
            said = said.partition("|")[0] if wiki else said
            said = said.partition("#")[0].strip() if not said.startswith("#") else ""
            said = said if wiki else unquote(said.partition("?")[0])
            if not said or (not wiki and _SCHEME.match(said)):
                continue
            if wiki or said.lower().endswith(_SUFFIXES):
                yield Link(number, said, bool(wiki))


class Targets:
    """The paths of a store that links can mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: dict[str, str] = {}
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._paths[identity(path)] = path
            self._names[_name(path)].append(path)

    def of(self, link: Link, source: str) -> str | None:
        """The path that a link of the file `source` means; None if the store has none."""
        return next(self.candidates(link, source), None)

    def candidates(self, link: Link, source: str) -> Iterator[str]:
        """Every path that a link of the file `source` could mean, the nearest first."""
        if link.wiki:
            whole = link.to if link.to.lower().endswith(EXTENSION) else f"{link.to}{EXTENSION}"
            wanted = [whole.lstrip("/")]
        else:
            folder = "" if link.to.startswith("/") else posixpath.dirname(source)
            said = link.to.lstrip("/")
            wanted = [posixpath.normpath(posixpath.join(base, said)) for base in (folder, "")]
        found = [self._paths[key] for path in wanted if (key := identity(path)) in self._paths]
        if link.wiki and "/" not in link.to:
            found += sorted(self._names.get(_name(whole), ()))
        yield from dict.fromkeys(found)


def _name(path: str) -> str:
    return identity(posixpath.basename(path))
