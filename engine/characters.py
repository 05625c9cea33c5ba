"""The one table of characters that cannot be seen, and the one door to the screen.

`visible` is the only way by which text from outside (files, paths, plans, errors) becomes
something to show. It replaces what drives a terminal, directs other text or cannot be seen by
marks that name it; joiners stay where emoji and Arabic or Indic words need them.
Sources: Unicode 18 (`engine.unicode_table`); Default_Ignorable_Code_Point of UAX #44; the emoji and
flag sequences of UTS #51; the joiner contexts in the spirit of RFC 5892, appendix A.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

from engine.unicode_table import ASSIGNED, COMBINING, FORMAT

MARKS_ON_A_BASE: Final = 4
"""Combining marks that stay on one base; more are shown as marks of ours."""

_NAMES: Final = {
    0x00AD: "SHY", 0x034F: "CGJ", 0x061C: "ALM", 0x115F: "HCF", 0x1160: "HJF", 0x180E: "MVS",
    0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS",
    0x2029: "PS", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO",
    0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0x2800: "BLANK",
    0x3164: "HF", 0xFE0E: "VS15", 0xFE0F: "VS16", 0xFEFF: "BOM", 0xFFA0: "HHF", 0xFFFC: "OBJ",
    0x85: "NEL", 0x90: "DCS", 0x9B: "CSI", 0x9D: "OSC",
}  # fmt: skip
_ZWNJ, _ZWJ, _VS15, _VS16 = "\u200c", "\u200d", "\ufe0e", "\ufe0f"
_JOINERS: Final = frozenset([_ZWNJ, _ZWJ, _VS15, _VS16])
# How a character is judged: plain, whatever stands beside it; combining with the one before it;
# half of a flag; contextual, which stays where a sequence needs it; marked, wherever it stands.
_Kind = Literal["plain", "combining", "half", "contextual", "marked"]
# Invisible or blank, though not of category Cf: fillers, selectors, separators, reserved ones.
_INVISIBLE = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2028, 0x2029),
    (0x2065, 0x2065), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8), (0xFFFC, 0xFFFC), (0x13441, 0x13442), (0x16FE4, 0x16FE4),
    (0x1D159, 0x1D159), (0xE0000, 0xE0FFF),
)  # fmt: skip
# Cf that puts ink on the page: Arabic, Syriac and Kaithi signs that stand before numbers.
_INK = frozenset([*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD])
# Scripts whose spelling needs joiners: Arabic and its extensions, Indic to Khmer, Mongolian.
_JOINING = (
    (0x0600, 0x07FF), (0x0840, 0x0DFF), (0x0F00, 0x109F), (0x1780, 0x18AF), (0x1900, 0x1C7F),
    (0x1CD0, 0x1CFF), (0xA800, 0xA95F), (0xA980, 0xAAFF), (0xABC0, 0xABFF), (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFE), (0x10A00, 0x11FFF), (0x1E900, 0x1E95F),
)  # fmt: skip
# What emoji sequences are made of: it takes a selector, and a joiner binds it to its like.
_EMOJI = (
    (0x00A9, 0x00A9), (0x00AE, 0x00AE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122),
    (0x2139, 0x2139), (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B), (0x2328, 0x2328),
    (0x23CF, 0x23CF), (0x23E9, 0x23F3), (0x23F8, 0x23FA), (0x24C2, 0x24C2), (0x25AA, 0x25AB),
    (0x25B6, 0x25B6), (0x25C0, 0x25C0), (0x25FB, 0x25FE), (0x2600, 0x2767), (0x2795, 0x2797),
    (0x27A1, 0x27A1), (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2934, 0x2935), (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x3030, 0x3030), (0x303D, 0x303D),
    (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1F0FF), (0x1F170, 0x1F171),
    (0x1F17E, 0x1F17F), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F201, 0x1F202),
    (0x1F21A, 0x1F21A), (0x1F22F, 0x1F22F), (0x1F232, 0x1F23A), (0x1F250, 0x1F251),
    (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F7E0, 0x1F7F0), (0x1F90C, 0x1F9FF),
    (0x1FA70, 0x1FAFF),
)  # fmt: skip
_KEYS: Final = frozenset("#*0123456789")
_KEYCAP: Final = "\u20e3"
_BLACK_FLAG: Final = "\U0001f3f4"
_CANCEL_TAG: Final = "\U000e007f"
# The flags that are drawn from tags: England, Scotland, Wales. After any other spelling a black
# flag is all that a reader sees, and the tags could say anything.
_FLAG_TAGS: Final = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + _CANCEL_TAG
    for region in ("gbeng", "gbsct", "gbwls")
)
_REMEMBERED: Final = 4096
"""Characters whose judgement is kept at hand: more than a text in Chinese uses. A bound, because a
hostile text can hold all there are."""


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
    """A set of code points, kept as sorted starts and ends (the first that is not in it)."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        """From ranges (first, last), in order."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        for first, last in ranges:
            self._starts.append(first)
            self._ends.append(last + 1)

    def __contains__(self, code: int) -> bool:
        found = bisect_right(self._starts, code) - 1
        return found >= 0 and code < self._ends[found]


def _unpacked(packed: str) -> Iterator[tuple[int, int]]:
    numbers = [int(word, 36) for word in packed.split()]
    at = 0
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        yield at + gap, at + gap + length - 1
        at += gap + length


