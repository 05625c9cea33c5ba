"""What changed on disk while a plan is under review: noticed, read again, and said in one line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import App
from textual.message import Message
from textual.screen import Screen

from engine.documents import digest
from engine.errors import Drift, EngineError
from engine.plans import OpenedPlan, read_file
from engine.proposal import Proposal, Standing
from engine.review import Verdict
from memui.presentation import count
from memui.screens.apply_dialog import ApplyDialog
from memui.screens.session import Session
from memui.watching import Watch


class Woken(Message):
    """Something changed on disk."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is to say, empty for nothing, and whether it wants attention."""

    text: str = ""
    bad: bool = False


class Live:
    """Watches a store and the plan under review, for one screen."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._watch: Watch | None = None
        self._due = False
        self._next = ""
        self._known: object = None
        self._said: object = None

    def start(self, screen: Screen[None]) -> None:
        """Post `Woken` to the screen from now on, whenever something may have changed."""
        if self._watch is None:
            folder = self._session.store.place.folder
            self._watch = Watch(folder, lambda: screen.post_message(Woken()), self._plan)
            self._watch.start()

    def stop(self) -> None:
        """Watch no more."""
        if self._watch is not None:
            self._watch.stop()
        self._watch = None

    def _plan(self) -> object:
        """What differs if somebody else wrote the plan; None as long as it is what was opened."""
        store, opened = self._session.store, self._session.opened
        if opened is None:
            return store.plans()  # one may come
        path = opened.file or store.plan_file(opened.name)
        try:
            seen = os.stat(path)
            times = seen.st_ino, seen.st_mtime_ns, seen.st_size
            if self._known == (path, times):
                return self._said
            same = digest(read_file(path)) == opened.seen
        except (OSError, EngineError):
            return "" if opened.seen is not None else None
        self._known, self._said = (path, times), None if same else times
        return self._said

    def say(self, text: str) -> None:
        """Say this when the next reading is shown."""
        self._next = text

    def woken(self) -> None:
        """What is read next is to be told."""
        self._due = True

    def take_note(
        self,
        old: Proposal | None,
        new: Proposal,
        before: OpenedPlan | None,
        opened: OpenedPlan,
    ) -> Note:
        """What is to say of a reading, once: how it differs from the last one, if it was woken."""
        due, self._due = self._due, False
        said, self._next = self._next, ""
        if said or not due:
            return Note(said)
        if old is None or before is None or before.saved.id != opened.saved.id:
            return Note()
        said = " ".join(filter(None, (others(before, opened), changed(old, new))))
        return Note(said, bad=True)


def applying(app: App[int]) -> ApplyDialog | None:
    """The open question whether to apply, or the run that it began."""
    return next((each for each in app.screen_stack if isinstance(each, ApplyDialog)), None)


def others(before: OpenedPlan, opened: OpenedPlan) -> str:
    """Whether somebody else gave verdicts."""
    if before.seen == opened.seen:
        return ""
    return "Somebody else reviews this plan: their verdicts are shown."


def changed(old: Proposal, new: Proposal) -> str:
    """What became of actions because files changed, in one line; empty if nothing did."""
    rows = [i for i in new.rows() if i < len(old.changes) and i + 1 not in new.applied]
    stale = [i for i in rows if i in new.stale and i not in old.stale]
    if stale:
        reopened = [i for i in stale if old.verdict(i) is Verdict.APPROVED]
        what = drifted([drift for i in stale for drift in new.stale[i]])
        if reopened:
            return f"{what}: {_are(reopened)} to decide again."
        return f"{what}: {_are(stale)} out of date; f plans again."
    healed = [i for i in rows if i in old.stale and new.standing(i) is Standing.OPEN]
    if healed:
        said = f"{_named(healed).capitalize()} can be decided on again"
        return f"{said}: every file is as the plan saw it."
    more = [(i, n) for i in rows if (n := _dropped(new, i) - _dropped(old, i)) > 0]
    if more:
        paths = sorted(
            path
            for path in {*old.snapshot.digests, *new.snapshot.digests}
            if old.snapshot.digests.get(path) != new.snapshot.digests.get(path)
        )
        lost = count(sum(n for _, n in more), "statement", "statements")
        what = drifted([Drift(path, "changed on disk") for path in paths])
        return f"{what}: {_named([i for i, _ in more])} would drop {lost} more."
    return ""


def _dropped(proposal: Proposal, index: int) -> int:
    account = proposal.accounts.get(index)
    return 0 if account is None else len(account.dropped)


def drifted(drifts: Sequence[Drift]) -> str:
    """What happened to which file, and how many more."""
    first = drifts[0]
    more = len({drift.path for drift in drifts}) - 1
    if not more:
        return f"{first.path} {first.why}"
    return f"{first.path} and {count(more, 'other file', 'other files')} changed on disk"


def _named(indexes: Sequence[int]) -> str:
    numbers = [str(index + 1) for index in sorted(indexes)]
    if len(numbers) == 1:
        return f"action {numbers[0]}"
    return f"actions {', '.join(numbers[:-1])} and {numbers[-1]}"


def _are(indexes: Sequence[int]) -> str:
    return f"{_named(indexes)} {'is' if len(indexes) == 1 else 'are'}"
