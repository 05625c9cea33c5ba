"""A review as Markdown, for a pull request or a mail. Nothing in it is markup of anybody else's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.characters import visible
from engine.diff import Row
from engine.ledger import Account
from engine.proposal import Proposal
from memui.report.words import (
    Gap,
    becomes,
    described,
    diffs,
    listings,
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
    for found in proposal.violations(index):
        yield f"\n- breaks a rule: {_plain(found.message)} ({found.code})"
    for drift in proposal.stale.get(index, ()):
        yield f"\n- {_code(drift.path)} {_plain(drift.why)}"
    account = proposal.accounts.get(index)
    if account is not None:
        yield from _ledger(account)
    for edit, diff in diffs(proposal, index):
        yield ""
        yield f"{_code(edit.path)}: {becomes(edit, diff)}"
        for note in diff.ends:
            yield f"\n{_plain(note)}"
        if diff.blocks:
            yield ""
            yield _fenced([_row(row) for row in shown_rows(diff)])
    if action.reason:
        yield ""
        yield f"The planner says: {_plain(action.reason)}"


def _ledger(account: Account) -> Iterator[str]:
    yield ""
    yield (
        f"kept {account.kept} · reworded {account.reworded} · moved {account.moved}"
        f" · dropped {len(account.dropped)} · new {len(account.new)}"
    )
    said = [
        (f"- **dropped** {_code(f'{e.source.path}:{e.source.line}')} {_plain(e.source.text)}")
        for e in account.dropped
        if e.source is not None
    ]
    said += [f"- **new** {_plain(e.result.text)}" for e in account.new if e.result is not None]
    if said:
        yield ""
        yield from said


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
    changed = [path for path in after if after[path] != before.get(path)]
    rows = [f"-{row[1:]}" for row in rows]
    for path in changed:
        if path in before:
            rows.append(f"-{before[path].text[1:]}")
        rows.append(f"+{after[path].text[1:]}")
    if rows:
        yield ""
        yield _fenced(rows)


def _row(row: Row | Gap) -> str:
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
