"""The harness in a bounded form; `python -m tests.faults --deep` takes its time."""

from __future__ import annotations

import shutil

import pytest

from tests.faults.attacks import ATTACKS


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_lost_or_mixed(name: str) -> None:
    if name == "processes" and shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    figures = ATTACKS[name][0]()
    assert figures.tried
    assert figures.clean, figures.bad
