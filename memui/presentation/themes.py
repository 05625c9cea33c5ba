"""The colours: one accent, three for good, odd and lost, the rest grey."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="memui",
    primary="#6d9eeb",
    accent="#7fb0f5",
    secondary="#8a94a6",
    warning="#dcab5c",
    error="#e5707a",
    success="#8fc07c",
    foreground="#d3d7de",
    background="#121419",
    surface="#171a20",
    panel="#20242c",
)
LIGHT: Final = Theme(
    name="memui-light",
    primary="#2a5db0",
    accent="#2a5db0",
    secondary="#5c6675",
    warning="#9a6700",
    error="#b3261e",
    success="#2e7d32",
    foreground="#1d2129",
    background="#fafafa",
    surface="#f2f3f5",
    panel="#e4e6ea",
    dark=False,
)
