"""The app: which screen is on, and what holds for all of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, ClassVar

from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from engine.errors import EngineError
from engine.paths import Layout
from engine.plans import OpenedPlan, open_plan
from engine.store import Store, open_store, open_stores
from memui.console import Console
from memui.context import who
from memui.demo import PLAN, build
from memui.presentation import help_lines
from memui.presentation.net import Net
from memui.presentation.themes import DARK, LIGHT
from memui.screens.browse import BrowseScreen
from memui.screens.dialogs import Told
from memui.screens.history import HistoryScreen
from memui.screens.result_editor import ResultEditor
from memui.screens.review import ReviewScreen
from memui.screens.session import Session, failure
from memui.screens.too_small import TooSmall, is_small
from memui.screens.welcome import DEMO, PickScreen, WelcomeScreen
from memui.screens.working import Working


class Memui(App[int]):
    """memui on one store."""

    CSS_PATH = "memui.tcss"
    TITLE = "memui"
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
        Binding("colon", "command_palette", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self,
        spec: str | None,
        *,
        name: str | None = None,
        layout: Layout | None = None,
        opened: OpenedPlan | None = None,
        watches: bool = False,
        why: str = "No store was named, and there is no ./.strands and no ~/.strands.",
    ) -> None:
        # Without colour Textual would send greys: only its ANSI mode sends none.
        super().__init__(ansi_color=True if os.environ.get("NO_COLOR") else None)
        self._net = Net()
        self._spec = spec
        self._name = name
        self._layout = layout
        self._opened = opened
        self._watches = watches
        self._why = why
        self._demo: tempfile.TemporaryDirectory[str] | None = None
        self.session: Session | None = None
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = DARK.name

    @property
    def leaked(self) -> int:
        """Control characters that passed every door but the last. Always 0."""
        return self._net.leaked

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's filters, and our net last."""
        return [*super().get_line_filters(), self._net]

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """Everything that the screen and the app can do, by name and with its key."""
        for owner in (screen, self):
            for binding in type(owner).BINDINGS:
                if isinstance(binding, Binding) and binding.description:
                    run = partial(self.run_action, binding.action, owner)
                    says = f"key {self.get_key_display(binding)}"
                    yield SystemCommand(binding.description, says, run)
        yield SystemCommand("Theme", "other colours", self.action_change_theme)

    def on_mount(self) -> None:
        self.animation_level = "none"
        if self._spec is None:
            self._welcome(self._why)
        else:
            self._open(self._spec)

    def on_unmount(self) -> None:
        if self._demo is not None:
            self._demo.cleanup()

    def _welcome(self, why: str) -> None:
        def answered(path: str | None) -> None:
            if path == DEMO:
                self._open_demo()
            elif path:
                self._name = self._layout = None
                self._open(path)

        self.push_screen(WelcomeScreen(why), answered)

    def _open_demo(self) -> None:
        self._demo = tempfile.TemporaryDirectory(prefix="memui-demo-")
        store = open_store(build(self._demo.name))
        self._opened = open_plan(store, os.path.join(self._demo.name, PLAN))
        self._start(store)

    def _open(self, spec: str) -> None:
        try:
            stores = open_stores(spec, name=self._name, layout=self._layout)
        except EngineError as error:
            self._welcome(failure(error))
            return
        if not stores:
            self._welcome(f"{spec} holds no store yet: an agent makes one when it first learns.")
        elif len(stores) == 1:
            self._start(stores[0])
        else:

            def picked(index: int | None) -> None:
                if index is not None:
                    self._start(stores[index])

            self.push_screen(PickScreen(stores), picked)

    def _start(self, store: Store) -> None:
        session = Session(store, who(), self._opened, watches=self._watches)
        self.session = session
        self.add_mode("browse", lambda: BrowseScreen(session))
        self.add_mode("review", lambda: ReviewScreen(session))
        self.add_mode("history", lambda: HistoryScreen(session))
        self.switch_mode("review" if self._opened else "browse")
        self._recover(session)

    @work(thread=True)
    def _recover(self, session: Session) -> None:
        """Finish or take back what a run left unfinished, and say so on the screen."""
        store = session.store
        try:
            if not store.place.writable or not store.unfinished():
                return
            store.recover()
            said = session.told_recovered()
            session.notices.append((f"An interrupted run was looked after: {said}.", False))
        except EngineError as error:
            session.notices.append((f"A run is unfinished. {failure(error)}", True))
        self.call_from_thread(self._show_notices)

    def _show_notices(self) -> None:
        self.screen.post_message(events.ScreenResume())

    def action_go(self, mode: str) -> None:
        """Another of the three screens."""
        if self.session is not None and not self.screen.is_modal:
            self.switch_mode(mode)

    async def action_quit(self) -> None:
        """Leave; but a run at work is never left halfway, and a text that is not saved is asked."""
        for screen in self.screen_stack:
            if isinstance(screen, Working):
                screen.action_stay()
                return
        if isinstance(self.screen, ResultEditor):
            self.screen.leave(self.exit)
        else:
            await super().action_quit()

    def action_help(self) -> None:
        """The keys of this screen and what they do."""
        if self.screen.is_modal:
            return
        mode = self.current_mode if self.session is not None else "browse"
        text = files("memui").joinpath("help", f"{mode}.md").read_text(encoding="utf-8")
        self.push_screen(Told(*help_lines(text), "esc closes"))

    def on_resize(self, event: events.Resize) -> None:
        """Say so where the terminal is too small, and come back when it is not."""
        if not is_small(event.size):
            if isinstance(self.screen, TooSmall):
                self.screen.dismiss()
        elif not any(isinstance(screen, TooSmall) for screen in self.screen_stack):
            self.push_screen(TooSmall())


def run_app(
    spec: str | None,
    *,
    name: str | None,
    layout: Layout | None,
    opened: OpenedPlan | None = None,
) -> int:
    """Run the app on the terminal; its exit code. Raises `NotAStore` before the screen is taken."""
    if spec is not None:
        open_stores(spec, name=name, layout=layout)
    app = Memui(spec, name=name, layout=layout, opened=opened, watches=True)
    code = app.run(mouse=True) or 0
    for said in app.session.farewells if app.session is not None else ():
        Console().tell("{}", said)
    return code
