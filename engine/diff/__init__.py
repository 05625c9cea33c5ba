"""What changed between two versions of a file: lines, blocks and words, as plain values.

Lines are compared without their ends (`engine.diff.operations`). What changed in line ends, byte
order mark, encoding or final newline is said in words of its own, so that two versions that differ
never look alike. Inside a block lines are paired and their words compared (`engine.diff.words`).
A block is also what a person takes or leaves (`take`); `patch` writes both versions for git.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.diff.operations import Operation, opcodes
from engine.diff.rows import PAIRED_LINES, Row, Rows
from engine.diff.sides import Side, join, read
from engine.diff.words import Spans, changed_words

__all__ = [
    "Block",
    "Diff",
    "Hunk",
    "Row",
    "Rows",
    "Spans",
    "changed_words",
    "compare",
    "compare_lines",
    "hunks",
    "opcodes",
    "patch",
    "take",
]

_SIGNS: Final = {"same": " ", "removed": "-", "added": "+"}


@dataclass(frozen=True, slots=True)
class Block:
    """A run of changed lines, the removed ones before the added ones.

    `index` is its place among the blocks (0-based), `rows` are its places among the rows, `old` and
    `new` its 1-based line numbers.
    """

    index: int
    rows: range
    old: range
    new: range

    @property
    def start(self) -> int:
        """The place of its first row."""
        return self.rows.start

    @property
    def stop(self) -> int:
        """The place after its last row."""
        return self.rows.stop


@dataclass(frozen=True, slots=True)
class Diff:
    """Every line of both versions, in order, and the blocks that changed.

    `ends` says in words what changed beside the lines.
    """

    rows: Rows
    blocks: tuple[Block, ...]
    removed: int
    added: int
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Rows that are shown together. `skipped` same rows lie between it and the one before.

    A start is the 1-based number of its first line on that side, or of the line before it where it
    has none (0 at the top), as a unified diff has it.
    """

    rows: range
    skipped: int
    old_start: int
    old_count: int
    new_start: int
    new_count: int


def compare(before: bytes | None, after: bytes | None) -> Diff:
    """The diff of two versions; None is no file.

    Bytes that are no text are shown as lone surrogates. Where both versions exist and differ, there
    is a block, or `ends` says what differs.
    """
    old, new = read(before or b""), read(after or b"")
    operations = opcodes(old.lines, new.lines)
    ends = () if before is None or after is None else tuple(_ends(old, new, operations))
    return _diff(old.lines, new.lines, operations, ends)


def compare_lines(old: Sequence[str], new: Sequence[str]) -> Diff:
    """The diff of two texts that are lines already."""
    return _diff(old, new, opcodes(old, new), ())


def _ends(old: Side, new: Side, operations: Iterable[Operation]) -> Iterator[str]:
    if old.encoding != new.encoding:
        yield f"encoding: {old.encoding} to {new.encoding}"
    if old.usual and new.usual and old.usual != new.usual:
        yield f"line ends: {old.usual} to {new.usual}"
    elif old.usual == new.usual == "mixed" and any(
        one != other and one and other
        for same, a1, a2, b1, b2 in operations
        if same
        for one, other in zip(old.ends[a1:a2], new.ends[b1:b2], strict=True)
    ):
        yield "line ends: mixed, and not as before"
    if old.mark != new.mark:
        yield f"byte order mark {'added' if new.mark else 'removed'}"
    if old.lines and new.lines and bool(old.ends[-1]) != bool(new.ends[-1]):
        yield f"final newline {'added' if new.ends[-1] else 'removed'}"


def _diff(
    old: Sequence[str],
    new: Sequence[str],
    operations: Sequence[Operation],
    ends: tuple[str, ...],
    *,
    paired: int = PAIRED_LINES,
) -> Diff:
    blocks: list[Block] = []
    removed = added = start = 0
    for same, a1, a2, b1, b2 in operations:
        if same:
            start += a2 - a1
            continue
        stop = start + (a2 - a1) + (b2 - b1)
        before, after = range(a1 + 1, a2 + 1), range(b1 + 1, b2 + 1)
        blocks.append(Block(len(blocks), range(start, stop), before, after))
        removed += len(before)
        added += len(after)
        start = stop
    return Diff(Rows(old, new, operations, paired), tuple(blocks), removed, added, ends)


def hunks(diff: Diff, context: int = 3) -> tuple[Hunk, ...]:
    """The blocks with some same rows around them, near ones together; for a unified view."""
    found: list[tuple[int, int]] = []
    for block in diff.blocks:
        start, end = max(0, block.start - context), min(len(diff.rows), block.stop + context)
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    shown: list[Hunk] = []
    last = 0
    for start, end in found:
        (old, new), (old_end, new_end) = diff.rows.before(start), diff.rows.before(end)
        shown.append(
            Hunk(
                range(start, end),
                start - last,
                old + (old_end > old),
                old_end - old,
                new + (new_end > new),
                new_end - new,
            )
        )
        last = end
    return tuple(shown)


