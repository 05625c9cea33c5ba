"""Looking: list, show, search, log, doctor. They lock nothing and change nothing."""

from __future__ import annotations

import argparse
from typing import Any

from engine.documents import WARNINGS, digest, parse
from engine.listing import Listing
from memui.console import Console, Styled
from memui.context import Context, path_fields
from memui.ending import UsageError


def list_memories(context: Context, _asked: argparse.Namespace) -> int:
    """`memui list`: every memory with its description, and what else lies there."""
    store = context.looked_at()
    listing = store.listing()
    if context.json:
        context.console.json(
            {
                "store": {"name": store.name, "layout": str(store.layout), "root": store.root},
                "memories": [
                    {
                        **path_fields(memory.path),
                        "description": memory.description,
                        "title": memory.title,
                        "size": memory.size,
                        "modified": memory.modified,
                        "warnings": list(memory.warnings),
                    }
                    for memory in listing.memories
                ],
                "others": [
                    {**path_fields(other.path), "why": other.why} for other in listing.others
                ],
            }
        )
        return 0
    if not listing.memories:
        context.console.tell("{} holds no memories yet.", store.place.folder)
    context.console.table(
        [memory.path, Styled(memory.description, "dim")] for memory in listing.memories
    )
    if context.console.is_screen:
        _say_what_is_apart(context, listing)
    return 0


def _say_what_is_apart(context: Context, listing: Listing) -> None:
    odd = sum(bool(memory.warnings) for memory in listing.memories)
    if odd:
        context.console.tell("Odd memories: {}; memui doctor says what is odd.", odd)
    if listing.others:
        context.console.tell(
            "Entries that are no memories, left alone: {}; memui list --json names them.",
            len(listing.others),
        )


def show(context: Context, asked: argparse.Namespace) -> int:
    """`memui show PATH`: one memory, its text made safe to see."""
    store = context.looked_at()
    path = store.resolve(asked.path)
    data = store.read(path)
    if why := store.no_memory(path):
        context.console.tell("{} is no memory: {}. memui leaves it alone.", path, why)
    if asked.raw:
        raw(context, data)
    elif context.json:
        context.console.json(memory_json(path, data))
    else:
        say_memory(context.console, path, data)
    return 0


def raw(context: Context, data: bytes) -> None:
    """A memory's bytes as they are; never onto a terminal. Raises `UsageError`."""
    if context.json or context.console.is_screen:
        raise UsageError(
            "--raw is for a pipe or a file: the bytes could drive the terminal.",
            hint="Leave it out, or send the output elsewhere: memui show PATH --raw > FILE",
        )
    context.console.raw(data)


def memory_json(path: str, data: bytes) -> dict[str, Any]:
    """The JSON of one memory."""
    document = parse(data)
    return {
        **path_fields(path),
        "description": document.description,
        "body": document.body,
        "encoding": document.encoding,
        "size": len(data),
        "digest": digest(data),
        "warnings": list(document.warnings),
    }


def say_memory(console: Console, path: str, data: bytes) -> None:
    """Print one memory, made safe to see."""
    document = parse(data)
    console.say("{}", Styled(path, "bold"))
    console.say("{}", Styled(document.description, "cyan"))
    odd = [WARNINGS[code] for code in document.warnings]
    if odd:
        console.say("{}", Styled("; ".join(odd), "yellow"))
    console.say()
    for line in document.body.strip("\n").split("\n"):
        console.say("{}", line.rstrip("\r").expandtabs(4))


def search(context: Context, asked: argparse.Namespace) -> int:
    """`memui search QUERY`: the memories that hold every word."""
    store = context.looked_at()
    query = " ".join(asked.query)
    if not query.strip():
        raise UsageError("search needs a word to look for.", hint="Try: memui search --help")
    hits = store.search(query)
    if context.json:
        context.console.json(
            {
                "query": query,
                "hits": [
                    {
                        **path_fields(hit.path),
                        "score": hit.score,
                        "line": hit.line,
                        "snippet": hit.snippet,
                    }
                    for hit in hits
                ],
            }
        )
        return 0
    if not hits:
        context.console.tell("No memory holds all of: {}", query)
    context.console.table(
        [f"{hit.path}:{hit.line}" if hit.line else hit.path, Styled(hit.snippet, "dim")]
        for hit in hits
    )
    return 0


def doctor(context: Context, _asked: argparse.Namespace) -> int:
    """`memui doctor`: every odd file and what is odd about it."""
    from engine.doctor import examine_store
    from engine.journal import run_ids, state_size
    from memui.commands.gc import record_line

    store = context.looked_at()
    problems = examine_store(store)
    if context.json:
        context.console.json(
            {
                "problems": [
                    {**path_fields(p.path), "code": p.code, "message": p.message} for p in problems
                ]
            }
        )
        return 0
    if not problems:
        context.console.tell("Nothing is odd.")
    context.console.table([p.path, Styled(p.message, "yellow")] for p in problems)
    record_line(context, len(run_ids(store.place)), state_size(store.place))
    return 0
