"""Runs on file systems that are full, closed, mixed or gone: all old or all new, and told."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Files, Transaction, Write
from engine.documents import digest
from engine.errors import Conflict, EngineError, StorageError
from engine.journal import RunKind
from engine.layouts import Place
from engine.store import Store
from tests.engine.faults import Acting, Counting, WithoutExchange
from tests.faults.mounts import flagged, mounted, remount, tried
from tests.faults.runs import NEW, OLD, kept, live, make, reopen, transaction


def run(place: Place, files: Files | None = None) -> None:
    commit.transact(place, transaction(), files=files)


def tried_run(place: Place, files: Files | None = None) -> EngineError | None:
    """Run; how it failed, if it did."""
    try:
        run(place, files)
    except EngineError as error:
        return error
    return None


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> int:
    files = Counting()
    run(make(tmp_path_factory.mktemp("count") / "root"), files)
    return len(files.calls)


def once(act: Callable[[], object]) -> Callable[[str], None]:
    def call(_call: str) -> None:
        act()

    return call


def fill(folder: Path, free: int) -> None:
    """Leave so many bytes free."""
    with (folder / "ballast").open("wb") as file:
        system = os.statvfs(folder)
        with contextlib.suppress(OSError):
            file.write(b"x" * max(0, system.f_bavail * system.f_frsize - free))


def test_with_any_little_space_a_run_is_done_or_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    with mounted(tmp_path / "m", "-t", "tmpfs", "-o", "size=1m", "memui") as folder:
        refused = 0
        for number, pages in enumerate(range(60, -1, -3)):
            root = folder / "root"
            place = make(root)
            fill(folder, pages * 4096)
            error = tried_run(place)
            assert live(place) == (OLD if error else NEW), number
            assert error is None or "space" in str(error)
            assert commit.unfinished(place) == ()
            refused += error is not None
            (folder / "ballast").unlink()
            shutil.rmtree(root)
        assert refused


def test_a_disk_that_fills_up_at_any_call_ends_a_run_all_old_or_all_new(
    tmp_path: Path, calls: int
) -> None:
    with mounted(tmp_path / "m", "-t", "tmpfs", "-o", "size=1m", "memui") as folder:
        for at in range(1, calls + 1):
            root = folder / "root"
            place = make(root)
            error = tried_run(place, Acting(at, once(lambda: fill(folder, 0))))
            assert live(place) == (OLD if error else NEW), at
            assert error is None or "space" in str(error), str(error)
            assert commit.unfinished(place) == (), at  # finishing needs no space
            (folder / "ballast").unlink(missing_ok=True)
            shutil.rmtree(root)


def test_a_file_system_that_turns_read_only_before_the_lock_fails_the_run_and_changes_nothing(
    tmp_path: Path, calls: int
) -> None:
    """From the lock on the kernel refuses to remount: its file is open for writing."""
    with mounted(tmp_path / "m", "-t", "tmpfs", "-o", "size=2m", "memui") as folder:
        closed: list[bool] = []
        for at in range(1, calls + 1):
            root = folder / "root"
            place = make(root)
            failed = tried_run(
                place, Acting(at, once(lambda: closed.append(remount(folder, "ro"))))
            )
            assert set(OLD.values()) <= kept(place) | set(live(place).values()), at
            assert failed is None or "Read-only file system" in str(failed), at
            assert failed is not None or live(place) == NEW
            remount(folder, "rw")
            commit.recover(place)
            assert live(place) in ((OLD, NEW) if failed else (NEW,)), at
            assert commit.unfinished(place) == ()
            shutil.rmtree(root)
        assert any(closed)


def test_a_store_on_a_read_only_root_is_read_and_every_change_is_refused(tmp_path: Path) -> None:
    with mounted(tmp_path / "m", "-t", "tmpfs", "-o", "size=1m", "memui") as folder:
        make(folder / "root")
        remount(folder, "ro")
        store = Store(reopen(folder / "root"))
        assert set(store.snapshot().files) == set(OLD)
        with pytest.raises(StorageError, match="read-only"):
            run(store.place)
        with pytest.raises(StorageError, match="read-only"):
            store.edit("facts/a.md", b"x", base=digest(OLD["facts/a.md"]), who="t")


@pytest.mark.parametrize("flag", ["i", "a"])
@pytest.mark.parametrize("name", ["facts/a.md", "facts/b.md", "facts"])
def test_what_is_immutable_or_append_only_fails_the_run_by_name_and_nothing_changes(
    tmp_path: Path, flag: str, name: str
) -> None:
    place = make(tmp_path / "root")
    before = live(place)
    with flagged(flag, Path(place.folder) / name):
        with pytest.raises(StorageError, match="not permitted") as caught:
            run(place)
        # A folder that only takes new names keeps one that was published until it is free again.
        assert before.items() <= live(place).items()
        assert name in str(caught.value)
    commit.recover(place)
    assert live(place) == before
    assert commit.unfinished(place) == ()


def test_a_file_made_immutable_at_any_call_leaves_nothing_mixed_once_it_is_free(
    tmp_path: Path, calls: int
) -> None:
    for at in range(1, calls + 1, 2):
        place = make(tmp_path / f"{at}")
        with contextlib.ExitStack() as stack:
            file = Path(place.folder) / "facts/c.md"
            with contextlib.suppress(StorageError):
                run(
                    place,
                    Acting(at, once(partial(stack.enter_context, flagged("i", file)))),
                )
        commit.recover(place)
        assert live(place) in (OLD, NEW), at
        assert commit.unfinished(place) == ()


def test_another_device_inside_the_store_is_refused_by_name(tmp_path: Path) -> None:
    place = make(tmp_path / "root")
    with mounted(Path(place.folder) / "lab", "-t", "tmpfs", "memui") as lab:
        with pytest.raises(StorageError, match=r"lab/deep/d\.md lies on another file system"):
            run(place)
        assert list(lab.iterdir()) == []
    (Path(place.folder) / "lab").rmdir()
    assert live(place) == OLD


def test_a_state_folder_on_another_device_is_refused(tmp_path: Path) -> None:
    place = make(tmp_path / "root")
    with (
        mounted(tmp_path / "root/.memui", "-t", "tmpfs", "memui"),
        pytest.raises(StorageError, match="another file system"),
    ):
        run(place)
    assert live(place) == OLD


def test_overlayfs_and_ext4_carry_a_run_and_its_undo(tmp_path: Path) -> None:
    with mounted(tmp_path / "t", "-t", "tmpfs", "memui") as base:
        for name in ("lower", "upper", "work"):
            (base / name).mkdir()
        make(base / "lower/root")
        layers = f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work"
        with mounted(tmp_path / "o", "-t", "overlay", "-o", layers, "memui") as folder:
            _there_and_back(reopen(folder / "root"))
        image = base / "image"
        with image.open("wb") as file:
            file.truncate(16 << 20)
        tried("mkfs.ext4", "-q", str(image))
        with mounted(tmp_path / "e", "-o", "loop", str(image)) as folder:
            _there_and_back(make(folder / "root"))


def _there_and_back(place: Place) -> None:
    run(place)
    assert live(place) == NEW
    commit.undo(place, "last", who="t")
    assert live(place) == OLD


def test_a_name_that_differs_only_in_case_is_another_file_where_it_is_one(tmp_path: Path) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    tried("mkfs.ext4", "-q", "-O", "casefold", str(image))
    with mounted(tmp_path / "e", "-o", "loop", str(image)) as folder:
        tried("chattr", "+F", str(folder / "lost+found"))
        place = make(folder / "root")
        again = Write("facts/A.md", None, b"new\n")
        with pytest.raises(Conflict):
            commit.transact(place, Transaction(RunKind.ADD, "t", "person", (again,)))
        assert live(place) == OLD


@pytest.mark.parametrize("length", [178, 255])
@pytest.mark.parametrize("seam", [Files, lambda: WithoutExchange(0, lambda _call: None)])
def test_the_longest_names_at_the_deepest_place_are_written_and_taken_back(
    tmp_path: Path, length: int, seam: Callable[[], Files]
) -> None:
    place = make(tmp_path / "root")
    path = "/".join([*("d" * length,) * 7, "n" * (length - 3) + ".md"])
    write = Transaction(RunKind.ADD, "t", "person", (Write(path, None, b"one\n"),))
    outcome, _ = commit.transact(place, write, files=seam())
    again = Write(path, digest(b"one\n"), b"two\n")
    commit.transact(place, Transaction(RunKind.EDIT, "t", "person", (again,)), files=seam())
    commit.undo(place, "last", who="t", files=seam())
    commit.undo(place, outcome.run, who="t", files=seam())
    assert live(place) == OLD


def _folder_to_link(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to("/etc")


def _file_to_folder(folder: Path) -> None:
    (folder / "c.md").unlink(missing_ok=True)
    (folder / "c.md").mkdir()
    (folder / "c.md/x").write_bytes(b"theirs")


def _folder_to_file(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.write_bytes(b"theirs\n")


@pytest.mark.parametrize("seam", [Acting, WithoutExchange])
@pytest.mark.parametrize("act", [_folder_to_link, _file_to_folder, _folder_to_file])
def test_a_folder_or_link_swapped_in_at_any_call_is_never_written_through_nor_lost(
    tmp_path: Path, calls: int, act: Callable[[Path], None], seam: type[Acting]
) -> None:
    etc = sorted(os.listdir("/etc"))
    for at in range(1, calls + 8):
        place = make(tmp_path / f"{at}")
        folder = Path(place.folder) / "facts"
        with contextlib.suppress(EngineError):
            run(place, seam(at, once(partial(act, folder))))
        with contextlib.suppress(EngineError):
            commit.recover(place)
        found = {p.read_bytes() for p in Path(place.folder).rglob("*") if p.is_file()}
        removed = {OLD["facts/c.md"]} if act is _file_to_folder else set()  # by the outsider
        assert set(OLD.values()) - removed <= found | kept(place), at
        if act is _file_to_folder and folder.joinpath("c.md").is_dir():
            assert (folder / "c.md/x").read_bytes() == b"theirs", at
        assert sorted(os.listdir("/etc")) == etc


def test_a_store_folder_that_vanishes_at_any_call_is_not_made_again_and_nothing_is_lost(
    tmp_path: Path, calls: int
) -> None:
    for at in range(1, calls + 1):
        place = make(tmp_path / f"{at}")
        away = tmp_path / f"away-{at}"
        try:
            run(place, Acting(at, once(partial(os.rename, place.folder, away))))
            failed = False
        except EngineError:
            failed = True
        assert not os.path.exists(place.folder), at
        os.rename(away, place.folder)
        commit.recover(place)
        assert live(place) in ((OLD,) if failed else (OLD, NEW)), at
        assert commit.unfinished(place) == ()


def _rmtree(place: Place) -> None:
    shutil.rmtree(os.path.dirname(place.state))


def _without_objects(place: Place) -> None:
    for name in ("objects", "runs"):
        for path in Path(place.state, name).rglob("*"):
            if path.is_file():
                path.unlink()


@pytest.mark.parametrize("seam", [Acting, WithoutExchange])
@pytest.mark.parametrize("act", [_rmtree, _without_objects])
def test_a_state_folder_that_vanishes_at_any_call_leaves_the_store_all_old_or_all_new(
    tmp_path: Path, calls: int, act: Callable[[Place], None], seam: type[Acting]
) -> None:
    for at in range(1, calls + 1):
        place = make(tmp_path / f"{at}")

        def vanish(place: Place = place) -> None:
            if os.path.isdir(place.state):
                act(place)

        error = tried_run(place, seam(at, once(vanish)))
        assert live(place) == (OLD if error else NEW), (at, str(error))
        if error is not None:
            assert "Everything was put back" in error.hint or "Nothing was" in error.hint, at
        assert commit.unfinished(place) == ()
        commit.recover(place)
        assert live(place) in (OLD, NEW), at


def test_a_state_folder_that_was_deleted_before_is_made_again_and_only_its_undo_is_gone(
    tmp_path: Path,
) -> None:
    place = make(tmp_path / "root")
    run(place)
    _rmtree(place)
    with pytest.raises(EngineError, match="no run to take back"):
        commit.undo(place, "last", who="t")
    write = Write("facts/c.md", digest(NEW["facts/c.md"]), b"next\n")
    commit.transact(place, Transaction(RunKind.EDIT, "t", "person", (write,)))
    assert len(journal.runs(place)) == 1


def test_a_file_system_without_exchange_is_probed_once_and_carries_the_run(tmp_path: Path) -> None:
    from engine.commit import files as module

    place = make(tmp_path / "root")
    seen: list[int] = []

    def refuse(*_: object) -> int:
        seen.append(1)
        return errno.EINVAL

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_renameat", lambda: refuse)
        seam = Files()
        run(place, seam)
        assert seam.exchanges is False
    assert live(place) == NEW
