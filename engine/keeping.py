"""Keeping what a result drops: the text with a statement of a source added, and nothing else.

The statement goes where it stood: beside what stood beside it, or below the same heading, label or
list item, which comes along if the result has none. Under another title if only that differs. What
is tried is then read again, and stands only if all that the result said before is there in its
place, what is new comes from the source, and the statement is among it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.changes import Change
from engine.documents import decode
from engine.errors import Refused
from engine.ledger import Entry, Fate
from engine.plan import Merge, Update
from engine.statements import ITEM, Reading, Statement, label, read

_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_BY_HAND: Final = "e edits the result."


def keep(change: Change, entries: Iterable[Entry]) -> str:
    """The result of a merge or an update with dropped statements added, in their order.

    Raises `Refused` if the change has no text of its own, or at the first statement that is not
    dropped or has no sure place.
    """
    action = change.action
    if not isinstance(action, Merge | Update):
        raise Refused(
            f"A {action.action} has no result that could keep it.",
            hint="Reject it, and the memory stays.",
        )
    before = {edit.path: edit.before for edit in change.edits}
    content = action.content
    for entry in entries:
        source = entry.source
        if source is None or entry.fate is not Fate.DROPPED:
            raise Refused("Only what is dropped can be kept.")
        data = before.get(source.path)
        if data is None:
            raise Refused(f"{source.path} is not there any more.")
        if source.kind == "description":
            raise Refused("A memory has one description.", hint=_BY_HAND)
        content = _with(_Text(change.target or source.path, content), data, source)
    return content


def _with(result: _Text, data: bytes, source: Statement) -> str:
    origin = _Text(source.path, decode(data)[0])
    for tried in _tries(result, origin, source):
        if _holds(result, tried, origin, source):
            return tried
    raise Refused("No place in the result is sure to be the same.", hint=_BY_HAND)


class _Text:
    """A text by lines and by statements."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.reading: Reading = read(path, text.encode("utf-8", "surrogateescape"))

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self.reading.statements

    def raw(self, statement: Statement) -> str:
        """The line that a statement starts on."""
        return self.lines[statement.line - 1].rstrip("\r")

    def heads(self) -> Iterator[Statement]:
        """All that something can stand under."""
        yield from self.reading.headings
        yield from self.statements

    def end_of(self, line: int) -> int:
        """The line (1-based) that ends the block which a line begins: before a blank or a start."""
        starts = {s.line for s in self.heads()}
        at = line
        while at < len(self.lines) and self.lines[at].strip() and at + 1 not in starts:
            at += 1
        return at

    def is_apart(self, statement: Statement) -> bool:
        """Whether a blank line stands above a paragraph."""
        above = self.lines[statement.line - 2].strip() if statement.line > 1 else ""
        return statement.kind == "sentence" and not above

    @property
    def last(self) -> int:
        """The last line that says something."""
        return max((n for n, line in enumerate(self.lines, 1) if line.strip()), default=0)

    def end_of_section(self, place: tuple[str, ...]) -> int:
        """The line after which a section ends; 0 if there is none."""
        depth = len(place)
        inside = [s.line for s in self.statements if s.heading[:depth] == place]
        inside += [h.line for h in self.heads() if _opens(h) == place]
        return self.end_of(max(inside)) if inside else 0

    def put(self, after: int, new: Sequence[str], *, apart: bool) -> str:
        """The text with lines below a line (1-based), set apart by blank ones or not."""
        above, below = self.lines[:after], self.lines[after:]
        end = "\r" if any(line.endswith("\r") for line in above[-2:]) else ""
        added = [f"{line}{end}" for line in new]
        if apart and above and above[-1].strip():
            added.insert(0, end)
        if apart and below and below[0].strip():
            added.append(end)
        if not below and end:
            above[-1] += end
            added[-1] = added[-1].removesuffix(end)
        return "\n".join([*above, *added, *below])


@dataclass(frozen=True, slots=True)
class _Spot:
    """Lines below a line (1-based), set apart by blank lines rather than not, or the reverse."""

    after: int
    lines: tuple[str, ...]
    apart: bool


def _tries(result: _Text, origin: _Text, source: Statement) -> Iterator[str]:
    if source.kind == "field":
        yield from _in_frontmatter(result, source)
        return
    for spot in _spots(result, origin, source):
        for apart in (spot.apart, not spot.apart):
            yield result.put(spot.after, spot.lines, apart=apart)


def _in_frontmatter(result: _Text, source: Statement) -> Iterator[str]:
    closing = next((n for n, line in enumerate(result.lines) if n and line.rstrip() == "---"), None)
    if result.lines[0].rstrip() == "---" and closing is not None:
        yield result.put(closing, source.text.split("\n"), apart=False)


def _spots(result: _Text, origin: _Text, source: Statement) -> Iterator[_Spot]:
    for place in _places(result, source):
        beside = [s for s in result.statements if s.heading == place and _alike(s, source)]
        for anchor in _anchors(beside, origin, source):
            made = _made_beside(result, anchor, origin, source)
            end, apart = result.end_of(anchor.line), origin.is_apart(source)
            yield _Spot(end, made, apart)
            yield _Spot(max(end, result.end_of_section(_opens(anchor))), made, apart)
        depth = _known_depth(result, place)
        chain = _chain(origin, source, depth)
        if chain is not None:
            apart = depth < len(place) or source.kind not in {"item", "row"}
            last = result.end_of_section(place[:depth]) if depth else result.last
            yield _Spot(last, chain, apart or not depth)
            yield _Spot(result.last, chain, apart=True)


