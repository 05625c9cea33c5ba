"""Runs in places that others share: synchronised, owned by an agent, under git, signalled."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from engine import commit, journal
from engine.commit import Files, Transaction, Write
from engine.doctor import examine_store
from engine.documents import digest
from engine.errors import Conflict, EngineError, StorageError
from engine.journal import RunKind
from engine.layouts import Place
from engine.plans import open_plan, write_review
from engine.store import Store
from tests.engine.faults import Acting, Counting, Died, die
from tests.faults.mounts import mounted
from tests.faults.runs import LOG, NEW, OLD, kept, live, make, reopen, transaction


def run(place: Place, files: Files | None = None) -> None:
    commit.transact(place, transaction(), files=files)


@pytest.fixture(scope="module")
def boundaries(tmp_path_factory: pytest.TempPathFactory) -> range:
    files = Counting()
    run(make(tmp_path_factory.mktemp("count") / "root"), files)
    return range(1, len(files.calls) + 1, 3)


def half_done(root: Path) -> Place:
    """A run that died after its first file was published."""

    class Publishing(Files):
        published = 0

        def step(self, call: str, name: str) -> None:
            self.published += call == "publish"
            if self.published == 2:
                die(call)

    place = make(root)
    with pytest.raises(Died):
        run(place, Publishing())
    return place


def codes(place: Place) -> dict[str, str]:
    return {problem.code: problem.message for problem in examine_store(Store(place))}


def test_an_unfinished_run_of_another_machine_is_shown_and_never_driven(tmp_path: Path) -> None:
    place = half_done(tmp_path / "here")
    assert "memui recover finishes it" in codes(place)["unfinished-run"]
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    there = reopen(tmp_path / "there")
    before = live(there)
    assert commit.recover(there) == ()
    assert live(there) == before
    (shown,) = Store(there).runs()
    assert shown.state == "unfinished"
    assert "never finished here" in codes(there)["foreign-run"]
    write = Write("facts/e.md", digest(OLD["facts/e.md"]), b"by hand\n")
    commit.transact(there, Transaction(RunKind.EDIT, "t", "person", (write,)))
    assert live(there) == {**before, "facts/e.md": b"by hand\n"}
    commit.recover(place)
    assert live(place) in (OLD, NEW)


def test_conflicted_copies_of_memories_and_of_the_record_are_named_and_never_read(
    tmp_path: Path,
) -> None:
    place = make(tmp_path / "root")
    run(place)
    folder, (name,) = Path(place.folder), journal.run_ids(place)
    memories = [
        "facts/a (conflicted copy 2026-01-01).md",
        "facts/a (Ann's conflicted copy 2026-01-01).md",
        "facts/a.sync-conflict-20260101-120000-ABCDEFG.md",
    ]
    for path in memories:
        (folder / path).write_bytes(b"theirs\n")
    record = Path(journal.run_folder(place, name))
    records = [
        record / "intent 2",
        record / "intent.sync-conflict-20260101-120000-ABCDEFG",
        Path(place.state) / "machine (conflicted copy 2026-01-01)",
    ]
    for file in records:
        file.write_bytes(b"{}")
    found = [p.path for p in examine_store(Store(place)) if p.code == "conflicted-copy"]
    assert sorted(found) == sorted([*memories, *map(str, records)])
    commit.undo(place, "last", who="t")
    assert {p: d for p, d in live(place).items() if p not in memories} == OLD


def test_a_record_that_was_cut_or_altered_anywhere_drives_nothing_and_is_explained(
    tmp_path: Path,
) -> None:
    place = half_done(tmp_path / "root")
    before = live(place)
    (name,) = journal.run_ids(place)
    intent = Path(journal.run_folder(place, name), "intent")
    data = intent.read_bytes()
    spots = [*range(0, len(data) - 1, max(1, len(data) // 25)), len(data) - 2]
    for at in spots:
        for altered in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            intent.write_bytes(altered)
            commit.recover(place)
            assert live(place) == before, at
            assert "damaged" in codes(place), at
    write = Write("facts/e.md", digest(OLD["facts/e.md"]), b"by hand\n")
    commit.transact(place, Transaction(RunKind.EDIT, "t", "person", (write,)))
    commit.undo(place, "last", who="t")
    intent.write_bytes(data)
    commit.recover(place)
    assert live(place) in (OLD, NEW)


@pytest.mark.parametrize("how", ["altered", "missing"])
def test_undo_refuses_an_earlier_version_that_is_gone_and_names_it(
    tmp_path: Path, how: str
) -> None:
    place = make(tmp_path / "root")
    run(place)
    name = digest(OLD["facts/b.md"])
    kept_as = Path(journal.state_path(place, "objects", name))
    kept_as.unlink()
    if how == "altered":
        kept_as.write_bytes(b"forged\n")
    with pytest.raises(StorageError, match=name[:12]):
        commit.undo(place, "last", who="t")
    assert live(place) == NEW
    assert name in next(p.path for p in examine_store(Store(place)) if p.code == "damaged")


def acl(user: int) -> bytes:
    entries = [(1, 6, -1), (2, 4, user), (4, 4, -1), (0x10, 4, -1), (0x20, 0, -1)]
    packed = [struct.pack("<HHI", tag, perm, who & 0xFFFFFFFF) for tag, perm, who in entries]
    return struct.pack("<I", 2) + b"".join(packed)


def test_root_leaves_an_agents_files_the_agents_through_apply_undo_and_edit(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act on another user's files")
    place = make(tmp_path / "root")
    for path in Path(place.folder, "..").resolve().rglob("*"):
        os.chown(path, 1234, 1235)
    os.chmod(Path(place.folder) / "facts", 0o2750)
    file = Path(place.folder) / "facts/c.md"
    os.chmod(file, 0o640)
    try:
        os.setxattr(file, "user.origin", b"agent")
        os.setxattr(file, "system.posix_acl_access", acl(4321))
    except OSError as error:
        pytest.skip(f"the file system keeps no attributes: {error}")

    def of(path: Path) -> tuple[int, int, int, dict[str, bytes]]:
        seen = path.stat()
        attributes = {n: os.getxattr(path, n) for n in os.listxattr(path)}
        return stat.S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid, attributes

    before = of(file)
    run(place)
    assert of(file) == before
    assert of(Path(place.folder) / "lab/deep/d.md")[1:3] == (1234, 1235)
    commit.undo(place, "last", who="t")
    assert of(file) == before
    assert of(Path(place.folder) / "facts/b.md")[1:3] == (1234, 1235)
    Store(place).edit("facts/c.md", b"new\n", base=digest(OLD["facts/c.md"]), who="t")
    assert of(file) == before


_AS_OTHER = """
import os, sys
from engine.errors import EngineError
from tests.faults.runs import live, reopen, transaction
from engine import commit
import engine.changelog, engine.commit.opened
from pathlib import Path
os.setgroups([]); os.setgid(4321); os.setuid(4321)
try:
    commit.transact(reopen(Path(sys.argv[1])), transaction())
