"""The rules that a plan must keep, said once.

`RULES` is read by the validator, by the prompt (every sentence, with the limits filled in), by the
screens and by the README's table. Three sets: *safety* binds every write, by hand too; *content*
binds what a planner or a person writes as a whole file; *layout* binds where a plan may put files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine.changes import Claim
from engine.documents import Snapshot
from engine.errors import Violation
from engine.guards import content_violations
from engine.paths import CHANGELOG, FOLDER_PATTERN, STEM_LIMIT, Layout
from engine.plan import Limits
from engine.rules import amounts, claims, content, places
from engine.rules.amounts import admit
from engine.rules.case import Case, Check

__all__ = [
    "CONTENT_CODES",
    "RULES",
    "Case",
    "Rule",
    "Verdicts",
    "admit",
    "validate",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `statement` tells a planner; limits are filled in by `tell`."""

    code: str
    statement: str
    check: Check

    def tell(self, limits: Limits) -> str:
        """The rule's sentence with its limits as numbers."""
        return self.statement.format(
            **limits.model_dump(), folder=FOLDER_PATTERN, stem=STEM_LIMIT, changelog=CHANGELOG
        )


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "action-not-allowed",
        "Use only the kinds of action that the operations asked for allow.",
        amounts.action_not_allowed,
    ),
    Rule(
        "too-many-actions",
        "Answer with at most {max_actions_per_plan} actions.",
        amounts.too_many_actions,
    ),
    Rule(
        "output-too-large",
        "All contents, reasons and the summary, plus the bytes of every file that is "
        "moved, come to at most {max_generated_bytes} bytes.",
        amounts.output_too_large,
    ),
    Rule(
        "result-too-large",
        "Afterwards the store holds at most {max_files} files and {max_input_bytes} bytes.",
        amounts.result_too_large,
    ),
    Rule(
        "unknown-path",
        "Name only files that are in the evidence, spelled as they are there.",
        claims.unknown_path,
    ),
    Rule(
        "path-alias",
        "Where two files differ only in letter case or Unicode form, spell a path exactly.",
        claims.path_alias,
    ),
    Rule(
        "merge-sources",
        "A merge needs at least two different source files, each named once.",
        claims.merge_sources,
    ),
    Rule(
        "path-traversal",
        "A path holds no backslash and no segment . or .. .",
        places.path_traversal,
    ),
    Rule(
        "path-reserved",
        "Never write {changelog}.",
        places.path_reserved,
    ),
    Rule(
        "path-extension",
        "Every path that is written ends in .md.",
        places.path_extension,
    ),
    Rule(
        "path-depth",
        "A file lies directly in the store or in one folder, never deeper; in a store "
        "that the SDK keeps flat, directly in the store.",
        places.path_depth,
    ),
    Rule(
        "directory-name",
        "The name of a new folder matches {folder}; in a store of plain notes no folder is made.",
        places.directory_name,
    ),
    Rule(
        "filename",
        "A file name has 1 to {stem} characters before .md, does not start with a dot "
        'or a blank, does not end with a blank, holds none of < > : " | ? * and nothing '
        "invisible, and is no device name of Windows.",
        places.filename,
    ),
    Rule(
        "directory-limit",
        "With the new ones, the store has at most {max_directories} folders; emptying "
        "one does not free its place.",
        places.directory_limit,
    ),
    Rule(
        "target-collision",
        "No path is written twice.",
        claims.target_collision,
    ),
    Rule(
        "write-delete-conflict",
        "No path is both written and deleted, moved away or merged away.",
        claims.write_delete_conflict,
    ),
    Rule(
        "target-exists",
        "A move goes to a path that no file has; a merge goes to a new path or to one "
        "of its sources.",
        claims.target_exists,
    ),
    Rule(
        "source-claimed-twice",
        "A file is merged away or moved by one action only.",
        claims.source_claimed_twice,
    ),
    Rule(
        "content-empty",
        "Content is never empty: to remove a file, delete it.",
        content.breaks("content-empty"),
    ),
    Rule(
        "content-frontmatter",
        "Content starts with a line --- and has the frontmatter's closing line ---, "
        "with LF line ends, in plain YAML without a key twice.",
        content.breaks("content-frontmatter"),
    ),
    Rule(
        "content-description",
        'The frontmatter holds exactly one line description: "..." in double quotes, '
        "with text of one line and JSON escapes.",
        content.breaks("content-description"),
    ),
    Rule(
        "content-body",
        "After the frontmatter comes a body with visible text.",
        content.breaks("content-body"),
    ),
    Rule(
        "content-encoding",
        "Content is valid Unicode: no half surrogate pairs.",
        content.breaks("content-encoding"),
    ),
)

CONTENT_CODES: Final = frozenset(rule.code for rule in RULES if rule.code.startswith("content-"))


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What validation found: violations forbid, warnings inform."""

    violations: tuple[Violation, ...]
    warnings: tuple[Violation, ...]

    @property
    def broken(self) -> frozenset[int]:
        """The actions (0-based) that break a rule."""
        return frozenset(v.action for v in self.violations if v.action is not None)


def validate(case: Case) -> Verdicts:
    """Every rule on every action: all violations at once, in the order of the plan."""
    violations: list[Violation] = []
    warnings: list[Violation] = []
    for rule in RULES:
        for index, message in rule.check(case):
            violation = Violation(rule.code, message, index)
            excused = (
                index in case.by_hand
                and rule.code in CONTENT_CODES
                and index is not None
                and rule.code in _broken_before(case.claims[index], case.snapshot)
            )
            (warnings if excused else violations).append(violation)
    warnings.extend(_store_warnings(case))
    violations.sort(key=lambda v: -1 if v.action is None else v.action)
    return Verdicts(tuple(violations), tuple(warnings))


def _broken_before(claim: Claim, snapshot: Snapshot) -> frozenset[str]:
    """The content rules that the file itself broke before anybody edited it."""
    path = claim.writes
    if path is None or path not in snapshot:
        return frozenset()
    text = snapshot.files[path].decode("utf-8", "surrogateescape")
    return frozenset(violation.code for violation in content_violations(text))


def _store_warnings(case: Case) -> Iterator[Violation]:
    left = set(case.snapshot.files)
    for claim in case.claims:
        left.difference_update(claim.removes)
        if claim.writes is not None:
            left.add(claim.writes)
    if case.snapshot.files and not left:
        yield Violation("empties-store", "afterwards the store holds no memory at all")
    if case.layout is Layout.SHIPPED:
        for claim in case.claims:
            for path in claim.removes:
                yield Violation(
                    "topic-recreated",
                    f"the agent starts {path} anew when it next learns something of that topic",
                    claim.index,
                )
