"""Taking back a run from any screen: the dialog, the doing, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen

from engine.errors import EngineError
from engine.journal import Run, find
from memui.presentation import Line, line
from memui.screens.dialogs import Confirm
from memui.screens.session import Session, failure

Said = Callable[[str, bool], None]


def ask_undo(screen: Screen[object], session: Session, name: str, said: Said) -> None:
    """Ask whether to take back a run, do it, and say what came of it (text, whether it failed)."""
    try:
        run = find(session.store.place, name)
    except EngineError as error:
        said(failure(error), True)
        return

    def answered(yes: bool | None) -> None:
        if not yes:
            said("Nothing was changed.", False)
            return
        try:
            outcome = session.store.undo(run.id, who=session.who)
        except EngineError as error:
            said(failure(error), True)
            return
        recovered = session.told_recovered()
        done = f"Run {run.seq} is taken back, as run {outcome.run}. u here takes that back again."
        said(f"{recovered}; {done}" if recovered else done, False)

    screen.app.push_screen(Confirm(f"Take back run {run.seq}?", undo_lines(run), "Undo"), answered)


def undo_lines(run: Run) -> list[Line]:
    """What taking back a run does, file by file."""
    found = [line((f"{run.kind} of {run.time}, by {run.who}", "dim")), line(("", "plain"))]
    for step in run.steps:
        if step.old is None:
            found.append(line(("  remove  ", "bad"), (step.path, "plain")))
        elif step.new is None:
            found.append(line(("  restore ", "good"), (step.path, "plain")))
        else:
            found.append(line(("  rewrite ", "warn"), (step.path, "plain")))
    found.append(line(("", "plain")))
    found.append(line(("If any of them changed since, nothing is touched and it is named.", "dim")))
    return found
