"""What a whole file that a planner or a person writes must be, as rules of a plan."""

from __future__ import annotations

from collections.abc import Iterator

from engine.rules.case import Case, Check


def breaks(code: str) -> Check:
    """The check of one content rule, over every file that a plan writes."""

    def check(case: Case) -> Iterator[tuple[int | None, str]]:
        for index, violations in case.broken_contents.items():
            for violation in violations:
                if violation.code == code:
                    yield index, violation.message

    return check
