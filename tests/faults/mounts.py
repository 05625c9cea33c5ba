"""File systems that a test mounts; where that is not possible the test is skipped and says why."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def tried(*command: str) -> None:
    """Run a command that needs root, a tool or the kernel; skip the test if it does not work."""
    if os.geteuid() != 0:
        pytest.skip(f"{command[0]} needs root")
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(command[:4])} does not work here: {done.stderr.strip()[:120]}")


@contextlib.contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[Path]:
    """`mount ARGUMENTS FOLDER` for the length of a block."""
    folder.mkdir(parents=True, exist_ok=True)
    tried("mount", *arguments, str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def remount(folder: Path, how: str) -> bool:
    """Change a mount to `ro` or `rw`; False while a file is open for writing, then nothing is."""
    command = ["mount", "-o", f"remount,{how}", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "busy" not in done.stderr:
        pytest.skip(f"{' '.join(command[:3])} does not work here: {done.stderr.strip()[:120]}")
    return not done.returncode


@contextlib.contextmanager
def flagged(flag: str, path: Path) -> Iterator[None]:
    """A file or folder with an attribute of `chattr` for the length of a block."""
    tried("chattr", f"+{flag}", str(path))
    try:
        yield
    finally:
        subprocess.run(["chattr", f"-{flag}", str(path)], check=False, capture_output=True)
