"""Command lines that are printed to be pasted into a shell, whatever a path is called."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from engine.characters import visible
from memui.grammar import VALUED

_FLAGS: Final = frozenset("--yes --json --plain --facts --all --dry-run".split())


def command_line(spec: str | None, words: Sequence[str]) -> str:
    """`memui` on a store (None is the one that is found), with a command's words and options.

    Options are those that take a value, with the value after them, and the few that take none. What
    else starts with a dash is a name, and comes last, after `--`; `file_word` says a file's name so
    that it is no option.
    """
    found = ["memui"]
    if spec:
        named = os.sep in spec or spec.startswith((".", "~"))
        # A folder that is called as a command or an option is.
        found.append(f".{os.sep}{spec}" if spec.startswith("-") or not named else spec)
    literal: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in VALUED:
            value = next(rest)
            found += [f"{word}={value}"] if value.startswith("-") else [word, value]
        elif word.startswith("-") and word not in _FLAGS:
            literal.append(word)
        else:
            found.append(word)
    return quoted([*found, *(["--", *literal] if literal else [])])


def file_word(name: str) -> str:
    """A file's name that no command takes for an option."""
    return f".{os.sep}{name}" if name.startswith("-") else name


def quoted(words: Iterable[str]) -> str:
    r"""Words for a shell, as `shlex.join` has them.

    A word with characters that nobody sees is written as `$'\x1b'`, which bash, zsh and ksh read:
    the bytes that are meant arrive, and none of them is in what is printed.
    """
    return " ".join(_quote(word) for word in words)


def _quote(word: str) -> str:
    if visible(word) == word:
        return shlex.quote(word)
    parts: list[str] = []
    for char in word:
        if visible(char) != char:
            data = char.encode("utf-8", "surrogateescape")
            parts.append("".join(f"\\x{byte:02x}" for byte in data))
        else:
            parts.append(f"\\{char}" if char in "\\'" else char)
    return f"$'{''.join(parts)}'"
