"""Layouts: every folder that people have opens, by evidence, and looking creates nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import NotAStore
from engine.layouts import find
from engine.paths import HIDDEN_PREFIX, Layout
from engine.store import open_store, open_stores


def files(root: Path, *paths: str) -> Path:
    for path in paths:
        file = root / path
        if path.endswith("/"):
            file.mkdir(parents=True, exist_ok=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("# x\n")
    return root


AGENT = ".strands/memory/a"


@pytest.mark.parametrize(
    ("paths", "open_at", "name", "layout", "folder"),
    [
        ([f"{AGENT}/x.md"], ".strands", "a", "shipped", AGENT),
        ([f"{AGENT}/"], ".strands", "a", "shipped", AGENT),
        ([f"{AGENT}/facts/x.md"], ".strands", "a", "namespaced", AGENT),
        ([f"{AGENT}/consolidation-changelog.md"], ".strands", "a", "namespaced", AGENT),
        ([f"{AGENT}/facts/x.md"], AGENT, "a", "namespaced", AGENT),
        ([f"{AGENT}/y.md", f"{AGENT}/f/x.md"], f"{AGENT}/f", "a", "namespaced", AGENT),
        (["p/knowledge/f/x.md", "p/sessions/"], "p", "knowledge", "design", "p/knowledge"),
        (["p/knowledge/f/x.md"], "p/knowledge/f", "knowledge", "design", "p/knowledge"),
        (["vault/knowledge/x.md", "vault/note.md"], "vault", "vault", "folder", "vault"),
        (["vault/memory/people/x.md", "vault/index.md"], "vault", "vault", "folder", "vault"),
        (["notes/x.md"], "notes", "notes", "folder", "notes"),
        (["empty/"], "empty", "empty", "folder", "empty"),
    ],
)
def test_a_store_is_recognised_by_evidence(
    tmp_path: Path, paths: list[str], open_at: str, name: str, layout: str, folder: str
) -> None:
    files(tmp_path, *paths)
    (place,) = find(str(tmp_path / open_at))
    assert (place.name, str(place.layout), place.folder) == (name, layout, str(tmp_path / folder))


def test_looking_creates_nothing(tmp_path: Path) -> None:
    files(tmp_path, ".strands/memory/a/x.md")
    before = sorted(tmp_path.rglob("*"))
    store = open_store(str(tmp_path / ".strands"))
    store.listing(), store.runs(), store.plans(), store.unfinished(), store.search("x")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("layout", list(Layout))
def test_the_state_never_lies_where_an_agent_lists(tmp_path: Path, layout: Layout) -> None:
    roots = {
        Layout.DESIGN: files(tmp_path / "d", "knowledge/x.md"),
        Layout.NAMESPACED: files(tmp_path / "n/.strands", "memory/a/facts/x.md"),
        Layout.SHIPPED: files(tmp_path / "s/.strands", "memory/a/x.md"),
        Layout.FOLDER: files(tmp_path / "f", "x.md"),
    }
    (place,) = find(str(roots[layout]))
    assert place.layout is layout
    assert not place.state.startswith(f"{place.folder}/")


def test_where_the_parent_cannot_be_written_the_state_hides_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files(tmp_path / "notes", "x.md")
    monkeypatch.setattr("engine.layouts._writable", lambda path: path == str(folder))
    (place,) = find(str(folder))
    assert place.state == str(folder / ".memui")
    assert place.state_prefix == HIDDEN_PREFIX


def test_one_of_several_is_picked_by_name_or_fragment(tmp_path: Path) -> None:
    root = files(tmp_path / ".strands", "memory/a/x.md", "memory/b/x.md", "sessions/s.json")
    assert [store.name for store in open_stores(str(root))] == ["a", "b"]
    assert open_store(f"{root}#b").name == "b"
    assert open_store(str(root), name="a").name == "a"
    with pytest.raises(NotAStore, match="a, b") as caught:
        open_store(str(root))
    assert "--store" in caught.value.hint
    with pytest.raises(NotAStore, match="no store c"):
        open_store(f"{root}#c")


def test_a_name_with_a_slash_is_a_store_of_its_own_state(tmp_path: Path) -> None:
    root = files(tmp_path / ".strands", "memory/team/alice/x.md", "memory/team/y.md")
    place = open_store(str(root), name="team/alice").place
    assert place.state == str(root / ".memui" / "memory%2Fteam%2Falice")
    assert open_store(str(root)).name == "team"


@pytest.mark.parametrize("spec", ["missing", "file"])
def test_what_is_no_folder_is_no_store(tmp_path: Path, spec: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAStore) as caught:
        find(str(tmp_path / spec))
    assert caught.value.hint


def test_a_root_that_no_agent_has_written_to_holds_no_store(tmp_path: Path) -> None:
    files(tmp_path, ".strands/")
    with pytest.raises(NotAStore, match="no store yet"):
        open_store(str(tmp_path / ".strands"))


def test_a_consolidation_that_adds_folders_does_not_change_what_a_store_is(tmp_path: Path) -> None:
    root = files(tmp_path / ".strands", "memory/a/x.md")
    open_store(str(root)).describe("x.md", "about x", who="tests")
    files(root, "memory/a/facts/y.md")
    assert open_store(str(root)).layout is Layout.SHIPPED