def take(before: bytes, after: bytes, taken: frozenset[int]) -> bytes:
    """The file with only these blocks of `compare(before, after)` changed, by their index.

    No block gives `before` and every block gives `after`, byte for byte. Some of them keep what
    `before` has beside its lines: byte order mark, its more frequent line end for every line taken,
    whether its last line has an end; and its encoding, if `after` has the same one (else UTF-8).
    Raises `ValueError` for a block that there is not.
    """
    old, new = read(before), read(after)
    blocks = [operation for operation in opcodes(old.lines, new.lines) if not operation[0]]
    if not taken <= frozenset(range(len(blocks))):
        raise ValueError(f"there are {len(blocks)} blocks, and not all of {sorted(taken)}")
    if not taken:
        return before
    if len(taken) == len(blocks):
        return after
    usual = "\r\n" if old.ends.count("\r\n") > old.ends.count("\n") else "\n"
    lines: list[str] = []
    ends: list[str] = []
    at = 0
    for index, (_, a1, a2, b1, b2) in enumerate(blocks):
        kept = a1 if index in taken else a2
        lines += old.lines[at:kept]
        ends += old.ends[at:kept]
        if index in taken:
            lines += new.lines[b1:b2]
            ends += [usual] * (b2 - b1)
        at = a2
    lines += old.lines[at:]
    ends += old.ends[at:]
    final = bool(old.ends[-1])
    return join(lines, [end or usual for end in ends], old, new, final=final)


def patch(path_before: str, path_after: str, before: bytes | None, after: bytes | None) -> str:
    """A unified diff that `git apply` and `patch -p1` turn into exactly these bytes.

    To be written as UTF-8 with `surrogateescape`. It is made from bytes, for the lines of a `Diff`
    have no ends. Two paths are a move; None is no file.
    """
    if before == after and (path_before == path_after or before is None):
        return ""
    old_name, new_name = _quoted(f"a/{path_before}"), _quoted(f"b/{path_after}")
    # Where the header is all there is, `patch` needs quotes to tell two names with blanks apart.
    heads = [
        f'"{name}"' if " " in name and name[0] != '"' else name for name in (old_name, new_name)
    ]
    found = [f"diff --git {heads[0]} {heads[1]}\n"]
    if before is None:
        found.append("new file mode 100644\n")
    elif after is None:
        found.append("deleted file mode 100644\n")
    elif path_before != path_after:
        found.append(f"rename from {_quoted(path_before)}\nrename to {_quoted(path_after)}\n")
    old, new = _whole_lines(before), _whole_lines(after)
    diff = _diff(old, new, opcodes(old, new), (), paired=0)
    if before != after:
        # By these git merges three ways, and `patch` knows that an empty file is to go.
        found.append(f"index {_blob(before)}..{_blob(after)}\n")
    if diff.blocks:
        found.append(f"--- {'/dev/null' if before is None else _ended(old_name)}\n")
        found.append(f"+++ {'/dev/null' if after is None else _ended(new_name)}\n")
    for hunk in hunks(diff):
        numbers = f"-{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count}"
        found.append(f"@@ {numbers} @@\n")
        for row in diff.rows[hunk.rows.start : hunk.rows.stop]:
            end = "" if row.text.endswith("\n") else "\n\\ No newline at end of file\n"
            found.append(f"{_SIGNS[row.kind]}{row.text}{end}")
    return "".join(found)


def _blob(data: bytes | None) -> str:
    """The name that git gives to the content of a file."""
    if data is None:
        return "0" * 40
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _whole_lines(data: bytes | None) -> list[str]:
    """The lines of a file with their ends."""
    pieces = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    last = pieces.pop()
    return [f"{piece}\n" for piece in pieces] + ([last] if last else [])


def _ended(name: str) -> str:
    """A name with a blank in it ends at a tab, or what follows the blank passes for a date."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _quoted(path: str) -> str:
    """A path as git writes it: in quotes, with octal bytes, if it holds anything unusual."""
    data = path.encode("utf-8", "surrogateescape")
    plain = [0x20 <= byte < 0x7F and byte not in b'"\\' for byte in data]
    if all(plain):
        return path
    escaped = (chr(byte) if ok else f"\\{byte:03o}" for byte, ok in zip(data, plain, strict=True))
    return f'"{"".join(escaped)}"'
