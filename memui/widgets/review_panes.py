"""The panes of the review: the actions, what one of them does, its ledger where there is room."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any, Final

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.worker import get_current_worker

from engine.changes import Change
from engine.proposal import Proposal, Standing
from engine.review import Verdict
from engine.versions import Version
from memui.presentation import line
from memui.presentation.pages import Lines, Page, Place
from memui.widgets.action_list import ActionList, ActionRow, ApplyRow, action_row
from memui.widgets.agent_page import agent_lines
from memui.widgets.change_page import (
    CONTEXTS,
    NAMES,
    SPLIT,
    View,
    change_page,
    end_page,
    fact_lines,
    reason_line,
    shown_change,
    title,
    views,
)
from memui.widgets.diff_notes import Check, no_check
from memui.widgets.diff_view import CONTEXT, Section, heavy, sections, size_of
from memui.widgets.ledger_view import ledger_page
from memui.widgets.page_view import Facts, PageTitle, PageView
from memui.widgets.version_page import Turned, version_page

RAIL: Final = 56
"""Columns of the rail, as the style sheet has it."""
RAIL_ENTRIES: Final = 200
"""Statements of one fate that it names; the ledger's own view names all."""

_LARGE: Final = 1 << 18
"""Bytes of an action's files from which even its diff is made beside the screen's own work."""


class _Left(Exception):
    """Somebody looks at something else."""


