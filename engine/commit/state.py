"""The state folder: making it, and the private files in it that are no part of a run."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import Final

from engine.commit.files import Files
from engine.errors import StorageError
from engine.journal import read_file, state_path
from engine.layouts import Place
from engine.storage.tree import Tree

_OUTER: Final = ".memui"
README: Final = """\
This folder is memui's record of what was changed in a store of memories, and by whom.

objects/   earlier and later versions, plain copies named by the SHA-256 of their bytes
runs/      one folder a run: intent (what was decided), plan (what was reviewed), hold (the files
           that were displaced), done (nothing is left to do)
plans/     plans that wait for their review, and those that were discarded
observations   what other writers were seen to change, one line each; look: the files at that time
collected  the runs that memui gc removed, and when

To restore a version by hand, find its SHA-256 in a run's intent and copy objects/<SHA-256>.
`memui undo` does it for you. Removing this folder (git clean -fdx does) removes every undo.
"""


def prepare_state(place: Place, files: Files) -> None:
    """Make the state folder, private to its owner, if it is not there. Durable on return.

    Raises `StorageError` if it would lie elsewhere or on another file system, OSError.
    """
    _refuse_elsewhere(place)
    missing = [
        name
        for name in ("objects", "runs", "plans")
        if not os.path.isdir(os.path.join(place.state, name))
    ]
    if not missing and os.path.exists(state_path(place, "machine")):
        return
    _make_folders(files, place.state)
    outer = os.path.dirname(place.state)
    if not place.state_prefix and os.path.basename(outer) == _OUTER:
        _once(files, outer, ".gitignore", b"*\n")
    with Tree(place.state) as state:
        for name in missing:
            with contextlib.suppress(FileExistsError):
                files.make_folder(state.fd, name, 0o700)
        _once(files, place.state, f"{place.state_prefix}README", README.encode())
        _once(files, place.state, f"{place.state_prefix}machine", secrets.token_hex(8).encode())
        files.flush_folder(state.fd, "state")


def _refuse_elsewhere(place: Place) -> None:
    """What was swapped for a link, or mounted, cannot hold what is exchanged with the store."""
    folder = place.state
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    outer = os.path.dirname(place.state)
    for path in (place.state, *([outer] if os.path.basename(outer) == _OUTER else [])):
        if os.path.islink(path):
            raise StorageError(
                f"{path} is a symbolic link: memui's record must lie beside the store.",
                hint="Nothing was changed.",
            )
    if os.stat(folder).st_dev != os.stat(place.folder).st_dev:
        raise StorageError(
            f"{folder} lies on another file system than {place.folder}.",
            hint="Nothing was changed. Files can be exchanged on one file system only.",
        )


def _make_folders(files: Files, folder: str) -> None:
    """Make a folder and those above it, each durable in the one above."""
    above, name = os.path.split(folder)
    if not os.path.isdir(above):
        _make_folders(files, above)
    with Tree(above) as tree:
        if not os.path.isdir(folder):
            with contextlib.suppress(FileExistsError):
                files.make_folder(tree.fd, name, 0o700)
        files.flush_folder(tree.fd, above)


def _once(files: Files, folder: str, name: str, data: bytes) -> None:
    """Write a file if there is none. Of several who begin at once the first one's stays."""
    if os.path.lexists(os.path.join(folder, name)):
        return
    with Tree(folder) as tree:
        temporary = f"{name}.{secrets.token_hex(4)}.new"
        try:
            files.create(tree.fd, temporary, data)
            files.flush(tree.fd, temporary)
            files.place(tree.fd, temporary, tree.fd, name)
        except OSError as error:
            with contextlib.suppress(OSError):
                files.unlink(tree.fd, temporary)
            if error.errno != errno.EEXIST:
                raise


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
            try:
                files.create(fd, temporary, data)
                files.flush(fd, temporary)
                files.rename(fd, temporary, fd, place.state_prefix + name)
            except OSError:
                with contextlib.suppress(OSError):
                    files.unlink(fd, temporary)
                raise
            files.flush_folder(fd, folder)
    except OSError as error:
        raise StorageError(
            f"{place.state} cannot be written: {error.strerror}.", hint="Nothing was changed."
        ) from error


def rename_state(place: Place, folder: str, name: str, to: str) -> None:
    """Rename a private file of the state folder. Raises `StorageError`, also if `to` is taken."""
    if not place.writable:
        raise StorageError("The store is read-only.", hint="Nothing was changed.")
    files = Files()
    try:
        with Tree(place.state) as state:
            fd = state.folder(folder)
            files.place(fd, place.state_prefix + name, fd, place.state_prefix + to)
            files.flush_folder(fd, folder)
    except OSError as error:
        raise StorageError(
            f"{state_path(place, folder, name)} cannot be renamed: {error.strerror}.",
            hint="Nothing was changed.",
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
