"""Where `-o FILE` may write: one guard for every command that has the option.

A file of a person, of an agent or of memui's own record is never written over.
"""

from __future__ import annotations

import os
import re
import stat
from enum import StrEnum
from typing import Final

from engine.errors import EngineError, StorageError
from engine.layouts import STATE, find
from engine.paths import EXTENSION, Layout
from engine.plans import read_file, replace_file
from engine.review import Decision, parse_saved_plan
from engine.store import Store
from memui.ending import UsageError

_HEAD: Final = 4096
_REVIEW: Final = re.compile(
    rb"\A(?:# |<!doctype html>.*?<title>)Review of plan [0-9a-f]{12} for "
    rb'|\A\{\s*"format": "memui-review"',
    re.DOTALL,
)
"""How every export begins."""


class Kind(StrEnum):
    """What is written."""

    PLAN = "plan"
    REVIEW = "review"


def refuse(store: Store, output: str, kind: Kind, *, force: bool) -> None:
    """Raises `UsageError` where a file must not be written, and for one that is no such output.

    `force` is for files that a person may want to lose; it opens neither stores nor memui's record.
    """
    real = os.path.realpath(output)
    if os.path.isdir(real):
        raise UsageError(f"{output} is a folder.", hint="Name a file. Nothing was written.")
    above = _ancestors(real)
    if STATE in real.split(os.sep) or _is_below(above, store.place.state):
        raise UsageError(
            f"{output} lies in memui's own record, which only memui writes.",
            hint="Name a file elsewhere. Nothing was written.",
        )
    for place in (store.place, *find(store.root)):
        notes = place.layout is Layout.FOLDER and not real.lower().endswith(EXTENSION)
        if _is_below(above, place.folder) and not notes:
            raise UsageError(
                f"{output} lies among the memories, where an agent would find it.",
                hint="Name a file elsewhere. Nothing was written.",
            )
    try:
        found = os.stat(real)
    except OSError:
        return  # there is none; or what is wrong shows when it is written
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(
            f"{output} is no regular file.", hint="-o - prints it. Nothing was written."
        )
    why = "" if force else _loses(output, kind)
    if why:
        raise UsageError(
            f"{output} {why}.",
            hint="Name another file, or say --force to write over it. Nothing was written.",
        )


def write(output: str, data: bytes) -> None:
    """Write a file that was not refused, whole or not at all. Raises `StorageError`."""
    replace_file(output, data)


def _loses(output: str, kind: Kind) -> str:
    """What would be lost with a file that is there, as a clause; empty if nothing."""
    try:
        data = read_file(output)
    except StorageError:
        return "is there already, and cannot be read"
    except EngineError:
        return f"is there already, and is no {kind}"
    if not data.strip():
        return ""
    if kind is Kind.REVIEW:
        return "" if _REVIEW.match(data[:_HEAD]) else "is there already, and is no review of memui"
    try:
        saved = parse_saved_plan(data)
    except EngineError:
        return "is there already, and is no plan that memui made"
    return "" if set(saved.review.decisions) <= {Decision()} else "holds a plan with a review"


def _ancestors(path: str) -> set[tuple[int, int]]:
    """Every folder above a path that is there, by device and number: no spelling deceives it."""
    found: set[tuple[int, int]] = set()
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        try:
            there = os.stat(path)
        except OSError:
            continue
        found.add((there.st_dev, there.st_ino))
    return found


def _is_below(above: set[tuple[int, int]], folder: str) -> bool:
    try:
        there = os.stat(folder)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) in above
