"""A proposal as lines: rows of actions, diffs, ledgers. Values in, values out."""

from __future__ import annotations

from collections.abc import Sequence

from engine.changes import Change, Edit
from engine.diff import Diff, Row, compare, hunks
from engine.documents import decode
from engine.ledger import Account, Entry, Fate
from engine.proposal import Proposal, Standing
from engine.review import Verdict
from memui.presentation import Line, Run, body_lines, count, line, pad, runs

_MARKS = {
    Verdict.PENDING: ("·", "dim"),
    Verdict.APPROVED: ("✓", "good"),
    Verdict.REJECTED: ("✗", "bad"),
}
_STANDING = {
    Standing.APPLIED: ("●", "dim"),
    Standing.INVALID: ("!", "bad"),
    Standing.STALE: ("!", "bad"),
}


def order(proposal: Proposal) -> tuple[int, ...]:
    """The rows of a review, risk first, then as the plan has them."""
    return tuple(sorted(proposal.rows(), key=lambda index: (*proposal.risk(index), index)))


def action_row(proposal: Proposal, index: int) -> Line:
    """One action: mark, number, verb, what it is about, gain and loss, flags as words."""
    standing = proposal.standing(index)
    verdict = proposal.verdict(index)
    mark, paint = _STANDING.get(standing) or _MARKS[verdict]
    action = proposal.plan.actions[index]
    word = str(verdict) if standing is Standing.OPEN else str(standing)
    added, removed = gain_and_loss(proposal.changes[index])
    flags = [f for f in proposal.flags(index) if f != str(standing)]
    return line(
        (f"{mark} ", paint),
        (f"{index + 1:>3} ", "dim"),
        (pad(action.action, 7), "bold"),
        Run(_about(proposal, index)),
        (f"  +{added} -{removed}" if action.action != "move" else "", "dim"),
        ("" if word == "pending" else f"  {word}", paint),
        ("".join(f"  {flag}" for flag in flags), "warn"),
    )


def gain_and_loss(change: Change) -> tuple[int, int]:
    """Lines that a change adds and removes, over all its files."""
    if change.action.action == "move":
        return 0, 0
    diffs = [compare(edit.before, edit.after) for edit in change.edits]
    return sum(d.added for d in diffs), sum(d.removed for d in diffs)


def _about(proposal: Proposal, index: int) -> str:
    action = proposal.plan.actions[index]
    change = proposal.changes[index]
    match action.action:
        case "merge":
            others = [s for s in action.sources if s != (change.target or action.target)]
            text = f"{change.target or action.target} ← {', '.join(others)}"
        case "move":
            text = f"{action.from_} → {change.target or action.to}"
        case _:
            text = action.path
    return "".join(run.text for run in runs(text))


def apply_row(proposal: Proposal) -> Line:
    """The last row, so that arrows and Enter finish a review."""
    ready = sum(proposal.owner(i) == i for i in proposal.approved)
    if not ready:
        return line(("    Nothing is approved yet", "dim"))
    return line((f"    Apply {count(ready, 'approved action', 'approved actions')} …", "accent"))


def reason_lines(proposal: Proposal, index: int) -> list[Line]:
    """What stands in the way, then the planner's reason, labelled as its own."""
    found: list[Line] = []
    if run := proposal.applied.get(index + 1):
        found.append(line((f"Applied in run {run}.", "dim")))
    found.extend(
        line(("breaks a rule: ", "bad"), (violation.message, "plain"))
        for violation in proposal.violations(index)
    )
    found.extend(
        line((f"{drift.path} {drift.why}", "bad"), (": plan again", "dim"))
        for drift in proposal.stale.get(index, ())
    )
    unmet = proposal.unmet(index)
    if unmet:
        names = ", ".join(str(n + 1) for n in unmet)
        found.append(line((f"Its facts live on only if action {names} runs too.", "warn")))
    said = proposal.plan.actions[index].reason
    by = proposal.saved.planner
    if said.strip():
        found.append(line((f"{by} says: ", "dim"), (" ".join(said.split()), "dim")))
    note = proposal.saved.review.decisions[index].reason
    if note:
        found.append(line(("you said: ", "dim"), (note, "plain")))
    return found


