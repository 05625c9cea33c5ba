"""`memui demo`: everything on a made store, offline, in a temporary folder."""

from __future__ import annotations

import argparse
import os
import tempfile

from engine.plans import open_plan
from engine.store import open_store
from memui.context import Context
from memui.demo import PLAN, build
from memui.pasting import command_line


def demo(context: Context, _asked: argparse.Namespace) -> int:
    """Make the store and open its review; without a terminal say what to try."""
    folder = tempfile.mkdtemp(prefix="memui-demo-")
    root = build(folder)
    plan = os.path.join(folder, PLAN)
    store = open_store(root)
    console = context.console
    if context.json:
        console.json({"root": root, "plan": plan})
        return 0
    if console.is_terminal:
        from memui.app import run_app

        opened = open_plan(store, plan)
        code = run_app(root, name=None, layout=None, opened=opened)
        console.tell("The demo's store is still there: {}", command_line(root, []))
        return code
    console.say("A made store of {} memories: {}", len(store.listing().memories), root)
    console.say("A plan that a model made for it:   {}", plan)
    console.say("Try:")
    for words in (
        ["list"],
        ["check", plan],
        ["apply", plan, "--approve", "2,6", "--yes"],
        ["log"],
        ["undo", "--yes"],
    ):
        console.say("  {}", command_line(root, words))
    return 0
