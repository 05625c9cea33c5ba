"""`memui [STORE]` without a command: the screens, or a summary where there is no terminal."""

from __future__ import annotations

import argparse
from typing import Any

from engine.errors import NotAStore
from engine.store import Store
from memui.context import Context
from memui.ending import EXIT_OK
from memui.grammar import listed


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
    console = context.console
    why = ""
    try:
        stores = context.stores()
    except NotAStore as error:
        if context.spec is not None:
            raise
        stores, why = (), str(error)
    if context.json:
        console.json({"stores": [_store_json(store) for store in stores]})
        return EXIT_OK
    for store in stores:
        waiting = len(store.plans())
        console.say(
            "{} ({}): {} memories in {}{}",
            store.name,
            str(store.layout),
            len(store.listing().memories),
            store.place.folder,
            f", waiting plans: {waiting}" if waiting else "",
        )
        context.warn_unfinished(store)
    if not stores:
        console.say("{}", why or f"{context.root} holds no store yet.")
    console.say()
    console.say("Without a terminal there are no screens. Commands:")
    console.table([f"  memui {name}", says] for name, says in listed())
    console.say()
    console.say("memui --help says more, and memui demo shows everything on a made store.")
    return EXIT_OK


def _store_json(store: Store) -> dict[str, Any]:
    return {
        "name": store.name,
        "layout": str(store.layout),
        "root": store.root,
        "folder": store.place.folder,
        "memories": len(store.listing().memories),
        "plans": len(store.plans()),
    }
