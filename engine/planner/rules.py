"""The planner without a model: offline, deterministic, and honest about how little it sees.

It finds files that say the same, and files whose every statement stands in one other file under
the same headings. It never proposes to drop a statement that it cannot show elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from engine.documents import Snapshot, parse, set_description
from engine.guards import content_violations, description_problem
from engine.paths import is_memory
from engine.plan import Action, Delete, Merge, Operation, Plan, gist
from engine.planner import Request
from engine.review import Feedback
from engine.slugs import shipped_topic, slug
from engine.statements import Statement, statements

_DELETING = frozenset([Operation.PRUNE, Operation.RESOLVE_CONTRADICTIONS])
_MERGING = frozenset([Operation.DEDUPLICATE, Operation.DERIVE_INSIGHTS])
_TOLD = 200
"""Memories that are read between two words about it."""

Key = tuple[str, str, tuple[str, ...]]
"""What must stand in another file for a statement to live on: kind, key, headings."""


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    keys: frozenset[Key]
    described: bool
    named: bool  # after what it says first: where the SDK looks for its topic


class RulesPlanner:
    """Proposes to fold copies away; nothing else."""

    name = "rules"
    model: str | None = None
    reads_words = False

    def propose(self, snapshot: Snapshot, request: Request) -> Plan:
        """A plan that loses nothing, without what was rejected before. Raises only `Cancelled`."""
        asked = frozenset(request.operations)
        if not asked & (_DELETING | _MERGING):
            return Plan(actions=(), summary="The rules planner only finds copies; nothing to do.")
        files = {}
        for number, (path, data) in enumerate(sorted(snapshot.files.items())):
            if not number % _TOLD:
                request.tell(f"reading memory {number + 1} of {len(snapshot.files)}")
            if _fit(data) and (file := _file(path, data)).keys:
                files[path] = file
        request.tell(f"comparing {len(files)} memories")
        copies = dict(_copies(files))
        covered = dict(_covered({p: f for p, f in files.items() if p not in copies}))
        folded = {**covered, **copies}
        found = tuple(_actions(folded, copies.keys(), snapshot, deleting=bool(asked & _DELETING)))
        said = request.feedback or Feedback()
        rejected = {gist(each.action) for each in said.rejected}
        actions = tuple(action for action in found if gist(action) not in rejected)
        summary = _summary(len(copies), len(covered), len(files))
        return Plan(actions=actions, summary=summary + _heeded(said, len(found) - len(actions)))


def _heeded(said: Feedback, left_out: int) -> str:
    """What became of what a person said, in words: no more than is true."""
    found = ""
    if left_out:
        found += f" Left out, as rejected before: {left_out}."
    if said.words:
        found += " The rules planner does not read words; they are kept with the plan."
    return found


def _summary(copies: int, covered: int, looked_at: int) -> str:
    if not copies and not covered:
        return f"Looked at {looked_at} memories: no copies and no covered ones."
    found = []
    if copies:
        found.append(f"{copies} {'copy' if copies == 1 else 'copies'}")
    if covered:
        found.append(f"{covered} fully covered by another")
    return f"Of {looked_at} memories, {' and '.join(found)}."


def _fit(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return bool(data.strip())


def _key(statement: Statement) -> Key:
    kind = "sentence" if statement.kind == "item" else statement.kind
    return kind, statement.key, statement.heading


def _file(path: str, data: bytes) -> _File:
    found = statements(path, data)
    described = any(s.kind == "description" for s in found)
    stem = path.rpartition("/")[2].removesuffix(".md")
    named = stem in {shipped_topic(data.decode()), slug(parse(data).title)}
    return _File(path, frozenset(map(_key, found)), described, named)


def _rank(file: _File) -> tuple[bool, bool, int, int, str]:
    """Which copy stays: the described, the one named after its topic, the fuller, the shorter."""
    return (not file.described, not file.named, -len(file.keys), len(file.path), file.path)


def _copies(files: Mapping[str, _File]) -> Iterator[tuple[str, str]]:
    """(copy, the file that stays) for files that say exactly the same."""
    alike: defaultdict[frozenset[Key], list[_File]] = defaultdict(list)
    for file in files.values():
        alike[file.keys].append(file)
    for group in alike.values():
        stays, *others = sorted(group, key=_rank)
        for other in others:
            yield other.path, stays.path


def _covered(files: Mapping[str, _File]) -> Iterator[tuple[str, str]]:
    """(file, the one that holds every statement of it), never in a chain.

    Looked up by the file's rarest statement, so that common ones cost nothing.
    """
    holders: defaultdict[Key, list[str]] = defaultdict(list)
    for file in files.values():
        for key in file.keys:
            holders[key].append(file.path)
    gone: set[str] = set()
    stays: set[str] = set()
    for file in sorted(files.values(), key=lambda f: (len(f.keys), f.path)):
        if file.path in stays:
            continue
        rarest = min(file.keys, key=lambda key: (len(holders[key]), key))
        fuller = [
            other
            for other in holders[rarest]
            if other != file.path and other not in gone and file.keys < files[other].keys
        ]
        if fuller:
            keeper = min(fuller, key=lambda path: _rank(files[path]))
            gone.add(file.path)
            stays.add(keeper)
            yield file.path, keeper


def _actions(
    folded: Mapping[str, str], copies: Collection[str], snapshot: Snapshot, *, deleting: bool
) -> Iterator[Action]:
    by_keeper: defaultdict[str, list[str]] = defaultdict(list)
    for path, keeper in folded.items():
        final = keeper
        while final in folded:
            final = folded[final]
        by_keeper[final].append(path)
    for keeper, paths in sorted(by_keeper.items()):
        if deleting:
            for path in sorted(paths):
                same = path in copies
                what = "Says exactly what" if same else "Every statement also stands in"
                end = " says." if same else "."
                yield Delete(action="delete", path=path, reason=f"{what} {keeper}{end}")
            continue
        content = _result(snapshot.files[keeper])
        if content is None or not is_memory(keeper):
            continue
        yield Merge(
            action="merge",
            sources=(keeper, *sorted(paths)),
            target=keeper,
            content=content,
            reason=f"{keeper} already says everything that the others do.",
        )


def _result(data: bytes) -> str | None:
    """The keeper's own text, with a description if it lacks one that the rules accept."""
    text = data.decode()
    if not content_violations(text):
        return text
    description = parse(data).description
    if description_problem(description) is not None:
        return None
    described = set_description(data, description).decode()
    return None if content_violations(described) else described
