"""A text for an editor widget: what it would hide, obey or change stands there as a stand-in.

A text area shows controls and directions to the terminal, and makes line ends of characters that
are none. So each hidden character is replaced by one of Unicode's private use, which takes one
cell; the widget paints a sign of ours in its place, and what is saved holds the character itself.
"""

from __future__ import annotations

from typing import Final

from engine.characters import hidden
from memui.presentation import count, size

TEXT_LIMIT: Final = 1 << 20
"""Characters of a text up to which a text area answers at once."""
LINES_LIMIT: Final = 10_000
"""Lines up to which it does: it counts them for every row that it paints."""
LINE_LIMIT: Final = 8192
"""Characters of a line up to which it does."""
_FIRST, _LAST = 0xE000, 0xF8FF
_SIGN: Final = "▯"


class StandIns:
    """One text's stand-ins: each hidden character has one of its own, as long as this lives."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._char: dict[str, str] = {}
        self._sign: dict[int, str] = {}

    def put(self, text: str) -> str:
        r"""The text with a stand-in for every hidden character; line ends are "\n" alone."""
        found = hidden(text)
        if found:
            parts, at = [], 0
            for each in found:
                parts += [text[at : each.offset], self._stand_in(each.char)]
                at = each.offset + 1
            text = "".join([*parts, text[at:]])
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def lift(self, text: str) -> str:
        """The text with the characters that the stand-ins stand for."""
        if not self._char:
            return text
        return text.translate({ord(mine): char for mine, char in self._char.items()})

    def signs(self, text: str) -> tuple[str, tuple[int, ...]]:
        """(a line to paint, as many cells; where its signs of ours are)."""
        if text.isascii() or not self._char:
            return text, ()
        at = tuple(n for n, char in enumerate(text) if char in self._char)
        return text.translate(self._sign), at

    def char(self, stand_in: str) -> str | None:
        """The hidden character that a stand-in stands for; None for any other character."""
        return self._char.get(stand_in)

    def _stand_in(self, char: str) -> str:
        known = self._of.get(char)
        if known is None:
            if len(self._of) > _LAST - _FIRST:
                return ""  # a paste of thousands of hidden characters that are all different
            known = self._of[char] = chr(_FIRST + len(self._of))
            self._char[known] = char
            self._sign[ord(known)] = _sign(char)
        return known


def _sign(char: str) -> str:
    if char < " ":
        return chr(0x2400 + ord(char))
    return "\u2421" if char == "\x7f" else _SIGN


def line_end(text: str) -> str:
    r"""The line end that a text has: "\r\n" if every line ends so, else "\n"."""
    return "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"


def can_edit(text: str) -> str | None:
    """Why a text would not come back from the editor as it is, as a clause; None if it would."""
    if len(text) > TEXT_LIMIT:
        return f"it has {size(len(text))}, more than {size(TEXT_LIMIT)}"
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "it holds half a surrogate pair"
    whole = text.replace("\r\n", "\n") if line_end(text) == "\r\n" else text
    if "\r" in whole:
        return "its lines end in different ways"
    lines = whole.split("\n")
    if len(lines) > LINES_LIMIT:
        return f"it has {len(lines)} lines"
    longest = max(map(len, lines))
    if longest > LINE_LIMIT:
        return f"a line of it has {count(longest, 'character', 'characters')}"
    stand_ins = StandIns()
    if stand_ins.lift(stand_ins.put(whole)) != whole:
        return "it holds too many different hidden characters"
    return None
