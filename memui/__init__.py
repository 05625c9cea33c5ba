"""memui: the terminal program by which a person stays in charge of what agents remember."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
