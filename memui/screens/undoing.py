"""Taking back a run from any screen: the question, the choices, the doing, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen

from engine.changes import Edit
from engine.documents import digest
from engine.errors import AlreadyUndone, Conflict, EngineError
from engine.journal import Run, earlier
from engine.reversal import Reversal
from memui.presentation import line
from memui.presentation.history import made_by, number
from memui.presentation.reversals import reversal_lines
from memui.screens.dialogs import Confirm, Told
from memui.screens.reversing import ReversalScreen
from memui.screens.session import Session, failure
from memui.widgets.diff_view import edit_lines

Said = Callable[[str, bool], None]


def ask_undo(
    screen: Screen[None], session: Session, name: str, said: Said, *, choose: bool = False
) -> None:
    """Ask whether to take back a run, do it, and say what came of it (text, whether it failed).

    What changed since is shown file by file, to be kept, taken or merged; `choose` shows the files
    in any case, so that single actions can be left out.
    """
    if not session.store.place.writable:
        said("The store is read-only. Nothing was changed.", True)
        return
    try:
        found = session.store.reversal(name)
    except AlreadyUndone as error:
        again = f"by run {number(error.by)}; undo that one to do it again."
        said(f"Run {number(error.run)} is undone already, {again}", True)
        return
    except EngineError as error:
        said(failure(error), True)
        return

    def chosen(answer: Reversal | None) -> None:
        if answer is None:
            said("Nothing was changed.", False)
        else:
            _revert(screen, session, answer, said)

    if found.open or choose:
        screen.app.push_screen(ReversalScreen(session, found), chosen)
        return
    run = found.run
    if run.undoes:
        title, does = f"Do run {number(run.undoes)} again?", "Do it again"
    else:
        title, does = f"Take back run {run.seq}?", "Take back"
    lines = [made_by(run), line(), *reversal_lines(found)]
    screen.app.push_screen(Confirm(title, lines, does), lambda yes: chosen(found if yes else None))


def _revert(screen: Screen[None], session: Session, found: Reversal, said: Said) -> None:
    run = found.run
    try:
        outcome = session.store.revert(found, who=session.who)
    except Conflict as error:
        said(f"Run {run.seq} was not taken back. Nothing was changed.", True)
        lines = [
            line(("These files changed while you looked, so nothing was touched:", "plain")),
            line(),
            *(line((drift.path, "bold"), (f"  {drift.why}", "warn")) for drift in error.drifts),
            line(),
            line(("Ask again to see them as they are now.", "dim")),
        ]
        screen.app.push_screen(Told("Not taken back", lines, "esc goes back"))
        return
    except EngineError as error:
        said(failure(error), True)
        return
    recovered = session.told_recovered()
    part = "in part " if found.partial else ""
    undo = number(outcome.run)
    done = (
        f"Run {run.seq} is {part}taken back, as run {undo}; undo that to do it again."
        if outcome.run
        else "Everything was as before the run already. Nothing was changed."
    )
    said(f"{recovered}; {done}" if recovered else done, False)


def ask_restore(screen: Screen[None], session: Session, path: str, run: Run, said: Said) -> None:
    """Ask whether to give one memory the version from before a run, shown as a diff, and do it."""
    store = session.store
    try:
        before, _ = earlier(store.place, path, run.id)
        here = store.live(path)
    except EngineError as error:
        said(failure(error), True)
        return
    if before == here:
        said(f"{path} is as it was before run {run.seq}. Nothing was changed.", False)
        return

    def answered(yes: bool | None) -> None:
        if not yes:
            said("Nothing was changed.", False)
            return
        base = None if here is None else digest(here)
        try:
            outcome = store.restore(path, run.id, base=base, who=session.who)
        except EngineError as error:
            said(failure(error), True)
            return
        told = f"{path} is as it was before run {run.seq}, by run {number(outcome.run)}."
        said("; ".join(filter(None, (session.told_recovered(), told))), False)

    lines = edit_lines([Edit(path, here, before)])
    title = f"Bring back the version from before run {run.seq}?"
    screen.app.push_screen(Confirm(title, lines, "Bring back"), answered)