except EngineError as error:
    print(error, error.hint)
"""


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_who_does_not_own_the_files_is_refused_and_told_whose_they_are(
    tmp_path_factory: pytest.TempPathFactory, mode: int
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        place = make(Path(folder) / "root")
        for path in [Path(folder) / "root", *Path(folder, "root").rglob("*")]:
            if path.is_dir():
                path.chmod(mode)
        done = subprocess.run(
            [sys.executable, "-c", _AS_OTHER, f"{folder}/root"],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
        said = done.stdout
        assert "belongs to user 0" in said, done.stderr
        assert "Nothing was changed" in said
        assert live(place) == OLD


def git(root: Path, *words: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True)


def _git_at(root: Path, words: list[str], _call: str) -> None:
    git(root, *words)


def _in_git(root: Path) -> set[bytes]:
    """What the other branch took from the folder is in the first one."""
    shown = subprocess.run(
        ["git", "-C", str(root), "show", "main:memory/agent/facts/c.md"],
        check=True,
        capture_output=True,
    )
    return {shown.stdout}


def under_git(root: Path) -> Place:
    place = make(root)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "checkout", "-qb", "other")
    Path(place.folder, "facts/c.md").write_bytes(b"other\n")
    git(root, "commit", "-qam", "two")
    git(root, "checkout", "-q", "main")
    return place


@pytest.mark.parametrize(
    "words", [["clean", "-fdxq"], ["stash", "-u", "-q"], ["checkout", "-qf", "other"]]
)
def test_git_may_change_the_tree_at_any_call_and_no_file_is_left_out_of_place(
    tmp_path: Path, boundaries: range, words: list[str]
) -> None:
    first = under_git(tmp_path / "first")
    for at in list(boundaries)[:: 2 if words[0] == "clean" else 3]:
        root = tmp_path / f"{at}"
        shutil.copytree(tmp_path / "first", root)
        place = reopen(root)
        failed = False
        try:
            run(place, Acting(at, partial(_git_at, root, words)))
        except EngineError:
            failed = True
        with contextlib.suppress(EngineError):
            commit.recover(place)
        assert commit.unfinished(place) == (), at
        if words[0] == "clean":  # it removes what the run made new, as it says
            new = {path: data for path, data in NEW.items() if path in OLD}
            assert live(place) in ([OLD] if failed else [NEW, new]), at
        elif words[0] == "checkout":
            assert set(OLD.values()) <= {*live(place).values(), *kept(place), *_in_git(root)}, at
        else:
            assert set(OLD) <= set(live(place)) or live(place) == NEW, at
    assert live(first) == OLD


_SIGNALLED = """
import os, sys
from pathlib import Path
from engine import commit
from engine.errors import EngineError
from tests.engine.faults import Acting
from tests.faults.runs import reopen, transaction
at, number = int(sys.argv[2]), int(sys.argv[3])
files = Acting(at, lambda call: os.kill(os.getpid(), number))
commit.transact(reopen(Path(sys.argv[1])), transaction(), files=files)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_call_ends_the_process_with_the_store_all_old_or_all_new(
    tmp_path: Path, boundaries: range, number: signal.Signals
) -> None:
    for at in list(boundaries)[::3]:
        place = make(tmp_path / f"{at}")
        done = subprocess.run(
            [sys.executable, "-c", _SIGNALLED, str(tmp_path / f"{at}"), str(at), str(int(number))],
            capture_output=True,
            check=False,
        )
        assert live(place) in (OLD, NEW), at
        assert commit.unfinished(place) == (), at
        assert done.returncode != 0 or live(place) == NEW, at


