"""A record that vanished in the middle of a run is made again, so that the run can go back.

`git clean -fdx` or a person may remove the state folder while files are exchanged with it. What was
there before is in the memory of the process that runs, and nowhere else any more.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from dataclasses import replace

from engine import journal
from engine.commit.files import Files, taken
from engine.commit.state import prepare_state, writer_id
from engine.journal import Run, dump_intent
from engine.layouts import Place
from engine.storage.tree import Tree, look_at


def is_gone(place: Place, state: Tree, run: Run) -> bool:
    """Whether the record that a run needs to go back lacks something, or lies elsewhere now."""
    base = f"runs/{run.id}"
    try:
        for folder in ("objects", base, f"{base}/hold", f"{base}/conflicts"):
            there = os.stat(os.path.join(place.state, folder), follow_symlinks=False)
            if not os.path.samestat(os.fstat(state.folder(folder)), there):
                return True
    except (FileNotFoundError, NotADirectoryError):
        return True
    needed: list[tuple[str, ...]] = [("runs", run.id, "intent")]
    needed += [("objects", step.old) for step in run.steps if step.old is not None]
    return not all(os.path.lexists(journal.state_path(place, *parts)) for parts in needed)


def remake(
    place: Place,
    files: Files,
    store: Tree,
    run: Run,
    before: Mapping[str, bytes],
    reached: Collection[int],
) -> Run:
    """Write the record of a run again, with what was in the store `before` (SHA-256 -> bytes).

    The files of the steps in `reached` that are absent were taken by us: they are held again.
    Returns the run as it is recorded now. Raises `StorageError`, OSError.
    """
    prepare_state(place, files)
    run = replace(run, machine=writer_id(place))
    prefix = place.state_prefix
    with Tree(place.state) as state:
        base = f"runs/{run.id}"
        for folder in (base, f"{base}/hold", f"{base}/conflicts"):
            with contextlib.suppress(FileExistsError):
                files.make_folder(*state.parent(folder), 0o700)
        for name, data in before.items():
            if look_at(state.folder("objects"), prefix + name).digest != name:
                files.write(state.folder("objects"), prefix + name, data)
        hold = state.folder(f"{base}/hold")
        for index in reached:
            step = run.steps[index]
            if step.old is None or step.was is None or not store.look(step.path).absent:
                continue
            name = f"{prefix}{index}"
            name = name if step.new is None else taken(name)
            if look_at(hold, name).absent:
                files.create(hold, name, before[step.old])
                files.dress(hold, name, step.was, None)
                files.flush(hold, name)
        fd = state.folder(base)
        files.write(fd, f"{prefix}aborting", b"{}\n")
        files.write(fd, f"{prefix}intent", dump_intent(run))
        for folder in (f"{base}/hold", base, "runs", "objects"):
            files.flush_folder(state.folder(folder), folder)
    return run
