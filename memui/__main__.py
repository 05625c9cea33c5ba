"""`python -m memui`."""

from __future__ import annotations

import sys

from memui.cli import run

if __name__ == "__main__":
    sys.exit(run())