@cache
def _table(name: str) -> _Ranges:
    """A table, made when it is first asked for: most texts are ASCII and need none."""
    ours = {"emoji": _EMOJI, "invisible": _INVISIBLE, "joining": _JOINING}
    if name in ours:
        return _Ranges(ours[name])
    packed = {"assigned": ASSIGNED, "combining": COMBINING, "format": FORMAT}
    return _Ranges(_unpacked(packed[name]))


def is_assigned(char: str) -> bool:
    """Whether the shipped Unicode gives the character a meaning. Private use has none."""
    return ord(char) in _table("assigned")


@lru_cache(_REMEMBERED)
def is_hidden(char: str) -> bool:
    """Whether a character, on its own, cannot be seen or directs others."""
    code = ord(char)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF:
        return True
    if code < 0xAD:
        return False
    noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    formats = code in _table("format") and code not in _INK
    return noncharacter or formats or code in _table("invisible")


@lru_cache(_REMEMBERED)
def _kind(char: str) -> _Kind:
    if " " <= char <= "~":
        return "plain"
    if not is_assigned(char):
        return "marked"
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return "half"
    if is_hidden(char):
        in_place = char in _JOINERS or "\U000e0020" <= char <= _CANCEL_TAG
        return "contextual" if in_place else "marked"
    return "combining" if ord(char) >= 0x300 and ord(char) in _table("combining") else "plain"


_SEEN_AT_ONCE: Final = re.compile("[!-~]")
"""Most texts show at once that they hold something to see."""


def has_visible(text: str) -> bool:
    """Whether anything in the text puts ink on the screen.

    Blanks, hidden and unassigned characters, private use (whose look nobody knows) and combining
    marks that sit on nothing do not.
    """
    if _SEEN_AT_ONCE.search(text):
        return True
    return any(_kind(char) in {"plain", "half"} and not char.isspace() for char in set(text))


def visible(text: str, *, keep: str = "") -> Shown:
    r"""Text that can be shown: what cannot be seen or would act is replaced by marks.

    C0 and DEL become control pictures, but for those in `keep` (only "\n" and "\t" can be kept);
    everything else that is invisible, directional, unassigned or half a pair becomes a mark such
    as `<U+202E RLO>`, and so does a combining mark on no base or above `MARKS_ON_A_BASE`. Linear
    in the length of the text.
    """
    if text.isascii() and text.isprintable():
        return _shown(text, ())
    stays = frozenset(keep) & {"\n", "\t"}
    if all(_kind(char) == "plain" or char in stays for char in set(text)):
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
    if all(_kind(char) == "plain" or char in "\n\t\r" for char in set(text)):
        return ()
    found: list[Hidden] = []
    for offset, (char, (part, marked)) in enumerate(
        zip(text, _judge(text, frozenset("\n\t\r")), strict=True)
    ):
        if marked:
            found.append(Hidden(offset, char, part))
    return tuple(found)


def _judge(text: str, stays: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """(what is shown, whether it is a mark) for every character, in one pass."""
    stacked, based, halved = 0, False, False
    for at, char in enumerate(text):
        kind = _kind(char)
        kept = True
        if kind == "plain":
            stacked, based = 0, not char.isspace()
        elif char in stays:
            stacked, based = 0, False
        elif kind == "combining":
            stacked += 1
            kept = based and stacked <= MARKS_ON_A_BASE
        elif kind == "half":
            kept = halved or (at + 1 < len(text) and _kind(text[at + 1]) == "half")
            stacked, based, halved = 0, kept, kept and not halved
        elif kind == "marked" or not _stays(text, at, stacked if based else MARKS_ON_A_BASE + 1):
            stacked, based, kept = 0, False, False
        yield (char, False) if kept else (_mark(char), True)


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


def _stays(text: str, at: int, stacked: int) -> bool:
    """Whether a joiner, a selector or a flag's tag belongs where it stands.

    `stacked` are the combining marks so far on the base before it; too many if it has none.
    """
    char = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char in {_VS15, _VS16}:
        return _is_emoji(before) or (before in _KEYS and after == _KEYCAP)
    if char == _ZWJ and _is_emoji(after):
        return _is_emoji(text[at - 2 : at - 1] if before == _VS16 else before)
    if char in {_ZWJ, _ZWNJ}:
        return _is_joined(before, after, stacked)
    return _is_tag_of_a_flag(text, at)


def _is_emoji(char: str) -> bool:
    return char != "" and ord(char) in _table("emoji") and _kind(char) == "plain"


def _is_joined(before: str, after: str, stacked: int) -> bool:
    """Whether a joiner stands within a word of a script that is spelled with joiners.

    Persian writes one between a number and its suffix. Every neighbour is one that is shown as it
    is: a joiner that stayed beside a mark of ours would not be seen.
    """
    if stacked > MARKS_ON_A_BASE or not _joins(before) or not _joins(after):
        return False
    if _kind(after) == "combining":
        return stacked < MARKS_ON_A_BASE
    return not after.isdecimal()


def _joins(char: str) -> bool:
    """Whether a character is a letter, a mark or a digit of a script with joiners."""
    if char == "" or ord(char) not in _table("joining"):
        return False
    # Cn: a letter that is newer than the running Python, as the shipped table knows it.
    category = unicodedata.category(char)
    spelled = category[0] in "LM" or category in {"Nd", "Cn"}
    return spelled and _kind(char) in {"plain", "combining"}


def _is_tag_of_a_flag(text: str, at: int) -> bool:
    longest = len(_FLAG_TAGS[0])
    flag = text.rfind(_BLACK_FLAG, max(0, at - longest), at)
    return flag >= 0 and text.startswith(_FLAG_TAGS, flag + 1)
