"""A review as one HTML page: no script, no link, nothing fetched; text from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from engine.characters import visible
from engine.diff import Spans
from engine.ledger import Account
from engine.proposal import Proposal
from memui.report.words import (
    Gap,
    Head,
    Shown,
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

_SIGNS = {"same": " ", "removed": "−", "added": "+"}
_STYLE = """
:root { color-scheme: light dark; --edge: #8884; --add: #1a7f3722; --del: #cf222e22;
  --addw: #1a7f3755; --delw: #cf222e55; --warn: #9a6700; --dim: #777; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 0; display: inline; }
code, table.diff, pre { font: 13px/1.5 ui-monospace, monospace; }
section, details { border: 1px solid var(--edge); border-radius: 8px; margin: 1rem 0;
  padding: .7rem 1rem; }
summary { cursor: pointer; } .dim { color: var(--dim); } .flag { color: var(--warn);
  font-weight: 600; } .model { font-style: italic; color: var(--dim); }
table.diff { border-collapse: collapse; width: 100%; margin: .5rem 0; }
table.diff td { padding: 0 .5rem; vertical-align: top; white-space: pre-wrap;
  overflow-wrap: anywhere; }
table.diff td.n { color: var(--dim); text-align: right; width: 1%; white-space: nowrap;
  user-select: none; }
tr.added { background: var(--add); } tr.removed { background: var(--del); }
ins, del { text-decoration: none; font-weight: 700; border-bottom: 2px solid; }
tr.added ins { background: var(--addw); } tr.removed del { background: var(--delw); }
tr.block td { color: var(--dim); font-style: italic; padding-top: .4rem; }
tr.left { opacity: .55; }
td, li, p, code, ins, del { unicode-bidi: isolate; }
mark { background: #bf8700; color: #000; border-radius: 3px; font-weight: 700; }
@media print { details { break-inside: avoid; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(proposal: Proposal) -> str:
    """The whole review as one file."""
    return "".join(_parts(proposal))


def _parts(proposal: Proposal) -> Iterator[str]:
    saved = proposal.saved
    title = f"Review of plan {saved.id} for {saved.store.name}"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_bare(title)}</title><style>{_STYLE}</style></head><body>\n"
    yield f"<h1>{_text(title)}</h1>\n<p>{_text(tally(proposal))}. "
    yield f"Planner: {_text(saved.planner)}.</p>\n"
    if saved.plan.summary:
        yield f'<p class="model">The planner says: {_text(saved.plan.summary)}</p>\n'
    yield from _flagged(of_the_plan(proposal))
    for index in proposal.rows():
        yield from _action(proposal, index)
    yield from _listing(proposal)
    yield "</body></html>\n"


def _action(proposal: Proposal, index: int) -> Iterator[str]:
    action = proposal.plan.actions[index]
    flags = "".join(f' · <span class="flag">{_text(f)}</span>' for f in proposal.flags(index))
    yield f"<details open><summary><h2>{index + 1}. {action.action} "
    yield f"<code>{_text(described(proposal, index))}</code></h2> "
    yield f"<b>{_text(stands(proposal, index))}</b>{flags}</summary>\n"
    reason = proposal.saved.review.decisions[index].reason
    if reason:
        yield f"<p>Your reason: {_text(reason)}</p>\n"
    yield from _flagged(obstacles(proposal, index))
    account = proposal.accounts.get(index)
    if account is not None:
        yield f'<p class="dim">{account_line(account)}</p>\n'
        yield from _ledger(account)
    for shown in diffs(proposal, index):
        yield f"<p><code>{_text(shown.edit.path)}</code> "
        yield f'<span class="dim">{_text(becomes(shown))}</span>'
        notes = (f' <span class="flag">{_text(note)}</span>' for note in shown.diff.ends)
        yield "".join(notes) + "</p>\n"
        if shown.diff.blocks:
            yield '<table class="diff">\n'
            yield from _rows(shown)
            yield "</table>\n"
    if action.reason:
        yield f'<p class="model">The planner says: {_text(action.reason)}</p>\n'
    yield "</details>\n"


def _flagged(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield f'<p class="flag">{_text(text)}</p>\n'


def _ledger(account: Account) -> Iterator[str]:
    items = []
    for told in ledger(account):
        changed = f"{told.link}{_text(told.becomes)}" if told.becomes else ""
        more = f' <span class="dim">({_text(told.more)})</span>' if told.more else ""
        where = f"<code>{_text(told.where)}</code> {_text(told.text)}{changed}{more}"
        items.append(f'<li><span class="flag">{told.fate}</span> {where}</li>')
    if items:
        yield f"<ul>{''.join(items)}</ul>\n"


def _listing(proposal: Proposal) -> Iterator[str]:
    now, then = listings(proposal)
    yield "<section><h2>What the agent will see</h2>\n"
    yield f"<p>The injected listing: about {now.tokens} tokens now, {then.tokens} with what is "
    yield 'approved <span class="dim">(UTF-8 bytes / 4)</span>.</p>\n<table class="diff">\n'
    before, after = now.by_path(), then.by_path()
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and old.text == new.text:
            yield f'<tr><td class="n"> </td><td>{_text(new.text)}</td></tr>\n'
            continue
        if old is not None:
            yield f'<tr class="removed"><td class="n">−</td><td>{_text(old.text)}</td></tr>\n'
        if new is not None:
            yield f'<tr class="added"><td class="n">+</td><td>{_text(new.text)}</td></tr>\n'
    yield "</table></section>\n"


def _rows(shown: Shown) -> Iterator[str]:
    left = False
    for row in shown_rows(shown):
        if isinstance(row, Gap):
            yield f'<tr><td class="n">⋯</td><td class="dim">{row.lines} unchanged</td></tr>\n'
            continue
        if isinstance(row, Head):
            left = row.left
            yield f'<tr class="block"><td class="n"></td><td>{row.text}</td></tr>\n'
            continue
        number = row.old if row.kind == "removed" else row.new
        kind = "" if row.kind == "same" else f' class="{"left" if left else row.kind}"'
        said = _words(row.text, row.words, "ins" if row.kind == "added" else "del")
        yield f'<tr{kind}><td class="n">{number} {_SIGNS[row.kind]}</td><td>{said}</td></tr>\n'


def _words(text: str, spans: Spans, tag: str) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [_text(text[at:start]), f"<{tag}>{_text(text[start:end])}</{tag}>"]
        at = end
    return "".join([*parts, _text(text[at:])])


def _text(text: str) -> str:
    """Text from outside, escaped, its hidden characters marked."""
    shown = visible(text, keep="\t")
    parts, at = [], 0
    for start, end in shown.marks:
        parts += [escape(shown[at:start]), f"<mark>{escape(shown[start:end])}</mark>"]
        at = end
    return "".join([*parts, escape(shown[at:])])


def _bare(text: str) -> str:
    return escape(str(visible(text)))
