"""How an added memory gets its name: ours, and the shipped SDK's, which groups by topic."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SLUG_LIMIT: Final = 50
_ACCENTS = re.compile("[\u0300-\u036f]")


def slug(title: str) -> str:
    """A file name's stem: lower case, letters and digits of any script, hyphens between words."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", title)).lower()
    marked = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in plain)
    words = "-".join(marked.split())
    return unicodedata.normalize("NFC", words)[:SLUG_LIMIT].strip("-")


def shipped_topic(content: str) -> str:
    """The stem that `FileMemoryStore.add` of strands-agents 1.62 gives: its first line's words."""
    first = re.sub(r"^#+\s*", "", content.split("\n", 1)[0])
    kept = re.sub(r"[^a-z0-9\s-]", "", first.lower()).strip()
    return re.sub(r"\s+", "-", kept)[:SLUG_LIMIT].rstrip("-")


def shipped_append(existing: str, content: str) -> str:
    """What `FileMemoryStore.add` makes of a topic's file: the lines after the heading, appended."""
    _, _, rest = content.partition("\n")
    facts = rest.strip()
    return f"{existing.rstrip()}\n{facts}" if facts else existing
