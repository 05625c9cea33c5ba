"""Taking back a run from any screen: the dialog, the doing, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen

from engine.errors import Conflict, EngineError
from engine.journal import Run, find, undone_by
from memui.presentation import line
from memui.presentation.history import number, undoing
from memui.screens.dialogs import Confirm, Told
from memui.screens.session import Session, failure

Said = Callable[[str, bool], None]


def ask_undo(screen: Screen[None], session: Session, name: str, said: Said) -> None:
    """Ask whether to take back a run, do it, and say what came of it (text, whether it failed)."""
    try:
        run = find(session.store.place, name)
        problem = _refused(session, run)
    except EngineError as error:
        said(failure(error), True)
        return
    if problem:
        said(problem, True)
        return

    def answered(yes: bool | None) -> None:
        if yes:
            _undo(screen, session, run, said)
        else:
            said("Nothing was changed.", False)

    if run.undoes:
        title, does = f"Do run {number(run.undoes)} again?", "Do it again"
    else:
        title, does = f"Take back run {run.seq}?", "Take back"
    screen.app.push_screen(Confirm(title, list(undoing(run)), does), answered)


def _refused(session: Session, run: Run) -> str:
    if not session.store.place.writable:
        return "The store is read-only. Nothing was changed."
    undone = undone_by(session.store.runs())
    if run.id in undone:
        again = number(undone[run.id])
        return f"Run {run.seq} is undone already, by run {again}; undo that one to do it again."
    return "" if run.state == "done" else f"Run {run.seq} holds no change to take back."


def _undo(screen: Screen[None], session: Session, run: Run, said: Said) -> None:
    try:
        outcome = session.store.undo(run.id, who=session.who)
    except Conflict as error:
        said(f"Run {run.seq} was not taken back. Nothing was changed.", True)
        lines = [
            line(("These files are not as the run left them, so nothing was touched:", "plain")),
            line(("", "plain")),
            *(line((drift.path, "bold"), (f"  {drift.why}", "warn")) for drift in error.drifts),
            line(("", "plain")),
            line((error.hint or "Later changes have to be taken back first.", "dim")),
        ]
        screen.app.push_screen(Told("Not taken back", lines, "esc goes back"))
        return
    except EngineError as error:
        said(failure(error), True)
        return
    recovered = session.told_recovered()
    done = f"Run {run.seq} is taken back, as run {number(outcome.run)}; undo that to do it again."
    said(f"{recovered}; {done}" if recovered else done, False)
