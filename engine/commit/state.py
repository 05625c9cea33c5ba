"""The state folder: making it, and the private files in it that are no part of a run."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import Final

from engine.commit.files import Files
from engine.errors import StorageError
from engine.journal import read_file, state_path
from engine.layouts import Place
from engine.storage.tree import Tree

README: Final = """\
This folder is memui's record of what was changed in a store of memories, and by whom.

objects/   earlier and later versions, plain copies named by the SHA-256 of their bytes
runs/      one folder a run: intent (what was decided), plan (what was reviewed), hold (the files
           that were displaced), done (nothing is left to do)
plans/     plans that wait for their review

To restore a version by hand, find its SHA-256 in a run's intent and copy objects/<SHA-256>.
`memui undo` does it for you. Removing this folder (git clean -fdx does) removes every undo.
"""


def prepare_state(place: Place, files: Files) -> None:
    """Make the state folder, private to its owner, if it is not there. Raises OSError."""
    missing = [
        name
        for name in ("objects", "runs", "plans")
        if not os.path.isdir(os.path.join(place.state, name))
    ]
    machine = state_path(place, "machine")
    if not missing and os.path.exists(machine):
        return
    os.makedirs(place.state, 0o700, exist_ok=True)
    outer = os.path.dirname(place.state)
    if not place.state_prefix and os.path.basename(outer) == ".memui":
        _once(files, outer, ".gitignore", b"*\n")
    with Tree(place.state) as state:
        for name in missing:
            with contextlib.suppress(FileExistsError):
                files.make_folder(state.fd, name, 0o700)
        _once(files, place.state, f"{place.state_prefix}README", README.encode())
        _once(files, place.state, f"{place.state_prefix}machine", secrets.token_hex(8).encode())
        files.flush_folder(state.fd, "state")


def _once(files: Files, folder: str, name: str, data: bytes) -> None:
    if os.path.lexists(os.path.join(folder, name)):
        return
    with Tree(folder) as tree, contextlib.suppress(FileExistsError):
        files.create(tree.fd, name, data)
        files.flush(tree.fd, name)


def writer_id(place: Place) -> str:
    """Who drives runs here: a random id, and the folder's own inode.

    A state folder that another machine got by copy or by synchronising has another inode, so that
    a run that is unfinished there is shown, but never driven twice.
    """
    said = read_file(state_path(place, "machine")) or b""
    return f"{said.decode('ascii', 'replace')[:32]}-{os.stat(place.state).st_ino:x}"


def put_state(place: Place, folder: str, name: str, data: bytes) -> None:
    """Write a private file of the state folder whole or not at all. Raises `StorageError`."""
    if not place.writable:
        raise StorageError("The store is read-only.", hint="Nothing was changed.")
    files = Files()
    try:
        prepare_state(place, files)
        with Tree(place.state) as state:
            fd = state.folder(folder) if folder else state.fd
            temporary = f"{place.state_prefix}{secrets.token_hex(4)}.new"
            files.create(fd, temporary, data)
            files.flush(fd, temporary)
            files.rename(fd, temporary, fd, place.state_prefix + name)
            files.flush_folder(fd, folder)
    except OSError as error:
        raise StorageError(
            f"{place.state} cannot be written: {error.strerror}.", hint="Nothing was changed."
        ) from error


def drop_state(place: Place, folder: str, name: str) -> None:
    """Remove a private file of the state folder; nothing happens if there is none."""
    try:
        with Tree(place.state) as state:
            Files().unlink(state.folder(folder), place.state_prefix + name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{place.state} cannot be written: {error.strerror}.") from error
