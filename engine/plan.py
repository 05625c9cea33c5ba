"""The JSON boundary: what a planner answers, in upstream's wire format.

`{"actions": [...], "summary": "..."}`. Everything in it is the planner's words, untrusted: it is
read with duplicate keys, NaN, depth and size refused, and means nothing before `engine.rules`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from engine.errors import InvalidPlan, Violation

PLAN_BYTES: Final = 16 * 1024 * 1024
"""Size of a plan file that is read at all."""
DEPTH_LIMIT: Final = 16
SHOWN_PROBLEMS: Final = 20
ACTION_LIMIT: Final = 100_000
"""Length of the action list, looked at before any action is."""


class Operation(StrEnum):
    """What a person asks for. Each allows some kinds of action (`ALLOWED`)."""

    DEDUPLICATE = "deduplicate"
    RESOLVE_CONTRADICTIONS = "resolveContradictions"
    DERIVE_INSIGHTS = "deriveInsights"
    PRUNE = "prune"
    REORGANIZE = "reorganize"


ALLOWED: Final[Mapping[Operation, tuple[str, ...]]] = {
    Operation.DEDUPLICATE: ("merge",),
    Operation.RESOLVE_CONTRADICTIONS: ("update", "delete"),
    Operation.DERIVE_INSIGHTS: ("merge", "update"),
    Operation.PRUNE: ("delete",),
    Operation.REORGANIZE: ("move",),
}
ALL_OPERATIONS: Final = tuple(Operation)


class Limits(BaseModel):
    """What one planner call may read and answer. Every limit is a positive integer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_files: Annotated[StrictInt, Field(gt=0)] = 100
    max_actions_per_plan: Annotated[StrictInt, Field(gt=0)] = 1000
    max_directories: Annotated[StrictInt, Field(gt=0)] = 8
    max_input_bytes: Annotated[StrictInt, Field(gt=0)] = 131_072
    max_generated_bytes: Annotated[StrictInt, Field(gt=0)] = 262_144


class _Wire(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", serialize_by_alias=True, validate_by_name=True
    )


class Merge(_Wire):
    """Fold two or more files into one. Sources other than the target are deleted."""

    action: Literal["merge"]
    sources: tuple[str, ...] = Field(description="Paths of the files to fold together")
    target: str = Field(description="Path of the result: one of the sources, or a new file")
    content: str = Field(description="The whole new file, frontmatter included")
    reason: str = Field(description="One sentence for the person who reviews this")


class Update(_Wire):
    """Rewrite one existing file in place."""

    action: Literal["update"]
    path: str = Field(description="Path of an existing file")
    content: str = Field(description="The whole new file, frontmatter included")
    reason: str = Field(description="One sentence for the person who reviews this")


class Delete(_Wire):
    """Remove one existing file."""

    action: Literal["delete"]
    path: str = Field(description="Path of an existing file")
    reason: str = Field(description="One sentence for the person who reviews this")


class Move(_Wire):
    """Give one existing file a new path; its bytes stay."""

    action: Literal["move"]
    from_: str = Field(alias="from", description="Path of an existing file")
    to: str = Field(description="Path that no file has")
    reason: str = Field(description="One sentence for the person who reviews this")


Action = Annotated[Merge | Update | Delete | Move, Field(discriminator="action")]


def gist(action: Merge | Update | Delete | Move) -> str:
    """What an action does, whatever reason it gives: equal for actions that do the same."""
    return json.dumps(action.model_dump(exclude={"reason"}), ensure_ascii=True, sort_keys=True)


class Plan(_Wire):
    """A consolidation plan: actions in any order, and a summary for the record."""

    actions: tuple[Action, ...]
    summary: str

    KINDS: ClassVar[Mapping[str, type[_Wire]]] = {
        "merge": Merge,
        "update": Update,
        "delete": Delete,
        "move": Move,
    }

    def with_contents(self, contents: Mapping[int, str]) -> Self:
        """The plan with the content of some actions (0-based) replaced by what a person wrote."""
        if not contents:
            return self
        actions = tuple(
            action.model_copy(update={"content": contents[index]}) if index in contents else action
            for index, action in enumerate(self.actions)
        )
        return self.model_copy(update={"actions": actions})


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"the key {twice!r} stands twice in one object")
    return found


def _constant(name: str) -> Any:
    raise _Refused(f"{name} is no JSON number")


class _Refused(ValueError):
    pass


