"""What the agent sees each turn: the listing, its flags and its cost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.changes import Edit
from engine.documents import Snapshot
from engine.injected import Injected, injected, tokens

DESCRIPTIONS = st.sampled_from(["", "Prefers dark mode", "prefers  Dark mode", "notes", "x" * 300])
PATHS = st.sampled_from(["a.md", "b.md", "facts/c.md", "facts/d.md"])


def _memory(description: str) -> bytes:
    head = f'---\ndescription: "{description}"\n---\n\n' if description else ""
    return f"{head}# A title\n\nSome body.\n".encode()


def _flags(listing: Injected) -> dict[str, tuple[str, ...]]:
    return {line.path: line.flags for line in listing.lines}


def test_a_description_that_is_missing_vague_or_anothers_is_flagged() -> None:
    found = _flags(
        injected(
            Snapshot(
                {
                    "a.md": _memory("Deploys go through the release branch"),
                    "b.md": _memory("notes"),
                    "c.md": _memory(""),
                    "d.md": _memory("Ships in the third quarter"),
                    "e.md": _memory("ships in the third  quarter"),
                    "f.md": _memory("word " * 60),
                }
            )
        )
    )
    assert found == {
        "a.md": (),
        "b.md": ("vague",),
        "c.md": ("no-description",),
        "d.md": ("duplicate",),
        "e.md": ("duplicate",),
        "f.md": ("long",),
    }


def test_a_token_is_four_bytes_and_the_listing_costs_the_sum_of_its_lines() -> None:
    assert tokens("") == 0
    assert tokens("abcde") == 2
    assert tokens("ü" * 4) == 2
    listing = injected(Snapshot({"a.md": _memory("One two"), "b.md": _memory("Three four")}))
    assert listing.tokens == sum(tokens(f"{line.text}\n") for line in listing.lines)


@given(
    st.dictionaries(PATHS, DESCRIPTIONS.map(_memory)),
    st.lists(st.tuples(PATHS, st.none() | DESCRIPTIONS.map(_memory)), unique_by=lambda e: e[0]),
)
def test_the_listing_after_edits_is_the_listing_of_the_store_after_them(
    files: dict[str, bytes], edits: list[tuple[str, bytes | None]]
) -> None:
    after = dict(files)
    for path, data in edits:
        after.pop(path, None)
        if data is not None:
            after[path] = data
    changed = [Edit(path, files.get(path), data) for path, data in edits]
    assert injected(Snapshot(files)).after(changed) == injected(Snapshot(after))
