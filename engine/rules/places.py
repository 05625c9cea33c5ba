"""Where a plan, or a person, may put a file."""

from __future__ import annotations

from collections.abc import Iterator

from engine.changes import Claim
from engine.paths import (
    CHANGELOG,
    EXTENSION,
    FOLDER_PATTERN,
    Layout,
    has_traversal,
    identity,
    is_folder_name,
    is_reserved,
    name_problem,
)
from engine.rules.case import Case


def path_traversal(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim in case.targets:
        if claim.target is not None and has_traversal(claim.target.spelling):
            yield claim.index, f"the path {claim.target.spelling} is not a plain path in the store"


def _placed(case: Case) -> Iterator[tuple[Claim, str]]:
    """The targets of merges and moves that are plain paths, as they would be stored."""
    for claim in case.targets:
        if claim.target is not None and not has_traversal(claim.target.spelling):
            yield claim, claim.writes or claim.new_path or ""


def path_reserved(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim, path in _placed(case):
        if is_reserved(path):
            yield claim.index, f"{CHANGELOG} is reserved for the record of what was done"


def path_extension(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim, path in _placed(case):
        if not path.lower().endswith(EXTENSION):
            yield claim.index, f"the path {path!r} does not end in {EXTENSION}"


def path_depth(case: Case) -> Iterator[tuple[int | None, str]]:
    if case.layout is Layout.FOLDER:
        return
    deepest = 0 if case.layout is Layout.SHIPPED else 1
    for claim, path in _placed(case):
        if path.count("/") > deepest and path.lower().endswith(EXTENSION):
            where = "directly in the store" if not deepest else "at most one folder deep"
            yield claim.index, f"{path} must lie {where}"


def directory_name(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim, path in _placed(case):
        folder, slash, _ = path.rpartition("/")
        if not slash or folder in case.snapshot.folders.get(identity(folder), ()):
            continue
        if case.layout is Layout.FOLDER:
            yield claim.index, f"there is no folder {folder!r}; a plan makes none in this store"
        elif "/" not in folder and not is_folder_name(folder):
            yield claim.index, f"the folder name {folder!r} does not match {FOLDER_PATTERN}"


def filename(case: Case) -> Iterator[tuple[int | None, str]]:
    for claim, path in _placed(case):
        if claim.target is not None and claim.target.stored:
            continue  # the name exists already
        name = path.rpartition("/")[2]
        if name.endswith(EXTENSION) and (problem := name_problem(name, extension=EXTENSION)):
            yield claim.index, f"the file name {name!r} {problem}"


def directory_limit(case: Case) -> Iterator[tuple[int | None, str]]:
    if case.layout not in {Layout.DESIGN, Layout.NAMESPACED}:
        return
    now = {identity(path.split("/")[0]) for path in case.snapshot.files if "/" in path}
    for claim, path in _placed(case):
        first, slash, _ = path.partition("/")
        if slash and identity(first) not in now:
            now.add(identity(first))
            if len(now) > case.limits.max_directories:
                yield (
                    claim.index,
                    (
                        f"the folder {first!r} would be number {len(now)}; "
                        f"at most {case.limits.max_directories} are allowed"
                    ),
                )
