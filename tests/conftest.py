"""What all tests share: hypothesis profiles, and stores on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "deep", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else os.environ.get("HYPOTHESIS", "dev"))


@pytest.fixture(autouse=True)
def _nobodys_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test sees a real store, a real editor or a real home."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    for name in ("MEMUI_STORE", "VISUAL", "EDITOR", "NO_COLOR", "MEMUI_DEBUG"):
        monkeypatch.delenv(name, raising=False)


Make = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture
def store(tmp_path: Path) -> Make:
    """Makes a namespaced store `agent` with these files; returns its root."""

    def make(files: dict[str, str | bytes]) -> Path:
        root = tmp_path / ".strands"
        folder = root / "memory" / "agent"
        (folder / "facts").mkdir(parents=True)
        for path, data in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data.encode() if isinstance(data, str) else data)
        return root

    return make


def tree(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file below a folder: bytes, mode and owner."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes(),
            path.stat().st_mode,
            path.stat().st_uid,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".memui" not in path.parts
    }
