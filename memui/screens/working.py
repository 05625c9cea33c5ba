"""A run at work: its steps fill, and it cannot be left before it has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.commit import OnStep, Phase, Progress
from engine.errors import EngineError, Holder
from memui.presentation import Line, line, own
from memui.presentation.progress import progress_lines
from memui.screens.session import Session
from memui.widgets.page_view import Page, PageView

WAIT: Final = 10.0
"""Seconds that a run waits for another one; the holder is shown meanwhile."""
_LOOK: Final = 0.1
"""Seconds between two looks at how far a run is."""
_STAYS: Final = "It cannot be left halfway. It ends in a moment, then says what it did."

Done = TypeVar("Done")


class Working(ModalScreen[Done | EngineError], Generic[Done]):
    """Does something to the store in a thread. Dismisses with what came of it, or its failure.

    `does` is told whom to tell its steps. Every key that would leave says that it cannot.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "stay", show=False),
    ]

    def __init__(self, session: Session, title: str, does: Callable[[OnStep], Done]) -> None:
        super().__init__()
        self._session = session
        self._title = title
        self._does = does
        self._progress = Progress(Phase.LOCK)
        self._holder: str | None = None
        self._drawn: object = None
        self._ended: list[Done | EngineError] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(own(self._title, "bold"), classes="dialog--title")
            yield PageView(classes="dialog--lines", id="steps")
            yield Static(own(""), classes="dialog--foot", id="working-foot")

    def on_mount(self) -> None:
        self._draw()
        self.set_interval(_LOOK, self._draw)
        self._work()

    def on_screen_resume(self) -> None:
        if self._ended:  # it ended behind another screen
            self.dismiss(self._ended.pop())

    @work(thread=True)
    def _work(self) -> None:
        store = self._session.store
        store.waiting = self._wait
        try:
            ended: Done | EngineError = self._does(self._on_step)
        except EngineError as error:
            ended = error
        finally:
            store.waiting = None
        self.app.call_from_thread(self._end, ended)

    def _on_step(self, progress: Progress) -> None:
        """Called by the thread that commits: only noted, so that the run never waits for us."""
        self._progress, self._holder = progress, None

    def _wait(self, holder: Holder | None) -> None:
        self._holder = str(holder) if holder else "another run"

    def _draw(self) -> None:
        now = (self._progress, self._holder)
        if now == self._drawn:
            return
        self._drawn = now
        lines: Sequence[Line] = list(progress_lines(self._progress))
        if self._holder is not None:
            lines = [line(("Waiting for ", "plain"), (self._holder, "plain"), (" …", "plain"))]
        self.query_one("#steps", PageView).show(Page(lines))

    def _end(self, ended: Done | EngineError) -> None:
        if self.app.screen is self:
            self.dismiss(ended)
        else:
            self._ended.append(ended)

    def action_stay(self) -> None:
        """Say that it cannot be left: it ends whole in a moment."""
        self.query_one("#working-foot", Static).update(own(_STAYS, "$text-warning"))
