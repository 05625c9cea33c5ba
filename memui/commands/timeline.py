"""The history of one memory: its versions, and one of them printed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from engine.errors import run_number
from memui.commands import look, runs
from memui.console import Styled
from memui.context import Context, path_fields
from memui.ending import UsageError

if TYPE_CHECKING:
    from engine.timeline import Version


def log(context: Context, asked: argparse.Namespace) -> int:
    """`memui log [PATH]`: every run, or every version of one memory."""
    if asked.path is None:
        return runs.log(context, asked)
    if asked.all or asked.newest is not None:
        raise UsageError("--all and --newest are for runs; of a memory every version is printed.")
    from engine.timeline import AGENT, GAP, timeline, touching

    store = context.looked_at()
    versions = timeline(store, asked.path)
    # Without a version there is no such memory: `resolve` says what names are close.
    path = versions[-1].path if versions else store.resolve(asked.path)
    if context.json:
        context.console.json(
            {
                **path_fields(path),
                "versions": [_version_json(version) for version in versions],
                "runs": [runs.run_json(run) for run in touching(store, path)],
            }
        )
        return 0

    def row(version: Version) -> list[str | Styled]:
        made = "" if version.run is None else f"run {run_number(version.run)}"
        name = "gone" if version.digest is None else version.digest[:12]
        said = [version.note, "" if version.path == path else f"as {version.path}"]
        if version.digest is not None and not version.kept:
            said.append("its bytes are not kept")
        return [
            version.time or "time not known",
            Styled(version.by, "yellow" if version.by == AGENT else "green"),
            made,
            "" if version.size is None else f"{version.size:,}",
            Styled(name, "dim"),
            "; ".join(filter(None, said)),
        ]

    context.console.table(map(row, reversed(versions)))
    if all(version.run is None for version in versions):
        context.console.tell("No run changed {}.", path)
    if store.collected():
        context.console.tell("Older runs were collected; memui log says which.")
    if any(version.by == AGENT for version in versions):
        context.console.tell("{}", GAP)
    return 0


def _version_json(version: Version) -> dict[str, Any]:
    return {
        **path_fields(version.path),
        "digest": version.digest,
        "time": version.time or None,
        "who": version.who or None,
        "by": version.by,
        "run": version.run,
        "size": version.size,
        "kept": version.kept,
        "note": version.note,
    }


def show(context: Context, asked: argparse.Namespace) -> int:
    """`memui show PATH [--at RUN|DIGEST]`: one memory, as it is or as it was."""
    if asked.at is None:
        return look.show(context, asked)
    from engine.timeline import read_version

    store = context.looked_at()
    version, data = read_version(store, asked.path, asked.at)
    if asked.raw:
        look.raw(context, data)
        return 0
    if context.json:
        said = look.memory_json(version.path, data)
        context.console.json({**said, "version": _version_json(version)})
        return 0
    look.say_memory(context.console, version.path, data)
    return 0
