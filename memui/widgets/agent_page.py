"""What the agent sees each turn, before and after: the listing, its cost, what is wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from engine.diff import changed_words
from engine.injected import BYTES_A_TOKEN, LONG, Injected
from engine.injected import Line as Listed
from engine.proposal import Proposal
from memui.presentation import Line, count, line, runs
from memui.presentation.pages import Lines, Page, Part, Stretch

_ASIDE: Final = "    "
_WORDS: Final = {
    "no-description": "no description: the agent is told the first line of the text",
    "vague": "too vague to choose it by",
    "duplicate": "another memory is described the same",
    "long": f"over {LONG} characters: costs more each turn than it tells",
}


def listings(proposal: Proposal, index: int) -> tuple[Injected, Injected]:
    """The listing now, and if exactly the approved actions and this one ran."""
    own = {index, *proposal.changes[index].folded}
    if index + 1 in proposal.applied:
        return proposal.listing, proposal.listing
    return proposal.listing, proposal.listing_if(proposal.approved | own)


def agent_lines(proposal: Proposal, index: int) -> list[Line]:
    """What the action changes of the listing, and what that costs."""
    return [*_cost(*listings(proposal, index)), *_changed(proposal, index)]


def _cost(before: Injected, after: Injected) -> Iterator[Line]:
    more = after.tokens - before.tokens
    sign = "+" if more > 0 else "−" if more < 0 else "±"
    cost = f"{before.tokens} → {after.tokens} tokens a turn"
    memories = f"{len(before.lines)} → {count(len(after.lines), 'memory', 'memories')}"
    yield line((cost, "bold"), (f"  {sign}{abs(more)} · {memories}", "dim"), gutter=" ")


def _changed(proposal: Proposal, index: int) -> Iterator[Line]:
    before, after = (listing.by_path() for listing in listings(proposal, index))
    paths = sorted({edit.path for edit in proposal.changes[index].edits})
    different = [path for path in paths if before.get(path) != after.get(path)]
    for path in different:
        old, new = before.get(path), after.get(path)
        if old is not None and (new is None or old.text != new.text):
            yield _said("-", old, "removed", new)
        if new is not None:
            same = old is not None and old.text == new.text
            yield _said(" ", new, "plain") if same else _said("+", new, "added", old)
            yield from _flags(new)
    if not different:
        yield line(("It changes nothing that the agent sees each turn.", "dim"), gutter=" ")


def _said(sign: str, listed: Listed, style: str, other: Listed | None = None) -> Line:
    text = listed.text.removeprefix("- ")
    words = () if other is None else changed_words(text, other.text.removeprefix("- "))[0]
    return Line(runs(text, style, words), f" {sign} ", None if style in {"plain", "dim"} else style)


def _flags(listed: Listed) -> Iterator[Line]:
    for flag in listed.flags:
        yield line((f"! {_WORDS[flag]}", "note-new"), gutter=_ASIDE)


def agent_page(proposal: Proposal, index: int) -> Page:
    """The listing before and after, then the whole of it as it would be."""
    _, after = listings(proposal, index)
    said = f"An estimate: {BYTES_A_TOKEN} bytes a token. Counted with all that is approved."
    if index + 1 in proposal.applied:
        said = "As it is now: this action is applied."
    head = [*agent_lines(proposal, index), line((said, "dim"), gutter=" ")]
    parts: list[Part] = [*head, line(), line(("The whole listing then", "bold"), gutter=" ")]
    made: list[Callable[[], Line]] = []
    for listed in after.lines:
        made.append(partial(_said, " ", listed, "plain"))
        made += [partial(_same, flagged) for flagged in _flags(listed)]
    # A text that is not printable says nothing of how tall its line is.
    parts.append(Stretch(lambda at: made[at](), (["\n"] * len(made),), len(_ASIDE)))
    return Page(Lines(parts))


def _same(made: Line) -> Line:
    return made
