"""The demo: an agent's memories and a recorded plan with one of everything; no key, no network."""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

PLAN: Final = "plan.json"
STORE: Final = "field-agent"


def build(folder: str) -> str:
    """Copy the demo's store into a folder, with its plan beside it; the root to open."""
    root = os.path.join(folder, ".strands")
    _copy(files("memui").joinpath("demo", "store"), os.path.join(root, "memory", STORE))
    plan = files("memui").joinpath("demo", PLAN).read_bytes()
    with open(os.path.join(folder, PLAN), "wb") as file:
        file.write(plan)
    return root


def _copy(source: Traversable, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    for item in source.iterdir():
        path = os.path.join(target, item.name)
        if item.is_dir():
            _copy(item, path)
        elif item.name.endswith(".md"):
            with open(path, "wb") as file:
                file.write(item.read_bytes())
