"""The statements of a body: Markdown read line by line, in one pass, as people and models write it.

Not a renderer: what matters is which lines are one statement, and what each stands under.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from engine.statements.statement import Kind, Statement, label, normalise

WRAPPED: Final = 60
"""Characters from which a line may be one of wrapped prose."""
LABEL_LIMIT: Final = 100
"""Characters up to which a line in bold is a label of what follows."""
_BOLD: Final = 7
"""The level of a label in bold: below every heading."""

ITEM: Final = re.compile(r"(?:[-*+]|(\d{1,9}[.)]))(?:[ \t]+|$)")
"""The mark of a list item."""
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_ENDS = re.compile(r"[.!?][\"')\]]*[ \t]+(?=[^a-z\s])|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|ca|no|nr|vol|fig|dr|mr|mrs|ms|st|[A-Za-z])\.$",
    re.IGNORECASE,
)
_DECORATION = frozenset("-*_=+|:~")
_COLONS = (":", "\uff1a")


class Body:
    """Reads a body line by line: where we are, and what was said there."""

    def __init__(self, path: str) -> None:
        self.said: list[Statement] = []
        self.heads: list[Statement] = []
        self._path = path
        self._headings: list[tuple[int, str]] = []  # (level, label)
        self._bare: Statement | None = None  # a heading that nothing was said under yet
        self._lead = ""  # the label of what follows, as `Never:` is
        self._led: Kind | None = None  # what the label was followed by so far
        self._items: list[tuple[int, str]] = []  # (indentation, label) of the items above
        self._header = ""  # the head of the table that we are in
        self._block: list[tuple[int, str]] = []  # the lines of an item or a paragraph
        self._kind: Kind = "sentence"
        self._indent = 0
        self._ordered = False
        self._gap = False  # whether a blank line came before
        self._fence: tuple[str, int] | None = None  # (marks, indentation)

    def take(self, number: int, line: str) -> None:
        """Take one line, without its end."""
        if self._fence is not None:
            self._code(number, line, *self._fence)
            return
        text, quoted = _unquoted(line) if ">" in line[:4] else (line, False)
        stripped = text.strip()
        if not stripped:
            self._flush()
            self._gap, self._header = True, ""
            return
        first = stripped[0]
        indent = _width(text) if text[0] != first else 0
        fence = _FENCE.match(stripped) if first in "`~" else None
        if fence is not None and not (fence[0][0] == "`" and "`" in stripped[fence.end() :]):
            self._flush()
            self._fence = (fence[0], indent)
            said = stripped[fence.end() :].strip()
            if len(said.split()) > 1:  # more than the language's name
                self.say(number, said, "code")
            return
        heading = _HEADING.match(text) if first == "#" and not quoted else None
        if heading is not None:
            self._flush()
            self._head(number, len(heading[1]), text[heading.end() :].strip().rstrip("#").rstrip())
        elif first in _DECORATION and self._is_rule(stripped, quoted=quoted):
            return
        elif first == "|" or (self._header and "|" in stripped):
            self._flush()
            self.say(number, stripped, "row")
        else:
            self._header = ""
            self._line(number, stripped, indent)
        self._gap = False

    def close(self) -> None:
        """Take the end of the file."""
        self._flush()
        if self._bare is not None:
            self.said.append(self._bare)
            self._bare = None

    def say(self, number: int, text: str, kind: Kind, key: str | None = None) -> None:
        """Take one statement that stands where we are."""
        text = text.strip()
        if not text:
            return
        if key is None:
            key = _row(text) if kind == "row" else normalise(text)
        place = [name for _, name in self._headings]
        if self._lead:
            place.append(self._lead)
            self._led = kind
        place += [name for _, name in self._items]
        if self._header and kind == "row":
            place.append(self._header)
        if self._bare is not None:
            self.heads.append(self._bare)
            self._bare = None
        titled = bool(self._headings) and self._headings[0][0] == 1
        ordered = kind == "item" and self._ordered
        self.said.append(
            Statement(self._path, number, text, key, tuple(place), kind, titled, ordered)
        )

    def _code(self, number: int, line: str, marks: str, indent: int) -> None:
        stripped = line.strip()
        if len(stripped) >= len(marks) and set(stripped) == {marks[0]}:
            self._fence = None
            return
        cut = min(indent, len(line) - len(line.lstrip(" ")))
        self.say(number, line, "code", unicodedata.normalize("NFC", line[cut:].rstrip()))

    def _head(self, number: int, level: int, text: str) -> None:
        if self._bare is not None:
            held = self.heads if level > self._headings[-1][0] else self.said
            held.append(self._bare)
        self._enter(level)
        above = tuple(name for _, name in self._headings)
        titled = bool(self._headings) and self._headings[0][0] == 1
        self._headings.append((level, label(text)))
        self._bare = None
        if text:
            key = normalise(text)
            self._bare = Statement(self._path, number, text, key, above, "heading", titled)

    def _enter(self, level: int) -> None:
        """Leave everything that a heading of this level, or a rule, closes."""
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._lead, self._led, self._header = "", None, ""
        self._items.clear()

    def _is_rule(self, stripped: str, *, quoted: bool) -> bool:
        """Take a line of marks only: under a heading, under the head of a table, or a rule."""
        if len(stripped) < 2 or stripped[-1] not in _DECORATION:
            return False
        marks = set(stripped) - {" ", "\t"}
        if not marks <= _DECORATION:
            return False
        above = self._block[0][1] if len(self._block) == 1 and self._kind == "sentence" else ""
        if "|" in marks and "-" in marks and marks <= {"|", "-", ":"}:
            self._flush()
            if "|" in above or (self.said and self.said[-1].kind == "row" and not self._gap):
                self._header = self._header or _row(self.said[-1].text)
            return True
        if above and not quoted and marks in ({"="}, {"-"}) and " " not in stripped:
            self._flush()
            level = 1 if marks == {"="} else 2
            self._enter(level)
            self._headings.append((level, label(above)))
            return True
        if len(stripped) < 3 or (len(marks) > 1 and "|" not in marks):
            return False
        self._flush()
        self._enter(_BOLD)
        return True

    def _line(self, number: int, stripped: str, indent: int) -> None:
        item = ITEM.match(stripped) if not stripped[0].isalpha() else None
        if item is not None:
            self._flush()
            if self._gap and self._led == "sentence":
                self._lead, self._led = "", None
            self._leave_items(indent)
            self._kind, self._indent, self._ordered = "item", indent, item[1] is not None
            self._block = [(number, stripped[item.end() :])]
            return
        if self._block:
            inside = self._kind == "item" and indent > self._indent
            if inside or not _is_a_line_of_its_own(self._block[-1][1], stripped):
                self._block.append((number, stripped))
                return
            self._flush()
        if self._gap and self._led is not None:
            self._lead, self._led = "", None
        self._leave_items(indent)
        self._kind = "sentence"
        self._block = [(number, stripped)]

    def _leave_items(self, indent: int) -> None:
        """Leave the items that a line of this indentation is not nested in."""
        while self._items and indent < self._items[-1][0] + 2:
            self._items.pop()

    def _flush(self) -> None:
        """Say the lines of an item or a paragraph, and take what it is a label of."""
        block = self._block
        if not block:
            return
        self._block = []
        if len(block) == 1:
            whole = block[0][1].strip()
        else:
            whole = " ".join(line.strip() for _, line in block).strip()
        top = self._kind == "sentence" and not self._items
        leads = top and whole.endswith(_COLONS)
        bold = top and whole.startswith("**") and _is_label(whole)
        if bold:
            self._enter(_BOLD)
        elif leads:
            self._lead, self._led = "", None
        last = ""
        for number, said in _sentences(block, whole):
            self.say(number, said, self._kind)
            last = said
        if bold:
            self._headings.append((_BOLD, label(whole)))
        elif leads:
            self._lead, self._led = label(last), None
        if self._kind == "item":
            self._items.append((self._indent, label(whole)))


def _unquoted(line: str) -> tuple[str, bool]:
    """A line without the marks of a quotation, and whether it had any."""
    at, length = 0, len(line)
    while True:
        mark = at
        while mark < length and mark - at < 4 and line[mark] == " ":
            mark += 1
        if mark >= length or mark - at > 3 or line[mark] != ">":
            return line[at:], at > 0
        at = mark + 1
        if line[at : at + 1] == " ":
            at += 1


def _width(text: str) -> int:
    """Columns of the blanks that a line starts with; a tab is four."""
    blank = text[: len(text) - len(text.lstrip(" \t"))]
    return len(blank) + 3 * blank.count("\t")


def _row(text: str) -> str:
    cells = text.strip().strip("|").split("|")
    return " | ".join(normalise(cell) for cell in cells)


def _is_label(text: str) -> bool:
    """Whether a line in bold is a label of what follows, rather than a sentence."""
    bare = text.rstrip(":\uff1a")
    inner = bare[2:-2]
    return (
        5 <= len(bare) <= LABEL_LIMIT
        and bare.startswith("**")
        and bare.endswith("**")
        and "**" not in inner
        and inner[-1:] not in {".", "!", "?"}
    )


def _is_a_line_of_its_own(above: str, line: str) -> bool:
    """Whether a line goes on a list of facts, one a line, rather than wrapped prose.

    Wrapped prose fills its lines and goes on in lower case; the shipped SDK writes short facts.
    """
    return len(above) < WRAPPED and not line[:1].islower() and not above.endswith((",", ";"))


def _sentences(block: list[tuple[int, str]], whole: str) -> list[tuple[int, str]]:
    """A paragraph or an item, cut into its sentences; each stands on the line that it starts on."""
    if len(block) == 1 and not _ENDS.search(whole):
        return [(block[0][0], whole)] if whole else []
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for _, line in block:
        starts.append(length)
        parts.append(line.strip())
        length += len(parts[-1]) + 1
    text = " ".join(parts)
    found: list[tuple[int, str]] = []
    at = start = 0
    for end in [*_ends(text), len(text)]:
        while at + 1 < len(starts) and starts[at + 1] <= start:
            at += 1
        said = text[start:end].strip()
        if said:
            found.append((block[at][0], said))
        start = end
    return found


def _ends(text: str) -> list[int]:
    return [
        match.end()
        for match in _ENDS.finditer(text)
        if not _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start() + 1])
    ]
