"""The shipped cases, one test each, through the same runner as the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.runner import run_case

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_engine_conforms(case: dict[str, Any]) -> None:
    assert run_case(case) == []
