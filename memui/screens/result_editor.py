"""The built-in editor for the result of an action: what is wrong with the text stands below it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import TextArea
from textual.worker import get_current_worker

from engine.errors import EngineError
from engine.problems import Problem
from memui.editor import rescue
from memui.presentation import Line, line, wrap
from memui.screens.leaving import Leave, Leaving
from memui.screens.session import failure
from memui.widgets.bars import KeyBar, Notice
from memui.widgets.change_page import title
from memui.widgets.page_view import Page, PageTitle, PageView
from memui.widgets.result_text import ResultText

DEBOUNCE: Final = 0.3
"""Seconds without a key after which the text is checked."""
_ROWS: Final = 5
"""Problems that are in view at most; the pane scrolls."""
_ENDS: Final = (signal.SIGHUP, signal.SIGTERM)
"""The signals of a terminal that is closed and of a machine that goes down."""
_KEYS: Final = (
    ("F2", "save"), ("esc", "leave"), ("tab", "problems"), ("F8", "next problem"),
    ("ctrl+z", "undo typing"), ("ctrl+s", "save"),
)  # fmt: skip

Check = Callable[[str], tuple[Problem, ...]]
Save = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How an edit ended: whether a text was saved, and the file that keeps one that was not."""

    saved: bool = False
    kept: str = ""