def ledger_line(account: Account | None) -> Line:
    """The counts of an action's ledger in one line."""
    if account is None:
        return line(("", "plain"))
    dropped, new = len(account.dropped), len(account.new)
    return line(
        (f"kept {account.kept} · reworded {account.reworded} · moved {account.moved} · ", "dim"),
        (f"dropped {dropped}", "bad" if dropped else "dim"),
        (" · ", "dim"),
        (f"new {new}", "warn" if new else "dim"),
        ("  l shows them", "dim"),
    )


def diff_lines(proposal: Proposal, index: int) -> tuple[list[Line], list[int]]:
    """An action's edits as a unified diff, and the lines where its blocks start."""
    change = proposal.changes[index]
    account = proposal.accounts.get(index)
    found: list[Line] = []
    places: list[int] = []
    if not change.edits:
        found.append(line(("This action changes no file.", "dim")))
    if change.action.action == "move" and change.edits:
        gone = next((e.path for e in change.edits if e.after is None), "")
        found.append(line((f"{gone} → {change.target}", "title")))
        found.append(line(("The text stays as it is, byte for byte.", "dim")))
        found.append(line(("", "plain")))
        data = next((e.after for e in change.edits if e.after is not None), b"")
        return [*found, *body_lines(decode(data)[0])], places
    for edit in change.edits:
        found.append(_file_line(edit))
        if edit.after is None:
            lines, at = _removed(edit, account)
        else:
            lines, at = _unified(compare(edit.before, edit.after))
        places.extend(len(found) + n for n in at)
        found.extend(lines)
        found.append(line(("", "plain")))
    return found, places


def _file_line(edit: Edit) -> Line:
    if edit.before is None:
        return line((edit.path, "title"), ("  new file", "good"))
    if edit.after is None:
        return line((edit.path, "title"), ("  vanishes; kept for undo", "bad"))
    return line((edit.path, "title"), ("  changes", "warn"))


def _unified(diff: Diff) -> tuple[list[Line], list[int]]:
    found = [line((f"  {word}", "warn")) for word in diff.ends]
    places: list[int] = []
    digits = len(str(max(len(diff.rows), 1)))
    starts = {block.start for block in diff.blocks}
    for hunk in hunks(diff):
        if hunk.skipped:
            found.append(line((f"  ⋯ {count(hunk.skipped, 'line', 'lines')} unchanged", "gutter")))
        for at in hunk.rows:
            if at in starts:
                places.append(len(found))
            found.append(_diff_row(diff.rows[at], digits))
    last = hunks(diff)[-1].rows.stop if diff.blocks else 0
    rest = len(diff.rows) - last
    if rest and diff.blocks:
        found.append(line((f"  ⋯ {count(rest, 'line', 'lines')} unchanged", "gutter")))
    return found, places


def _diff_row(row: Row, digits: int) -> Line:
    number = row.new if row.new is not None else row.old
    sign = {"same": " ", "removed": "-", "added": "+"}[row.kind]
    paint = "plain" if row.kind == "same" else row.kind
    fill = None if row.kind == "same" else row.kind
    gutter = f"{number:>{digits}} {sign} "
    return Line(runs(row.text, paint, row.words) or (Run(" ", paint),), gutter, fill)


def _removed(edit: Edit, account: Account | None) -> tuple[list[Line], list[int]]:
    """A file that vanishes: each line with where it lives on; what nothing says is lit."""
    fates: dict[int, Entry] = {}
    for entry in account.entries if account is not None else ():
        if entry.source is not None and entry.source.path == edit.path:
            known = fates.get(entry.source.line)
            if known is None or entry.fate is Fate.DROPPED:
                fates[entry.source.line] = entry
    lines = decode(edit.before or b"")[0].split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    digits = len(str(len(lines)))
    found: list[Line] = []
    places: list[int] = []
    for number, text in enumerate(lines, start=1):
        gutter = f"{number:>{digits}} - "
        fate = fates.get(number)
        if fate is not None and fate.fate is Fate.DROPPED:
            places.append(len(found))
            where = (Run("   nothing else says this", "bad"),)
            found.append(Line((*runs(text.rstrip("\r"), "removed"), *where), gutter, "removed"))
        elif fate is not None:
            found.append(Line((*runs(text.rstrip("\r"), "dim"), *_where(fate)), gutter))
        else:
            found.append(Line(runs(text.rstrip("\r"), "dim"), gutter))
    return found, places


