"""Writes `engine/unicode_table.py`: run by hand with `unicodedata2` of the version that we ship.

python -m pip install unicodedata2==18.0.0 && python tests/engine/make_unicode_table.py
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path


def packed(holds: Callable[[int], bool]) -> str:
    """Ranges of code points as gap and length in base 36, one pair a range."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"

    def number(value: int) -> str:
        text = digits[value % 36]
        while value := value // 36:
            text = digits[value % 36] + text
        return text

    words: list[str] = []
    last, start = 0, -1
    for code in range(0x110001):
        inside = code < 0x110000 and holds(code)
        if inside and start < 0:
            start = code
        elif not inside and start >= 0:
            words.append(f"{number(start - last)} {number(code - start)}")
            last, start = code, -1
    return " ".join(words)


def main() -> None:
    """Write the module next to the engine."""
    import unicodedata2

    def category(code: int) -> str:
        return str(unicodedata2.category(chr(code)))

    tables = {
        "ASSIGNED": (
            "Every code point but Cn, Co and Cs.",
            lambda c: category(c) not in {"Cn", "Co", "Cs"},
        ),
        "COMBINING": (
            "Mn and Me: marks that sit on the character before them.",
            lambda c: category(c) in {"Mn", "Me"},
        ),
        "FORMAT": ("Cf: characters that format others.", lambda c: category(c) == "Cf"),
    }
    version = unicodedata2.unidata_version
    head = (
        f'"""Ranges of Unicode {version}, by tests/engine/make_unicode_table.py.\n\n'
        'Each is a text of pairs "gap length" in base 36: how far the range starts after the end\n'
        'of the one before, and how many code points it holds.\n"""\n\nfrom typing import Final\n'
    )
    parts = [head]
    for name, (said, holds) in tables.items():
        lines = textwrap.wrap(packed(holds), 90)
        body = "\n".join(f'    "{line} "' for line in lines)
        parts.append(f'{name}: Final = (\n{body}\n)\n"""{said}"""\n')
    path = Path(__file__).parents[2] / "engine" / "unicode_table.py"
    path.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
