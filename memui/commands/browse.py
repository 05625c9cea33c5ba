"""`memui [STORE]` without a command: the screens, or a summary where there is no terminal."""

from __future__ import annotations

import argparse

from engine.errors import NotAStore
from memui.context import Context


def browse(context: Context, _asked: argparse.Namespace) -> int:
    """Open the browser."""
    if not context.console.is_terminal:
        return _summary(context)
    from memui.app import run_app

    try:
        root = context.root
    except NotAStore:
        return run_app(None, name=None, layout=None)
    return run_app(root, name=context.name, layout=context.layout)


def _summary(context: Context) -> int:
    """What there is, and the commands: for pipes and logs."""
    stores = context.stores()
    if context.json:
        context.console.json(
            {"stores": [{"name": s.name, "layout": str(s.layout), "root": s.root} for s in stores]}
        )
        return 0
    console = context.console
    for store in stores:
        listing = store.listing()
        waiting = len(store.plans())
        console.say(
            "{} ({}): {} memories in {}{}",
            store.name,
            str(store.layout),
            len(listing.memories),
            store.place.folder,
            f", {waiting} waiting plans" if waiting else "",
        )
    if not stores:
        console.say("{} holds no store yet.", context.root)
    console.tell("Without a terminal there are no screens. memui --help lists the commands.")
    return 0
