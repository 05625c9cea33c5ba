"""Editing a memory from a screen: the person's editor, the checks, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import SuspendNotSupported
from textual.screen import Screen

from engine.documents import digest, parse
from engine.errors import Conflict, EngineError, InvalidPlan, run_number
from engine.store import Store
from memui.console import Console
from memui.editor import edit_text, rescue
from memui.presentation import Line, line
from memui.screens.dialogs import Told
from memui.screens.session import Session, failure

Said = Callable[[str, bool], None]


def edit(screen: Screen[None], session: Session, path: str, said: Said) -> None:
    """Edit a memory; say what came of it (text, whether it failed)."""
    try:
        before = session.store.read(path)
        problem = _refused(session.store, before)
        if problem:
            said(f"{path} {problem}. Nothing was changed.", True)
            return
        with screen.app.suspend():
            after = edit_text(before, path, Console())
    except SuspendNotSupported:
        said(f"This terminal cannot be left for an editor. {session.command('edit', path)}", True)
        return
    except EngineError as error:
        said(failure(error), True)
        return
    if after == before:
        said("Nothing was changed.", False)
        return
    try:
        outcome = session.store.edit(path, after, base=digest(before), who=session.who)
    except EngineError as error:
        kept = rescue(after, path)
        said("The edit was not saved; your text is kept.", True)
        screen.app.push_screen(Told("Not saved", list(_why(error, path, kept)), "esc goes back"))
        return
    recovered = session.told_recovered()
    done = f"Wrote {path} in run {run_number(outcome.run)}. u takes it back."
    said(f"{recovered}; {done}" if recovered else done, False)


def _refused(store: Store, before: bytes) -> str:
    if not store.place.writable:
        return "lies in a read-only store"
    return "" if parse(before).editable else "is not UTF-8, so it is not edited as text"


def _why(error: EngineError, path: str, kept: str) -> list[Line]:
    """What happened, what was not changed, and where the person's text is."""
    found: list[Line] = []
    if isinstance(error, Conflict):
        found.append(line(("Somebody else wrote it while you were editing.", "plain")))
        found += [line((drift.path, "bold"), (f"  {drift.why}", "warn")) for drift in error.drifts]
    elif isinstance(error, InvalidPlan):
        found.append(line(("The text breaks a rule that the memory kept before.", "plain")))
        found += [line((violation.message, "warn")) for violation in error.violations]
    else:
        found.append(line((failure(error), "plain")))
    return [
        *found,
        line(("", "plain")),
        line((path, "bold"), (" was not changed.", "plain")),
        line(("Your text is kept in", "plain")),
        line((kept, "bold")),
    ]
