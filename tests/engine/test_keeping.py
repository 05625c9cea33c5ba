"""What a person keeps of a result that drops it stands where it stood, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.changes import Change, resolve
from engine.documents import Snapshot
from engine.errors import Refused
from engine.keeping import keep
from engine.ledger import Account, Entry, Ledger
from engine.plan import parse_plan
from tests.engine.test_ledger import head, merge, update


def looked_at(files: dict[str, str], action: dict[str, Any]) -> tuple[Change, Account]:
    plan, _ = parse_plan({"actions": [action], "summary": ""})
    snapshot = Snapshot({path: text.encode() for path, text in files.items()})
    (change,) = resolve(plan, snapshot)
    (account,) = Ledger([change], snapshot).account(frozenset([0]))
    return change, account


def kept(before: str, after: str, *texts: str) -> str:
    """The result of an update with what is dropped of these texts kept; of none: with all."""
    change, account = looked_at({"a.md": head("d", before)}, update("a.md", head("d", after)))
    chosen = [e for e in account.dropped if e.source and (not texts or e.source.text in texts)]
    assert chosen
    text = keep(change, chosen)
    _, then = looked_at({"a.md": head("d", before)}, update("a.md", text))
    assert {e.source for e in then.dropped} == {e.source for e in account.dropped} - {
        e.source for e in chosen
    }
    return text.removeprefix(head("d", ""))


def test_an_item_stands_below_the_one_that_it_stood_below() -> None:
    before = "# T\n\n- one\n- two\n- three\n\n## Other\n\n- one\n"
    after = "# T\n\n- one\n- three\n\n## Other\n\n- one\n"
    assert kept(before, after) == before


def test_the_first_of_a_list_stands_in_the_list() -> None:
    assert kept("# T\n\n- one\n- two\n", "# T\n\n- two\n") == "# T\n\n- two\n- one\n"


def test_a_numbered_item_goes_on_counting() -> None:
    before, after = "1. boil\n2. pour\n3. wait\n", "1. boil\n2. pour\n"
    assert kept(before, after) == before


def test_an_item_inside_another_one_keeps_its_depth() -> None:
    before = "- fruit\n  - apple\n  - pear\n- bread\n"
    assert kept(before, "- fruit\n  - apple\n- bread\n") == before
    assert kept(before, "- fruit\n- bread\n", "apple") == "- fruit\n  - apple\n- bread\n"


def test_a_heading_that_the_result_lost_comes_along() -> None:
    before = "# T\n\n- one\n\n## Never\n\n- force push\n"
    assert kept(before, "# T\n\n- one\n") == before


def test_a_label_that_the_result_lost_comes_along() -> None:
    text = kept("# T\n\nAlways:\n- test\n\nNever:\n- force push\n", "# T\n\nAlways:\n- test\n")
    assert text.endswith("Never:\n- force push\n")


def test_a_sentence_stands_in_its_section() -> None:
    before = "# T\n\nThe port is 80.\n\nThe host is db.\n\n## More\n\nYes.\n"
    text = kept(before, "# T\n\nThe port is 80.\n\n## More\n\nYes.\n")
    assert text == before


def test_a_row_stands_in_its_table() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert kept(f"{table}| 3 | 4 |\n", table) == f"{table}| 3 | 4 |\n"
    assert kept(f"Hello.\n\n{table}", "Hello.\n").startswith("Hello.\n\n| a | b |\n|---|---|\n")


def test_a_line_of_code_stands_in_its_code() -> None:
    code = "```sh\nmake\n  make test\nmake clean\n```\n"
    assert kept(code, "```sh\nmake\nmake clean\n```\n") == code
    assert "```sh\nmake\n```" in kept("Run:\n\n```sh\nmake\n```\n", "Run:\n")


def test_a_field_of_the_frontmatter_comes_back() -> None:
    before = head("d", "x\n").replace('"d"\n', '"d"\ntype: feedback\n')
    change, account = looked_at({"a.md": before}, update("a.md", head("d", "x\n")))
    assert keep(change, account.dropped) == before


def test_lines_keep_the_ends_that_the_result_has() -> None:
    result = "- one\r\n- three\r\n"
    change, account = looked_at(
        {"a.md": head("d", "- one\n- two\n- three\n")}, update("a.md", head("d", result))
    )
    assert keep(change, account.dropped).endswith("- one\r\n- two\r\n- three\r\n")


def test_under_another_title_it_stands_in_the_section_of_the_same_name() -> None:
    files = {"a.md": head("a", "# A\n\n## Rules\n\n- one\n"), "b.md": head("b", "# B\n\n- two\n")}
    action = merge("a.md", "b.md", "a.md", "# Both\n\n## Rules\n\n- zero\n\n## Rest\n\n- two\n")
    change, account = looked_at(files, action)
    (one,) = [e for e in account.dropped if e.source and e.source.text == "one"]
    assert "## Rules\n\n- zero\n- one\n\n## Rest" in keep(change, [one])


def test_what_has_no_result_or_no_place_is_refused() -> None:
    files = {"a.md": head("a", "- one\n"), "b.md": head("b", "- two\n")}
    change, account = looked_at(files, {"action": "delete", "path": "a.md", "reason": ""})
    with pytest.raises(Refused, match="no result"):
        keep(change, account.dropped)
    change, account = looked_at(files, merge("a.md", "b.md", "a.md", "- one\n- two\n"))
    described = [e for e in account.dropped if e.source and e.source.kind == "description"]
    with pytest.raises(Refused, match="one description"):
        keep(change, described)


lines = st.sampled_from(
    [
        "# T", "## Never", "### Deep", "Never:", "**Bold**", "- one", "- two", "  - inner",
        "1. first", "2. second", "A sentence here.", "Another. And one more.", "> quoted",
        "| a | b |", "|---|---|", "| 1 | 2 |", "```", "run it", "", "",
        "* star", "---", "long words " * 8,
    ]
)  # fmt: skip
texts = st.lists(lines, min_size=1, max_size=14).map(lambda found: "\n".join(found) + "\n")


@given(texts, texts)
def test_what_is_kept_is_dropped_no_more_and_nothing_else_is_lost(before: str, after: str) -> None:
    files = {"a.md": head("d", before)}
    change, account = looked_at(files, update("a.md", head("d", after)))
    for entry in account.dropped:
        try:
            text = keep(change, [entry])
        except Refused:
            continue
        _, then = looked_at(files, update("a.md", text))
        assert entry.source not in {e.source for e in then.dropped}
        assert _sources(then.dropped) <= _sources(account.dropped)
        assert _results(then.new) <= _results(account.new)
        left = iter(text.split("\n"))
        assert all(line in left for line in head("d", after).split("\n") if line)


def _sources(entries: tuple[Entry, ...]) -> set[tuple[int, str]]:
    return {(e.source.line, e.source.text) for e in entries if e.source}


def _results(entries: tuple[Entry, ...]) -> set[str]:
    return {e.result.text for e in entries if e.result}
