"""Reading the words of a command line: which command, which store, and what for."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence

from memui.ending import UsageError
from memui.grammar import COMMANDS, VALUED, Command, command_parser, main_parser

_RUN = re.compile(r"last|[0-9]+(-[0-9a-f]*)?")


def locate(argv: Sequence[str]) -> tuple[str | None, str | None, list[str]]:
    """(the store before the command, the command, the other words).

    The command is the first word that is no option, or the second after a store.
    """
    found: list[int] = []
    at = 0
    while at < len(argv) and len(found) < 2:
        word = argv[at]
        if word.startswith("-") and word != "-":
            at += 2 if word in VALUED else 1
            continue
        found.append(at)
        if word in COMMANDS:
            store = argv[found[0]] if len(found) == 2 else None
            return store, word, [w for n, w in enumerate(argv) if n not in found]
        at += 1
    return None, None, list(argv)


def parse(argv: Sequence[str]) -> tuple[Command | None, argparse.Namespace]:
    """The command (None for the screens) and what is asked of it; `spec` is the store.

    What follows `--` are words, whatever they look like: names may start with a dash. Raises
    `UsageError`; `SystemExit` once help or the version was printed.
    """
    cut = list(argv).index("--") if "--" in argv else len(argv)
    spec, name, rest = locate(argv[:cut])
    literal = argv[cut + 1 :]
    parser = main_parser() if name is None else command_parser(name)
    asked = parser.parse_intermixed_args(rest)
    if spec is not None:
        _name_store(asked, spec)
    if name is None:
        asked.words += literal
        _assign_store(asked)
        return None, asked
    if asked.spec is not None and not COMMANDS[name].takes_store:
        raise UsageError(f"{name} makes a store of its own.", hint=f"Try: memui {name}")
    _assign(name, asked, literal)
    return COMMANDS[name], asked


def _name_store(asked: argparse.Namespace, spec: str) -> None:
    if asked.spec is not None:
        raise UsageError("The store is named twice.", hint="Name it once: memui STORE COMMAND")
    asked.spec = spec


def _assign_store(asked: argparse.Namespace) -> None:
    """The words of a call without a command: at most one, the store."""
    words: list[str] = asked.words
    if len(words) > 1:
        raise _no_command(words[1])
    if words:
        if not os.path.lexists(words[0]) and (words[0] == "help" or _close(words[0])):
            raise _no_command(words[0])
        _name_store(asked, words[0])


def _close(word: str) -> list[str]:
    import difflib  # noqa: PLC0415 - only a mistyped command needs it

    return difflib.get_close_matches(word, COMMANDS, 1, 0.7)


def _no_command(word: str) -> UsageError:
    close = _close(word)
    hint = f"Did you mean {close[0]}?" if close else "memui --help lists the commands."
    return UsageError(f"There is no command {word!r}.", hint=hint)


def is_store(word: str) -> bool:
    """Whether a word names a folder that is there, or a store of one (`ROOT#NAME`)."""
    path = os.path.expanduser(word)
    return os.path.isdir(path) or ("#" in word and os.path.isdir(path.rpartition("#")[0]))


def _leads(command: Command, words: Sequence[str]) -> bool:
    """Whether the first word after a command is the store, and not what it works on."""
    if not words:
        return False
    first, last = words[0], command.words[-1] if command.words else ""
    pathlike = first.startswith((os.sep, "~", f".{os.sep}", f"..{os.sep}"))
    if last.endswith("*"):  # a query may hold any word, so only a plain path to a folder is none
        return pathlike and len(words) > 1 and is_store(first)
    if len(words) > len(command.words):
        return not command.words or pathlike or is_store(first)
    if last == "RUN?" and _RUN.fullmatch(first):
        return False
    return last.endswith("?") and is_store(first)


def _assign(name: str, asked: argparse.Namespace, literal: Sequence[str]) -> None:
    """Give the positional words their names; a folder in front of them is the store."""
    command = COMMANDS[name]
    words: list[str] = asked.words
    leads = command.takes_store and asked.spec is None
    if leads and words and _leads(command, [*words, *literal]):
        asked.spec = words.pop(0)
    words += literal
    again = f"Try: memui {name} --help"
    many = bool(command.words) and command.words[-1].endswith("*")
    if len(words) > len(command.words) and not many:
        quote = " Quote what holds blanks." if name == "describe" else ""
        raise UsageError(f"{name} does not take {words[len(command.words)]!r}.{quote}", hint=again)
    for position, word in enumerate(command.words):
        key = word.rstrip("?*").lower()
        given = words[position:] if word.endswith("*") else words[position : position + 1]
        if not given and not word.endswith("?"):
            raise UsageError(f"{name} needs {word.rstrip('*')}.", hint=again)
        value = given if word.endswith("*") else given[0] if given else None
        setattr(asked, key, value)
