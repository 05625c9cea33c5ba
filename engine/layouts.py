"""Where the parts of a store lie on disk, and which stores a root holds. Reads only.

| layout       | how it is recognised                                          | memories         |
|--------------|---------------------------------------------------------------|------------------|
| `design`     | a Strands root with `knowledge/`                              | `knowledge/**`   |
| `namespaced` | a Strands root; `memory/<name>/` holds a folder or a changelog | `memory/<name>/` |
| `shipped`    | a Strands root; `memory/<name>/` is flat or empty             | `memory/<name>/` |
| `folder`     | any other folder                                              | the folder       |

An SDK store's name may hold `/` (`team/alice` lies in the folder of `team`, which sees its files).
Such a store is found by its name, by its own folder, or by the state that we keep of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from engine.errors import NotAStore
from engine.paths import CHANGELOG, HIDDEN_PREFIX, Layout

STATE: Final = ".memui"
_STRANDS_NAMES: Final = frozenset(["memory", "knowledge", "context", "sessions", STATE])
_DEPTH: Final = 4
"""Segments of a store's name that are looked at: SDK names may hold `/`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the parts of one store lie on this machine. All paths are absolute.

    `state` need not exist yet: it is made by the first write. Every *file* in it has a name that
    starts with `state_prefix` (empty, but for a state folder that has to lie among the memories,
    where only that prefix hides it from the SDKs).
    """

    name: str
    layout: Layout
    root: str
    folder: str
    state: str
    changelog: str
    state_prefix: str = ""
    writable: bool = True


def find(spec: str, *, layout: Layout | None = None, name: str | None = None) -> tuple[Place, ...]:
    """The stores below a root, by name. `spec` is a root, a store's own folder, or `ROOT#NAME`.

    Raises `NotAStore` for what is missing, no folder or unreadable, and for a name that no store
    has. An empty folder is an empty store.
    """
    path, name = _split(spec, name)
    if not os.path.lexists(path):
        raise NotAStore(f"There is no folder {path}.", hint=_HINT)
    if not os.path.isdir(path):
        raise NotAStore(f"{path} is no folder.", hint=_HINT)
    path = os.path.realpath(path)
    try:
        os.listdir(path)
    except OSError as error:
        raise NotAStore(f"{path} cannot be read: {error.strerror}.", hint=_HINT) from error
    places = list(_places(path, layout, name))
    if name is not None:
        chosen = [place for place in places if place.name == name]
        if not chosen:
            names = ", ".join(place.name for place in places) or "none"
            raise NotAStore(f"{path} has no store {name}.", hint=f"Its stores: {names}.")
        places = chosen
    return tuple(places)


_HINT = "Name the folder of an agent's memory, for instance ~/.strands, or try memui demo."


def _split(spec: str, name: str | None) -> tuple[str, str | None]:
    if name is None and "#" in spec and not os.path.lexists(os.path.expanduser(spec)):
        spec, _, name = spec.rpartition("#")
    return os.path.abspath(os.path.expanduser(spec)), name or None


def _places(path: str, layout: Layout | None, name: str | None) -> Iterator[Place]:
    if layout is Layout.FOLDER:
        yield _folder(path)
    elif layout is Layout.DESIGN:
        below = os.path.isdir(os.path.join(path, "knowledge"))
        yield _design(path if below else os.path.dirname(path))
    elif is_strands_root(path) or (layout and os.path.isdir(os.path.join(path, "memory"))):
        yield from _strands(path, layout, name)
    else:
        yield _climb(path, layout) or _folder(path)


def is_strands_root(path: str) -> bool:
    """Whether a folder is what a Strands agent writes, by evidence.

    It is called `.strands`, or holds nothing but the folders and files of a Strands root, and
    among them `memory` or `knowledge`.
    """
    names = _names(path)
    if not names & {"memory", "knowledge"}:
        return os.path.basename(path) == ".strands"
    if os.path.basename(path) == ".strands":
        return True
    return all(
        name in _STRANDS_NAMES or name.startswith("consolidation") or name.endswith(".json")
        for name in names
    )


def _names(path: str) -> set[str]:
    try:
        return set(os.listdir(path))
    except OSError:
        return set()


def _strands(root: str, layout: Layout | None, name: str | None) -> Iterator[Place]:
    if layout is None and os.path.isdir(os.path.join(root, "knowledge")):
        yield _design(root)
    memory = os.path.join(root, "memory")
    found = {e.name for e in _entries(memory) if _is_folder(e) and not e.name.startswith(".")}
    for state in _names(os.path.join(root, STATE)):
        path = unquote(state)
        if path.startswith("memory/") and os.path.isdir(os.path.join(root, path)):
            found.add(path.removeprefix("memory/"))
    if name and ".." not in name.split("/") and os.path.isdir(os.path.join(memory, name)):
        found.add(name)
    for each in sorted(found):
        yield _namespace(root, each, layout)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _design(root: str) -> Place:
    return Place(
        name="knowledge",
        layout=Layout.DESIGN,
        root=root,
        folder=os.path.join(root, "knowledge"),
        state=os.path.join(root, STATE, "knowledge"),
        changelog=os.path.join(root, CHANGELOG),
        writable=_writable(root) and _writable(os.path.join(root, "knowledge")),
    )


def _namespace(root: str, name: str, layout: Layout | None) -> Place:
    folder = os.path.join(root, "memory", *name.split("/"))
    state = os.path.join(root, STATE, quote(f"memory/{name}", safe=""))
    layout = layout or _remembered(state) or _namespace_layout(folder)
    inside = os.path.join(folder, CHANGELOG)
    outside = os.path.join(root, f"consolidation-changelog-{quote(name, safe='')}.md")
    return Place(
        name=name,
        layout=layout,
        root=root,
        folder=folder,
        state=state,
        changelog=inside if layout is Layout.NAMESPACED else outside,
        writable=_writable(root) and _writable(folder),
    )


def _namespace_layout(folder: str) -> Layout:
    for entry in _entries(folder):
        if entry.name == CHANGELOG or _is_folder(entry):
            return Layout.NAMESPACED
    return Layout.SHIPPED


LAYOUT_FILE: Final = "layout"
"""The file of the state folder that keeps the layout, so that new folders do not change it."""


def _remembered(state: str) -> Layout | None:
    try:
        with open(os.path.join(state, LAYOUT_FILE), encoding="ascii") as file:
            return Layout(file.read(32).strip())
    except (OSError, ValueError):
        return None


def _climb(path: str, layout: Layout | None) -> Place | None:
    """The store whose folder this is or lies in, if a Strands root lies above it."""
    root = path
    parts: list[str] = []
    for _ in range(_DEPTH + 1):
        root, part = os.path.split(root)
        if part == "knowledge" and is_strands_root(root):
            return _design(root)
        if part == "memory" and parts and (layout or is_strands_root(root)):
            return _namespace(root, _own_name(root, list(reversed(parts))), layout)
        parts.append(part)
    return None


def _own_name(root: str, parts: list[str]) -> str:
    """A folder of the first store above it that holds files, else a name with `/` in it."""
    for depth in range(1, len(parts)):
        above = os.path.join(root, "memory", *parts[:depth])
        if any(not _is_folder(entry) for entry in _entries(above)):
            return "/".join(parts[:depth])
    return "/".join(parts)


def _folder(path: str) -> Place:
    above, base = os.path.split(path)
    beside = os.path.join(above, STATE, quote(base, safe=""))
    inside = os.path.join(path, STATE)
    own = _writable(path)
    if not os.path.isdir(inside) and (
        os.path.isdir(beside) or (own and _writable(above) and _device(above) == _device(path))
    ):
        state, prefix = beside, ""
    else:
        state, prefix = inside, HIDDEN_PREFIX
    return Place(
        name=base or "/",
        layout=Layout.FOLDER,
        root=path,
        folder=path,
        state=state,
        changelog=os.path.join(state, f"{prefix}changelog.md"),
        state_prefix=prefix,
        writable=own,
    )


def _writable(path: str) -> bool:
    try:
        return os.access(path, os.W_OK | os.X_OK) and not os.statvfs(path).f_flag & os.ST_RDONLY
    except OSError:
        return False


def _device(path: str) -> int:
    return os.stat(path).st_dev
