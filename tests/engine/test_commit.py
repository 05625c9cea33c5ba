"""The commit: the invariants of its design, at every call and against every other writer."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Files, Transaction, Write, open_for_writing
from engine.documents import digest
from engine.errors import Conflict, EngineError, StorageError, StoreLocked
from engine.journal import RunKind
from engine.layouts import Place, find
from engine.paths import Layout
from tests.engine.faults import Acting, Counting, Died, WithoutExchange, die
from tests.faults.runs import NEW, OLD, kept, live, make, transaction


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path / "root")


def entries(place: Place) -> list[str]:
    path = Path(place.changelog)
    text = path.read_text() if path.is_file() else ""
    return [line for line in text.split("\n") if line.startswith("<!-- memui run")]


def calls() -> int:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = make(Path(folder) / "root")
        files = Counting()
        commit.transact(place, transaction(), files=files)
        return len(files.calls)


CALLS = calls()


def run(place: Place, files: Files | None = None) -> None:
    commit.transact(place, transaction(), files=files)


def test_a_run_changes_everything_and_records_it_once(place: Place) -> None:
    run(place)
    assert live(place) == NEW
    (found,) = journal.runs(place)
    assert (found.state, found.changelog) == ("done", "written")
    assert entries(place) == [f"<!-- memui run {found.id} -->"]
    for path, data in OLD.items():
        if NEW.get(path) == data:
            continue  # the run only relied on it
        assert journal.read_object(place, digest(data)) == data, path


def test_a_run_that_changes_nothing_leaves_nothing_not_even_a_folder(place: Place) -> None:
    same = Write("facts/a.md", digest(b"alpha\n"), b"alpha\n")
    outcome, _ = commit.transact(place, Transaction(RunKind.EDIT, "w", "person", (same,)))
    assert outcome.run == ""
    assert not Path(place.state).exists()


@pytest.mark.parametrize("seam", [Acting, WithoutExchange])
def test_killed_at_any_call_a_run_is_all_old_or_all_new_after_recovery(
    tmp_path: Path, seam: type[Acting]
) -> None:
    for at in range(1, CALLS + 12):
        place = make(tmp_path / f"{at}")
        try:
            run(place, seam(at, die))
        except Died:
            held = kept(place) | set(live(place).values())
            assert set(OLD.values()) <= held, at
        commit.recover(place)
        assert live(place) in (OLD, NEW), at
        assert commit.unfinished(place) == ()
        done = [r for r in journal.runs(place) if r.state == "done"]
        assert len(entries(place)) == len(done), at
        assert (live(place) == NEW) == bool(done), at
        if live(place) == OLD:
            assert not (Path(place.folder) / "lab").exists(), at


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("always", [False, True])
def test_an_error_at_any_call_is_told_and_leaves_all_old_or_all_new(
    tmp_path: Path, code: int, always: bool
) -> None:
    def fail(_call: str) -> None:
        raise OSError(code, os.strerror(code))

    for at in range(1, CALLS + 1):
        place = make(tmp_path / f"{at}")
        try:
            run(place, Acting(at, fail, always=always))
            succeeded = True
        except StorageError:
            succeeded = False
        if succeeded:
            assert live(place) == NEW, at
        commit.recover(place)
        assert live(place) in (OLD, NEW), at
        assert len(entries(place)) == (live(place) == NEW), at


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"theirs\n")


def overwrite(path: Path) -> None:
    temporary = path.with_name(".__strands_tmp_x")
    temporary.write_bytes(b"theirs alone\n")
    temporary.replace(path)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/etc/hostname")


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def outsiders() -> Iterator[tuple[Callable[[Path], None], str]]:
    for act in (append, overwrite, remove, link, pipe):
        for path in ("facts/a.md", "facts/b.md", "facts/c.md"):
            yield act, path


@pytest.mark.parametrize("seam", [Acting, WithoutExchange])
@pytest.mark.parametrize(("act", "path"), outsiders(), ids=lambda v: getattr(v, "__name__", str(v)))
def test_an_outsider_wins_on_their_file_and_loses_no_byte(
    tmp_path: Path, act: Callable[[Path], None], path: str, seam: type[Acting]
) -> None:
    """Between any two calls of a run somebody else acts on one of its files."""
    for at in range(1, CALLS + 1, 2):
        place = make(tmp_path / f"{at}")
        file = Path(place.folder) / path
        acted: list[bytes] = []

        def outside(_call: str, file: Path = file, acted: list[bytes] = acted) -> None:
            if act is append and not file.exists():
                return
            act(file)
            acted.append(file.read_bytes() if file.is_file() and not file.is_symlink() else b"")

        try:
            run(place, seam(at, outside))
            conflict = False
        except EngineError:
            conflict = True
        commit.recover(place)
        found = {p: d for p, d in live(place).items() if p != path}
        old = {p: d for p, d in OLD.items() if p != path}
        new = {p: d for p, d in NEW.items() if p != path}
        assert found in (old, new), (at, conflict)
        for theirs in acted:
            there = file.read_bytes() if file.is_file() and not file.is_symlink() else None
            assert theirs in {b"", there} | kept(place), (at, theirs)
        for name, data in OLD.items():  # what they replaced themselves is theirs to lose
            assert name == path or data in set(live(place).values()) | kept(place), at


def test_undo_puts_back_bytes_mode_and_owner_and_redo_applies_again(place: Place) -> None:
    folder = Path(place.folder)
    (folder / "facts/b.md").chmod(0o600)
    (folder / "facts/c.md").chmod(0o640)
    if os.geteuid() == 0:
        os.chown(folder / "facts/b.md", 1234, 1234)
        os.chown(folder / "facts/c.md", 1234, 1234)
    before = {p: (folder / p).stat() for p in OLD}
    run(place)
    if os.geteuid() == 0:
        assert (folder / "facts/c.md").stat().st_uid == 1234
    commit.undo(place, "last", who="tests")
    assert live(place) == OLD
    assert not (folder / "lab").exists()
    for path, was in before.items():
        now = (folder / path).stat()
        assert (now.st_mode, now.st_uid, now.st_gid) == (was.st_mode, was.st_uid, was.st_gid)
    commit.undo(place, "2", who="tests")
    assert live(place) == NEW


def test_an_undo_names_what_changed_since_and_by_whom(place: Place) -> None:
    run(place)
    again = Write("facts/c.md", digest(NEW["facts/c.md"]), b"gamma 3\n")
    commit.transact(place, Transaction(RunKind.EDIT, "w", "person", (again,)))
    (Path(place.folder) / "facts/ab.md").write_bytes(b"theirs\n")
    before = live(place)
    with pytest.raises(Conflict) as caught:
        commit.undo(place, "1", who="tests")
    whys = {d.path: d.why for d in caught.value.drifts}
    assert whys["facts/ab.md"] == "changed on disk"
    assert whys["facts/c.md"].startswith("was changed by run 2-")
    assert live(place) == before


def test_a_run_is_undone_once_and_last_means_the_newest_that_holds(place: Place) -> None:
    run(place)
    commit.undo(place, "last", who="tests")
    with pytest.raises(EngineError, match="already taken back"):
        commit.undo(place, "1", who="tests")
    with pytest.raises(EngineError, match="no run"):
        commit.undo(place, "last", who="tests")
    with pytest.raises(EngineError, match="no run 7"):
        commit.undo(place, "7", who="tests")


def test_an_alias_of_a_new_target_is_another_writers_file(place: Place) -> None:
    write = Write("facts/A.md", None, b"x\n")
    with pytest.raises(Conflict, match=r"another writer as facts/a\.md"):
        commit.transact(place, Transaction(RunKind.ADD, "w", "person", (write,)))


def test_a_second_hard_link_is_never_cut_off(place: Place) -> None:
    folder = Path(place.folder)
    os.link(folder / "facts/c.md", folder / "elsewhere")
    with pytest.raises(Conflict, match="hard link"):
        run(place)


def test_the_changelog_takes_others_entries_between_ours(place: Place) -> None:
    run(place)
    with Path(place.changelog).open("a") as file:
        file.write("\nno newline at the end")
    commit.undo(place, "last", who="tests")
    text = Path(place.changelog).read_text()
    assert "no newline at the end\n\n## " in text
    assert len(entries(place)) == 2


def test_a_changelog_that_cannot_be_written_waits_for_the_next_run(place: Place) -> None:
    Path(place.changelog).mkdir()
    run(place)
    assert live(place) == NEW
    assert journal.runs(place)[0].changelog == "pending"
    Path(place.changelog).rmdir()
    commit.undo(place, "last", who="tests")
    assert len(entries(place)) == 2


def test_state_beside_notes_hides_every_file_from_the_sdks(tmp_path: Path) -> None:
    from dataclasses import replace

    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_bytes(b"x\n")
    (place,) = find(str(tmp_path / "notes"))
    inside = replace(
        place,
        state=str(tmp_path / "notes/.memui"),
        state_prefix=".__strands_tmp_memui-",
        changelog=str(tmp_path / "notes/.memui/.__strands_tmp_memui-changelog.md"),
    )
    write = Write("a.md", digest(b"x\n"), b"y\n")
    commit.transact(inside, Transaction(RunKind.EDIT, "w", "person", (write,)))
    commit.undo(inside, "last", who="w")
    files = [p for p in (tmp_path / "notes").rglob("*") if p.is_file()]
    assert {p.name for p in files if not p.name.startswith(".__strands_tmp")} == {"a.md"}


def test_the_second_writer_waits_or_is_told_who_holds(place: Place) -> None:
    with open_for_writing(place), pytest.raises(StoreLocked) as caught:
        run(place)
    assert caught.value.holder is not None
    assert caught.value.holder.pid == os.getpid()
    run(place)


def test_a_lock_file_that_was_deleted_or_left_never_blocks(place: Place) -> None:
    run(place)
    lock = Path(place.state) / "lock"
    lock.write_text("rubbish of a dead process")
    commit.undo(place, "last", who="w")
    lock.unlink()
    commit.undo(place, "2", who="w")
    assert live(place) == NEW


def test_an_unfinished_run_of_another_machine_is_shown_and_never_driven(
    place: Place, tmp_path: Path
) -> None:
    import shutil

    def die_taking(call: str) -> None:
        if call == "take":
            raise Died

    with pytest.raises(Died):
        run(place, Acting(1, die_taking, always=True))
    assert len(commit.unfinished(place)) == 1
    shutil.copytree(Path(place.root), tmp_path / "copy", symlinks=True)
    (there,) = find(str(tmp_path / "copy"), layout=Layout.NAMESPACED, name="agent")
    before = live(there)
    assert commit.recover(there) == ()
    assert live(there) == before
    assert len(commit.unfinished(there)) == 1
    (here,) = commit.recover(place)
    assert here.result == "finished"


def test_a_truncated_intent_is_refused_and_explained(place: Place) -> None:
    run(place)
    (found,) = journal.runs(place)
    intent = Path(journal.run_folder(place, found.id)) / "intent"
    intent.write_bytes(intent.read_bytes()[:50])
    assert journal.runs(place) == ()
    assert [d.why for d in journal.damage(place)] == ["the record is truncated or no JSON"]
    with pytest.raises(EngineError, match="no run"):
        commit.undo(place, "last", who="w")


def test_an_altered_object_is_never_brought_back(place: Place) -> None:
    run(place)
    victim = Path(place.state) / "objects" / digest(b"beta\n")
    victim.write_bytes(b"rubbish\n")
    before = live(place)
    with pytest.raises(StorageError, match="altered"):
        commit.undo(place, "last", who="w")
    assert live(place) == before
    assert any("altered" in d.why for d in journal.damage(place))


def test_the_number_of_flushes_does_not_grow_with_the_run(tmp_path: Path) -> None:
    found = []
    for size in (20, 60):
        root = tmp_path / str(size)
        folder = root / "memory" / "agent" / "facts"
        folder.mkdir(parents=True)
        writes = []
        for n in range(size):
            (folder / f"{n}.md").write_bytes(b"x\n")
            writes.append(Write(f"facts/{n}.md", digest(b"x\n"), b"y\n"))
        (place,) = find(str(root), layout=Layout.NAMESPACED, name="agent")
        with open_for_writing(place):
            pass  # the state folder is made once
        files = Counting()
        commit.transact(place, Transaction(RunKind.EDIT, "w", "person", tuple(writes)), files=files)
        found.append(sum(call.startswith(("fsync", "syncfs")) for call in files.calls))
    assert found[0] == found[1] <= 16


def test_a_signal_in_the_middle_puts_everything_back(place: Place) -> None:
    import signal

    def interrupt(call: str) -> None:
        if call == "publish":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(place, Acting(1, interrupt, always=True))
    assert live(place) == OLD
    assert commit.unfinished(place) == ()


def test_of_several_who_come_first_all_write_as_one_machine(place: Place) -> None:
    names: list[str] = []

    class Beaten(Files):
        def step(self, call: str, name: str) -> None:
            if (call, name) == ("place", "machine"):
                with open_for_writing(place):
                    names.append((Path(place.state) / "machine").read_text())

    run(place, Beaten())
    assert names == [(Path(place.state) / "machine").read_text()]
    assert live(place) == NEW
    assert list(Path(place.state).glob("*.new")) == []


def test_a_file_that_is_put_back_keeps_both_names_until_it_is_durable(place: Place) -> None:
    """A power cut that tears a move would leave it under none."""
    seen: list[tuple[str, str]] = []

    class Failing(Files):
        def step(self, call: str, name: str) -> None:
            seen.append((call, name))
            if [c for c, _ in seen].count("take") == 2 and call == "take":
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(StorageError):
        run(place, Failing())
    assert live(place) == OLD
    linked = seen.index(("link", "a.md"))
    flushed = seen.index(("fsync-folder", "facts"), linked)
    assert [call for call, _ in seen[linked:flushed] if call == "unlink"] == []
    assert "unlink" in [call for call, _ in seen[flushed:]]
    assert all(path.stat().st_nlink == 1 for path in Path(place.folder).rglob("*.md"))
