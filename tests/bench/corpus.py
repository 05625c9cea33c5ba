"""A corpus of memory notes: what note `i` is depends on the seed and on `i` alone.

The shares of odd notes are those that were counted in public memory folders: no frontmatter, broken
YAML, no final newline, CRLF, a BOM, bytes that are not UTF-8, NUL. One in twenty is a near copy of
an earlier one, so that duplicates can be found, and it is known which.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDERS: Final = (
    "decisions",
    "events",
    "facts",
    "people",
    "preferences",
    "projects",
    "tools",
    "workflows",
)
_SUBJECTS: Final = (
    "the billing service|the staging cluster|Amira|the Lisbon team|the nightly import|release 4.2|"
    "the search index|Jonas|the customer portal|the vendor contract|the mobile client|the audit|"
    "the onboarding guide|the Postgres upgrade|the design review|the incident of March|Priya|"
    "the feature flags|the data warehouse|the access policy|the travel budget|the retry queue"
).split("|")
_VERBS: Final = (
    "depends on|is owned by|moved to|was replaced by|prefers|is blocked by|reports to|is paid from|"
    "runs before|must never touch|was agreed with|is reviewed by|waits for|keeps a copy of"
).split("|")
_OBJECTS: Final = (
    "a queue in eu-west-1|the weekly call on Tuesday|short answers without emoji|port 8443|"
    "the shared calendar|two approvals|a dry run first|the old naming scheme|feature branches|"
    "a signed invoice|the read replica|dark mode|metric units|the on-call rota|pytest with xdist|"
    "`make deploy`|the folder /srv/exports|an answer by Friday|three environments|plain text mail"
).split("|")
_OTHER_SCRIPTS: Final = (
    "会議は毎週火曜日に行う。",
    "Müller bevorzugt kurze Mails.",
    "تُراجع الخطة كل يوم أحد.",
    "Привет, мир.",
)
_PATCHES: Final = ("now", "since May", "again", "for certain", "by default")
_COPIES: Final = 20


@dataclass(frozen=True, slots=True)
class Note:
    """One note. `copy_of` is the number of the note that it nearly repeats, if it does."""

    path: str
    data: bytes
    copy_of: int | None = None


def note(number: int, *, seed: int = 1, odd: bool = True) -> Note:
    """Note `number`. Without `odd` every note is plain: frontmatter, UTF-8, a final newline."""
    rng = random.Random(f"memui {seed} {number}")
    folder = FOLDERS[int(len(FOLDERS) * rng.random() ** 1.5)]
    original = (
        number - 1 - rng.randrange(min(number, 50)) if number and not rng.randrange(20) else None
    )
    source = rng if original is None else random.Random(f"memui {seed} {original} text")
    if original is None:
        source = random.Random(f"memui {seed} {number} text")
    lines = _lines(source)
    if original is not None:
        at = rng.randrange(len(lines))
        lines[at] = f"{lines[at].rstrip('.')} {rng.choice(_PATCHES)}."
    words = lines[0].lower().replace("`", "").replace("/", " ").split()
    slug = "-".join("".join(c for c in word if c.isalnum()) for word in words[:5]).strip("-")
    path = f"{folder}/{slug}-{number}.md"
    text = _laid_out(lines, source)
    described = f'---\ndescription: "{lines[0].rstrip(".")}"\n---\n\n{text}'
    if not odd:
        return Note(path, described.encode(), original)
    return Note(path, _odd(rng, text, described), original)


def _lines(rng: random.Random) -> list[str]:
    """The statements of a note; most have a few, some have very many."""
    count = max(2, min(400, int(rng.lognormvariate(1.9, 0.8))))
    found: list[str] = []
    for _ in range(count):
        if not rng.randrange(60):
            found.append(rng.choice(_OTHER_SCRIPTS))
            continue
        subject = rng.choice(_SUBJECTS)
        line = f"{subject[0].upper()}{subject[1:]} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}"
        if not rng.randrange(4):
            line += f" (since 20{rng.randrange(18, 27)}-{rng.randrange(1, 13):02})"
        found.append(f"{line}.")
    return found


def _laid_out(lines: list[str], rng: random.Random) -> str:
    """Headings, bullets and paragraphs."""
    out = [f"# {lines[0].rstrip('.')}", ""]
    bullets = bool(rng.randrange(3))
    for number, line in enumerate(lines):
        if number and not rng.randrange(9):
            out += ["", f"## {rng.choice(_SUBJECTS).capitalize()}", ""]
        out.append(f"- {line}" if bullets else line)
    return "\n".join(out) + "\n"


def _odd(rng: random.Random, text: str, described: str) -> bytes:
    roll = rng.random()
    data = text if roll < 0.55 else described
    if 0.55 <= roll < 0.57:
        data = data.replace('description: "', "description: note: ", 1).replace(
            '"\n---', "\n---", 1
        )
    if rng.random() < 0.16:
        data = data.rstrip("\n")
    if rng.random() < 0.02:
        data = data.replace("\n", "\r\n")
    made = data.encode()
    roll = rng.random()
    if roll < 0.008:
        return b"\xef\xbb\xbf" + made
    if roll < 0.012:
        return data.encode("latin-1", "replace") + b"caf\xe9\n"
    return made + b"\0\n" if roll < 0.015 else made


def notes(count: int, *, seed: int = 1, odd: bool = True) -> Iterator[Note]:
    """The first `count` notes."""
    return (note(number, seed=seed, odd=odd) for number in range(count))


def lay(root: Path, count: int, *, seed: int = 1, odd: bool = True) -> list[Note]:
    """Write the first `count` notes below the namespace `agent` of a root; returns them."""
    made = list(notes(count, seed=seed, odd=odd))
    lay_notes(root, made)
    return made


def lay_notes(root: Path, made: list[Note]) -> Path:
    """Write notes below the namespace `agent` of a root; returns the store's folder."""
    folder = root / "memory" / "agent"
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for each in made:
        (folder / each.path).write_bytes(each.data)
    return folder
