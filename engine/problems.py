"""What is wrong with a text that a person makes the result of an action, by line.

What forbids a text is decided where every result is judged: by the rules, on the proposal as it
would be with it (`engine.decisions.edit`). Here each finding gets its line and its closest words,
and what no rule forbids but a reader would not see is named too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine import decisions
from engine.characters import hidden
from engine.documents import split
from engine.errors import Violation
from engine.frontmatter import Field, Frontmatter, yaml_problem
from engine.guards import description_problem
from engine.injected import LONG
from engine.proposal import Proposal
from engine.rules import CONTENT_CODES

HIDDEN_NAMED: Final = 20
"""Lines whose hidden characters are named; of the others it is said how many there are."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a text, at a 1-based line.

    `stops` says that the text breaks a rule which the result keeps as it stands: the text cannot
    take its place. A result may stay as bad as it is, so that it can be made better step by step.
    """

    line: int
    message: str
    stops: bool


def problems(proposal: Proposal, index: int, text: str) -> tuple[Problem, ...]:
    """What is wrong with a text as the result of an action (0-based), by line.

    Raises `Refused` where the action has no text to edit, or was applied.
    """
    with_it = proposal.reviewed(decisions.edit(proposal, index, text))
    before = {v.code for v in _about(proposal.verdicts.violations, index)}
    found = [
        _placed(text, violation, stops=violation.code not in before)
        for violation in _about(with_it.verdicts.violations, index)
    ]
    found += [
        _placed(text, warning, stops=False)
        for warning in _about(with_it.verdicts.warnings, index)
        if warning.code in CONTENT_CODES
    ]
    found += _long(text)
    found += _hidden(text)
    return tuple(sorted(dict.fromkeys(found), key=lambda p: (not p.stops, p.line)))


def _about(violations: tuple[Violation, ...], index: int) -> Iterator[Violation]:
    """What is said of an action, or of the plan as a whole."""
    return (v for v in violations if v.action == index or v.action is None)


def _placed(text: str, violation: Violation, *, stops: bool) -> Problem:
    """A rule that is broken, where the text breaks it and in the closest words there are."""
    line, message = 1, violation.message
    if violation.code == "content-frontmatter":
        line, message = _frontmatter(text, message)
    elif violation.code == "content-description":
        line, message = _description(text)
    elif violation.code == "content-body":
        line = text.rstrip("\n").count("\n") + 1
    elif violation.code == "content-encoding":
        at = next((n for n, char in enumerate(text) if "\ud800" <= char <= "\udfff"), 0)
        line = text.count("\n", 0, at) + 1
    return Problem(line, message, stops)


def _frontmatter(text: str, message: str) -> tuple[int, str]:
    if text.startswith("---\r\n"):
        return 1, "the lines of the frontmatter must end in LF alone"
    if not text.startswith("---\n"):
        return 1, "the first line must be exactly ---"
    front, _, body_line, _ = split(text)
    if front is None:
        return 1, "the frontmatter is never closed with a line of exactly ---"
    head = text.split("\n", body_line - 1)[: body_line - 1]
    carriage = next((n for n, line in enumerate(head, 1) if "\r" in line), None)
    if carriage is not None:
        return carriage, "the lines of the frontmatter must end in LF alone"
    twice = _twice(front)
    if twice is not None:
        return twice.line, f"the key {twice.key} stands twice"
    wrong = yaml_problem(front.text)
    if wrong is not None:
        return _yaml(*wrong)
    return 2, message


def _yaml(line: int, why: str) -> tuple[int, str]:
    """A line of the YAML (0-based) as one of the file, and what is wrong there."""
    return line + 2, f"the frontmatter is not YAML: {_IN_WORDS.get(why, why)}"


_IN_WORDS: Final = {
    "mapping values are not allowed in this context": "text that holds a colon must be in quotes",
    "found unexpected end of stream": "a quote is never closed",
    "found character that cannot start any token": "a line starts with a character that cannot",
    "did not find expected key": "this line is not a key, a colon and one value",
}
"""What PyYAML says most, in words of ours."""


def _twice(front: Frontmatter) -> Field | None:
    """The first key that stood there before."""
    seen: set[str] = set()
    for field in front.fields():
        if field.key in seen:
            return field
        seen.add(field.key)
    return None


def _description(text: str) -> tuple[int, str]:
    front, _, _, _ = split(text)
    fields = [f for f in front.fields() if f.key == "description"] if front is not None else []
    if front is None or not fields:
        return (1, "the frontmatter has no description") if front is not None else (1, _WANTED)
    if len(fields) > 1:
        return fields[1].line, "the key description stands twice"
    line, raw = fields[0].line, fields[0].raw
    wrong = yaml_problem(front.text)
    if wrong is not None:
        return _yaml(*wrong)
    if raw in {"", '""', "''"}:
        return line, "the description is empty"
    problem = description_problem(front.description or "")
    if problem is not None:
        return line, f"the description {problem}"
    if "\n" in raw:
        return line, "the description must stand on one line"
    if not (raw.startswith('"') and raw.endswith('"')):
        return line, "the description must be in double quotes"
    return line, _WANTED


_WANTED: Final = 'the frontmatter must hold one line description: "..." in double quotes'


def _long(text: str) -> Iterator[Problem]:
    """A description that costs more each turn than it tells."""
    front, _, _, _ = split(text)
    said = len(front.description) if front is not None and front.description else 0
    if front is None or said <= LONG:
        return
    line = next((f.line for f in front.fields() if f.key == "description"), 2)
    yield Problem(
        line,
        f"the description has {said} characters; over {LONG} it costs more than it tells",
        False,
    )


def _hidden(text: str) -> Iterator[Problem]:
    """Characters that a reader would not see, a line at a time."""
    by_line: dict[int, dict[str, int]] = {}
    at, line = 0, 1
    for found in hidden(text):
        line += text.count("\n", at, found.offset)
        at = found.offset
        names = by_line.setdefault(line, {})
        names[found.name] = names.get(found.name, 0) + 1
    for number, names in list(by_line.items())[:HIDDEN_NAMED]:
        said = ", ".join(
            name if times == 1 else f"{name} {times} times"
            for name, times in list(names.items())[:3]
        )
        more = ", and others" if len(names) > 3 else ""
        yield Problem(number, f"holds what a reader does not see: {said}{more}", False)
    if len(by_line) > HIDDEN_NAMED:
        rest = list(by_line)[HIDDEN_NAMED]
        more_lines = len(by_line) - HIDDEN_NAMED
        yield Problem(rest, f"and {more_lines} more lines hold such characters", False)
