"""What is said of a text that is to be a result: every problem by line, in the closest words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import decisions
from engine.consolidation import examine
from engine.errors import Refused
from engine.plans import open_plan
from engine.problems import HIDDEN_NAMED, problems
from engine.proposal import Proposal
from tests.memui.reviews import DELETE, EDITOR, MERGE, memory, under_review


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    _, store = under_review(tmp_path)
    return examine(store, open_plan(store, None).saved)


HEAD = 'description: "Which editor"'


def edited(new: str) -> str:
    return EDITOR.replace(HEAD, new)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the content is empty"),
        (" \n\n", 1, "the content is empty"),
        ("# Editor\n", 1, "the first line must be exactly ---"),
        (f" {EDITOR}", 1, "the first line must be exactly ---"),
        (f"\ufeff{EDITOR}", 1, "the first line must be exactly ---"),
        (EDITOR.replace("\n", "\r\n"), 1, "the lines of the frontmatter must end in LF alone"),
        (f"---\n{HEAD}\r\n---\nx\n", 2, "the lines of the frontmatter must end in LF alone"),
        (f"---\n{HEAD}\n", 1, "the frontmatter is never closed with a line of exactly ---"),
        (edited("kind: fact"), 1, "the frontmatter has no description"),
        (edited("kind: fact\ndescription:"), 3, "the description is empty"),
        (edited('description: ""'), 2, "the description is empty"),
        (edited('description: " \u200b"'), 2, "the description is empty"),
        (edited('description: "a\\nb"'), 2, "the description has more than one line"),
        (edited("description: |\n  a\n  b"), 2, "the description has more than one line"),
        (edited('description: "a\n  b"'), 2, "the description must stand on one line"),
        (edited("description: editor"), 2, "the description must be in double quotes"),
        (edited("description: 'editor'"), 2, "the description must be in double quotes"),
        (edited(f'{HEAD}\ndescription: "b"'), 3, "the key description stands twice"),
        (edited(f"{HEAD}\na: 1\nb: 2\na: 3"), 5, "the key a stands twice"),
        (
            edited("description: editor: which"),
            2,
            "the frontmatter is not YAML: text that holds a colon must be in quotes",
        ),
        (edited(f"{HEAD}\na: 'x"), 3, "the frontmatter is not YAML: a quote is never closed"),
        (
            edited(f"{HEAD}\nkind: *fact"),
            3,
            "the frontmatter is not YAML: anchors and aliases are not read",
        ),
        (edited(f"{HEAD}\nkind: !x y"), 3, "the frontmatter is not YAML: tags are not read"),
        (
            edited(f"{HEAD}\nkind: [[[[1]]]]"),
            3,
            "the frontmatter is not YAML: it is nested more than 4 deep",
        ),
        (f"---\n{HEAD}\n---\n\n \n\u200b\n", 6, "the body holds nothing that can be seen"),
    ],
)
def test_what_breaks_a_rule_is_named_at_its_line_and_stops_the_text(
    proposal: Proposal, text: str, line: int, message: str
) -> None:
    found = [p for p in problems(proposal, MERGE, text) if p.stops]
    assert [(p.line, p.message) for p in found] == [(line, message)]


def test_a_text_stops_exactly_if_it_would_break_a_rule_as_the_result(proposal: Proposal) -> None:
    for text in (EDITOR, EDITOR + "- More.\n", "", "x", edited("description: x"), "---\n---\n"):
        with_it = proposal.reviewed(decisions.edit(proposal, MERGE, text))
        stops = any(problem.stops for problem in problems(proposal, MERGE, text))
        assert stops == bool(with_it.violations(MERGE))


def test_a_text_that_is_as_bad_as_the_result_is_now_may_take_its_place(
    proposal: Proposal,
) -> None:
    broken = proposal.reviewed(decisions.edit(proposal, MERGE, "- no head at all\n"))
    better = problems(broken, MERGE, "- no head at all, but right\n")
    assert [(p.line, p.stops) for p in better] == [(1, False)]
    worse = problems(broken, MERGE, "")
    assert [p.stops for p in worse] == [True]


def test_hidden_characters_are_named_by_line_and_stop_nothing(proposal: Proposal) -> None:
    text = EDITOR + "- a\u202eb\u202e \x1b[2J\n- fine \U0001f469\u200d\U0001f4bb\n- x\u200b\n"
    found = problems(proposal, MERGE, text)
    assert [(p.line, p.stops) for p in found] == [(7, False), (9, False)]
    assert found[0].message.endswith("<U+202E RLO> 2 times, ␛")
    many = problems(proposal, MERGE, EDITOR + "\u200b\n" * 100)
    assert len(many) == HIDDEN_NAMED + 1
    assert many[-1].message == "and 80 more lines hold such characters"


def test_a_description_that_costs_more_than_it_tells_is_named(proposal: Proposal) -> None:
    found = problems(proposal, MERGE, memory("word " * 60, "x"))
    assert [(p.line, p.stops) for p in found] == [(2, False)]
    assert "over 200 it costs more than it tells" in found[0].message


def test_what_has_no_text_has_no_problems_but_a_refusal(proposal: Proposal) -> None:
    with pytest.raises(Refused, match="no text to edit"):
        problems(proposal, DELETE, "x")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(
        st.sampled_from(
            ["---\n", "---\r\n", "description: ", '"', "'", "x", ":", " ", "\n", "\t", "- ", "|",
             "&a", "*a", "!t ", "[", "]", "{", "}", "#", "\x00", "\u202e", "\ud800", "\r"]
        ),
        max_size=40,
    ).map("".join)
)  # fmt: skip
def test_whatever_is_typed_has_its_problems_on_lines_that_there_are(
    proposal: Proposal, text: str
) -> None:
    for problem in problems(proposal, MERGE, text):
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.message
        assert "\n" not in problem.message
