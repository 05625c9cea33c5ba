"""How much a request may ask and a plan may do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.errors import InvalidPlan, Violation
from engine.plan import ALLOWED, Limits, Move
from engine.rules.case import Case


def action_not_allowed(case: Case) -> Iterator[tuple[int | None, str]]:
    allowed = {kind for operation in case.operations for kind in ALLOWED[operation]}
    for index, action in enumerate(case.plan.actions):
        if action.action not in allowed:
            names = ", ".join(case.operations)
            yield index, f"{action.action} is not allowed by {names}"


def too_many_actions(case: Case) -> Iterator[tuple[int | None, str]]:
    count, limit = len(case.plan.actions), case.limits.max_actions_per_plan
    if case.one_call and count > limit:
        yield None, f"the plan has {count} actions; at most {limit} are allowed"


def output_too_large(case: Case) -> Iterator[tuple[int | None, str]]:
    if not case.one_call:
        return
    size = len(case.plan.summary.encode("utf-8", "surrogatepass"))
    for claim in case.claims:
        size += len(claim.action.reason.encode("utf-8", "surrogatepass"))
        if isinstance(claim.action, Move) and claim.sources[0].path is not None:
            size += len(case.snapshot.files[claim.sources[0].path])
    size += sum(len(text.encode("utf-8", "surrogatepass")) for text in case.contents.values())
    if size > case.limits.max_generated_bytes:
        yield (
            None,
            f"the plan writes {size} bytes; at most {case.limits.max_generated_bytes} are allowed",
        )


def result_too_large(case: Case) -> Iterator[tuple[int | None, str]]:
    if not case.one_call:
        return
    sizes = {path: len(data) for path, data in case.snapshot.files.items()}
    for claim in case.claims:
        size = sum(sizes.get(path, 0) for path in claim.removes)
        for path in claim.removes:
            sizes.pop(path, None)
        if claim.writes is not None:
            content = case.contents.get(claim.index)
            sizes[claim.writes] = (
                size if content is None else len(content.encode("utf-8", "surrogatepass"))
            )
    total, count = sum(sizes.values()), len(sizes)
    if total > case.limits.max_input_bytes:
        yield (
            None,
            (
                f"the store would hold {total} bytes afterwards; "
                f"at most {case.limits.max_input_bytes} can be consolidated again"
            ),
        )
    if count > case.limits.max_files:
        yield (
            None,
            (
                f"the store would hold {count} files afterwards; "
                f"at most {case.limits.max_files} can be consolidated again"
            ),
        )


def admit(sizes: Mapping[str, int], limits: Limits) -> None:
    """Whether a store fits one planner call, by listing and sizes.

    Raises `InvalidPlan` at stage `admission`.
    """
    found: list[Violation] = []
    if len(sizes) > limits.max_files:
        found.append(
            Violation(
                "too-many-files",
                f"the store holds {len(sizes)} memories; one call takes {limits.max_files}",
            )
        )
    total = sum(sizes.values())
    if total > limits.max_input_bytes:
        found.append(
            Violation(
                "input-too-large",
                f"the store holds {total} bytes; one call takes {limits.max_input_bytes}",
            )
        )
    if found:
        raise InvalidPlan(
            "admission", found, hint="Raise the limits, or plan a folder of the store."
        )
