"""All benches: every file in `work/`, by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.bench import work
from tests.bench.rounds import Figure


@dataclass(frozen=True, slots=True)
class Bench:
    """One bench: what it measures, at which sizes, and how."""

    what: str
    sizes: tuple[int, ...]
    large: tuple[int, ...]
    measure: Callable[[int, int], Iterable[Figure]]


def benches() -> dict[str, Bench]:
    """Name -> bench, by name. Imports each."""
    found: dict[str, Bench] = {}
    for each in sorted(pkgutil.iter_modules(work.__path__), key=lambda module: module.name):
        module = importlib.import_module(f"{work.__name__}.{each.name}")
        what = (module.__doc__ or "").split("\n", maxsplit=1)[0]
        found[each.name] = Bench(what, module.SIZES, module.LARGE, module.measure)
    return found
