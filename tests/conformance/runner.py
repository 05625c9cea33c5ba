"""Runs one conformance case through the engine's public API, on a store in a temporary folder."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.commit import Files
from engine.consolidation import apply, decide, examine, propose
from engine.documents import Snapshot, parse
from engine.errors import Conflict, EngineError, InvalidPlan, StorageError, Violation
from engine.layouts import find
from engine.paths import CHANGELOG, FOLDER_PATTERN, Layout
from engine.plan import Plan, parse_plan
from engine.planner import Request
from engine.prompt import Prompt, prompt
from engine.store import Store

NAME = "store"
NONCE = "0123456789abcdef0123456789abcdef"
_OPEN = re.compile("<file-evidence[^>]*>")
_CLOSE = re.compile("</file-evidence[^>]*>")


class Killed(BaseException):
    """The process died here."""


class FaultyFiles(Files):
    """The commit's file seam with the faults of a case."""

    def __init__(self, faults: list[dict[str, str]]) -> None:
        super().__init__()
        self._faults = faults

    def _strike(self, op: str, path: str) -> None:
        if any(f["op"] == op and f["path"] == path for f in self._faults if f["op"] != "kill"):
            raise OSError(5, os.strerror(5), path)

    def publish(self, path: str, *args: Any, **kwargs: Any) -> Any:
        self._strike("write", path)
        return super().publish(path, *args, **kwargs)

    def take(self, path: str, *args: Any, **kwargs: Any) -> Any:
        self._strike("delete", path)
        return super().take(path, *args, **kwargs)

    def barrier(self, *args: Any, **kwargs: Any) -> Any:
        done = super().barrier(*args, **kwargs)
        if any(f["op"] == "kill" for f in self._faults):
            raise Killed
        return done


@dataclass
class Answer:
    """A planner that answers what the case says, and keeps what it was told."""

    value: Any
    calls: int = 0
    prompts: list[Prompt] = field(default_factory=list)
    name: str = "answer"
    model: str | None = None
    reads_words: bool = False

    def propose(self, snapshot: Snapshot, request: Request) -> Plan:
        self.calls += 1
        self.prompts.append(prompt(snapshot, request.operations, request.limits, NONCE))
        return parse_plan(self.value)[0]


@dataclass
class Came:
    """What came of a case."""

    valid: bool = True
    stage: str = "ok"
    codes: set[str] = field(default_factory=set)
    warnings: set[str] = field(default_factory=set)
    key: str | None = None


