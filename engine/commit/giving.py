"""Giving back what was captured of somebody else's: kept first, then live again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from engine.commit.files import Files
from engine.storage.tree import Found

_TRIES: Final = 200
Spot = tuple[int, str]
"""An open folder and a name in it."""


def give_back(
    files: Files,
    path: str,
    hold: Spot,
    live: Spot,
    captured: Found,
    ours: str | None,
    keep: Callable[[Found], None],
) -> None:
    """Ours is live and theirs in the hold: swap until what comes back is what we put there.

    `keep` makes what the hold has durable under a name of its own. Of several who wrote meanwhile
    the last one stays live. Raises OSError.
    """
    put = ours
    for _ in range(_TRIES):
        keep(captured)
        theirs = captured.digest
        try:
            captured = files.publish(path, hold, live, replaces=True)
        except FileNotFoundError:  # ours was deleted: theirs goes back where it was
            with contextlib.suppress(FileExistsError):
                files.place(*hold, *live)
            return
        except FileExistsError:  # somebody was quicker: what they wrote stays
            return
        if captured.digest == put:
            return
        put = theirs
    keep(captured)
