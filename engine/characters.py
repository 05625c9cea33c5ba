"""The one table of characters that cannot be seen, and the one door to the screen.

`visible` is the only way by which text from outside (files, paths, plans, errors) becomes
something to show. It replaces what drives a terminal, directs other text or cannot be seen by
marks that name it; joiners stay where emoji and Arabic or Indic words need them.
Sources: Unicode 18 (`engine.unicode_table`); Default_Ignorable_Code_Point of UAX #44; the joiner
contexts in the spirit of RFC 5892, appendix A.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.unicode_table import ASSIGNED, COMBINING, FORMAT, PICTURES

MARKS_ON_A_BASE: Final = 4
"""Combining marks that stay on one base; more are shown as marks of ours."""

_NAMES: Final = {
    0x00AD: "SHY", 0x034F: "CGJ", 0x061C: "ALM", 0x115F: "HCF", 0x1160: "HJF", 0x180E: "MVS",
    0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS",
    0x2029: "PS", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO",
    0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0x2800: "BLANK",
    0x3164: "HF", 0xFEFF: "BOM", 0xFFA0: "HHF", 0xFFFC: "OBJ", 0x85: "NEL",
}  # fmt: skip
_ZWNJ, _ZWJ, _VS15, _VS16 = "\u200c", "\u200d", "\ufe0e", "\ufe0f"
# Invisible or blank, though not of category Cf: fillers, selectors, separators, reserved ones.
_INVISIBLE = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2028, 0x2029),
    (0x2065, 0x2065), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8), (0xFFFC, 0xFFFC), (0x1D159, 0x1D159), (0xE0000, 0xE0FFF),
)  # fmt: skip
# Cf that puts ink on the page: Arabic, Syriac and Kaithi signs that stand before numbers.
_INK = frozenset([*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD])
# Scripts whose spelling needs joiners: Arabic and its extensions, Indic to Khmer, Mongolian.
_JOINING = (
    (0x0600, 0x07FF), (0x0840, 0x109F), (0x1780, 0x18AF), (0x1900, 0x1CFF), (0xA800, 0xABFF),
    (0xFB50, 0xFDFF), (0xFE70, 0xFEFE), (0x10A00, 0x11FFF), (0x1E900, 0x1E95F),
)  # fmt: skip
# Characters outside So that take an emoji or text selector.
_SELECTABLE = frozenset("#*0123456789\u203c\u2049\u3030\u303d")


class Shown(str):
    """Text that is safe to show. Only `visible` makes one.

    `marks` are the spans (start, end) that are ours, so that a file which spells `<U+202E RLO>`
    does not look like one of them.
    """

    __slots__ = ("marks",)
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A character that a reader would not see, at a 0-based offset, with the mark that names it."""

    offset: int
    char: str
    name: str


