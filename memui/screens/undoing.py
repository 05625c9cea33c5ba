"""Taking back a run from any screen: the question, the choices, the doing, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.screen import Screen
from textual.worker import get_current_worker

from engine.changes import Edit
from engine.commit import Outcome
from engine.documents import digest
from engine.errors import AlreadyUndone, Conflict, EngineError, run_number
from engine.journal import Run, earlier
from engine.reversal import Reversal
from memui.presentation import Line, line
from memui.presentation.history import made_by
from memui.presentation.reversals import reversal_lines
from memui.screens.dialogs import Confirm, Told
from memui.screens.reversing import ReversalScreen
from memui.screens.session import Session, failure
from memui.screens.working import WAIT, Working
from memui.widgets.diff_view import edit_lines

Said = Callable[[str, bool], None]
"""Says what came of it: a text, and whether it failed."""
Then = Callable[[Reversal, Outcome], None]
"""Is told of an undo that was done: what was taken back, and the run that did it."""


def ask_undo(
    screen: Screen[Any],
    session: Session,
    name: str,
    said: Said,
    *,
    choose: bool = False,
    then: Then | None = None,
) -> None:
    """Ask whether to take back a run, do it, and say what came of it (text, whether it failed).

    What changed since is shown file by file, to be kept, taken or merged; `choose` shows the files
    in any case, so that single actions can be left out. What is asked is read in a thread.
    """
    if not session.store.place.writable:
        said("The store is read-only. Nothing was changed.", True)
        return

    def look() -> None:
        tell = screen.app.call_from_thread
        try:
            found = session.store.reversal(name)
        except AlreadyUndone as error:
            again = f"by run {run_number(error.by)}; undo that one to do it again."
            tell(said, f"Run {run_number(error.run)} is undone already, {again}", True)
        except EngineError as error:
            tell(said, failure(error), True)
        else:
            if not get_current_worker().is_cancelled:
                tell(_ask, screen, session, found, said, choose, then)

    screen.run_worker(look, thread=True, exclusive=True, group="undo")


def _ask(
    screen: Screen[Any],
    session: Session,
    found: Reversal,
    said: Said,
    choose: bool,
    then: Then | None,
) -> None:
    if screen.app.screen is not screen:
        return  # the person went elsewhere meanwhile

    def chosen(answer: Reversal | None) -> None:
        if answer is None:
            said("Nothing was changed.", False)
        else:
            _revert(screen, session, answer, said, then)

    if found.open or choose:
        screen.app.push_screen(ReversalScreen(session, found), chosen)
        return
    run = found.run
    if run.undoes:
        title, does = f"Do run {run_number(run.undoes)} again?", "Do it again"
    else:
        title, does = f"Take back run {run.seq}?", "Take back"
    lines = [made_by(run), line(), *reversal_lines(found)]
    screen.app.push_screen(Confirm(title, lines, does), lambda yes: chosen(found if yes else None))


def _revert(
    screen: Screen[Any], session: Session, found: Reversal, said: Said, then: Then | None
) -> None:
    run, store = found.run, session.store

    def ended(outcome: Outcome | EngineError | None) -> None:
        if isinstance(outcome, Conflict):
            said(f"Run {run.seq} was not taken back. Nothing was changed.", True)
            screen.app.push_screen(Told("Not taken back", _drifted(outcome), "esc goes back"))
        elif isinstance(outcome, EngineError):
            said(failure(outcome), True)
        elif outcome is not None:
            recovered = session.told_recovered()
            said("; ".join(filter(None, (recovered, _done(found, outcome)))), False)
            if then is not None:
                then(found, outcome)

    title = (
        f"Doing run {run_number(run.undoes)} again …"
        if run.undoes
        else f"Taking back run {run.seq} …"
    )
    working = Working[Outcome](
        session,
        title,
        lambda on_step: store.revert(found, who=session.who, wait=WAIT, on_step=on_step),
    )
    screen.app.push_screen(working, ended)


def _drifted(error: Conflict) -> list[Line]:
    return [
        line(("These files changed while you looked, so nothing was touched:", "plain")),
        line(),
        *(line((drift.path, "bold"), (f"  {drift.why}", "warn")) for drift in error.drifts),
        line(),
        line(("Ask again to see them as they are now.", "dim")),
    ]


def _done(found: Reversal, outcome: Outcome) -> str:
    """What an undo did, in one line."""
    if not outcome.run:
        return "Everything was as before the run already. Nothing was changed."
    part = "in part " if found.partial else ""
    again = f"as run {run_number(outcome.run)}; undo that to do it again."
    return f"Run {found.run.seq} is {part}taken back, {again}"


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
        told = f"{path} is as it was before run {run.seq}, by run {run_number(outcome.run)}."
        said("; ".join(filter(None, (session.told_recovered(), told))), False)

    lines = edit_lines([Edit(path, here, before)])
    title = f"Bring back the version from before run {run.seq}?"
    screen.app.push_screen(Confirm(title, lines, "Bring back"), answered)