def test_a_forged_entry_in_the_changelog_decides_nothing_and_ours_is_appended_once(
    tmp_path: Path,
) -> None:
    place = make(tmp_path / "root")
    forged = "# Consolidation Changelog\n\n## 2030\nActions (1):\n<!-- memui run 1-00000000 -->\n"
    forged += "<!-- memui run 9999-ffffffff -->\n"
    Path(place.changelog).write_text(forged)
    run(place)
    (done,) = journal.runs(place)
    text = Path(place.changelog).read_text()
    assert (done.seq, text.count(done.entry)) == (1, 1)
    assert text.startswith(forged)
    with pytest.raises(EngineError, match="no run 9999"):
        commit.undo(place, "9999", who="t")
    commit.recover(place)
    assert Path(place.changelog).read_text() == text
    assert LOG not in live(place)


def test_of_two_reviewers_the_second_is_refused_and_the_firsts_verdicts_stay(
    tmp_path: Path,
) -> None:
    place = make(tmp_path / "root")
    file = tmp_path / "plan.json"
    file.write_text(
        '{"actions": [{"action": "delete", "path": "facts/a.md", "reason": "r"}], "summary": "s"}'
    )
    store = Store(place)
    one, two = open_plan(store, str(file)), open_plan(store, str(file))
    first = write_review(store, one, one.saved.model_copy(update={"planner": "first"}))
    with pytest.raises(Conflict, match="changed since it was read") as caught:
        write_review(store, two, two.saved.model_copy(update={"planner": "second"}))
    assert "Open it again" in caught.value.hint
    assert open_plan(store, str(file)).saved == first.saved


def test_two_spellings_of_a_store_are_one_store(tmp_path: Path) -> None:
    place = make(tmp_path / "root")
    link = tmp_path / "link"
    link.symlink_to("root")
    assert reopen(link) == place
    assert reopen(tmp_path / "x/../root") == place
    run(reopen(link))
    commit.undo(reopen(tmp_path / "./root"), "last", who="t")
    assert live(place) == OLD


def test_a_bind_mount_of_a_root_shares_its_record_and_its_lock(tmp_path: Path) -> None:
    place = make(tmp_path / "root")
    with mounted(tmp_path / "bind", "--bind", str(tmp_path / "root")) as folder:
        run(reopen(folder))
        commit.undo(place, "last", who="t")
    assert live(place) == OLD
    assert set(NEW.values()) <= kept(place) | set(live(place).values())
