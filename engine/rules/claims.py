"""What actions may claim of the store, and of each other."""

from __future__ import annotations

from collections.abc import Iterator

from engine.paths import identity
from engine.plan import Delete, Merge, Move
from engine.rules.case import Case


def unknown_path(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim in case.claims:
        for source in claim.sources:
            if not source.stored:
                yield claim.index, f"there is no memory {source.spelling}"


def path_alias(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim in case.claims:
        references = [*claim.sources, *([claim.target] if claim.target else [])]
        for spelling, stored in dict.fromkeys((r.spelling, r.stored) for r in references):
            if len(stored) > 1:
                yield claim.index, f"{spelling} could be {' or '.join(sorted(stored))}"
        if claim.alias_folder and claim.target is not None and not claim.target.stored:
            yield claim.index, f"the folder of {claim.target.spelling} is stored in two spellings"


def merge_sources(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim in case.claims:
        if isinstance(claim.action, Merge):
            distinct = {identity(source.path or source.spelling) for source in claim.sources}
            if len(distinct) != len(claim.sources):
                yield claim.index, "a source stands twice"
            elif len(distinct) < 2:
                yield claim.index, f"a merge needs two different sources, and has {len(distinct)}"


def target_collision(case: Case) -> Iterator[tuple[int | None, str]]:
    for path, indexes in case.written.items():
        for index in indexes[1:]:
            yield index, f"{path} is already written by action {indexes[0] + 1}"


def write_delete_conflict(case: Case) -> Iterator[tuple[int | None, str]]:
    for path, removing in case.removed.items():
        for index in case.written.get(path, ()):
            others = sorted({other + 1 for other in removing})
            by = ", ".join(map(str, others))
            yield index, f"{path} is written here and removed by action {by}"


def target_exists(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim in case.targets:
        stored = claim.target.path if claim.target is not None else None
        if stored is None or identity(stored) in case.removed:
            continue  # a file that the plan also removes is a write-delete-conflict
        if isinstance(claim.action, Move) or stored not in {s.path for s in claim.sources}:
            yield claim.index, f"{stored} exists and is not among the sources"


def source_claimed_twice(case: Case) -> Iterator[tuple[int | None, str]]:
    for path, indexes in case.removed.items():
        consumers = [i for i in indexes if not isinstance(case.plan.actions[i], Delete)]
        for index in consumers[1:]:
            yield index, f"{path} is already taken by action {consumers[0] + 1}"
