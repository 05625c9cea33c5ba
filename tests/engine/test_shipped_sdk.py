"""Beside the shipped SDK: it lists, searches and adds as before, and never finds what is ours."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from strands.storage import LocalFileStorage
from strands.vended_memory_stores.file_memory_store import FileMemoryStore

from engine.consolidation import apply, decide, examine, propose
from engine.documents import digest
from engine.planner.rules import RulesPlanner
from engine.store import Store, open_store
from engine.watch import overwritten, repair
from tests.conftest import tree

NOTES = [
    "# User preferences\nLikes dark mode\nUses vim",
    "# Project setup\nPython 3.11\nRuns on Debian",
    "# Team conventions\nReview before merge",
]


@pytest.fixture
def sdk(tmp_path: Path) -> FileMemoryStore:
    return FileMemoryStore(name="agent", storage=LocalFileStorage(str(tmp_path / ".strands")))


def add(sdk: FileMemoryStore, content: str) -> str:
    return str(asyncio.run(sdk.add(content)))


def listed(sdk: FileMemoryStore) -> list[str]:
    return list(asyncio.run(sdk._storage.list("")))


def found(sdk: FileMemoryStore, query: str) -> list[Any]:
    return [(entry.metadata or {})["path"] for entry in asyncio.run(sdk.search(query))]


def ours(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / ".strands"))


def test_a_consolidation_and_its_undo_leave_the_sdks_store_as_it_was(
    sdk: FileMemoryStore, tmp_path: Path
) -> None:
    for note in NOTES:
        add(sdk, note)
    folder = tmp_path / ".strands" / "memory" / "agent"
    (folder / "copy.md").write_text("# User preferences\n\n- likes dark mode\nUses vim\n")
    before = tree(folder)
    names = listed(sdk)
    store = ours(tmp_path)
    saved = propose(store, RulesPlanner(), one_call=False)
    assert saved is not None
    done = apply(store, decide(examine(store, saved), approve="all"), who="tests")
    assert done.deleted == ("copy.md",)
    assert listed(sdk) == [name for name in names if name != "copy.md"]
    assert found(sdk, "vim") == ["user-preferences.md"]
    add(sdk, "# Project setup\nUses uv")
    store.undo(done.run, who="tests")
    after = tree(folder)
    assert after.pop("project-setup.md")[0].endswith(b"Uses uv")
    before.pop("project-setup.md")
    assert after == before
    assert listed(sdk) == names
    assert found(sdk, "consolidation memui run digest") == []


def test_adding_to_a_shipped_store_writes_what_the_sdk_would(
    sdk: FileMemoryStore, tmp_path: Path
) -> None:
    contents = [*NOTES, "# User preferences\nLikes tea", "# Team conventions", "Ünïcode topic!\nx"]
    for note in contents:
        add(sdk, note)
    twin = tmp_path / "twin" / ".strands" / "memory" / "agent"
    twin.mkdir(parents=True)
    store = open_store(str(tmp_path / "twin" / ".strands"))
    for note in contents:
        store.add(note, who="tests")
    theirs = {p: d[0] for p, d in tree(tmp_path / ".strands" / "memory" / "agent").items()}
    assert {p: d[0] for p, d in tree(twin).items()} == theirs


def test_the_shipped_store_stays_shipped_after_our_first_run(
    sdk: FileMemoryStore, tmp_path: Path
) -> None:
    add(sdk, NOTES[0])
    store = ours(tmp_path)
    store.describe("user-preferences.md", "what the user likes", who="tests")
    assert ours(tmp_path).layout == "shipped"
    assert "\n## " in Path(store.place.changelog).read_text()
    assert listed(sdk) == ["user-preferences.md"]


def test_every_note_that_the_sdk_adds_while_runs_apply_and_undo_is_live(
    sdk: FileMemoryStore, tmp_path: Path
) -> None:
    """Bounded: the agent adds between our runs, never waiting for them."""
    import threading

    add(sdk, "# Facts\nfact 0")
    store = ours(tmp_path)
    facts = [f"fact {n}" for n in range(1, 120)]
    writer = FileMemoryStore(name="agent", storage=LocalFileStorage(str(tmp_path / ".strands")))

    async def agent() -> None:
        for fact in facts:
            await writer.add(f"# Facts\n{fact}")

    thread = threading.Thread(target=lambda: asyncio.run(agent()))
    thread.start()
    number = 0
    while thread.is_alive():
        from engine.errors import Conflict

        try:
            number += 1
            store.describe("facts.md", f"facts {number}", who="tests")
        except Conflict:
            continue
    thread.join()
    text = (tmp_path / ".strands/memory/agent/facts.md").read_text()
    state = Path(store.place.state)
    kept = [p.read_text() for p in state.rglob("*") if p.is_file() and p.parent.name != "plans"]
    everywhere = text + "".join(kept)
    assert [fact for fact in facts if fact not in everywhere] == []
    assert json.dumps(listed(sdk)) == '["facts.md"]'


def test_what_the_sdk_overwrites_from_a_stale_read_is_found_and_merged_in_again(
    sdk: FileMemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(sdk, NOTES[0])
    store = ours(tmp_path)
    before = store.read("user-preferences.md")

    def consolidate() -> None:
        after = before + b"\nPrefers tabs"
        store.edit("user-preferences.md", after, base=digest(before), who="tests")

    slow = FileMemoryStore(name="agent", storage=LocalFileStorage(str(tmp_path / ".strands")))
    read = slow._storage.read

    async def read_then_wait(key: str) -> bytes | None:
        data = await read(key)
        consolidate()
        return data

    monkeypatch.setattr(slow._storage, "read", read_then_wait)
    add(slow, "# User preferences\nSpeaks Dutch")
    assert store.read("user-preferences.md") == before + b"\nSpeaks Dutch"
    (item,) = overwritten(store)
    assert item.facts == ("Prefers tabs",)
    repair(store, [item], who="tests")
    assert store.read("user-preferences.md") == before + b"\nSpeaks Dutch\nPrefers tabs"
    add(sdk, "# User preferences\nLikes tea")
    assert overwritten(store) == ()
