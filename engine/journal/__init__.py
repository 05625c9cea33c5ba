"""The journal: what a run looks like on disk, and reading it back.

The state folder of a store holds bytes under their SHA-256 (`objects`), one folder a run (`runs`)
and the plans that wait (`plans`). A run's `intent` is written once and is the decision; a `done`
beside it says that nothing is left to do. Everything here reads; `engine.commit` writes.
"""

from __future__ import annotations

from engine.journal.reading import (
    damage,
    read_file,
    read_object,
    read_run,
    run_folder,
    run_ids,
    runs,
    state_path,
)
from engine.journal.records import (
    FORMAT,
    ActionRecord,
    Attributes,
    Damaged,
    LogState,
    Run,
    RunKind,
    RunState,
    Step,
    dump_intent,
    is_inside,
    load_intent,
    seal,
    unseal,
)
from engine.journal.standing import applied, earlier, find, freed, taken_back, undone_by

__all__ = [
    "FORMAT",
    "ActionRecord",
    "Attributes",
    "Damaged",
    "LogState",
    "Run",
    "RunKind",
    "RunState",
    "Step",
    "applied",
    "damage",
    "dump_intent",
    "earlier",
    "find",
    "freed",
    "is_inside",
    "load_intent",
    "read_file",
    "read_object",
    "read_run",
    "run_folder",
    "run_ids",
    "runs",
    "seal",
    "state_path",
    "taken_back",
    "undone_by",
    "unseal",
]
