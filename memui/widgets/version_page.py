"""The pages of an action's versions: two states of its files, as a diff like any other."""

from __future__ import annotations

from engine.diff import compare
from engine.proposal import Proposal
from engine.versions import Version, forgotten, versions
from memui.widgets.diff_notes import Check
from memui.widgets.diff_rows import Shape
from memui.widgets.diff_view import Section, diff_page, prose_page, sections
from memui.widgets.page_view import Page


class Turned:
    """Which version of which action is looked at; the first wherever nobody turned."""

    def __init__(self) -> None:
        self._index: int | None = None
        self._at = 0

    def of(self, proposal: Proposal, index: int) -> Version | None:
        """The version of an action that is looked at; None for what a verdict is about."""
        if index != self._index or not self._at:
            return None
        there = versions(proposal, index)
        return there[self._at] if self._at < len(there) else None

    def turn(self, proposal: Proposal, index: int) -> str:
        """The next version of an action; what is compared now, in words."""
        there = versions(proposal, index)
        at = self._at if index == self._index and self._at < len(there) else 0
        self._index, self._at = index, (at + 1) % len(there)
        if len(there) > 1:
            return f"Compared: {there[self._at].title}. {self._at + 1} of {len(there)}; v goes on."
        gone = forgotten(proposal, index)
        lost = f" What the plan saw of {', '.join(gone)} is not kept." if gone else ""
        return f"There is only one version: {there[0].title}.{lost}"


def version_page(view: str, version: Version, *, context: int, check: Check) -> Page:
    """Two states as a diff, in the view that is on: side by side, prose, or below each other."""
    if version.change is not None:
        shown = sections(version.change)
    else:
        shown = tuple(Section(e, compare(e.before, e.after)) for e in version.edits)
    if view == "prose":
        return prose_page(version.change, shown, context=context, check=check)
    shape: Shape = "split" if view == "split" else "unified"
    return diff_page(version.change, shown, (), shape=shape, context=context, check=check)
