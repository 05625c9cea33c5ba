"""A proposal as people and programs read it without a screen."""

from __future__ import annotations

from engine.errors import run_number
from engine.plans import OpenedPlan
from engine.proposal import Proposal, Standing
from engine.review import Verdict
from memui.console import Style, Styled
from memui.context import Context
from memui.report.words import described, tally


def say_check(context: Context, opened: OpenedPlan, proposal: Proposal) -> None:
    """The whole of `memui check` for people."""
    console = context.console
    console.say("Plan {} for {}: {}", opened.saved.id, proposal.saved.store.name, tally(proposal))
    say_rows(context, proposal, ledger=True)
    for found in (*opened.notices, *proposal.verdicts.warnings):
        where = "" if found.action is None else f"action {found.action + 1}: "
        console.say("{} {}{}", Styled("warning", "yellow"), where, found.message)
    whole = [v for v in proposal.verdicts.violations if v.action is None]
    for violation in whole:
        console.say("{} {} [{}]", Styled("invalid", "red"), violation.message, violation.code)


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
            described(proposal, index),
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
            console.say("         {}", Styled(f"applied in run {run_number(run)}", "dim"))
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
