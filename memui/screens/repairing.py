"""What another writer overwrote from a stale read: said, shown as a diff, and merged in again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.screen import Screen

from engine.changes import Edit
from engine.errors import EngineError, run_number
from engine.watch import Overwritten, joined, overwritten, repair
from memui.presentation import Line, count, line
from memui.screens.dialogs import Confirm
from memui.screens.session import Session, failure
from memui.widgets.diff_view import edit_lines

Said = Callable[[str, bool], None]


def warning(found: Sequence[Overwritten]) -> str:
    """What was overwritten, and the key that merges it in again; empty if nothing was."""
    facts = [fact for item in found for fact in item.facts]
    if not facts:
        return ""
    runs = ", ".join(dict.fromkeys(run_number(item.run) for item in found if item.facts))
    said = count(len(facts), "fact", "facts")
    return f"Another writer overwrote what run {runs} wrote: {said} gone. w merges them in."


def ask_repair(screen: Screen[None], session: Session, said: Said) -> None:
    """Show what would be merged in, ask, and do it; say what came of it (text, whether bad)."""
    store = session.store
    try:
        found = tuple(item for item in overwritten(store) if item.facts)
        edits = [Edit(i.path, store.live(i.path), joined(store, i)) for i in found]
    except EngineError as error:
        said(failure(error), True)
        return
    if not found:
        said("Nothing that a run wrote was overwritten.", False)
        return

    def answered(yes: bool | None) -> None:
        if not yes:
            said("Nothing was changed.", False)
            return
        try:
            outcome = repair(store, found, who=session.who)
        except EngineError as error:
            said(failure(error), True)
            return
        said(f"Merged in, by run {run_number(outcome.run)}. u takes it back.", False)

    lines: list[Line] = [
        line(("What the other writer wrote stays; what the run wrote is added.", "dim")),
        line(),
        *edit_lines(edits),
    ]
    files = count(len(found), "file", "files")
    screen.app.push_screen(Confirm(f"Merge into {files} again?", lines, "Merge"), answered)