def _where(entry: Entry) -> tuple[Run, ...]:
    if entry.result is None:
        return ()
    return runs(f"   = {entry.result.path}:{entry.result.line}", "good")


def whole_lines(proposal: Proposal, index: int) -> tuple[list[Line], list[int]]:
    """The result of an action as it would lie on disk."""
    found: list[Line] = []
    for edit in proposal.changes[index].edits:
        found.append(_file_line(edit))
        if edit.after is not None:
            found.extend(body_lines(decode(edit.after)[0]))
        found.append(line(("", "plain")))
    return found or [line(("This action changes no file.", "dim"))], []


def ledger_lines(proposal: Proposal, index: int) -> tuple[list[Line], list[int]]:
    """What an action keeps and drops, statement by statement, the losses first."""
    account = proposal.accounts.get(index)
    if account is None:
        return [line(("This action was applied; its ledger is that of then.", "dim"))], []
    found: list[Line] = []
    places: list[int] = []
    for fate, title, paint in (
        (Fate.DROPPED, "dropped: nothing says it any more", "bad"),
        (Fate.NEW, "new: no source said it", "warn"),
        (Fate.REWORDED, "reworded", "accent"),
        (Fate.MOVED, "moved: said elsewhere", "good"),
        (Fate.KEPT, "kept as it is", "dim"),
    ):
        entries = account.of(fate)
        if not entries:
            continue
        places.append(len(found))
        found.append(line((f"{len(entries)} {title}", paint)))
        found.extend(_entry_lines(entries, fate))
        found.append(line(("", "plain")))
    return found or [line(("Nothing is said in these files.", "dim"))], places


def _entry_lines(entries: Sequence[Entry], fate: Fate) -> list[Line]:
    found: list[Line] = []
    for entry in entries:
        flags = "".join(f"  [{flag}]" for flag in entry.flags)
        said = entry.source or entry.result
        if said is None:
            continue
        where = f"  {said.path}:{said.line}  "
        found.append(line((where, "gutter"), (said.text, "plain"), (flags, "warn")))
        if fate is Fate.REWORDED and entry.result is not None:
            found.append(line(("      now: ", "gutter"), (entry.result.text, "plain")))
        elif fate is Fate.DROPPED and entry.result is not None:
            found.append(line(("      near: ", "gutter"), (entry.result.text, "dim")))
        elif fate is Fate.MOVED and entry.result is not None:
            at = f"{entry.result.path}:{entry.result.line}"
            under = " › ".join(entry.result.heading)
            found.append(line((f"      to {at}  {under}", "gutter")))
        if entry.needs is not None:
            found.append(line((f"      by action {entry.needs + 1}", "gutter")))
    return found


def apply_lines(proposal: Proposal) -> list[Line]:
    """Everything that an apply would do: every file, every loss."""
    chosen = sorted(proposal.approved)
    edits = [edit for index in chosen for edit in proposal.changes[index].edits]
    written = [edit for edit in edits if edit.after is not None]
    gone = [edit for edit in edits if edit.after is None]
    found: list[Line] = []
    if written:
        found.append(line((count(len(written), "file is written", "files are written"), "bold")))
        for edit in written:
            word = "new    " if edit.before is None else "changed"
            found.append(line((f"  {word} ", "good"), (edit.path, "plain")))
    if gone:
        found.append(line((count(len(gone), "file vanishes", "files vanish"), "bold")))
        found.extend(line(("  removed ", "bad"), (edit.path, "plain")) for edit in gone)
    lost = [e for i in chosen if (a := proposal.accounts.get(i)) is not None for e in a.dropped]
    if lost:
        said = count(len(lost), "statement is dropped", "statements are dropped")
        found.append(line((said, "bad")))
        for entry in lost:
            if entry.source is not None:
                where = f"  {entry.source.path}:{entry.source.line}  "
                found.append(line((where, "gutter"), (entry.source.text, "plain")))
    else:
        found.append(line(("No statement is dropped.", "good")))
    if len(proposal.snapshot) == len(gone) and not written:
        found.append(line(("Afterwards the store holds no memory at all.", "bad")))
    found.append(line(("", "plain")))
    found.append(
        line(("Every earlier version is kept. Undo: u afterwards, or the command shown.", "dim"))
    )
    return found