class ReviewPanes(Container):
    """Shows a proposal. `ActionList.Moved` and `ApplyRow.Chosen` go on to the screen."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._proposal: Proposal | None = None
        self._order: tuple[int, ...] = ()
        self._sections: dict[int, tuple[Change, tuple[Section, ...]]] = {}
        self._amounts: Mapping[int, tuple[int, int]] = {}
        self._rows: dict[int, tuple[tuple[object, ...], ActionRow]] = {}
        self._wanted: View | None = None
        self._around = CONTEXT
        self._drawn: tuple[int, View, int, Version | None] | None = None
        self._turned = Turned()

    def compose(self) -> ComposeResult:
        with Vertical(id="review-left"):
            yield ActionList(id="review-actions")
            yield ApplyRow(id="review-apply")
        with Vertical(id="review-detail"):
            yield PageTitle(id="review-title")
            yield Facts(id="review-facts")
            yield PageView(id="review-page")
        with Vertical(id="review-right"):
            yield PageTitle(id="review-rail-title")
            yield PageView(id="review-rail")

    def on_mount(self) -> None:
        self._left.display = False

    @property
    def _left(self) -> Vertical:
        return self.query_one("#review-left", Vertical)

    @property
    def _actions(self) -> ActionList:
        return self.query_one("#review-actions", ActionList)

    @property
    def _apply(self) -> ApplyRow:
        return self.query_one("#review-apply", ApplyRow)

    @property
    def _page(self) -> PageView:
        return self.query_one("#review-page", PageView)

    @property
    def cursor(self) -> int | None:
        """The action under the cursor of the list."""
        return self._actions.index

    @property
    def chosen(self) -> int | None:
        """The action that keys are about: none while the last row has the focus."""
        return None if self._apply.has_focus else self._actions.index

    @property
    def place(self) -> Place | None:
        """The block of a diff that keys are about, where the view shows blocks of a diff."""
        return None if self._version is not None else self._page.place

    @property
    def _version(self) -> Version | None:
        """The version that is looked at; None for what a verdict is about."""
        proposal, index = self._proposal, self.chosen
        if proposal is None or index is None or self._view not in {"diff", "split", "prose"}:
            return None
        return self._turned.of(proposal, index)

    # Which view

    @property
    def _room(self) -> int:
        """Columns that a diff would have if nothing stood on its right."""
        beside = self._left.region.right if self._left.region.height == self.size.height else 0
        return self.size.width - beside

    @property
    def _view(self) -> View:
        """The view that is on: the one that was asked for, if there is room for it."""
        if self._wanted is not None and self._wanted in views(self._room):
            return self._wanted
        return "split" if self._room - self._right_columns >= SPLIT else "diff"

    @property
    def _right_columns(self) -> int:
        """Columns of the rail, where the screen is so wide that there is one."""
        return RAIL if self.app.screen.has_class("-wide") else 0

    def on_resize(self, _event: events.Resize) -> None:
        """There may be room for another view now, or none for this one."""
        if self._drawn is not None and self._drawn[1] != self._view:
            self._show_action()

    # Showing

    def show(self, proposal: Proposal, order: tuple[int, ...]) -> None:
        """Show a proposal: `order` are its rows."""
        first = self._proposal is None
        self._proposal, self._order = proposal, order
        self._left.display = bool(order)
        self._actions.show([self._row(proposal, index) for index in order])
        self._apply.show(proposal.counts())
        if first:
            self._begin(proposal)
        self._show_action()
        if order and self.screen.focused is None:
            self._actions.focus()

    def _begin(self, proposal: Proposal) -> None:
        """Where somebody goes on who left: at the first action that wants a verdict."""
        index = next((i for i in self._order if _wants(proposal, i)), None)
        if index is not None:
            self._actions.put(index)

    def show_amounts(self, amounts: Mapping[int, tuple[int, int]]) -> None:
        """Show how many lines each action adds and takes away, once they are counted."""
        self._amounts = amounts
        if self._proposal is not None:
            self._actions.show([self._row(self._proposal, index) for index in self._order])

    def _row(self, proposal: Proposal, index: int) -> ActionRow:
        """The row of an action, made anew only if something of it changed."""
        account, amount = proposal.accounts.get(index), self._amounts.get(index, (0, 0))
        decision, change = proposal.saved.review.decisions[index], proposal.changes[index]
        said = proposal.standing(index), proposal.verdict(index), amount
        key = (account, decision, change, said)
        known = self._rows.get(index)
        if known is not None and known[0][3] == said and all(map(is_, known[0][:3], key)):
            return known[1]
        made = action_row(proposal, index, *amount)
        self._rows[index] = key, made
        return made

    def _shown(self, proposal: Proposal, index: int) -> tuple[Section, ...]:
        """The diffs of an action, made when somebody looks at it."""
        change = shown_change(proposal, index)
        known = self._sections.get(index)
        if known is None or known[0] != change:
            known = self._sections[index] = change, sections(change)
        return known[1]

    def _is_heavy(self, proposal: Proposal, index: int) -> bool:
        """Whether a person would wait for the page of an action."""
        version = self._version
        if version is not None:
            return sum(len(e.before or b"") + len(e.after or b"") for e in version.edits) > _LARGE
        change, known = shown_change(proposal, index), self._sections.get(index)
        if (known is None or known[0] is not change) and size_of(change) > _LARGE:
            return True
        account = proposal.accounts.get(index)
        return heavy(self._shown(proposal, index), 0 if account is None else len(account.entries))

    def show_words(self, head: str, page: Page) -> None:
        """Show a page that is about no action, and no list."""
        self._proposal, self._order = None, ()
        self._rows, self._sections = {}, {}
        self._left.display = False
        self._show_page(head, page)
        self._page.focus()

    def _show_page(self, head: str, page: Page) -> None:
        self.stop()
        self._drawn = None
        self.query_one("#review-facts", Facts).show_facts([], None)
        self.query_one("#review-rail", PageView).show(Page())
        self.query_one("#review-rail-title", PageTitle).show(title(""), (), "", "")
        self.query_one("#review-title", PageTitle).show(title(head), (), "", "")
        self._page.show(page)

    def _show_action(self) -> None:
        proposal, index = self._proposal, self.chosen
        if proposal is None:
            return
        if index is None:
            self._show_page(*end_page(proposal))
            return
        facts = self.query_one("#review-facts", Facts)
        facts.show_facts(fact_lines(proposal, index), reason_line(proposal, index))
        view = self._view
        self.set_class(view == "split" and self._room - self._right_columns < SPLIT, "split")
        head = title("what the agent sees, what is kept and dropped")
        self.query_one("#review-rail-title", PageTitle).show(head, (), "", "")
        drawn = index, view, self._around, self._version
        keep = drawn == self._drawn
        self._drawn = drawn
        self.query_one("#review-rail", PageView).show(self._rail(proposal, index))
        if self._is_heavy(proposal, index):
            waits = Page(Lines([line(("computing …", "note"), gutter="  ")]))
            self._draw(waits, keep_place=False)
            self._compute(proposal, index, view, keep_place=keep)
            return
        self.stop()
        self._draw(self._made(proposal, index, view, no_check), keep_place=keep)

    def _made(self, proposal: Proposal, index: int, view: View, check: Check) -> Page:
        """The page of an action in a view."""
        version = self._drawn[3] if self._drawn is not None else None
        if version is not None:
            return version_page(view, version, context=self._around, check=check)
        shown = self._shown(proposal, index)
        return change_page(view, proposal, index, shown, context=self._around, check=check)

    def _rail(self, proposal: Proposal, index: int) -> Page:
        """What stands on its right, where there is room."""
        account = proposal.accounts.get(index)
        if account is None or not self._right_columns:
            return Page()
        above = [*agent_lines(proposal, index), line()]
        return ledger_page(account, proposal.approved, most=RAIL_ENTRIES, above=above)

    def _draw(self, page: Page, *, keep_place: bool) -> None:
        self._page.show(page, keep_place=keep_place)
        self._show_title()

    @work(thread=True, exclusive=True, group="page")
    def _compute(self, proposal: Proposal, index: int, view: View, *, keep_place: bool) -> None:
        """Make the page beside the screen's own work; leave off when nobody waits for them."""
        worker = get_current_worker()

        def check() -> None:
            if worker.is_cancelled:
                raise _Left

        def said(page: Page) -> None:
            if not worker.is_cancelled:
                self._draw(page, keep_place=keep_place)

        try:
            page = self._made(proposal, index, view, check)
            check()
        except _Left:
            return
        self.app.call_from_thread(said, page)

    def stop(self) -> None:
        """Leave off making a page."""
        self.workers.cancel_group(self, "page")

    def _show_title(self) -> None:
        proposal, index = self._proposal, self.chosen
        if proposal is None or index is None:
            return
        page, at = self._page.page, self._page.block
        place = "" if at is None else f"block {at + 1} of {len(page.blocks)}"
        if at is not None and page.left is not None:
            place += " · left" if at in page.left else " · taken"
        verb = proposal.plan.actions[index].action
        about = title(verb, str(index + 1), proposal.flags(index))
        names = [NAMES[view] for view in views(self._room)]
        version = self._version
        if version is not None:
            about, names = title(version.title, str(index + 1)), [NAMES[self._view]]
        self.query_one("#review-title", PageTitle).show(about, names, NAMES[self._view], place)

    def turn(self, step: int) -> None:
        """The next (1) or the previous (-1) of the views that there is room for."""
        there = views(self._room)
        self._wanted = there[(there.index(self._view) + step) % len(there)]
        self._show_action()

    def turn_version(self) -> str:
        """The next pair of states to compare; what is compared now, in words."""
        proposal, index = self._proposal, self.chosen
        if proposal is None or index is None:
            return ""
        if self._view not in {"diff", "split", "prose"}:
            self._wanted = None
        said = self._turned.turn(proposal, index)
        self._show_action()
        return said

    def ledger(self) -> None:
        """The ledger, or back to the diff."""
        self._wanted = None if self._view == "ledger" else "ledger"
        self._show_action()

    def more(self, step: int) -> bool:
        """More (1) or fewer (-1) unchanged lines around the blocks; False if there are no more."""
        at = CONTEXTS.index(self._around) + step
        if not 0 <= at < len(CONTEXTS) or self._view not in {"diff", "split", "prose"}:
            return False
        block = self._page.block
        self._around = CONTEXTS[at]
        self._show_action()
        if block is not None and block < len(self._page.page.blocks):
            self._page.put(block)
        return True

    @property
    def context(self) -> str:
        """How many unchanged lines stand around a block, in words."""
        lines = self._around
        return "all unchanged lines" if lines == CONTEXTS[-1] else f"{lines} unchanged lines"

    # Moving

    def on_action_list_moved(self, _event: ActionList.Moved) -> None:
        self._show_action()

    def on_action_list_chosen(self, _event: ActionList.Chosen) -> None:
        self._page.focus()

    def on_action_list_left(self, _event: ActionList.Left) -> None:
        self._apply.focus()

    def on_apply_row_left(self, _event: ApplyRow.Left) -> None:
        self._actions.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, ApplyRow):
            self._show_action()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        if isinstance(event.widget, ApplyRow):
            self.call_after_refresh(self._show_action)

    def on_page_view_block_changed(self, _event: PageView.BlockChanged) -> None:
        self._show_title()

    def jump(self, step: int) -> bool:
        """Go to the next or the previous block, through all actions; False if there is none."""
        if self._page.jump(step):
            return True
        at = self.chosen
        if at is None:
            return False
        there = self._order.index(at) + step
        if not 0 <= there < len(self._order):
            return False
        self._actions.put(self._order[there])
        self._show_action()
        self._page.jump(step)
        return True

    def scroll_page(self, step: int) -> None:
        """Scroll what the action shows."""
        self._page.action_page(step)

    def put(self, index: int) -> None:
        """Put the cursor on an action, with the focus."""
        self._actions.focus()
        self._actions.put(index)

    def back(self) -> bool:
        """From the text to the list; False if the focus was there already."""
        if self._actions.has_focus or not self._order:
            return False
        self._actions.focus()
        return True

    def go_on(self, step: int) -> None:
        """To the next or previous action that wants a verdict; if none does, to the last row."""
        proposal = self._proposal
        if proposal is None or not self._order:
            return
        wanted = frozenset(i for i in self._order if _wants(proposal, i))
        if self._actions.step(wanted, step):
            self._actions.focus()
        else:
            self._apply.focus()


def _wants(proposal: Proposal, index: int) -> bool:
    """Whether an action wants a verdict."""
    return proposal.standing(index) is Standing.OPEN and proposal.verdict(index) is Verdict.PENDING
