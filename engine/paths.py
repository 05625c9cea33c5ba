"""Paths of memories: their grammar, and when two spellings are one file.

A path is relative to its store, in `/` notation, spelled as it is stored. Names that are not UTF-8
are carried as `os.fsdecode` gives them (lone surrogates), so that every file on disk has a path.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import Final

from engine.characters import has_visible, is_assigned, is_hidden

CHANGELOG: Final = "consolidation-changelog.md"
EXTENSION: Final = ".md"
STEM_LIMIT: Final = 80
"""Code points of a file name without its extension."""
NAME_BYTES: Final = 255
"""Bytes of one segment that every file system in use can hold."""
FOLDER_PATTERN: Final = "[a-z0-9-]{1,30}"
HIDDEN_PREFIX: Final = ".__strands_tmp_memui-"
"""The one prefix that both shipped SDKs hide: that of their own temporary files."""

_FOLDER = re.compile(FOLDER_PATTERN)
_FORBIDDEN = frozenset('<>:"|?*\\/')
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{name}{digit}" for name in ("com", "lpt") for digit in "0123456789¹²³"]
)


class Layout(StrEnum):
    """How a store lies on disk (see `engine.layouts`)."""

    DESIGN = "design"
    NAMESPACED = "namespaced"
    SHIPPED = "shipped"
    FOLDER = "folder"


def identity(path: str) -> str:
    """The key under which two spellings are one file: NFC, case-folded, NFC again.

    Case-folding can denormalise, hence the second NFC; a case- and normalisation-insensitive file
    system (APFS, NTFS) would make one file of two paths with the same identity.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def is_memory(path: str) -> bool:
    """Whether a file takes part in consolidation: it ends in `.md` and is not the changelog."""
    name = path.rsplit("/", 1)[-1]
    return (
        path.lower().endswith(EXTENSION)
        and identity(path) != CHANGELOG
        and not name.startswith(".__strands_")
    )


def is_reserved(path: str) -> bool:
    """Whether a path names the changelog, under any spelling and with blanks around it."""
    return identity(path.strip()) == CHANGELOG


def has_traversal(path: str) -> bool:
    """Whether a path could leave its store: `.` and `..` segments, and any backslash."""
    return "\\" in path or any(segment in {".", ".."} for segment in path.split("/"))


def is_folder_name(name: str) -> bool:
    """Whether a plan may create a folder of this name."""
    return _FOLDER.fullmatch(name) is not None


def is_encodable(text: str) -> bool:
    """Whether text can be written as UTF-8: it holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def name_problem(name: str, *, extension: str = "") -> str | None:
    """Why a name is not portable, as a clause; None if every system can hold it.

    The limits are those of Windows, macOS and Linux together, and what a person cannot see or tell
    apart is refused: invisible, directional, unassigned and blank characters other than a space.
    """
    stem = name[: -len(extension)] if extension and name.lower().endswith(extension) else name
    if not stem:
        return "has no name before its extension" if extension else "has an empty segment"
    if stem.startswith("."):
        return "is hidden (it starts with a dot)"
    if stem != stem.strip():
        return "starts or ends with a blank"
    if not extension and name.endswith("."):
        return "ends with a dot"
    for char in name:
        if char in _FORBIDDEN:
            return f"holds the character {char}"
        if not is_encodable(char):
            return "is not valid Unicode"
        if is_hidden(char) or (char != " " and char.isspace()):
            return f"holds the invisible character U+{ord(char):04X}"
        if not is_assigned(char):
            return f"holds the unassigned character U+{ord(char):04X}"
    if not has_visible(stem):
        return "holds nothing that can be seen"
    if stem.split(".")[0].rstrip(" ").casefold() in _DEVICES:
        return "is the name of a device on Windows"
    if len(stem) > STEM_LIMIT:
        return f"is longer than {STEM_LIMIT} characters"
    if len(name.encode()) > NAME_BYTES:
        return f"is longer than {NAME_BYTES} bytes"
    return None