def run_case(case: Mapping[str, Any]) -> list[str]:
    """What is not as the case expects, one sentence each; empty if it passes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        memories = root / "memory" / NAME
        memories.mkdir(parents=True)
        for path, data in case["files"].items():
            _write(memories, path, data)
        before = _tree(memories)
        log = _changelog(memories)
        planner = Answer(case["plan"])
        came = _run(case, root, memories, planner)
        return list(_compare(case, memories, before, log, planner, came))


def _run(case: Mapping[str, Any], root: Path, memories: Path, planner: Answer) -> Came:
    came = Came()
    (place,) = find(str(root), layout=Layout.NAMESPACED, name=NAME)
    faults = case.get("faults", [])
    store = Store(
        place,
        files=FaultyFiles(faults) if faults else None,
        writable=case.get("writable", True),
    )
    try:
        if "add" in case:
            came.key = store.add(
                case["add"]["content"], case["add"].get("metadata"), who="tests"
            ).path
        else:
            _consolidate(case, store, memories, planner, came)
    except Killed:
        came.valid, came.stage = False, "apply"
        came.codes = {"io"}
        Store(place).recover()
    except EngineError as error:
        came.valid = False
        came.stage, found = _judged(error)
        came.codes = {violation.code for violation in found}
    return came


def _consolidate(
    case: Mapping[str, Any], store: Store, memories: Path, planner: Answer, came: Came
) -> None:
    limits = {name: _number(value) for name, value in (case["limits"] or {}).items()}
    if not store.place.writable:
        raise InvalidPlan("config", [Violation("read-only", "the store is read-only")])
    saved = propose(store, planner, operations=case["operations"], limits=limits)
    if saved is None:
        came.stage = "noop"
        return
    proposal = decide(examine(store, saved), approve="all")
    came.warnings = {warning.code for warning in proposal.verdicts.warnings}
    for step in case.get("before_apply", []):
        if step["op"] == "write":
            _write(memories, step["path"], step["content"])
        else:
            (memories / step["path"]).unlink()
    apply(store, proposal, who="tests")


def _judged(error: EngineError) -> tuple[str, tuple[Violation, ...]]:
    if isinstance(error, InvalidPlan):
        return error.stage, error.violations
    if isinstance(error, Conflict):
        return "apply", tuple(Violation("drift", f"{d.path} {d.why}") for d in error.drifts)
    if isinstance(error, StorageError):
        return "apply", (Violation("io", str(error)),)
    raise error


def _compare(
    case: Mapping[str, Any],
    memories: Path,
    before: Mapping[str, bytes],
    log: str,
    planner: Answer,
    came: Came,
) -> Iterator[str]:
    expect = case["expect"]
    if came.valid != expect["valid"]:
        yield f"valid: expected {expect['valid']}, got {came.valid} {sorted(came.codes)}"
    if "stage" in expect and came.stage != expect["stage"]:
        yield f"stage: expected {expect['stage']}, got {came.stage}"
    if missing := set(expect.get("violations_about", ())) - came.codes:
        yield f"violations: expected {sorted(missing)} too, got {sorted(came.codes)}"
    if missing := set(expect.get("warnings_about", ())) - came.warnings:
        yield f"warnings: expected {sorted(missing)} too, got {sorted(came.warnings)}"
    if "model_calls" in expect and planner.calls != expect["model_calls"]:
        yield f"model calls: expected {expect['model_calls']}, got {planner.calls}"
    if "key" in expect and came.key != expect["key"]:
        yield f"key: expected {expect['key']}, got {came.key}"
    after = _tree(memories)
    if "description" in expect and came.key is not None:
        said = parse(after.get(came.key, b"")).description
        if said != expect["description"]:
            yield f"description: expected {expect['description']!r}, got {said!r}"
    yield from _files(case, before, after, came)
    yield from _log(expect.get("changelog"), log, _changelog(memories))
    if "evidence" in expect:
        yield from _evidence(expect["evidence"], case, planner)


def _files(
    case: Mapping[str, Any], before: Mapping[str, bytes], after: Mapping[str, bytes], came: Came
) -> Iterator[str]:
    expect = case["expect"]
    wanted = {path: _bytes(data) for path, data in expect.get("after", {}).items()}
    for path, data in wanted.items():
        if after.get(path) != data:
            yield f"after: {path} expected {data!r}, got {after.get(path)!r}"
    choices = [
        {path: _bytes(data) for path, data in choice.items()}
        for choice in expect.get("after_one_of", ())
    ]
    if choices and not any(
        all(after.get(path) == data for path, data in choice.items()) for choice in choices
    ):
        yield f"after: none of {len(choices)} states, got {sorted(after)}"
    if not expect["valid"] and not choices:
        kept = dict(before)
        for step in case.get("before_apply", []):
            if step["op"] == "write":
                kept[step["path"]] = _bytes(step["content"]) or b""
            else:
                kept.pop(step["path"], None)
        if kept != dict(after):
            changed = sorted(p for p in {*kept, *after} if kept.get(p) != after.get(p))
            yield f"after: a refused case changed {changed}"


def _log(expect: Mapping[str, Any] | None, before: str, after: str) -> Iterator[str]:
    if expect is None:
        return
    if "starts_with" in expect and not after.startswith(expect["starts_with"]):
        yield f"changelog: does not start with {expect['starts_with']!r}"
    added = after[len(before) :] if after.startswith(before) else after
    lines = added.split("\n")
    headings = sum(line.startswith("## ") for line in lines)
    if "headings_added" in expect and headings != expect["headings_added"]:
        yield f"changelog: expected {expect['headings_added']} headings, got {headings}"
    dashes = sum(line.startswith("-") for line in lines)
    wanted = expect.get("lines_added_starting_with_dash", dashes)
    if dashes != wanted:
        yield f"changelog: expected {wanted} lines that start with a dash, got {dashes}"
    for text in expect.get("contains", ()):
        if text not in added:
            yield f"changelog: lacks {text!r}: {added!r}"
    for text in expect.get("not_contains", ()):
        if text in added:
            yield f"changelog: holds {text!r}"


_SAID = {
    "directory-pattern": FOLDER_PATTERN,
    "two-distinct-sources": "at least two different source",
    "quoted-description": "in double quotes",
    "no-write-and-delete": "both written and deleted",
}


def _evidence(expect: Mapping[str, Any], case: Mapping[str, Any], planner: Answer) -> Iterator[str]:
    from engine.plan import parse_limits

    told = planner.prompts[-1]
    whole = f"{told.system}\n{told.user}"
    opened, closed = _OPEN.findall(whole), _CLOSE.findall(whole)
    for name, found in (("open_tags", opened), ("close_tags", closed)):
        if name in expect and len(found) != expect[name]:
            yield f"evidence: expected {expect[name]} {name}, got {len(found)}"
    start, end = whole.index(opened[0]) + len(opened[0]), whole.rindex(closed[-1])
    inside, outside = whole[start:end], whole[:start] + whole[end:]
    files = json.loads(inside)
    if "paths" in expect and sorted(files) != sorted(expect["paths"]):
        yield f"evidence: expected {expect['paths']}, got {sorted(files)}"
    if expect.get("roundtrip"):
        for path, data in case["files"].items():
            text = (_bytes(data) or b"").decode("utf-8", "replace")
            if path != CHANGELOG and files[path]["content"] != text:
                yield f"evidence: {path} does not read back"
    for text in expect.get("raw_absent", ()):
        if text in whole:
            yield f"evidence: holds {text!r} raw"
    for text in expect.get("only_inside", ()):
        if text in outside or text not in inside:
            yield f"evidence: {text!r} is not only inside the frame"
    limits = parse_limits({n: _number(v) for n, v in (case["limits"] or {}).items()})
    for name in expect.get("states_limits", ()):
        said = _SAID[name] if name in _SAID else str(getattr(limits, name))
        if said not in told.system:
            yield f"evidence: does not state {name}"


def _number(value: Any) -> Any:
    return float(value["$float"]) if isinstance(value, dict) else value


def _bytes(data: Any) -> bytes | None:
    if data is None:
        return None
    if isinstance(data, dict):
        return base64.b64decode(data["$base64"])
    return str(data).encode()


def _write(memories: Path, path: str, data: Any) -> None:
    file = memories / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(_bytes(data) or b"")


def _tree(memories: Path) -> dict[str, bytes]:
    """Every file in the namespace."""
    return {
        str(file.relative_to(memories)): file.read_bytes()
        for file in sorted(memories.rglob("*"))
        if file.is_file()
    }


def _changelog(memories: Path) -> str:
    file = memories / CHANGELOG
    return file.read_bytes().decode() if file.exists() else ""
