"""The fact ledger of one change, as a line and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.diff import changed_words
from engine.ledger import Account, Entry, Fate
from engine.statements import Statement
from memui.presentation import Line, Run, line, runs
from memui.widgets.diff_notes import flag_words
from memui.widgets.page_view import Lines, Page

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
    if account.lossless:
        parts.append(("  lossless", "good"))
    return line(*parts)


def ledger_page(account: Account, approved: frozenset[int]) -> Page:
    """Every statement by its fate, the gravest first."""
    lines: list[Line] = []
    blocks: list[range] = []
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
        if lines:
            lines.append(line())
        start = len(lines)
        head = ((f"{title} {len(entries)}", "bold"), (f"  {means}", "dim"))
        lines.append(line(*head, gutter=" "))
        for entry in entries:
            lines.extend(_entry(entry, approved))
        blocks.append(range(start, len(lines)))
    if not lines:
        lines.append(line(("It takes nothing away and says nothing new.", "dim"), gutter=" "))
    return Page(Lines(lines), tuple(blocks))


def _entry(entry: Entry, approved: frozenset[int]) -> Iterator[Line]:
    source, result = entry.source, entry.result
    pair = source is not None and result is not None
    old, new = changed_words(source.text, result.text) if source and result else ((), ())
    match entry.fate:
        case Fate.DROPPED if source is not None:
            yield _said("✗", source, "lost", old)
            yield _where(source)
            if result is not None:
                yield line(("in its place:", "note"), gutter=_ASIDE)
                yield _said("+", result, "added", new)
            if entry.needs is not None and entry.needs not in approved:
                other = f"Action {entry.needs + 1} keeps it, if you approve that one too."
                yield line((other, "note"), gutter=_ASIDE)
        case Fate.NEW if result is not None:
            yield _said("+", result, "added")
            yield _where(result)
        case Fate.REWORDED if pair and source is not None and result is not None:
            yield _said("-", source, "removed", old)
            yield _said("+", result, "added", new)
            yield _where(source)
        case Fate.MOVED if source is not None:
            yield _said("↳", source, "plain")
            yield _where(source, entry)
        case _:
            said = source or result
            if said is not None:
                yield _said("✓", said, "dim")
    if entry.flags:
        yield line((f"! {flag_words(entry.flags)}", "note-new"), gutter=_ASIDE)


def _said(
    sign: str, statement: Statement, style: str, words: tuple[tuple[int, int], ...] = ()
) -> Line:
    text: tuple[Run, ...] = runs(statement.text, style, words)
    return Line(text, f"  {sign} ", None if style in {"plain", "dim"} else style)


def _where(statement: Statement, entry: Entry | None = None) -> Line:
    parts = [(f"{statement.path}:{statement.line}", "dim")]
    if entry is not None and entry.result is not None:
        parts += [(" → ", "dim"), (f"{entry.result.path}:{entry.result.line}", "dim")]
        if entry.needs is not None:
            parts.append((f", which action {entry.needs + 1} writes", "note"))
    return line(*parts, gutter=_ASIDE)
