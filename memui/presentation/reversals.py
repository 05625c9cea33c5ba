"""Taking back a run, file by file: what will become of each, and what waits for a choice."""

from __future__ import annotations

from collections.abc import Iterator

from engine.reversal import Choice, Reversal, Reverted
from memui.presentation import Line, Run, column, count, line, runs

CHOICES = {
    Choice.KEEP: ("s", "it stays: keep what is there"),
    Choice.TAKE: ("t", "take the earlier version"),
    Choice.MERGE: ("m", "take only the run's lines out"),
}
"""Key and words of each choice."""


def does(file: Reverted) -> tuple[str, str]:
    """(what becomes of a file, its paint)."""
    if file.open:
        return "choose", "bad"
    if file.result == file.here:
        return ("stays", "dim") if file.chosen else ("kept", "warn")
    if file.choice is Choice.MERGE:
        return "merged", "warn"
    if file.result is None:
        return "removed", "bad"
    return ("comes back", "good") if file.here is None else ("changed back", "warn")


def file_row(file: Reverted, *, left_out: bool, numbered: bool, cells: int) -> Line:
    """One row: what becomes of the file, its action, its path, and that it changed since."""
    word, paint = ("left as it is", "faint") if left_out else does(file)
    number = f"{file.action:>3} " if numbered else ""
    why = f"  {file.why}" if file.why and cells >= 60 else ""
    return Line(
        (
            *column(runs(word, paint), 14),
            *runs(number, "dim"),
            Run(" "),
            *runs(file.path, "faint" if left_out else "plain"),
            *runs(why, "warn"),
        )
    )


def choice_lines(file: Reverted) -> Iterator[Line]:
    """What a person has to know of one file, above its diff."""
    if not file.why:
        return
    yield line(
        (f"{file.why.capitalize()}. ", "warn"), ("What shall be there?", "plain"), gutter=" "
    )
    for choice in file.choices:
        key, words = CHOICES[choice]
        chosen = choice is file.choice
        yield line((f" {key} ", "accent"), (words, "bold" if chosen else "dim"), gutter=" ")
    if file.open and len(file.choices) == 1:
        said = "The other files of its action come back all the same; space leaves the action out."
        yield line((said, "dim"), gutter=" ")
    elif file.open:
        said = "Below: what taking the earlier version would change."
        yield line((said, "dim"), gutter=" ")


def reversal_lines(found: Reversal) -> Iterator[Line]:
    """Everything that a reversal does, to be named before it is done."""
    for file in found.files:
        word, paint = does(file)
        why = f"  {file.why}" if file.why else ""
        yield line((f"{word:<13}", paint), (file.path, "plain"), (why, "dim"))
    yield line()
    kept = sum(not file.chosen for file in found.files)
    if kept:
        yield line((f"{count(kept, 'file stays', 'files stay')} as they are now.", "dim"))
    yield line(("The undo is a run of its own: taking it back brings all of this again.", "dim"))


def done_lines(found: Reversal) -> Iterator[Line]:
    """What a reversal did to each file."""
    if not any(file.why for file in found.files):
        yield line(("Every file is as it was before that run.", "plain"))
        yield line()
    for file in found.files:
        word, paint = does(file)
        yield line((f"{word:<13}", paint), (file.path, "plain"))