def _places(result: _Text, source: Statement) -> Iterator[tuple[str, ...]]:
    """The place itself, then the same below the result's own title."""
    title = next((h for h in result.heads() if h.titled and len(h.heading) > 0), None)
    titles = [s.heading[0] for s in result.statements if s.titled]
    same = bool(source.heading) and source.heading[0] in titles
    if source.titled and titles and not same:
        yield (titles[0], *source.heading[1:])
    elif not source.heading and title is not None:
        yield (title.heading[0],)
    yield source.heading


def _alike(found: Statement, source: Statement) -> bool:
    return found.kind == source.kind and found.ordered == source.ordered


def _anchors(beside: Sequence[Statement], origin: _Text, source: Statement) -> Iterator[Statement]:
    """What it can stand below, the nearest that it stood below first."""
    if not beside:
        return
    by_key = {s.key: s for s in beside}
    above = [s for s in origin.statements if s.line <= source.line and s is not source]
    near = next((by_key[s.key] for s in reversed(above) if s.key in by_key), None)
    if near is not None:
        yield near
    if near is not beside[-1]:
        yield beside[-1]


def _made_beside(
    result: _Text, anchor: Statement, origin: _Text, source: Statement
) -> tuple[str, ...]:
    raw = result.raw(anchor)
    blank = raw[: len(raw) - len(raw.lstrip())]
    if source.kind == "code":
        return (origin.raw(source),)
    if source.kind != "item":
        return (f"{blank}{source.text}",)
    mark = ITEM.match(raw.lstrip())
    return (f"{blank}{_next(mark[0]) if mark else '- '}{source.text}",)


def _next(mark: str) -> str:
    """The mark of the item after one with this mark."""
    number = re.match(r"\d+", mark)
    return f"{int(number[0]) + 1}{mark[number.end() :]}" if number else mark


def _known_depth(result: _Text, place: tuple[str, ...]) -> int:
    """How much of a place the result has."""
    there = {s.heading[:n] for s in result.statements for n in range(len(s.heading) + 1)}
    there |= set(map(_opens, result.heads()))
    return next((n for n in range(len(place), 0, -1) if place[:n] in there), 0)


def _chain(origin: _Text, source: Statement, depth: int) -> tuple[str, ...] | None:
    """The headings, labels and items that a statement stands under from a depth on, and it."""
    lines: list[str] = []
    for at in range(depth, len(source.heading)):
        if source.kind == "row" and at == len(source.heading) - 1:
            break  # the head of the table comes with its rows
        head = next(
            (
                h
                for h in origin.heads()
                if h.line <= source.line and _opens(h) == source.heading[: at + 1]
            ),
            None,
        )
        if head is None:
            return None
        lines.append(origin.raw(head))
        if head.kind == "heading":
            lines.append("")
    raw = origin.raw(source)
    if source.kind == "row":
        top = _table_head(origin, source) if depth < len(source.heading) else ()
        return (*lines, *top, source.text, *_table_rule(origin, source))
    if source.kind == "code":
        fence = _fence(origin, source)
        return None if fence is None else (*lines, fence[0], raw, fence[1])
    if source.kind == "item":
        blank = raw[: len(raw) - len(raw.lstrip())]
        mark = ITEM.match(raw.lstrip())
        return (*lines, f"{blank}{mark[0] if mark else '- '}{source.text}")
    if source.kind == "heading":
        return (*lines, raw)
    return (*lines, source.text)


def _table_head(origin: _Text, source: Statement) -> tuple[str, ...]:
    """The head of the table that a row stands in, and the line below it."""
    at = source.line - 1
    while at > 0 and "|" in origin.lines[at - 1]:
        at -= 1
    head = tuple(line.strip() for line in origin.lines[at : at + 2])
    return head if at + 2 < source.line and _is_rule(head[1]) else ()


def _table_rule(origin: _Text, source: Statement) -> tuple[str, ...]:
    """The line below a row that is itself the head of a table."""
    below = [line.strip() for line in origin.lines[source.line : source.line + 1]]
    return tuple(line for line in below if _is_rule(line))


def _is_rule(line: str) -> bool:
    return "|" in line and "-" in line and set(line) <= set("|-: \t")


def _opens(statement: Statement) -> tuple[str, ...]:
    """The place of what stands under a heading, a label, a list item or the head of a table."""
    name = statement.key if statement.kind == "row" else label(statement.text)
    return (*statement.heading, name)


def _fence(origin: _Text, source: Statement) -> tuple[str, str] | None:
    """The marks that open and close the code around a line."""
    for line in reversed(origin.lines[: source.line - 1]):
        found = _FENCE.match(line)
        if found is not None:
            return line.rstrip(), found[0]
    return None


def _holds(result: _Text, tried: str, origin: _Text, source: Statement) -> bool:
    """Whether a text says all that the result did in its place, and of the rest only this."""
    now = read(result.path, tried.encode("utf-8", "surrogateescape"))
    had, has = Counter(map(_said, result.statements)), Counter(map(_said, now.statements))
    come = has - had
    if had - has or not come:
        return False
    known = {(s.kind, s.key) for s in (*origin.statements, *origin.reading.headings)}
    return (source.kind, source.key) in {(kind, key) for kind, key, _ in come} and all(
        (kind, key) in known for kind, key, _ in come
    )


def _said(statement: Statement) -> tuple[str, str, tuple[str, ...]]:
    return statement.kind, statement.key, statement.heading
