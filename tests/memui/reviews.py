"""Plans under review, for tests: a store of plain files with a plan that waits, the app on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from engine.consolidation import propose
from engine.planner.file import FilePlanner
from engine.plans import OpenedPlan, open_plan
from engine.proposal import Proposal
from engine.review import Decision, SavedPlan, parse_saved_plan
from engine.store import Store, open_store
from memui.app import Memui
from memui.screens.review import ReviewScreen
from memui.widgets.action_list import ActionList, ApplyRow
from memui.widgets.page_view import Page, PageView
from tests.memui.driving import make_store

Action = Mapping[str, Any]


def memory(description: str, *facts: str) -> str:
    """A memory's text: a description and facts in a list."""
    items = "".join(f"- {fact}\n" for fact in facts)
    return f'---\ndescription: "{description}"\n---\n\n{items}'


EDITOR = memory("Which editor", "Neovim with a dark theme.", "Four spaces for Python.")
SETUP = memory("Which editor", "Neovim with a dark theme.", "Spell checking is on.")
FILES: Mapping[str, str] = {
    "facts/backup.md": memory("Backups", "Backups run at night.", "They are checked on Mondays."),
    "facts/backup-old.md": memory("Backups", "Backups run at night."),
    "facts/editor.md": EDITOR,
    "facts/setup.md": SETUP,
    "facts/deploy.md": memory("Deploys", "Deploy on Thursday."),
    "facts/window.md": memory("Deploys", "Deploy on Thursday.", "Ask Priya first."),
    "facts/bug.md": memory("A bug", "Invoices are rounded twice."),
}
MERGE, DELETE, UPDATE, NEEDS, MOVE = range(5)
ACTIONS: Sequence[Action] = (
    {
        "action": "merge",
        "sources": ["facts/editor.md", "facts/setup.md"],
        "target": "facts/editor.md",
        "content": EDITOR,
        "reason": "Both are about the editor.",
    },
    {"action": "delete", "path": "facts/backup-old.md", "reason": "Said in backup.md."},
    {
        "action": "update",
        "path": "facts/deploy.md",
        "content": memory("Deploys", "Deploy on Thursday.", "Ask Priya first.", "Ring the bell."),
        "reason": "Collects the rules.",
    },
    {"action": "delete", "path": "facts/window.md", "reason": "Its rules are in deploy.md."},
    {"action": "move", "from": "facts/bug.md", "to": "projects/bug.md", "reason": "A project."},
)
"""Drops a fact; lossless; says something new; needs the update; moves."""


def plan_json(actions: Sequence[Action], summary: str = "") -> bytes:
    """A bare plan file."""
    return json.dumps({"actions": list(actions), "summary": summary}).encode()


def under_review(
    folder: Path, actions: Sequence[Action] = ACTIONS, files: Mapping[str, str] = FILES
) -> tuple[str, Store]:
    """A store with a plan that waits: (its root, the store)."""
    root = make_store(folder, files)
    store = open_store(root)
    saved = propose(store, FilePlanner(plan_json(actions)), one_call=False)
    assert saved is not None
    store.save_plan(saved.id, saved.dump())
    return root, store


def app_on(root: str) -> Memui:
    """The app, with the waiting plan under review."""
    return Memui(root, opened=open_plan(open_store(root), None))


def screen_of(pilot: Pilot[int]) -> ReviewScreen:
    """The review screen, below any dialog."""
    found = [s for s in pilot.app.screen_stack if isinstance(s, ReviewScreen)]
    return found[-1]


def proposal_of(pilot: Pilot[int]) -> Proposal:
    """What the screen shows."""
    proposal = screen_of(pilot).proposal
    assert proposal is not None
    return proposal


def put(pilot: Pilot[int], index: int) -> None:
    """Put the cursor on an action."""
    actions = screen_of(pilot).query_one(ActionList)
    actions.focus()
    actions.put(index)


def apply_row(pilot: Pilot[int]) -> ApplyRow:
    """The last row."""
    return screen_of(pilot).query_one(ApplyRow)


def page_text(pilot: Pilot[int]) -> str:
    """The whole page of the action under the cursor, also what is scrolled away."""
    return text_of(screen_of(pilot).query_one("#review-page", PageView).page)


def text_of(page: Page) -> str:
    """A page as text, its gutters included."""
    return "\n".join(f"{line.gutter}{line.plain}" for line in page.lines)


def on_disk(store: Store) -> SavedPlan:
    """The plan as it lies in the state folder."""
    data = store.load_plan(store.plans()[0])
    assert data is not None
    return parse_saved_plan(data)


def decision(store: Store, index: int) -> Decision:
    """What the plan's file says of an action."""
    return on_disk(store).review.decisions[index]


def tree(root: str) -> dict[str, bytes]:
    """Every memory's bytes."""
    folder = Path(root) / "knowledge"
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.md"))}


def opened_by_another(store: Store) -> OpenedPlan:
    """The plan, opened a second time."""
    return open_plan(store, None)
