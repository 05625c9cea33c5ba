"""Memories as lines: rows of a list, the text of one, what is known about it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from textual.content import Content

from engine.documents import WARNINGS, Document
from engine.journal import Run as JournalRun
from engine.listing import Listing, Memory
from engine.search import Hit
from engine.storage.walk import Other
from memui.presentation import Line, Run, column, content, count, line, own, runs, size, when
from memui.presentation.words import held, lit, spans

UNREMARKABLE = frozenset(["no-description", "no-final-newline"])
"""Warnings that most files of most stores have: said in the text, not in the list."""
_NAME_MOST = 28
_NAME_LEAST = 10


@dataclass(frozen=True, slots=True)
class Heading:
    """A row of ours between others: a folder, or what is no memory."""

    text: str
    number: int


Item = Memory | Other | Hit | Heading


@dataclass(frozen=True, slots=True)
class Seen:
    """One memory as it was read: `modified` UTC in ISO 8601, `size` in bytes."""

    path: str
    document: Document
    size: int
    modified: str
    link: str | None = None


def shelve(listing: Listing) -> tuple[Item, ...]:
    """The files of the folder itself, then folder by folder, then what is no memory."""
    folders: dict[str, list[Memory]] = {}
    for memory in listing.memories:
        folders.setdefault(memory.path.rpartition("/")[0], []).append(memory)
    found: list[Item] = []
    for folder, memories in sorted(folders.items()):
        if folder:
            found.append(Heading(f"{folder}/", len(memories)))
        found.extend(memories)
    if listing.others:
        found.append(Heading("not memories", len(listing.others)))
        found.extend(listing.others)
    return tuple(found)


def path_of(item: Item | None) -> str | None:
    """The path of what a row is about."""
    return None if item is None or isinstance(item, Heading) else item.path


def longest_name(items: Iterable[Item]) -> int:
    """Cells of the longest name in a list."""
    names = (len(_name(item)) for item in items if isinstance(item, Memory | Hit))
    return max(names, default=0)


def _name(item: Item) -> str:
    path = path_of(item) or ""
    name = path if isinstance(item, Hit | Other) else path.rpartition("/")[2]
    return name if isinstance(item, Other) else name.removesuffix(".md")


def row(item: Item, cells: int, longest: int, wanted: Sequence[str] = ()) -> Line:
    """One row of a list, so many cells wide; its first column fits the longest name."""
    names = max(_NAME_LEAST, min(longest + 4, _NAME_MOST, cells * 2 // 5))
    if isinstance(item, Heading):
        return line((item.text, "heading"), (f"  {item.number}", "dim"))
    name = _name(item)
    if isinstance(item, Hit):
        shown = column(lit(name, wanted, "plain"), names)
        return Line((*shown, Run("  "), *_snippet(item.snippet, wanted, cells - names - 2)))
    if isinstance(item, Other):
        return Line((*column(runs(f"  {name}", "faint"), names), *runs(f"  {item.why}", "faint")))
    indent = "  " if "/" in item.path else ""
    odd = bool(set(item.warnings) - UNREMARKABLE)
    link = (Run("→ ", "dim"),) if item.link is not None else ()
    return Line(
        (
            *column((*runs(indent + name), *link), names),
            Run("! " if odd else "  ", "warn"),
            *(runs(item.description, "dim") or (Run("no description", "faint"),)),
        )
    )


def _snippet(text: str, wanted: Sequence[str], cells: int) -> tuple[Run, ...]:
    """A line around the first word that was found in it."""
    found = spans(text, wanted)
    if found and found[0][1] > cells - 4:
        text = "…" + text[max(0, found[0][0] - cells // 3) :]
    return lit(text, wanted, "dim")


def head(seen: Seen, width: int) -> Content:
    """Above the text of a memory: its path, what is known about it, what is odd about it."""
    document = seen.document
    encoding = {"utf-8": "UTF-8", "utf-16": "UTF-16"}.get(document.encoding, "not UTF-8")
    facts = f"{size(seen.size)} · {when(seen.modified)} · {encoding}"
    path = content(seen.path, "bold")
    if seen.link is not None:
        path = Content.assemble(path, content(f" → {seen.link}", "$foreground-muted"))
    parts = [path]
    room = width - path.cell_length - len(facts)
    parts += [own(" " * room if room >= 2 else "\n"), own(facts, "$foreground-muted")]
    odd = [WARNINGS[code] for code in document.warnings]
    if odd:
        parts += [own("\n"), own(f"! {'; '.join(odd)}", "$text-warning")]
    return Content.assemble(*parts)


class Source(Sequence[Line]):
    """The lines of a file, each made when it is looked at; `blocks` are those that hold a query.

    Everything in the file is there, its frontmatter too: what an agent reads, a person must see.
    """

    def __init__(self, document: Document, wanted: Sequence[str] = ()) -> None:
        lines = document.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        self._lines = lines
        self._wanted = wanted
        self._body = document.body_line - 1
        self._fences = [
            at
            for at, raw in enumerate(lines)
            if at >= self._body and raw.startswith(("```", "~~~"))
        ]
        self.blocks = _blocks(lines, wanted)

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, at: int) -> Line: ...

    @overload
    def __getitem__(self, at: slice) -> list[Line]: ...

    def __getitem__(self, at: int | slice) -> Line | list[Line]:
        if isinstance(at, slice):
            return [self._made(n) for n in range(*at.indices(len(self._lines)))]
        return self._made(at)

    def _made(self, at: int) -> Line:
        text = self._lines[at].removesuffix("\r")
        paint = self._paint(at, text)
        gutter = f"{at + 1:>{len(str(len(self._lines)))}} "
        made = lit(text, self._wanted, paint) if self._wanted else runs(text, paint)
        return Line(made, gutter=gutter)

    def _paint(self, at: int, text: str) -> str:
        before = bisect_left(self._fences, at)
        is_fence = before < len(self._fences) and self._fences[before] == at
        if at < self._body or is_fence:
            return "dim"
        return "title" if text.startswith("#") and before % 2 == 0 else "plain"


def _blocks(lines: Sequence[str], wanted: Sequence[str]) -> tuple[range, ...]:
    """The lines that hold as many of the words as any line does."""
    if not wanted:
        return ()
    counts = [held(raw, wanted) for raw in lines]
    most = max(counts, default=0)
    return tuple(range(n, n + 1) for n, has in enumerate(counts) if has == most) if most else ()


def facts(seen: Seen, touched: Sequence[JournalRun]) -> Iterator[Line]:
    """What is known about a memory, for a column of its own."""
    document = seen.document
    by = {
        "frontmatter": "its frontmatter",
        "heading": "its first heading",
        "sentence": "its first sentence",
        "nothing": "nothing",
    }
    yield line(("What the agent sees each turn", "heading"))
    yield line((seen.path, "plain"))
    yield line((document.description or "no description", "plain"))
    yield line((f"taken from {by[document.described_by]}", "faint"))
    yield line(("", "plain"))
    yield line(("The file", "heading"))
    yield line((f"{size(seen.size)}, {document.encoding}", "dim"))
    yield line((f"changed {when(seen.modified)}", "dim"))
    if seen.link is not None:
        yield line(("a link to ", "dim"), (seen.link, "dim"))
    for code in document.warnings:
        yield line((f"! {WARNINGS[code]}", "warn"))
    yield line(("", "plain"))
    yield line(("Runs that touched it", "heading"))
    if not touched:
        yield line(("none: memui never wrote it", "faint"))
    for run in touched[:8]:
        yield line((f"{run.seq:>4} ", "plain"), (f"{run.kind}  {when(run.time)}", "dim"))
    if len(touched) > 8:
        yield line((f"     and {count(len(touched) - 8, 'older one', 'older ones')}", "faint"))
