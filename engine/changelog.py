"""The changelog: a run's story for people, in upstream's form.

Text only. An entry is rendered before its run and appended by the run's last step; nothing is ever
decided from the file, since an agent can write there. Every word that a model wrote is flattened to
one line, made visible and cut, so that no entry, bullet or run id can be forged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engine.characters import visible
from engine.journal import ActionRecord, RunKind

HEADER: Final = "# Consolidation Changelog\n"
FIELD_LIMIT: Final = 500
"""Code points of a reason, a summary or a path; what is left out is counted."""


def flat(text: str) -> str:
    """One line, cut, visible, and without the end of a comment."""
    return _clipped(" ".join(text.split()))


def _clipped(text: str) -> str:
    more = f"…(+{len(text) - FIELD_LIMIT} chars)" if len(text) > FIELD_LIMIT else ""
    shown = visible(text[:FIELD_LIMIT]) + more
    return shown.replace("-->", "--\u203a").replace("<!--", "\u2039!--")


def entry(
    *,
    run: str,
    kind: RunKind,
    time: str,
    operations: Sequence[str],
    actions: Sequence[ActionRecord],
    summary: str,
    undoes: str | None = None,
) -> str:
    """One entry, from its heading to the comment with the run's id, with a blank line before it."""
    done = [action for action in actions if action.verdict in {"approved", "edited"}]
    rejected = [action for action in actions if action.verdict == "rejected"]
    return "\n".join(_lines(run, kind, time, operations, done, rejected, summary, undoes)) + "\n"


def _lines(
    run: str,
    kind: RunKind,
    time: str,
    operations: Sequence[str],
    done: Sequence[ActionRecord],
    rejected: Sequence[ActionRecord],
    summary: str,
    undoes: str | None,
) -> Iterator[str]:
    yield ""
    yield f"## {time}"
    if kind is RunKind.APPLY:
        yield f"Operations: {', '.join(operations)}"
    elif kind is RunKind.UNDO:
        yield f"Undo: run {undoes}"
    else:
        yield f"By hand: {kind}"
    yield f"Actions ({len(done)}):"
    for action in done:
        edited = " [edited]" if action.verdict == "edited" else ""
        yield f"- {action.verb}: {_paths(action)}{edited}{_reason(action.reason)}"
    if rejected:
        named = "; ".join(
            f"{action.number} {action.verb} {_paths(action)}{_reason(action.reason)}"
            for action in rejected
        )
        yield f"Rejected ({len(rejected)}): {named}"
    if summary.strip():
        yield f"Summary: {flat(summary)}"
    yield f"<!-- memui run {run} -->"


def _paths(action: ActionRecord) -> str:
    sources = " + ".join(_clipped(path) for path in action.sources)
    if action.target is None:
        return sources
    target = _clipped(action.target)
    return f"{sources} → {target}" if sources else target


def _reason(reason: str) -> str:
    said = flat(reason)
    return f" ({said})" if said else ""


def with_entry(log: bytes, text: str) -> bytes:
    """The log with an entry appended, once: it is returned as it is if it holds these bytes."""
    added = text.encode()
    if added in log:
        return log
    if not log:
        return HEADER.encode() + added
    return log + (b"" if log.endswith(b"\n") else b"\n") + added
