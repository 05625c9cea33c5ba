"""A proposal as people and programs read it without a screen."""

from __future__ import annotations

from typing import Any

from engine.errors import Violation
from engine.ledger import Account, Entry
from engine.plans import OpenedPlan
from engine.proposal import Proposal, Standing
from engine.review import Verdict
from memui.console import Style, Styled
from memui.context import Context, path_fields


def violation_json(found: Violation) -> dict[str, Any]:
    """One violation or warning; its action 1-based."""
    action = None if found.action is None else found.action + 1
    return {"code": found.code, "action": action, "message": found.message}


def account_json(account: Account) -> dict[str, Any]:
    """What one action keeps and drops."""
    return {
        "action": account.index + 1,
        "kept": account.kept,
        "reworded": account.reworded,
        "moved": account.moved,
        "dropped": [_lost(entry) for entry in account.dropped],
        "new": [
            {"line": e.result.line, "text": e.result.text, "flags": list(e.flags)}
            for e in account.new
            if e.result is not None
        ],
        "needs": [need + 1 for need in account.needs],
        "lossless": account.lossless,
    }


def _lost(entry: Entry) -> dict[str, Any]:
    source = entry.source
    if source is None:
        raise ValueError("a dropped statement has a source")
    return {
        **path_fields(source.path),
        "line": source.line,
        "text": source.text,
        "flags": list(entry.flags),
    }


def say_check(context: Context, opened: OpenedPlan, proposal: Proposal) -> None:
    """The whole of `memui check` for people."""
    console = context.console
    console.say("Plan {} for {}: {}", opened.saved.id, proposal.saved.store.name, _tally(proposal))
    say_rows(context, proposal, ledger=True)
    for found in (*opened.notices, *proposal.verdicts.warnings):
        where = "" if found.action is None else f"action {found.action + 1}: "
        console.say("{} {}{}", Styled("warning", "yellow"), where, found.message)
    whole = [v for v in proposal.verdicts.violations if v.action is None]
    for violation in whole:
        console.say("{} {} [{}]", Styled("invalid", "red"), violation.message, violation.code)


def _tally(proposal: Proposal) -> str:
    counts = proposal.counts()
    said = [f"{counts.total} {'action' if counts.total == 1 else 'actions'}"]
    for number, word in (
        (counts.undecided, "to decide"),
        (counts.approved, "approved"),
        (counts.rejected, "rejected"),
        (counts.applied, "applied"),
        (counts.invalid, "invalid"),
        (counts.stale, "changed on disk"),
    ):
        if number:
            said.append(f"{number} {word}")
    return ", ".join(said)


def say_rows(context: Context, proposal: Proposal, *, ledger: bool = False) -> None:
    """A row for every action; with its ledger on request."""
    console = context.console
    for index in proposal.rows():
        action = proposal.plan.actions[index]
        mark, style = _mark(proposal, index)
        console.say(
            "{} {}  {} {}{}",
            Styled(mark, style),
            str(index + 1).rjust(3),
            f"{action.action:<6}",
            describe_paths(proposal, index),
            Styled("".join(f"  [{flag}]" for flag in proposal.flags(index)), "yellow"),
        )
        if not ledger:
            continue
        for violation in proposal.violations(index):
            console.say(
                "         {} {} [{}]", Styled("invalid:", "red"), violation.message, violation.code
            )
        for drift in proposal.stale.get(index, ()):
            console.say("         {} {} {}", Styled("stale:", "red"), drift.path, drift.why)
        account = proposal.accounts.get(index)
        if account is None:
            run = proposal.applied.get(index + 1, "")
            console.say("         {}", Styled(f"applied in run {run}", "dim"))
            continue
        console.say(
            "         {}",
            Styled(
                f"kept {account.kept} · reworded {account.reworded} · moved {account.moved}"
                f" · dropped {len(account.dropped)} · new {len(account.new)}",
                "dim",
            ),
        )
        for entry in account.dropped:
            if entry.source is not None:
                where = f"{entry.source.path}:{entry.source.line}"
                console.say("         {} {}  {}", Styled("-", "red"), where, entry.source.text)
        for entry in account.new:
            if entry.result is not None:
                console.say("         {} {}", Styled("+", "green"), entry.result.text)


def describe_paths(proposal: Proposal, index: int) -> str:
    """What an action does to which paths, as one text."""
    action = proposal.plan.actions[index]
    if action.action == "merge":
        return f"{' + '.join(action.sources)} → {proposal.changes[index].target or action.target}"
    if action.action == "move":
        return f"{action.from_} → {proposal.changes[index].target or action.to}"
    return action.path


def _mark(proposal: Proposal, index: int) -> tuple[str, Style]:
    standing = proposal.standing(index)
    if standing is Standing.APPLIED:
        return "applied ", "dim"
    if standing is Standing.INVALID:
        return "invalid ", "red"
    if standing is Standing.STALE:
        return "stale   ", "red"
    verdict = proposal.verdict(index)
    styles: dict[Verdict, Style] = {Verdict.APPROVED: "green", Verdict.REJECTED: "red"}
    return f"{verdict:<8}", styles.get(verdict, "plain")
