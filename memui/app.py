"""The app: which screen is on, what holds for all of them, and the net under the choke point."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.resources import files
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import EngineError, NotAStore
from engine.paths import Layout
from engine.plans import OpenedPlan
from engine.store import Store, open_stores
from memui.context import who
from memui.demo import build
from memui.presentation import Line, body_lines, own
from memui.screens.browse import BrowseScreen
from memui.screens.dialogs import Told
from memui.screens.history import HistoryScreen
from memui.screens.review import ReviewScreen
from memui.screens.session import Session, failure
from memui.screens.welcome import DEMO, PickScreen, WelcomeScreen

MIN_COLUMNS = 60
MIN_ROWS = 15


class _Net(LineFilter):
    """Deletes control characters that reached a segment, and counts them.

    Nothing should: `memui.presentation` replaces them all. The count fails tests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.leaked = 0

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments without C0 and C1."""
        if all(s.control or s.text.isprintable() for s in segments):
            return segments
        cleaned: list[Segment] = []
        for segment in segments:
            text = segment.text
            kept = "".join(c for c in text if not (c < " " or "\x7f" <= c <= "\x9f"))
            if kept != text and not segment.control:
                self.leaked += len(text) - len(kept)
                cleaned.append(Segment(kept, segment.style))
            else:
                cleaned.append(segment)
        return cleaned


class TooSmall(Screen[None]):
    """The terminal is too small; comes and goes by itself, with everything kept."""

    def compose(self) -> ComposeResult:
        text = f"memui needs {MIN_COLUMNS} columns and {MIN_ROWS} rows. Make the window larger."
        yield Static(own(text))


class Memui(App[int]):
    """memui on one store."""

    CSS_PATH = "memui.tcss"
    TITLE = "memui"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - an instance variable of Textual's App
        (0, "-tiny"),
        (60, "-single"),
        (80, "-narrow"),
        (100, "-normal"),
        (160, "-wide"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "go('browse')", "Browse"),
        Binding("2", "go('review')", "Review"),
        Binding("3", "go('history')", "History"),
        Binding("question_mark", "help", "Help"),
        Binding("colon", "command_palette", "Palette", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self,
        spec: str | None,
        *,
        name: str | None = None,
        layout: Layout | None = None,
        opened: OpenedPlan | None = None,
        why: str = "No store was named, and there is no ./.strands and no ~/.strands.",
    ) -> None:
        super().__init__()
        self._net = _Net()
        self._spec = spec
        self._name = name
        self._layout = layout
        self._opened = opened
        self._why = why
        self._demo: tempfile.TemporaryDirectory[str] | None = None
        self.session: Session | None = None

    @property
    def leaked(self) -> int:
        """Control characters that passed every door but the last. Always 0."""
        return self._net.leaked

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's filters, and our net last."""
        return [*super().get_line_filters(), self._net]

    def on_mount(self) -> None:
        self.animation_level = "none"
        if self._spec is None:
            self._welcome(self._why)
        else:
            self._open(self._spec)

    def _welcome(self, why: str) -> None:
        def answered(path: str | None) -> None:
            if path == DEMO:
                self._demo = tempfile.TemporaryDirectory(prefix="memui-demo-")
                self._open(build(self._demo.name))
            elif path:
                self._name = self._layout = None
                self._open(path)

        self.push_screen(WelcomeScreen(why), answered)

    def _open(self, spec: str) -> None:
        try:
            stores = open_stores(spec, name=self._name, layout=self._layout)
            if not stores:
                raise NotAStore(f"{spec} holds no store yet: no agent has written to it.")
        except EngineError as error:
            self._welcome(failure(error))
            return
        if len(stores) == 1:
            self._start(stores[0])
            return

        def picked(index: int | None) -> None:
            if index is not None:
                self._start(stores[index])

        self.push_screen(PickScreen(stores), picked)

    def _start(self, store: Store) -> None:
        session = Session(store, who(), self._opened)
        self.session = session
        self.add_mode("browse", lambda: BrowseScreen(session))
        self.add_mode("review", lambda: ReviewScreen(session))
        self.add_mode("history", lambda: HistoryScreen(session))
        self.switch_mode("review" if self._opened else "browse")

    def action_go(self, mode: str) -> None:
        """Another of the three screens."""
        if self.session is not None and not self.screen.is_modal:
            self.switch_mode(mode)

    def action_help(self) -> None:
        """The keys and what they do."""
        text = files("memui").joinpath("help", "keys.md").read_text(encoding="utf-8")
        shown = [Line(found.runs) for found in body_lines(text)]
        self.push_screen(Told("Help", shown, "esc closes"))

    def on_resize(self, event: events.Resize) -> None:
        """Say so where the terminal is too small, and come back when it is not."""
        small = event.size.width < MIN_COLUMNS or event.size.height < MIN_ROWS
        if small and not isinstance(self.screen, TooSmall):
            self.push_screen(TooSmall())
        elif not small and isinstance(self.screen, TooSmall):
            self.pop_screen()


def run_app(
    spec: str | None,
    *,
    name: str | None,
    layout: Layout | None,
    opened: OpenedPlan | None = None,
) -> int:
    """Run the app on the terminal; its exit code."""
    return Memui(spec, name=name, layout=layout, opened=opened).run(mouse=True) or 0
