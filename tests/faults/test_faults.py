"""The harness in a bounded form; `python -m tests.faults --deep` takes its time."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import BEGIN, END, README
from tests.faults.attacks import ATTACKS
from tests.faults.mutants import CHECKS, KINDS, REDUNDANT, sites


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_is_lost_or_mixed(name: str) -> None:
    attack = ATTACKS[name]
    if not attack.possible():
        pytest.skip(attack.missing)
    figures = attack.bounded()
    assert figures.tried
    assert figures.clean, figures.bad


def test_what_is_said_to_be_redundant_is_in_the_commit_and_has_a_reason() -> None:
    assert set(REDUNDANT) <= {*sites(), *KINDS, *CHECKS}
    assert all(REDUNDANT.values())


def test_the_readme_has_a_row_for_each_attack_and_none_lost_anything() -> None:
    text = README.read_text()
    lines = text[text.index(BEGIN) : text.index(END)].split("\n")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    assert [row[0] for row in cells[2:]] == list(ATTACKS)
    assert {tuple(row[3:6]) for row in cells[2:]} == {("0", "0", "0")}
