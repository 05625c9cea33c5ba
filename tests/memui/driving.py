"""Driving the app in tests: stores made of plain files, a pilot in a synchronous function."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerCancelled

from engine.store import Store, open_store
from memui.app import Memui

Script = Callable[[Pilot[int]], Awaitable[None]]

MEMORIES: Mapping[str, str] = {
    "facts/coffee.md": '---\ndescription: "Drinks flat whites"\n---\n\nWith oat milk.\n',
    "facts/dark-mode.md": '---\ndescription: "Prefers dark mode"\n---\n\n# Editor\n\nDark mode.\n',
    "projects/atlas.md": '---\ndescription: "Atlas ships in Q3"\n---\n\nA dark launch first.\n',
}


def make_store(folder: Path, files: Mapping[str, str | bytes] = MEMORIES) -> str:
    """A Strands root whose store holds these files; the root."""
    root = folder / ".strands"
    (root / "knowledge").mkdir(parents=True)
    for path, text in files.items():
        target = os.path.join(root, "knowledge", path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        Path(target).write_bytes(data)
    return str(root)


def store_of(root: str) -> Store:
    """The store below a root."""
    return open_store(root)


def file_of(root: str, path: str) -> Path:
    """Where a memory lies on disk."""
    return Path(root) / "knowledge" / path


async def settle(pilot: Pilot[int]) -> None:
    """Wait until every worker is done and every message handled."""
    await pilot.pause()
    while any(not worker.is_finished for worker in pilot.app.workers):
        with contextlib.suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, one after the other, and let each of them have its effect."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def write(pilot: Pilot[int], text: str) -> None:
    """Type a text."""
    await pilot.press(*text)
    await settle(pilot)


def drive(app: Memui, script: Script, size: tuple[int, int] = (80, 24)) -> None:
    """Run the app, and a script on it once the first screen stands."""

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            await script(pilot)

    asyncio.run(run())
    assert app.leaked == 0


def shown(pilot: Pilot[int]) -> str:
    """What stands on the screen, as text."""
    compositor = pilot.app.screen._compositor
    return "\n".join(strip.text.rstrip() for strip in compositor.render_strips())


def is_on(pilot: Pilot[int], kind: type[Screen[Any]]) -> bool:
    """Whether a screen of a kind is on."""
    return isinstance(pilot.app.screen, kind)
