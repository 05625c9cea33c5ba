"""Editing the result of an action: in the built-in editor, or in the person's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from textual.app import SuspendNotSupported
from textual.screen import Screen

from engine import decisions
from engine.documents import decode
from engine.errors import EngineError, Refused
from engine.problems import Problem, problems
from engine.proposal import Proposal
from engine.review import Review
from memui.console import Console
from memui.editor import edit_text, rescue
from memui.presentation import count
from memui.presentation.standins import can_edit
from memui.screens.result_editor import Ended, ResultEditor
from memui.screens.session import Session, failure


class Say(Protocol):
    """Says what just happened."""

    def __call__(self, text: str, *, bad: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Desk:
    """What editing needs of the review screen.

    `proposal` gives what is under review now; `keep` writes a review as a step of an action
    (0-based), and is False, with the reason on the screen, if it could not be written.
    """

    screen: Screen[None]
    session: Session
    proposal: Callable[[], Proposal | None]
    keep: Callable[[Review, int], bool]
    say: Say
    said: Callable[[], str]


def edit_here(desk: Desk, index: int) -> None:
    """Open the result of an action in the built-in editor, if it comes back from there as it is."""
    proposal = desk.proposal()
    if proposal is None:
        return
    try:
        before = decisions.text(proposal, index)
    except Refused as refused:
        desk.say(failure(refused), bad=True)
        return
    why = can_edit(before)
    if why is not None:
        desk.say(f"This text cannot be edited here: {why}. E opens it in $EDITOR.", bad=True)
        return
    plan = proposal.saved.id

    def now() -> Proposal:
        """What is under review by now: the editor may be open for long."""
        current = desk.proposal()
        if current is None or current.saved.id != plan:
            raise Refused("The plan is not under review any more.", hint="esc can keep a copy.")
        return current

    def check(text: str) -> tuple[Problem, ...]:
        return problems(now(), index, text)

    known = {before}  # the results that the person has seen, or was told of

    def save(text: str) -> str | None:
        try:
            theirs = decisions.text(now(), index)
            if theirs not in known:
                known.add(theirs)
                return "Somebody else edited this result meanwhile; F2 again replaces theirs."
            review = decisions.edit(now(), index, text)
        except Refused as refused:
            return failure(refused)
        desk.say("")  # what stands there is of an earlier step
        return None if desk.keep(review, index) else desk.said()

    def ended(how: Ended | None) -> None:
        if how is None or not (how.saved or how.kept):
            desk.say("Nothing was changed.")
        elif how.kept:
            desk.say(f"Nothing was changed. What you wrote is kept in {how.kept}")
        else:
            _tell(desk, index)

    name = proposal.changes[index].target or "result.md"
    verb = proposal.plan.actions[index].action
    head = f"{index + 1} {verb}  {name}"
    goodbye = desk.session.farewells.append
    desk.screen.app.push_screen(ResultEditor(head, name, before, check, save, goodbye), ended)


def edit_outside(desk: Desk, index: int) -> None:
    """Edit the result of an action in the person's editor."""
    proposal = desk.proposal()
    if proposal is None:
        return
    try:
        before = decisions.text(proposal, index).encode("utf-8", "surrogatepass")
    except Refused as refused:
        desk.say(failure(refused), bad=True)
        return
    name = proposal.changes[index].target or "result.md"
    try:
        with desk.screen.app.suspend():
            after = edit_text(before, name, Console())
    except SuspendNotSupported:
        said = "This terminal cannot be left for an editor. e edits it here. Nothing was changed."
        desk.say(said, bad=True)
        return
    except EngineError as error:
        desk.say(failure(error), bad=True)
        return
    if after == before:
        desk.say("Nothing was changed.")
        return
    text, encoding = decode(after)
    if encoding != "utf-8":
        _keep_aside(desk, after, name, "What you wrote is not UTF-8.")
    elif desk.keep(decisions.edit(proposal, index, text), index):
        _tell(desk, index)
    else:
        _keep_aside(desk, after, name, "It was not saved.")


def _keep_aside(desk: Desk, data: bytes, name: str, why: str) -> None:
    """Keep what could not be saved in a file of its own, and say where."""
    try:
        desk.say(f"{why} What you wrote is kept in {rescue(data, name)}", bad=True)
    except EngineError as error:
        desk.say(f"{why} {failure(error)}", bad=True)


def _tell(desk: Desk, index: int) -> None:
    """What an edit that was saved came to."""
    edited = desk.proposal()
    if edited is None:
        return
    broken = edited.violations(index)
    if broken:
        rules = count(len(broken), "rule", "rules")
        desk.say(f"Edited, but it breaks {rules}; e edits it again.", bad=True)
    elif edited.saved.review.decisions[index].content is None:
        desk.say(f"Action {index + 1} is the planner's again.")
    elif index in edited.stale:
        path = edited.stale[index][0].path
        said = f"Action {index + 1} is edited, but {path} is not as the plan saw it; v compares."
        desk.say(said, bad=True)
    else:
        desk.say(f"Action {index + 1} is edited, and wants a verdict. u takes it back.")
