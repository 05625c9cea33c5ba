"""`python -m tests.screenshots`: pictures of every screen at three sizes, made from the demo.

Textual draws SVG; Debian's chromium turns it into PNG (other converters lose the fonts' widths).
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final
from unittest.mock import patch

from engine.plans import open_plan
from engine.store import open_store
from memui.app import Memui
from memui.demo import PLAN, build

FOLDER: Final = Path(__file__).parents[1] / "screenshots"
DEMO: Final = Path("/tmp/demo")
SIZES: Final = ((80, 24), (120, 40), (200, 50))
SHOTS: Final = {
    "review": ["down", "down"],
    "block": [*["down"] * 5, "right_square_bracket", "space"],
    "agent": ["down", "down", "T"],
    "apply": ["A", "P"],
    "browse": ["1", "down", "down"],
    "history": ["A", "P", "y", "wait", "enter", "3"],
}
"""Name -> the keys that lead there from the review of the demo's plan."""


async def shoot(name: str, size: tuple[int, int], svg: Path) -> None:
    """One picture, on a demo of its own."""
    DEMO.mkdir()  # the pictures show it: a name of its own that is nobody's
    try:
        root = build(str(DEMO))
        app = Memui(root, opened=open_plan(open_store(root), str(DEMO / PLAN)))
        async with app.run_test(size=size) as pilot:
            await pilot.pause(0.5)
            for key in SHOTS[name]:
                if key == "wait":
                    await pilot.pause(0.5)
                else:
                    await pilot.press(key)
                await pilot.pause(0.3)
            svg.write_text(app.export_screenshot(title="memui"))
    finally:
        shutil.rmtree(DEMO)


def convert(svg: Path, size: tuple[int, int]) -> None:
    """An SVG as PNG beside it, by chromium."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--disable-background-networking", f"--user-data-dir={profile}"),
                f"--window-size={round(size[0] * 12.2) + 20},{round(size[1] * 24.4) + 62}",
                f"--screenshot={svg.with_suffix('.png')}",
                svg.as_uri(),
            ],
            check=True,
            capture_output=True,
        )


def main() -> None:
    """Make them all."""
    FOLDER.mkdir(exist_ok=True)
    for name in SHOTS:
        for size in SIZES:
            svg = FOLDER / f"{name}-{size[0]}x{size[1]}.svg"
            with patch("memui.app.who", return_value="sam@laptop"):
                asyncio.run(shoot(name, size, svg))
            if shutil.which("chromium"):
                convert(svg, size)
                svg.unlink()


if __name__ == "__main__":
    main()