def load_json(data: bytes | str) -> Any:
    """Strict JSON: duplicate keys, NaN, too much depth and over `PLAN_BYTES` are refused.

    Raises `InvalidPlan` at stage `schema`, with what is wrong and where.
    """
    if len(data) > PLAN_BYTES:
        raise _schema([f"the file is larger than {PLAN_BYTES // (1024 * 1024)} MiB"])
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except UnicodeDecodeError:
        raise _schema(["the file is not UTF-8"]) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _schema([f"the file is not JSON: {error.msg} at {where}"]) from None
    except _Refused as error:
        raise _schema([f"the file is refused: {error}"]) from None
    except RecursionError:
        raise _schema(["the file is nested too deeply"]) from None
    except ValueError as error:  # an integer of thousands of digits
        raise _schema([f"the file is refused: {error}"]) from None
    if _depth(value) > DEPTH_LIMIT:
        raise _schema(["the file is nested too deeply"])
    return value


def _depth(value: Any) -> int:
    level, current = 0, [value]
    while current:
        level += 1
        if level > DEPTH_LIMIT:
            return level
        nested: list[Any] = []
        for item in current:
            if isinstance(item, dict):
                nested.extend(item.values())
            elif isinstance(item, list):
                nested.extend(item)
        current = nested
    return level


def _schema(problems: Sequence[str]) -> InvalidPlan:
    return InvalidPlan("schema", [Violation("schema", problem) for problem in problems])


def parse_plan(value: Any) -> tuple[Plan, tuple[Violation, ...]]:
    """A plan from decoded JSON, and a notice for every field that was ignored.

    Raises `InvalidPlan` at stage `schema`; each violation names its action where there is one.
    """
    if not isinstance(value, dict):
        raise _schema(['a plan is an object {"actions": [...], "summary": "..."}'])
    actions = value.get("actions")
    if isinstance(actions, list) and len(actions) > ACTION_LIMIT:
        raise _schema([f"the plan has {len(actions)} actions, more than {ACTION_LIMIT}"])
    try:
        plan = Plan.model_validate(value)
    except ValidationError as error:
        raise InvalidPlan("schema", schema_violations(error)) from None
    notices = [
        Violation("unknown-field", f"the field {name!r} of the plan is ignored")
        for name in value
        if name not in Plan.model_fields
    ]
    for index, (raw, action) in enumerate(zip(value["actions"], plan.actions, strict=True)):
        known = {field.alias or name for name, field in type(action).model_fields.items()}
        notices.extend(
            Violation("unknown-field", f"the field {name!r} is ignored", index)
            for name in raw
            if name not in known
        )
    return plan, tuple(notices)


def schema_violations(error: ValidationError) -> list[Violation]:
    """What pydantic found, in our words; the first 20, and how many more there are."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    found: list[Violation] = []
    for detail in details[:SHOWN_PROBLEMS]:
        where = [part for part in detail["loc"] if part not in Plan.KINDS]
        index = where[1] if len(where) > 1 and where[0] == "actions" else None
        at = ".".join(str(part) for part in (where[2:] if index is not None else where))
        message = detail["msg"][:1].lower() + detail["msg"][1:]
        found.append(
            Violation(
                "schema",
                f"{at}: {message}" if at else message,
                index if isinstance(index, int) else None,
            )
        )
    if len(details) > SHOWN_PROBLEMS:
        found.append(Violation("schema", f"and {len(details) - SHOWN_PROBLEMS} more problems"))
    return found


def parse_limits(values: Mapping[str, Any]) -> Limits:
    """Limits from values that somebody gave. Raises `InvalidPlan` at stage `config`."""
    try:
        return Limits.model_validate(dict(values))
    except ValidationError as error:
        raise InvalidPlan(
            "config",
            [
                Violation(
                    "limit-not-positive-integer",
                    f"{'.'.join(map(str, detail['loc']))} must be a whole number above 0",
                )
                for detail in error.errors(include_url=False, include_input=False)
            ],
        ) from None


def parse_operations(names: Sequence[str] | None) -> tuple[Operation, ...]:
    """Operations by name, without repetition; None means all. Raises `InvalidPlan` at `config`."""
    if names is None:
        return ALL_OPERATIONS
    if not names:
        raise InvalidPlan(
            "config",
            [Violation("operations-empty", "no operation was asked for; name at least one")],
        )
    known = {operation.value: operation for operation in Operation}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidPlan(
            "config",
            [
                Violation(
                    "operations-unknown",
                    f"{name!r} is no operation; there are {', '.join(known)}",
                )
                for name in unknown
            ],
        )
    return tuple(dict.fromkeys(known[name] for name in names))
