"""The panes of the review: the actions, what one of them does, its ledger where there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from engine.proposal import Proposal, Standing
from engine.review import Verdict
from memui.widgets.action_list import ActionList, ApplyRow, action_row
from memui.widgets.change_page import (
    VIEWS,
    View,
    change_page,
    end_page,
    fact_lines,
    reason_line,
    title,
)
from memui.widgets.diff_view import Section, gain_and_loss
from memui.widgets.ledger_view import ledger_page
from memui.widgets.page_view import Facts, Page, PageTitle, PageView


class ReviewPanes(Container):
    """Shows a proposal. `ActionList.Moved` and `ApplyRow.Chosen` go on to the screen."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._proposal: Proposal | None = None
        self._order: tuple[int, ...] = ()
        self._sections: Mapping[int, Sequence[Section]] = {}
        self._view: View = "diff"

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

    # Showing

    def show(
        self,
        proposal: Proposal,
        order: tuple[int, ...],
        shown: Mapping[int, Sequence[Section]],
    ) -> None:
        """Show a proposal: `order` are its rows, `shown` the diffs of each action."""
        self._proposal, self._order, self._sections = proposal, order, shown
        self._left.display = bool(order)
        self._actions.show(
            [action_row(proposal, i, *gain_and_loss(proposal.changes[i], shown[i])) for i in order]
        )
        self._apply.show(proposal.counts())
        self._show_action()
        if order and self.screen.focused is None:
            self._actions.focus()

    def show_words(self, head: str, page: Page) -> None:
        """Show a page that is about no action, and no list."""
        self._proposal, self._order = None, ()
        self._left.display = False
        self._show_page(head, page)
        self._page.focus()

    def _show_page(self, head: str, page: Page) -> None:
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
        self._page.show(change_page(self._view, proposal, index, self._sections[index]))
        self._show_title()
        account = proposal.accounts.get(index)
        rail = self.query_one("#review-rail", PageView)
        rail.show(Page() if account is None else ledger_page(account, proposal.approved))
        head = title("what it keeps and drops")
        self.query_one("#review-rail-title", PageTitle).show(head, (), "", "")

    def _show_title(self) -> None:
        proposal, index = self._proposal, self.chosen
        if proposal is None or index is None:
            return
        at, blocks = self._page.block, len(self._page.page.blocks)
        place = "" if at is None else f"block {at + 1} of {blocks}"
        verb = proposal.plan.actions[index].action
        about = title(verb, str(index + 1), proposal.flags(index))
        self.query_one("#review-title", PageTitle).show(about, VIEWS, self._view, place)

    def turn(self) -> None:
        """The next of diff, whole result and ledger."""
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self._show_action()

    def ledger(self) -> None:
        """The ledger, or back to the diff."""
        self._view = "diff" if self._view == "ledger" else "ledger"
        self._show_action()

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
        """Go to the next or the previous block of changes; False if there is none."""
        return self._page.jump(step)

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
        wanted = frozenset(
            i
            for i in self._order
            if proposal.standing(i) is Standing.OPEN and proposal.verdict(i) is Verdict.PENDING
        )
        if self._actions.step(wanted, step):
            self._actions.focus()
        else:
            self._apply.focus()
