"""A proposal as JSON: each action with edits, blocks and ledger, and what the agent will see."""

from __future__ import annotations

from typing import Any

from engine.changes import Edit
from engine.diff import Block, Diff, compare
from engine.documents import digest
from engine.errors import Violation
from engine.injected import BYTES_A_TOKEN, Injected
from engine.ledger import Account, Fate
from engine.proposal import Proposal
from engine.statements import Statement
from memui.context import path_fields, shown_path
from memui.report.words import Shown, diffs, listings


def violation_json(found: Violation) -> dict[str, Any]:
    """One violation or warning; its action 1-based."""
    action = None if found.action is None else found.action + 1
    return {"code": found.code, "action": action, "message": found.message}


def account_json(account: Account) -> dict[str, Any]:
    """What one action keeps and drops."""
    return {
        "action": account.index + 1,
        "kept": account.kept,
        "reworded": account.reworded,
        "moved": account.moved,
        "dropped": [
            {
                **_statement(entry.source),
                "flags": list(entry.flags),
                "in_its_place": None if entry.result is None else _statement(entry.result),
                "kept_by": None if entry.needs is None else entry.needs + 1,
            }
            for entry in account.dropped
            if entry.source is not None
        ],
        "new": [
            {**_statement(entry.result), "flags": list(entry.flags)}
            for entry in account.new
            if entry.result is not None
        ],
        "changed": [
            {
                "fate": str(entry.fate),
                "from": _statement(entry.source),
                "to": _statement(entry.result),
                "flags": list(entry.flags),
                "written_by": None if entry.needs is None else entry.needs + 1,
            }
            for fate in (Fate.REWORDED, Fate.MOVED)
            for entry in account.of(fate)
            if entry.source is not None and entry.result is not None
        ],
        "carriers": [shown_path(path) for path in account.carriers],
        "needs": [need + 1 for need in account.needs],
        "lossless": account.lossless,
    }


def _statement(said: Statement) -> dict[str, Any]:
    return {**path_fields(said.path), "line": said.line, "text": said.text}


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """The whole review. Lines and actions are 1-based, digests are SHA-256."""
    saved, counts = proposal.saved, proposal.counts()
    now, then = listings(proposal)
    return {
        "format": "memui-review",
        "plan": saved.id,
        "store": {"name": saved.store.name, "layout": str(saved.store.layout)},
        "planner": saved.planner,
        "model": saved.model,
        "time": saved.time,
        "operations": [str(operation) for operation in saved.operations],
        "summary": saved.plan.summary,
        "counts": {
            "total": counts.total,
            "undecided": counts.undecided,
            "approved": counts.approved,
            "rejected": counts.rejected,
            "applied": counts.applied,
            "invalid": counts.invalid,
            "stale": counts.stale,
        },
        "violations": [violation_json(found) for found in proposal.verdicts.violations],
        "warnings": [violation_json(found) for found in proposal.verdicts.warnings],
        "actions": [_action(proposal, index) for index in proposal.rows()],
        "listing": {
            "estimate": f"UTF-8 bytes / {BYTES_A_TOKEN}, rounded up",
            "before": _listing(now),
            "after": _listing(then),
        },
    }


def _action(proposal: Proposal, index: int) -> dict[str, Any]:
    action, change = proposal.plan.actions[index], proposal.changes[index]
    decision = proposal.saved.review.decisions[index]
    account = proposal.accounts.get(index)
    return {
        "action": index + 1,
        "verb": action.action,
        "paths": [shown_path(path) for path in change.paths],
        "standing": str(proposal.standing(index)),
        "verdict": str(proposal.verdict(index)),
        "your_reason": decision.reason,
        "planner_says": action.reason,
        "edited": decision.content is not None,
        "left": [block + 1 for block in decision.left],
        "flags": list(proposal.flags(index)),
        "folded": [folded + 1 for folded in change.folded],
        "run": proposal.applied.get(index + 1),
        "violations": [violation_json(found) for found in proposal.violations(index)],
        "stale": [
            {**path_fields(drift.path), "why": drift.why} for drift in proposal.stale.get(index, ())
        ],
        "edits": [_edit(edit) for edit in change.edits],
        "result": next(map(_result, filter(_has_blocks, diffs(proposal, index))), None),
        "ledger": None if account is None else account_json(account),
    }


def _edit(edit: Edit) -> dict[str, Any]:
    """One file as it would be written: digests of its bytes, and every run of changed lines."""
    diff = compare(edit.before, edit.after)
    return {
        **path_fields(edit.path),
        "before": None if edit.before is None else digest(edit.before),
        "after": None if edit.after is None else digest(edit.after),
        "added": diff.added,
        "removed": diff.removed,
        "notes": list(diff.ends),
        "changes": [_changed(diff, block) for block in diff.blocks],
    }


def _has_blocks(shown: Shown) -> bool:
    return shown.has_blocks


def _result(shown: Shown) -> dict[str, Any]:
    """The blocks of a merge's or an update's text, as `--leave` numbers them."""
    return {
        **path_fields(shown.edit.path),
        "against": shown_path(shown.old) if shown.old else None,
        "blocks": [
            {
                "block": block.index + 1,
                "taken": block.index not in shown.left,
                **_changed(shown.diff, block),
            }
            for block in shown.diff.blocks
        ],
    }


def _changed(diff: Diff, block: Block) -> dict[str, Any]:
    rows = diff.rows[block.start : block.stop]
    return {
        "removed": [{"line": r.old, "text": r.text} for r in rows if r.kind == "removed"],
        "added": [{"line": r.new, "text": r.text} for r in rows if r.kind == "added"],
    }


def _listing(found: Injected) -> dict[str, Any]:
    return {
        "tokens": found.tokens,
        "lines": [
            {
                **path_fields(line.path),
                "description": line.description,
                "tokens": line.tokens,
                "flags": list(line.flags),
            }
            for line in found.lines
        ],
    }