class ResultEditor(ModalScreen[Ended]):
    """Edits one text. `check` says what is wrong with it; `save` keeps it, or says why it did not.

    A text that was neither saved nor discarded is kept in a file of its own when the screen goes,
    and the app says where.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "save", "Save the text"),
        Binding("escape", "leave", "Leave the editor"),
        Binding("f8", "problem", "The next problem"),
    ]

    CSS_PATH = "../editor.tcss"
    _text: ResultText

    def __init__(
        self,
        head: str,
        name: str,
        text: str,
        check: Check,
        save: Save,
        farewell: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._head, self._file = head, name
        self._before = text
        self._check, self._save, self._farewell = check, save, farewell
        self._timer: Timer | None = None
        self._checked: str | None = None
        self._problems: tuple[Problem, ...] = ()
        self._done = False

    def compose(self) -> ComposeResult:
        yield PageTitle(id="editor-title")
        self._text = ResultText(self._before, id="editor-text")
        yield self._text
        yield PageView(id="editor-problems")
        yield Notice(id="notice")
        yield KeyBar(_KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#notice", Notice).clear_notice()
        self._text.focus()
        self._look()
        self._show_title()
        for number in _ENDS:  # so that the text is kept even if the terminal is closed
            asyncio.get_running_loop().add_signal_handler(number, self.app.exit, 128 + number)

    @property
    def text(self) -> str:
        """The text as it would be saved."""
        return self._text.written

    @property
    def changed(self) -> bool:
        """Whether anything would be lost."""
        return not self._done and self.text != self._before

    @property
    def is_checked(self) -> bool:
        """Whether what stands below is about the text as it is."""
        return self._checked == self.text

    def _say(self, text: str, *, bad: bool = False) -> None:
        self.query_one("#notice", Notice).show(text, bad=bad)

    # Checking

    def on_text_area_changed(self, _event: TextArea.Changed) -> None:
        self._show_title()
        self.query_one("#notice", Notice).clear_notice()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE, self._look)

    def on_text_area_selection_changed(self, _event: TextArea.SelectionChanged) -> None:
        self._show_title()

    def _look(self) -> None:
        if not self.is_checked:
            self._find(self.text)

    @work(thread=True, exclusive=True, group="check")
    def _find(self, text: str) -> None:
        """Check beside the person's typing; a newer text makes this one moot."""
        worker = get_current_worker()
        found = self._problems_of(text)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._found, text, found)

    def _problems_of(self, text: str) -> tuple[Problem, ...]:
        try:
            return self._check(text)
        except EngineError as error:
            return (Problem(1, failure(error), True),)

    def _found(self, text: str, found: Sequence[Problem]) -> None:
        self._checked, self._problems = text, tuple(found)
        pane = self.query_one("#editor-problems", PageView)
        lines = [_line(problem) for problem in found]
        rows = sum(len(wrap(each, self.size.width - 2)) for each in lines[:_ROWS])
        pane.show(Page(lines))
        pane.styles.height = min(_ROWS, rows)
        pane.display = bool(found)

    def action_problem(self) -> None:
        """Go to the line of the next problem: of those that stop the text, while there are any."""
        row = self._text.cursor_location[0] + 1
        stops = [problem for problem in self._problems if problem.stops]
        lines = sorted({problem.line for problem in stops or self._problems})
        if not lines:
            self._say("There is no problem.")
            return
        at = next((each for each in lines if each > row), lines[0])
        self._text.move_cursor((at - 1, 0), center=True)
        self._text.focus()

    # Showing

    def _show_title(self) -> None:
        row, column = self._text.cursor_location
        place = f"line {row + 1}, column {column + 1}"
        under = self._text.under
        about = title(self._head, flags=(under,) if under else ())
        said = f"changed · {place}" if self.changed else place
        self.query_one(PageTitle).show(about, (), "", said)

    # Saving and leaving

    def action_save(self) -> None:
        """Save the text, if the rules let it take the result's place."""
        self._save_it()

    def _save_it(self) -> bool:
        """Whether the text is where it belongs now."""
        if not self.changed:
            self._finish(Ended())
            return True
        text = self.text
        self._found(text, self._problems_of(text))
        stops = [problem for problem in self._problems if problem.stops]
        if stops:
            more = f" and {len(stops) - 1} more" if len(stops) > 1 else ""
            said = f"Not saved. Line {stops[0].line}{more} must change first; F8 goes there."
            self._say(said, bad=True)
            return False
        why = self._save(text)
        if why is not None:
            self._say(f"Not saved; your text is still here. {why}".strip(), bad=True)
            return False
        self._finish(Ended(saved=True))
        return True

    def _finish(self, ended: Ended) -> None:
        self._done = True
        self.dismiss(ended)

    def action_leave(self) -> None:
        """Back to the review; asks if there is anything to lose."""
        self.leave()

    def leave(self, then: Callable[[], object] = lambda: None) -> None:
        """Leave, asking first if there is anything to lose; then do something."""
        if not self.changed:
            self._finish(Ended())
            then()
            return
        self._found(self.text, self._problems_of(self.text))
        stops = [_line(problem) for problem in self._problems if problem.stops]

        def answered(answer: Leave | None) -> None:
            if self._left(answer or "go on"):
                then()

        self.app.push_screen(Leaving(stops), answered)

    def _left(self, answer: Leave) -> bool:
        """Do what the person said; whether the editor is closed now."""
        if answer == "go on":
            return False
        if answer == "save":
            return self._save_it()
        kept = ""
        if answer == "copy":
            try:
                kept = self._copy()
            except EngineError as error:
                self._say(failure(error), bad=True)
                return False
        self._finish(Ended(kept=kept))
        return True

    def _copy(self) -> str:
        return rescue(self.text.encode("utf-8", "surrogatepass"), self._file)

    def on_unmount(self) -> None:
        """Keep what is open when everything ends, and say where."""
        for number in _ENDS:
            asyncio.get_running_loop().remove_signal_handler(number)
        if not self.changed:
            return
        try:
            self._farewell(f"Your text was not saved. It is kept in {self._copy()}")
        except EngineError as error:
            self._farewell(f"Your text was not saved, and could not be kept. {failure(error)}")


def _line(problem: Problem) -> Line:
    sign, paint = ("!", "bad") if problem.stops else (" ", "warn")
    return line(
        (f"{sign} ", paint), (f"line {problem.line}  ", "dim"), (problem.message, paint), gutter=" "
    )
