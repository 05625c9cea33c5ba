"""A review as Markdown, for a pull request or a mail. Nothing in it is markup of anybody else's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.characters import visible
from engine.diff import Row
from engine.ledger import Account
from engine.proposal import Proposal
from memui.report.words import (
    Gap,
    Head,
    account_line,
    becomes,
    described,
    diffs,
    ledger,
    listings,
    obstacles,
    of_the_plan,
    shown_rows,
    stands,
    tally,
)

_TICKS = re.compile(r"`+")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&@$:])")
_SIGNS = {"same": " ", "removed": "-", "added": "+"}


def markdown(proposal: Proposal) -> str:
    """The whole review."""
    return "\n".join(_lines(proposal)) + "\n"


def _lines(proposal: Proposal) -> Iterator[str]:
    saved = proposal.saved
    yield f"# Review of plan {saved.id} for {_code(saved.store.name)}"
    yield ""
    yield f"{tally(proposal)}. Planner: {_code(saved.planner)}."
    if saved.plan.summary:
        yield f"The planner says: {_plain(saved.plan.summary)}"
    yield from _items(of_the_plan(proposal))
    for index in proposal.rows():
        yield from _action(proposal, index)
    yield from _listing(proposal)


def _action(proposal: Proposal, index: int) -> Iterator[str]:
    action = proposal.plan.actions[index]
    yield ""
    yield f"## {index + 1}. {action.action} {_code(described(proposal, index))}"
    yield ""
    flags = "".join(f" · **{_plain(flag)}**" for flag in proposal.flags(index))
    yield f"{stands(proposal, index)}{flags}"
    reason = proposal.saved.review.decisions[index].reason
    if reason:
        yield f"\nYour reason: {_plain(reason)}"
    yield from _items(obstacles(proposal, index))
    account = proposal.accounts.get(index)
    if account is not None:
        yield ""
        yield account_line(account)
        yield from _ledger(account)
    for shown in diffs(proposal, index):
        yield ""
        yield f"{_code(shown.edit.path)}: {_plain(becomes(shown))}"
        for note in shown.diff.ends:
            yield f"\n{_plain(note)}"
        if shown.diff.blocks:
            yield ""
            yield _fenced([_row(row) for row in shown_rows(shown)])
    if action.reason:
        yield ""
        yield f"The planner says: {_plain(action.reason)}"


def _items(texts: Iterable[str]) -> Iterator[str]:
    """A list, with a blank line before it."""
    for number, text in enumerate(texts):
        if not number:
            yield ""
        yield f"- {_plain(text)}"


def _ledger(account: Account) -> Iterator[str]:
    for number, told in enumerate(ledger(account)):
        if not number:
            yield ""
        changed = f"{told.link}{_plain(told.becomes)}" if told.becomes else ""
        more = f" ({_plain(told.more)})" if told.more else ""
        yield f"- **{told.fate}** {_code(told.where)} {_plain(told.text)}{changed}{more}"


def _listing(proposal: Proposal) -> Iterator[str]:
    now, then = listings(proposal)
    yield ""
    yield "## What the agent will see"
    yield ""
    yield (
        f"The injected listing: about {now.tokens} tokens now, {then.tokens} with what is approved"
        " (UTF-8 bytes / 4)."
    )
    before, after = now.by_path(), then.by_path()
    rows = [f"- {before[path].text.removeprefix('- ')}" for path in before if path not in after]
    changed = [p for p in after if p not in before or after[p].text != before[p].text]
    rows = [f"-{row[1:]}" for row in rows]
    for path in changed:
        if path in before:
            rows.append(f"-{before[path].text[1:]}")
        rows.append(f"+{after[path].text[1:]}")
    if rows:
        yield ""
        yield _fenced(rows)


def _row(row: Row | Gap | Head) -> str:
    if isinstance(row, Head):
        return f"@@ {row.text} @@"
    return f"  … {row.lines} unchanged" if isinstance(row, Gap) else _SIGNS[row.kind] + row.text


def _fenced(rows: list[str]) -> str:
    """Lines as a diff in a fence that is longer than any in them."""
    shown = [str(visible(row)) for row in rows]
    longest = max((len(run) for row in shown for run in _TICKS.findall(row)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}diff", *shown, fence])


def _code(text: str) -> str:
    """A text as a code span, whatever ticks it holds."""
    shown = str(visible(text))
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    edge = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def _plain(text: str) -> str:
    """A text as a paragraph of its own words: no mark in it means anything."""
    return _SPECIAL.sub(r"\\\1", str(visible(text)))
