"""Looking: list, show, search, log, doctor. They lock nothing and change nothing."""

from __future__ import annotations

import argparse
from typing import Any

from engine.documents import WARNINGS, digest, parse
from engine.errors import run_number
from engine.journal import Run
from engine.listing import Listing
from engine.store import Store
from memui.console import Console, Styled
from memui.context import Context, path_fields, shown_path
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


def log(context: Context, _asked: argparse.Namespace) -> int:
    """`memui log`: every run."""
    store = context.looked_at()
    runs = store.runs()
    if context.json:
        context.console.json({"runs": [run_json(run) for run in runs]})
        return 0
    gone: dict[str, list[str]] = {}
    for run_id, time in store.collected().items():
        gone.setdefault(time, []).append(run_number(run_id))
    if not runs and not gone:
        context.console.tell("Nothing was done yet.")
    undone = undone_runs(store)
    for run in reversed(runs):
        _say_run(context, run, undone.get(run.id))
    for time, names in gone.items():
        context.console.tell(
            "{} {} collected on {}.",
            f"Run {names[0]}" if len(names) == 1 else f"Runs {names[0]} to {names[-1]}",
            "was" if len(names) == 1 else "were",
            time[:10],
        )
    return 0


def undone_runs(store: Store) -> dict[str, str]:
    """Run -> the undo that holds for it."""
    from engine.journal import undone_by

    return undone_by(store.runs())


def run_json(run: Run) -> dict[str, Any]:
    """The JSON of one run."""
    return {
        "run": run.id,
        "kind": str(run.kind),
        "time": run.time,
        "who": run.who,
        "decided_by": run.decided_by,
        "state": run.state,
        "plan": run.plan,
        "undoes": run.undoes,
        "written": [shown_path(path) for path in run.written],
        "deleted": [shown_path(path) for path in run.deleted],
        "actions": [
            {
                "action": action.number,
                "verb": action.verb,
                "paths": [shown_path(path) for path in action.paths],
                "verdict": action.verdict,
                "reason": action.reason,
            }
            for action in run.actions
        ],
    }


def _say_run(context: Context, run: Run, undone: str | None) -> None:
    state = ""
    if undone is not None:
        state = f"undone by run {run_number(undone)}"
    elif run.state != "done":
        state = run.state
    what = f"undo of run {run_number(run.undoes)}" if run.undoes else str(run.kind)
    context.console.say(
        "{}  {}  {}  {}  {}",
        Styled(str(run.seq).rjust(4), "bold"),
        run.time,
        what,
        Styled(run.who, "dim"),
        Styled(state, "yellow"),
    )
    for action in run.actions:
        paths = " + ".join(action.sources)
        arrow = f" → {action.target}" if action.target else ""
        context.console.say(
            "      {} {}{}",
            Styled(action.verdict, "red" if action.verdict in {"rejected", "skipped"} else "green"),
            f"{action.verb} {paths}{arrow}",
            Styled(f"  {action.reason}" if action.reason else "", "dim"),
        )


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
