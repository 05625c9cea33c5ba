"""One contract for every storage: ours, and Strands' own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strands.storage import InMemoryStorage as StrandsInMemoryStorage
from strands.storage import LocalFileStorage

from engine.errors import Conflict, EngineError, StorageError
from engine.storage import AtomicCommit, Scannable
from engine.storage.in_memory import InMemoryStorage, Scoped
from engine.storage.local import LocalStorage
from engine.store import open_store


def local(tmp_path: Path) -> LocalStorage:
    (tmp_path / "notes").mkdir()
    return open_store(str(tmp_path / "notes")).storage


BACKENDS: dict[str, Callable[[Path], Any]] = {
    "local": local,
    "in_memory": lambda _: InMemoryStorage(),
    "scoped": lambda _: Scoped(InMemoryStorage({"other/a.md": b"x"}), "mine"),
    "strands_local": lambda path: LocalFileStorage(str(path / "strands")),
    "strands_in_memory": lambda _: StrandsInMemoryStorage(),
}


@pytest.fixture(params=BACKENDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return BACKENDS[request.param](tmp_path)


def do(call: Any) -> Any:
    return asyncio.run(call)


def test_what_is_written_is_read_and_listed_until_it_is_deleted(storage: Any) -> None:
    assert do(storage.read("facts/a.md")) is None
    assert list(do(storage.list(""))) == []
    do(storage.write("facts/a.md", b"one\n"))
    do(storage.write("facts/a.md", b"two\n"))
    do(storage.write("b.md", b"\xff\x00bytes"))
    assert do(storage.read("facts/a.md")) == b"two\n"
    assert do(storage.read("b.md")) == b"\xff\x00bytes"
    assert list(do(storage.list(""))) == ["b.md", "facts/a.md"]
    assert list(do(storage.list("facts/"))) == ["facts/a.md"]
    do(storage.delete("facts/a.md"))
    do(storage.delete("facts/a.md"))
    assert do(storage.read("facts/a.md")) is None
    assert list(do(storage.list(""))) == ["b.md"]


def test_what_a_backend_can_do_beyond_is_found_by_its_protocol(tmp_path: Path) -> None:
    assert isinstance(local(tmp_path), Scannable)
    assert isinstance(InMemoryStorage(), AtomicCommit)
    assert not isinstance(LocalFileStorage(str(tmp_path)), Scannable | AtomicCommit)


def test_an_atomic_commit_changes_all_or_names_every_mismatch() -> None:
    storage = InMemoryStorage({"a.md": b"1", "b.md": b"2"})
    with pytest.raises(Conflict) as caught:
        do(storage.commit({"a.md": (b"0", b"x"), "b.md": (b"2", None), "c.md": (b"3", b"y")}))
    assert [drift.path for drift in caught.value.drifts] == ["a.md", "c.md"]
    assert do(storage.read("b.md")) == b"2"
    do(storage.commit({"a.md": (b"1", None), "c.md": (None, b"3")}))
    assert do(storage.list("")) == ["b.md", "c.md"]


@pytest.mark.parametrize("key", ["../x.md", "/etc/passwd", "a/../../x.md", "", "a\\b.md", "a\0.md"])
def test_a_local_storage_never_leaves_its_folder(tmp_path: Path, key: str) -> None:
    storage = local(tmp_path)
    for call in (storage.read(key), storage.write(key, b"x"), storage.delete(key)):
        with pytest.raises(EngineError):
            do(call)
    assert list(tmp_path.iterdir()) == [tmp_path / "notes"]


def test_a_local_storage_follows_no_link_out(tmp_path: Path) -> None:
    storage = local(tmp_path)
    (tmp_path / "secret.md").write_text("secret\n")
    (tmp_path / "notes/link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(StorageError):
        do(storage.read("link.md"))
    with pytest.raises(EngineError):
        do(storage.write("link.md", b"x"))
    assert (tmp_path / "secret.md").read_text() == "secret\n"


def test_without_a_commit_a_local_storage_is_read_only(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="read-only"):
        do(LocalStorage(str(tmp_path)).write("a.md", b"x"))


def test_what_is_written_through_the_storage_is_undone_like_everything(tmp_path: Path) -> None:
    storage = local(tmp_path)
    do(storage.write("a.md", b"one\n"))
    store = open_store(str(tmp_path / "notes"))
    store.undo("last", who="tests")
    assert do(storage.read("a.md")) is None
