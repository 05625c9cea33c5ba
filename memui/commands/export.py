"""`memui export`: the review of a plan for people and programs without a terminal."""

from __future__ import annotations

import argparse
import json

from engine.consolidation import examine
from engine.plans import open_plan
from engine.proposal import Proposal
from memui.commands import output
from memui.context import Context
from memui.ending import EXIT_OK


def export(context: Context, asked: argparse.Namespace) -> int:
    """`memui export [PLAN] --format md|html|patch|json [-o FILE]`. Changes nothing."""
    store = context.store()
    if asked.output not in {None, "-"}:
        output.refuse(store, asked.output, output.Kind.REVIEW, force=asked.force)
    name: str = "json" if context.json else asked.format or _by_ending(asked.output) or "md"
    proposal = examine(store, open_plan(store, asked.plan).saved)
    data = _rendered(proposal, name)
    if asked.output not in {None, "-"}:
        output.write(asked.output, data)
        context.console.tell("Wrote {}.", asked.output)
    elif context.console.is_screen:
        # On a terminal every line is made safe to see; a patch is for git only in a file or a pipe.
        for line in data.decode("utf-8", "surrogateescape").rstrip("\n").split("\n"):
            context.console.say("{}", line)
    else:
        context.console.raw(data)
    return EXIT_OK


def _by_ending(file: str | None) -> str | None:
    """The format that a file's name asks for."""
    ending = (file or "").rpartition(".")[2].lower()
    named = {"md": "md", "markdown": "md", "html": "html", "htm": "html", "patch": "patch"}
    return {**named, "diff": "patch", "json": "json"}.get(ending)


def _rendered(proposal: Proposal, name: str) -> bytes:
    if name == "patch":
        from memui.report.patch import patches

        return patches(proposal)
    if name == "html":
        from memui.report.page import page

        return page(proposal).encode("utf-8", "backslashreplace")
    if name == "json":
        from memui.report.values import proposal_json

        return json.dumps(proposal_json(proposal), ensure_ascii=True, indent=1).encode() + b"\n"
    from memui.report.markdown import markdown

    return markdown(proposal).encode("utf-8", "backslashreplace")
