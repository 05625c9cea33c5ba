"""The fact ledger of one change, as a line and as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from engine.diff import changed_words
from engine.ledger import Account, DeadLink, Entry, Fate
from engine.statements import Statement
from memui.presentation import Line, line, runs
from memui.presentation.pages import Lines, Page, Part, Stretch
from memui.widgets.diff_notes import Check, flag_words, no_check

_ASIDE: Final = "    "


def tally(account: Account) -> Line:
    """The ledger in one line: what is lost stands out."""
    counts = (
        ("kept", account.kept, "plain"),
        ("reworded", account.reworded, "plain"),
        ("moved", account.moved, "plain"),
        ("dropped", len(account.dropped), "note-lost"),
        ("new", len(account.new), "note-new"),
    )
    parts: list[tuple[str, str]] = []
    for word, number, style in counts:
        if parts:
            parts.append((" · ", "faint"))
        parts.append((f"{word} {number}", style if number else "faint"))
    if account.dead_links:
        parts += [(" · ", "faint"), (f"dead links {len(account.dead_links)}", "note-lost")]
    if account.lossless:
        parts.append(("  lossless", "good"))
    return line(*parts)


def ledger_page(
    account: Account,
    approved: frozenset[int],
    *,
    most: int | None = None,
    above: Sequence[Line] = (),
    check: Check = no_check,
) -> Page:
    """Every statement by its fate, the gravest first, at most so many of each; `above` it lines."""
    parts: list[Part] = [*above]
    blocks: list[range] = []
    length = len(parts)
    groups = (
        (Fate.DROPPED, "Dropped", "nothing says it any more"),
        (Fate.NEW, "New", "no memory of this change says it"),
        (Fate.REWORDED, "Reworded", "the same in other words"),
        (Fate.MOVED, "Moved", "lives on elsewhere"),
        (Fate.KEPT, "Kept", ""),
    )
    for fate, title, means in groups:
        entries = account.of(fate)
        if not entries:
            continue
        check()
        if parts:
            parts.append(line())
            length += 1
        head = ((f"{title} {len(entries)}", "bold"), (f"  {means}", "dim"))
        made = _stretch(entries[:most], approved)
        parts.extend((line(*head, gutter=" "), made))
        size = 1 + len(made)
        if most is not None and len(entries) > most:
            said = f"⋯ and {len(entries) - most} more: l shows them all"
            parts.append(line((said, "note"), gutter=_ASIDE))
            size += 1
        blocks.append(range(length, length + size))
        length += size
    if account.dead_links:
        number = f"Dead links {len(account.dead_links)}"
        says = "  what they point at would be gone"
        added = [line((number, "bold"), (says, "dim"), gutter=" ")]
        added += _dead(account.dead_links[:most])
        parts.extend([line(), *added] if parts else added)
        length += bool(length)
        blocks.append(range(length, length + len(added)))
    if not blocks:
        parts.append(line(("It takes nothing away and says nothing new.", "dim"), gutter=" "))
    return Page(Lines(parts), tuple(blocks))


def _dead(found: Sequence[DeadLink]) -> Iterator[Line]:
    for link in found:
        where = f"{link.path}:{link.line}"
        yield line((where, "plain"), (" → ", "dim"), (link.to, "plain"), gutter="  ✗ ")


def _stretch(entries: Sequence[Entry], approved: frozenset[int]) -> Stretch:
    """The lines of entries."""
    made = [make for entry in entries for make in _entry(entry, approved)]
    # A text that is not printable says nothing of how tall its line is.
    return Stretch(lambda at: made[at](), (["\n"] * len(made),), len(_ASIDE))


Make = Callable[[], Line]
"""Makes a line when somebody looks at it."""


def _entry(entry: Entry, approved: frozenset[int]) -> Iterator[Make]:
    source, result = entry.source, entry.result
    match entry.fate:
        case Fate.DROPPED if source is not None:
            yield partial(_said, "✗", source, "lost", result)
            yield partial(_where, source)
            if result is not None:
                yield partial(line, ("in its place:", "note"), gutter=_ASIDE)
                yield partial(_said, "+", result, "added", source)
            if entry.needs is not None and entry.needs not in approved:
                other = f"Action {entry.needs + 1} keeps it, if you approve that one too."
                yield partial(line, (other, "note"), gutter=_ASIDE)
        case Fate.NEW if result is not None:
            yield partial(_said, "+", result, "added")
            yield partial(_where, result)
        case Fate.REWORDED if source is not None and result is not None:
            yield partial(_said, "-", source, "removed", result)
            yield partial(_said, "+", result, "added", source)
            yield partial(_where, source)
        case Fate.MOVED if source is not None:
            yield partial(_said, "↳", source, "plain")
            yield partial(_where, source, entry)
        case _:
            said = source or result
            if said is not None:
                yield partial(_said, "✓", said, "dim")
    if entry.flags:
        yield partial(line, (f"! {flag_words(entry.flags)}", "note-new"), gutter=_ASIDE)


def _said(sign: str, statement: Statement, style: str, other: Statement | None = None) -> Line:
    """A statement, with the words marked that differ from another one."""
    words = () if other is None else changed_words(statement.text, other.text)[0]
    text = runs(statement.text, style, words)
    return Line(text, f"  {sign} ", None if style in {"plain", "dim"} else style)


def _where(statement: Statement, entry: Entry | None = None) -> Line:
    parts = [(f"{statement.path}:{statement.line}", "dim")]
    if entry is not None and entry.result is not None:
        parts += [(" → ", "dim"), (f"{entry.result.path}:{entry.result.line}", "dim")]
        if entry.needs is not None:
            parts.append((f", which action {entry.needs + 1} writes", "note"))
    return line(*parts, gutter=_ASIDE)
