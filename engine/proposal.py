"""A saved plan held against the store as it is now: what still holds, and what would be lost.

One value that screens, console and commit look at, so that what was shown is what runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from engine.blocks import without
from engine.changes import Change, resolve
from engine.documents import Snapshot, digest
from engine.errors import Drift, Violation
from engine.flags import standing_flags
from engine.injected import Injected, injected
from engine.ledger import Account, Ledger
from engine.plan import Plan
from engine.review import Review, SavedPlan, Verdict, fingerprint
from engine.rules import Case, Verdicts, validate


class Standing(StrEnum):
    """Whether an action can be decided on."""

    OPEN = "open"
    APPLIED = "applied"
    INVALID = "invalid"
    STALE = "changed on disk"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many actions stand where. `undecided` are those that still want a verdict."""

    total: int
    undecided: int
    approved: int
    rejected: int
    applied: int
    invalid: int
    stale: int


class Proposal:
    """A saved plan against a snapshot of its store.

    `applied` maps action numbers (1-based) to the run that applied them; `remembered` gives the
    bytes of a digest if the state folder still holds them; `freed` maps action numbers to the undo
    that took them back last. Never changed once made: a new verdict
    makes a new proposal by `reviewed`.
    """

    def __init__(
        self,
        saved: SavedPlan,
        snapshot: Snapshot,
        applied: Mapping[int, str],
        remembered: Callable[[str], bytes | None] = lambda _: None,
        freed: Mapping[int, str] | None = None,
    ) -> None:
        self.saved = saved
        self.snapshot = snapshot
        self.applied = applied
        self._remembered = remembered
        self._freed = freed or {}
        self._fingerprints: dict[int, tuple[Change, str]] = {}
        self._flags: dict[int, tuple[Change, tuple[str, ...]]] = {}
        self._before: Ledger | None = None

    def reviewed(self, review: Review) -> Proposal:
        """The same proposal with another review; what does not depend on it is kept."""
        new = Proposal(
            self.saved.reviewed(review),
            self.snapshot,
            self.applied,
            self._remembered,
            self._freed,
        )
        new._fingerprints, new._flags = self._fingerprints, self._flags
        old = self.saved.review
        if "listing" in self.__dict__:
            new.__dict__["listing"] = self.listing
        if review.contents() == old.contents():
            kept: tuple[str, ...] = ("whole", "whole_changes", "_base_view")
            if review.left() == old.left():
                kept += ("plan", "changes", "verdicts", "stale", "_ledger")
            for name in kept:
                if name in self.__dict__:
                    new.__dict__[name] = self.__dict__[name]
        if "_ledger" not in new.__dict__:
            new._before = self.__dict__.get("_ledger")
        return new

    @cached_property
    def whole(self) -> Plan:
        """The plan with the results that a person edited, every block taken."""
        return self.saved.effective()

    @cached_property
    def whole_changes(self) -> tuple[Change, ...]:
        """One change an action as `whole` has it, against the store as the plan saw it."""
        return resolve(self.whole, self._base_view)

    @cached_property
    def plan(self) -> Plan:
        """The plan as it would be applied: with what a person edited, without what was left."""
        partial = {
            index: text
            for index, left in self.saved.review.left().items()
            if (text := without(self.whole_changes[index], left)) is not None
        }
        return self.whole.with_contents(partial)

    @cached_property
    def _base_view(self) -> Snapshot:
        """The store as the plan saw it, as far as the bytes are still known."""
        files = dict(self.snapshot.files)
        for path, wanted in self.saved.base.items():
            if wanted is None:
                files.pop(path, None)
            elif self.snapshot.digests.get(path) != wanted:
                known = self._remembered(wanted)
                files[path] = known if known is not None else files.get(path, b"")
        return Snapshot(files)

    @property
    def base(self) -> Snapshot:
        """The store as the plan saw it, as far as the bytes are still known (`knows`)."""
        return self._base_view

    def seen_bytes(self) -> Mapping[str, bytes]:
        """Digest -> the bytes of every file that the plan relies on, as far as they are known."""
        files = self._base_view.files
        return {
            wanted: files[path]
            for path, wanted in self.saved.base.items()
            if wanted is not None and path in files and self.knows(path)
        }

    def knows(self, path: str) -> bool:
        """Whether the bytes of a file are still known as the plan saw them."""
        wanted = self.saved.base.get(path)
        if wanted is None or self.snapshot.digests.get(path) == wanted:
            return True
        return path in self._base_view and digest(self._base_view.files[path]) == wanted

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """One change an action: against the store as it is, or as it was for what was applied."""
        now = resolve(self.plan, self.snapshot)
        then = resolve(self.plan, self._base_view) if self.applied else now
        return tuple(
            old if index + 1 in self.applied else new
            for index, (new, old) in enumerate(zip(now, then, strict=True))
        )

    def case(self, plan: Plan, snapshot: Snapshot, by_hand: frozenset[int]) -> Case:
        """What a plan of this store is validated against."""
        saved = self.saved
        return Case(
            plan,
            snapshot,
            saved.store.layout,
            saved.operations,
            saved.limits,
            one_call=saved.one_call,
            by_hand=by_hand,
        )

    @cached_property
    def verdicts(self) -> Verdicts:
        """The rules' verdicts on the whole plan, against the store as the plan saw it."""
        by_hand = frozenset(i for i in range(len(self.plan.actions)) if self.edited(i))
        return validate(self.case(self.plan, self._base_view, by_hand))

    @cached_property
    def stale(self) -> Mapping[int, tuple[Drift, ...]]:
        """Action -> every file that is not as the plan saw it. Applied actions are never stale."""
        return {
            index: drifts
            for index in range(len(self.changes))
            if index + 1 not in self.applied and (drifts := self._drifts(index))
        }

    def _drifts(self, index: int) -> tuple[Drift, ...]:
        then = resolve(self.plan, self._base_view)[index] if self._differs else self.changes[index]
        owner = then if then.into is None else self.changes[then.into]
        found: list[Drift] = []
        for path in dict.fromkeys([*then.paths, *owner.paths]):
            if path not in self.saved.base:
                continue
            wanted, has = self.saved.base[path], self.snapshot.digests.get(path)
            if wanted is None:
                others = self.snapshot.spellings(path)
                if others:
                    alias = "" if path in others else f" as {others[0]}"
                    found.append(Drift(path, f"was created by another writer{alias}"))
            elif has is None:
                found.append(Drift(path, "was deleted"))
            elif has != wanted:
                found.append(Drift(path, "changed on disk"))
        return tuple(found)

    @cached_property
    def _differs(self) -> bool:
        return any(self.snapshot.digests.get(p) != d for p, d in self.saved.base.items())

    def owner(self, index: int) -> int:
        """The action whose row and verdict this one shares: itself, but for a folded delete."""
        into = self.changes[index].into
        return index if into is None else into

    def rows(self) -> tuple[int, ...]:
        """The actions that have a row of their own, in the order of the plan."""
        return tuple(i for i, change in enumerate(self.changes) if change.into is None)

    def standing(self, index: int) -> Standing:
        """Whether an action can be decided on."""
        if index + 1 in self.applied:
            return Standing.APPLIED
        if index in self.verdicts.broken or self.owner(index) in self.verdicts.broken:
            return Standing.INVALID
        if index in self.stale:
            return Standing.STALE
        return Standing.OPEN

    def verdict(self, index: int) -> Verdict:
        """What holds for an action now: a verdict on something that changed since is pending."""
        index = self.owner(index)
        decision = self.saved.review.decisions[index]
        if decision.verdict is Verdict.PENDING:
            return Verdict.PENDING
        if decision.verdict is Verdict.APPROVED and (
            decision.seen != self.seen(index) or self.standing(index) is not Standing.OPEN
        ):
            return Verdict.PENDING
        return decision.verdict

    def seen(self, index: int) -> str:
        """What a verdict on an action is given on: what it shows, and the undo that freed it.

        An approval from before an undo does not hold after it.
        """
        shown = self._fingerprint(index)
        undo = self._freed.get(index + 1)
        return shown if undo is None else f"{shown}~{undo}"

    def _fingerprint(self, index: int) -> str:
        change, known = self.changes[index], self._fingerprints.get(index)
        if known is None or known[0] != change:
            known = self._fingerprints[index] = change, fingerprint(change)
        return known[1]

    def reopened(self, index: int) -> bool:
        """Whether an approval only fell because the action was taken back since."""
        said = self.saved.review.decisions[index].seen or ""
        return said != self.seen(index) and said.partition("~")[0] == self._fingerprint(index)

    def _lasting(self, index: int) -> tuple[str, ...]:
        change, known = self.changes[index], self._flags.get(index)
        if known is None or known[0] != change:
            known = self._flags[index] = change, standing_flags(change)
        return known[1]

    def violations(self, index: int) -> tuple[Violation, ...]:
        """The rules that one action breaks."""
        return tuple(v for v in self.verdicts.violations if v.action == index)

    def edited(self, index: int) -> bool:
        """Whether a person changed the result, or left some of its blocks."""
        decision = self.saved.review.decisions[index]
        return decision.content is not None or bool(decision.left)

    @cached_property
    def approved(self) -> frozenset[int]:
        """The actions that an apply would run now, with the deletes folded into them."""
        return frozenset(
            index
            for index in range(len(self.changes))
            if self.standing(index) is Standing.OPEN and self.verdict(index) is Verdict.APPROVED
        )

    @cached_property
    def _ledger(self) -> Ledger:
        waiting = [c for c in self.changes if c.index + 1 not in self.applied]
        before, self._before = self._before, None
        return Ledger(waiting, self.snapshot) if before is None else before.following(waiting)

    @cached_property
    def accounts(self) -> Mapping[int, Account]:
        """What each waiting action keeps and drops, if exactly the approved ones and it ran."""
        return {a.index: a for a in self._ledger.account(self.approved)}

    @cached_property
    def listing(self) -> Injected:
        """What the agent sees each turn, now."""
        return injected(self.snapshot)

    def listing_if(self, approved: frozenset[int]) -> Injected:
        """What it would see each turn if exactly these actions ran, and the deletes they decide."""
        owners = (self.changes[i] for i in sorted(approved))
        return self.listing.after(edit for change in owners for edit in change.edits)

    def after(self) -> Snapshot:
        """The store as it would be if exactly the approved actions ran."""
        files = dict(self.snapshot.files)
        edits = [edit for i in sorted(self.approved) for edit in self.changes[i].edits]
        for edit in edits:
            files.pop(edit.path, None)
        files.update({edit.path: edit.after for edit in edits if edit.after is not None})
        return Snapshot(files)

    def account_if(self, approved: frozenset[int]) -> Mapping[int, Account]:
        """The accounts for another set of approved actions."""
        if approved == self.approved:
            return self.accounts
        return {a.index: a for a in self._ledger.account(approved)}

    def unmet(self, index: int) -> tuple[int, ...]:
        """The actions that this one needs and that an apply would not run."""
        account = self.accounts.get(index)
        return tuple(n for n in account.needs if n not in self.approved) if account else ()

    def lossless(self) -> frozenset[int]:
        """The undecided open actions that lose, add and reword nothing, even all together."""
        found = frozenset(
            i
            for i in self.rows()
            if self.standing(i) is Standing.OPEN and self.verdict(i) is Verdict.PENDING
        )
        while found:
            together = self.approved | found
            accounts = self.account_if(together)
            kept = frozenset(i for i in found if accounts[i].lossless)
            if kept == found:
                return kept
            found = kept
        return found

    def counts(self) -> Counts:
        """How many rows stand where."""
        rows = self.rows()
        standing = [self.standing(i) for i in rows]
        said = [self.verdict(i) for i in rows]
        opened = [v for s, v in zip(standing, said, strict=True) if s is Standing.OPEN]
        return Counts(
            total=len(rows),
            undecided=opened.count(Verdict.PENDING),
            approved=opened.count(Verdict.APPROVED),
            rejected=sum(
                v is Verdict.REJECTED and s is not Standing.APPLIED
                for s, v in zip(standing, said, strict=True)
            ),
            applied=standing.count(Standing.APPLIED),
            invalid=standing.count(Standing.INVALID),
            stale=standing.count(Standing.STALE),
        )

    def flags(self, index: int) -> tuple[str, ...]:
        """What a reviewer must not overlook, as words, the gravest first."""
        found: list[str] = []
        standing = self.standing(index)
        if standing in {Standing.STALE, Standing.INVALID}:
            found.append(str(standing))
        lasting = self._lasting(index)
        if "hidden characters" in lasting:
            found.append("hidden characters")
        if account := self.accounts.get(index):
            if account.dropped:
                found.append(f"drops {len(account.dropped)}")
            needed = ", ".join(str(n + 1) for n in account.needs)
            if needed:
                found.append(f"needs action {needed}")
            if "description changed" in lasting:
                found.append("description changed")
            if account.new:
                found.append(f"{len(account.new)} new")
        decision = self.saved.review.decisions[index]
        if decision.content is not None:
            found.append("edited")
        if decision.left:
            found.append("in part")
        return tuple(found)

    def risk(self, index: int) -> tuple[int, int]:
        """Sort key, risk first: what stops or loses, then what rewrites, then what only moves."""
        flags = self.flags(index)
        grave = ("changed on disk", "invalid", "hidden", "drops", "needs", "description")
        rank = next(
            (n for n, word in enumerate(grave) if any(f.startswith(word) for f in flags)), 9
        )
        kind = {"delete": 0, "merge": 1, "update": 2, "move": 3}[self.plan.actions[index].action]
        return rank, kind
