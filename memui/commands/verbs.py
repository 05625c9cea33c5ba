"""What a command line says of the actions of a plan: every verb of the review, without a screen.

All of it is checked before any of it is kept: numbers, texts and rules. Nothing here writes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from engine import decisions
from engine.blocks import count_blocks
from engine.consolidation import decide
from engine.errors import AlreadyApplied, InvalidPlan, Refused, Violation
from engine.proposal import Proposal
from engine.review import Verdict
from memui.commands import given
from memui.context import Context
from memui.ending import UsageError
from memui.spans import numbers

OPTIONS: Final = ("approve", "reject", "reason", "edit", "leave", "reset")
"""The options of `memui apply` that say something of actions."""
_NUMBERED: Final = re.compile(r"([0-9]{1,6})([=:])(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Said:
    """What was said, by action (0-based). `edit` maps to files, `-` is standard input."""

    approve: Literal["all"] | frozenset[int] = frozenset()
    reject: frozenset[int] = frozenset()
    reasons: dict[int, str] = field(default_factory=dict)
    edit: dict[int, str] = field(default_factory=dict)
    leave: dict[int, frozenset[int]] = field(default_factory=dict)
    reset: frozenset[int] = frozenset()

    @property
    def is_all(self) -> bool:
        """Whether everything is approved at once, and nothing by its number."""
        return self.approve == "all"


def words(asked: argparse.Namespace) -> list[str]:
    """The options as they were given, to be said again."""
    return [
        word
        for name in OPTIONS
        for value in getattr(asked, name) or ()
        for word in (f"--{name}", value)
    ]


def parse(asked: argparse.Namespace, proposal: Proposal) -> Said:
    """The options of a command line, as far as they can be judged alone. Raises `UsageError`."""
    total = len(proposal.plan.actions)
    everything = asked.approve == ["all"]
    said = Said(
        "all" if everything else _numbers("--approve", asked.approve, total),
        _numbers("--reject", asked.reject, total),
        _numbered("--reason", asked.reason, "=", total),
        _numbered("--edit", asked.edit, "=", total),
        {
            index: _blocks(index, text)
            for index, text in _numbered("--leave", asked.leave, ":", total).items()
        },
        _numbers("--reset", asked.reset, total),
    )
    _refuse_both(proposal, said)
    return said


def _numbers(option: str, texts: Sequence[str] | None, total: int) -> frozenset[int]:
    found: set[int] = set()
    for text in texts or ():
        if not text.strip(" ,"):
            raise UsageError(f"{option} names no action.", hint="Write them as 1,3-5.")
        for part in text.split(","):
            some = numbers(part, total)
            if twice := found & some:
                raise UsageError(
                    f"Action {min(twice) + 1} stands twice in {option}.", hint="Name it once."
                )
            found |= some
    return frozenset(found)


def _numbered(option: str, texts: Sequence[str] | None, sign: str, total: int) -> dict[int, str]:
    """Action (0-based) -> what an option says of it."""
    found: dict[int, str] = {}
    for text in texts or ():
        match = _NUMBERED.fullmatch(text)
        if match is None or match[2] != sign or not match[3]:
            example = {"--reason": "2=TEXT", "--edit": "4=FILE", "--leave": "4:2,3"}[option]
            raise UsageError(f"{option} {text!r} is not understood.", hint=f"Write {example}.")
        (index,) = numbers(match[1], total)
        if index in found:
            raise UsageError(
                f"Action {index + 1} stands twice in {option}.", hint="Say one thing of each."
            )
        found[index] = match[3]
    return found


def is_text(words: str) -> bool:
    """Whether what was typed is valid Unicode, so that a record can hold it."""
    return not any("\ud800" <= char <= "\udfff" for char in words)


def _blocks(index: int, text: str) -> frozenset[int]:
    if text == "none":
        return frozenset()
    try:
        return numbers(text)
    except UsageError:
        raise UsageError(
            f"--leave {index + 1}:{text} names no blocks.",
            hint=f"Write {index + 1}:2,3, or {index + 1}:none to take them all.",
        ) from None


def _refuse_both(proposal: Proposal, said: Said) -> None:
    """Raises `UsageError` for what cannot be meant together."""
    approved = frozenset() if said.approve == "all" else said.approve
    owners = {proposal.owner(index): index for index in approved}
    for index in sorted(said.reject):
        other = owners.get(proposal.owner(index))
        if other == index:
            raise UsageError(
                f"Action {index + 1} is both approved and rejected.", hint="Name it once."
            )
        if other is not None:
            first, last = sorted((index, other))
            raise UsageError(
                f"Actions {first + 1} and {last + 1} have one verdict, and they are both approved"
                " and rejected.",
                hint="Name one of them.",
            )
    rejected = {proposal.owner(index) for index in said.reject}
    for index in sorted(said.reasons):
        if not is_text(said.reasons[index]):
            raise UsageError(f"The reason for action {index + 1} is not UTF-8.")
        owner = proposal.owner(index)
        already = owner not in owners and proposal.verdict(owner) is Verdict.REJECTED
        if owner not in rejected and (not already or index in said.reset):
            raise UsageError(
                f"Action {index + 1} is not rejected, so there is no reason to keep.",
                hint=f"Add --reject {index + 1}, or leave --reason out.",
            )
    if sum(source == "-" for source in said.edit.values()) > 1:
        raise UsageError("Standard input can be the text of one action only.")


def take(context: Context, proposal: Proposal, said: Said) -> Proposal:
    """The proposal with everything that was said; nothing is written yet.

    Edits come first, then the blocks of what was edited, then verdicts on what came of both.
    Raises `UsageError`, `AlreadyApplied`, `StorageError`, `InvalidPlan`.
    """
    before = proposal
    approved = () if said.approve == "all" else said.approve
    named = {*said.edit, *said.leave, *said.reset, *said.reject, *approved}
    for index in sorted(named):
        run = proposal.applied.get(proposal.owner(index) + 1)
        if run is not None:
            raise AlreadyApplied(
                f"Action {index + 1} was applied in run {run}.",
                hint=f"{context.command('undo', run)} takes it back; then it waits again.",
            )
    for index in sorted(said.reset):
        review = proposal.saved.review.edit(proposal.owner(index), None)
        proposal = proposal.reviewed(review)
    for index, source in sorted(said.edit.items()):
        proposal = _edited(context, proposal, index, source)
    for index, blocks in sorted(said.leave.items()):
        proposal = _left(proposal, index, blocks)
    _refuse_broken(before, proposal, {*said.edit, *said.leave})
    reasons = {proposal.owner(index): text for index, text in said.reasons.items()}
    reject = said.reject | reasons.keys()
    return decide(proposal, approve=said.approve, reject=reject, reasons=reasons)


def _edited(context: Context, proposal: Proposal, index: int, source: str) -> Proposal:
    try:
        now = decisions.text(proposal, index)
        text = _text(context, index, source)
        if text == now:
            return proposal  # its verdict holds
        return proposal.reviewed(decisions.edit(proposal, index, text))
    except Refused as refused:
        raise UsageError(
            f"Action {index + 1} cannot be edited. {refused}", hint="Nothing was changed."
        ) from None


def _left(proposal: Proposal, index: int, blocks: Collection[int]) -> Proposal:
    there = count_blocks(proposal.whole_changes[index])
    beyond = [number for number in blocks if number >= there]
    if there and beyond:
        raise UsageError(
            f"Action {index + 1} has no block {min(beyond) + 1}; it has {there}.",
            hint="Nothing was changed. memui export numbers them.",
        )
    try:
        for number in sorted({*blocks} ^ {*proposal.saved.review.decisions[index].left}):
            review, _ = decisions.block(proposal, index, number)
            proposal = proposal.reviewed(review)
    except Refused as refused:
        raise UsageError(f"Action {index + 1}: {refused}", hint="Nothing was changed.") from None
    return proposal


def _text(context: Context, index: int, source: str) -> str:
    """The text that a person gives for an action. Raises `StorageError`, `InvalidPlan`."""
    if source == "-" and given.is_typed():
        context.console.tell(
            "Write the result of action {}; Ctrl-D on a line of its own ends it.", index + 1
        )
    data = given.read(source)
    try:
        return data.decode()
    except UnicodeDecodeError:
        named = "standard input" if source == "-" else source
        raise InvalidPlan(
            "validation",
            [Violation("content-encoding", f"{named} is not UTF-8", index)],
            hint="Nothing was changed. Save the text as UTF-8 and give it again.",
        ) from None


def _refuse_broken(before: Proposal, after: Proposal, touched: Collection[int]) -> None:
    """Raises `InvalidPlan` for what breaks a rule now that an action was edited or left in part."""
    known = set(before.verdicts.violations)
    broken = [
        found
        for found in after.verdicts.violations
        if found.action in touched or (touched and found not in known)
    ]
    if broken:
        raise InvalidPlan("validation", broken, hint="Nothing was changed.")