class _Ranges:
    """A set of code points, kept as sorted starts and ends."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, packed: str) -> None:
        numbers = [int(word, 36) for word in packed.split()]
        at = 0
        self._starts: list[int] = []
        self._ends: list[int] = []
        for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
            self._starts.append(at + gap)
            at += gap + length
            self._ends.append(at)

    def __contains__(self, code: int) -> bool:
        found = bisect_right(self._starts, code) - 1
        return found >= 0 and code < self._ends[found]


@cache
def _table(name: str) -> _Ranges:
    return _Ranges(
        {"assigned": ASSIGNED, "combining": COMBINING, "format": FORMAT, "pictures": PICTURES}[name]
    )


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


@cache
def is_assigned(char: str) -> bool:
    """Whether the shipped Unicode gives the character a meaning. Private use has none."""
    return ord(char) in _table("assigned")


@cache
def is_hidden(char: str) -> bool:
    """Whether a character, on its own, cannot be seen or directs others."""
    code = ord(char)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF:
        return True
    if code < 0xAD:
        return False
    noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    formats = code in _table("format") and code not in _INK
    return noncharacter or formats or _within(code, _INVISIBLE)


@cache
def _is_combining(char: str) -> bool:
    return ord(char) >= 0x300 and ord(char) in _table("combining") and not is_hidden(char)


@cache
def _is_plain(char: str) -> bool:
    """Whether a character needs no look at its neighbours: it is shown as it is."""
    if " " <= char <= "~":
        return True
    return not is_hidden(char) and is_assigned(char) and not _is_combining(char)


def has_visible(text: str) -> bool:
    """Whether anything in the text puts ink on the screen.

    Blanks, hidden and unassigned characters, private use (whose look nobody knows) and combining
    marks that sit on nothing do not.
    """
    return any(_is_plain(char) and not char.isspace() for char in set(text))


def visible(text: str, *, keep: str = "") -> Shown:
    r"""Text that can be shown: what cannot be seen or would act is replaced by marks.

    C0 and DEL become control pictures, but for those in `keep` (only "\n" and "\t" can be kept);
    everything else that is invisible, directional, unassigned or half a pair becomes a mark such
    as `<U+202E RLO>`. Linear in the length of the text.
    """
    if text.isascii() and text.isprintable():
        return _shown(text, ())
    stays = frozenset(keep) & {"\n", "\t"}
    if all(_is_plain(char) or char in stays for char in set(text)):
        return _shown(text, ())
    parts: list[str] = []
    marks: list[tuple[int, int]] = []
    length = 0
    for part, marked in _judge(text, stays):
        if marked:
            marks.append((length, length + len(part)))
        parts.append(part)
        length += len(part)
    return _shown("".join(parts), tuple(marks))


def _shown(text: str, marks: tuple[tuple[int, int], ...]) -> Shown:
    shown = Shown(text)
    shown.marks = marks
    return shown


def hidden(text: str) -> tuple[Hidden, ...]:
    r"""The characters that `visible` marks, but for "\n", "\t" and "\r"."""
    if text.isascii() and text.isprintable():
        return ()
    if all(_is_plain(char) or char in "\n\t\r" for char in set(text)):
        return ()
    found: list[Hidden] = []
    for offset, (char, (part, marked)) in enumerate(
        zip(text, _judge(text, frozenset("\n\t\r")), strict=True)
    ):
        if marked:
            found.append(Hidden(offset, char, part))
    return tuple(found)


def _judge(text: str, stays: frozenset[str]) -> list[tuple[str, bool]]:
    """(what is shown, whether it is a mark) for every character, in one pass."""
    found: list[tuple[str, bool]] = []
    stacked, based = 0, False
    for at, char in enumerate(text):
        if _is_plain(char):
            stacked, based = 0, not char.isspace()
            found.append((char, False))
        elif char in stays:
            stacked, based = 0, False
            found.append((char, False))
        elif _is_combining(char):
            stacked += 1
            kept = based and stacked <= MARKS_ON_A_BASE
            found.append((char, False) if kept else (_mark(char), True))
        elif _stays_in_context(text, at):
            found.append((char, False))
        else:
            stacked, based = 0, False
            found.append((_mark(char), True))
    return found


def _mark(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        return f"<byte {code - 0xDC00:02X}>"
    name = _NAMES.get(code)
    return f"<U+{code:04X} {name}>" if name else f"<U+{code:04X}>"


def _stays_in_context(text: str, at: int) -> bool:
    """Whether a joiner, a selector or a flag's tag belongs where it stands."""
    char = text[at]
    before = text[at - 1] if at else ""
    after = text[at + 1] if at + 1 < len(text) else ""
    if not before:
        return False
    if char in {_VS15, _VS16}:
        return _is_picture(before) or before in _SELECTABLE
    if char == _ZWJ and _is_picture(after) and (_is_picture(before) or before == _VS16):
        return before != _VS16 or (at >= 2 and _is_picture(text[at - 2]))
    if char in {_ZWJ, _ZWNJ}:
        return bool(after) and _joins(before) and _joins(after)
    return 0xE0020 <= ord(char) <= 0xE007F and _in_flag(text, at)


@cache
def _is_picture(char: str) -> bool:
    return bool(char) and (
        ord(char) in _table("pictures") or 0x1F3FB <= ord(char) <= 0x1F3FF or char in "\u2194\u2195"
    )


@cache
def _joins(char: str) -> bool:
    """Whether a character belongs to a word of a script that is spelled with joiners."""
    return _within(ord(char), _JOINING) and (_is_plain(char) or _is_combining(char))


def _in_flag(text: str, at: int) -> bool:
    """Whether a tag is part of a black flag, at most six letters and digits, and a cancel tag."""
    start = at
    while start > 0 and 0xE0020 <= ord(text[start - 1]) <= 0xE007F and at - start < 8:
        start -= 1
    end = at
    while end < len(text) and text[end] != "\U000e007f" and end - at < 8:
        end += 1
    if start == 0 or text[start - 1] != "\U0001f3f4" or end >= len(text):
        return False
    tags = text[start:end]
    return (
        text[end] == "\U000e007f"
        and 3 <= len(tags) <= 6
        and all(0xE0030 <= ord(c) <= 0xE0039 or 0xE0061 <= ord(c) <= 0xE007A for c in tags)
    )
