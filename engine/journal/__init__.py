"""The journal: what a run looks like on disk, and reading it back.

The state folder of a store holds bytes under their SHA-256 (`objects`), one folder a run (`runs`),
the plans that wait (`plans`), what others were seen to write (`observations`, `look`) and which
runs were removed to save space (`collected`). A run's `intent` is written once and is the decision;
a `done` beside it says that nothing is left to do. Everything here reads; `engine.commit` writes.
"""

from __future__ import annotations

from engine.journal.collected import (
    COLLECTED,
    collected,
    collected_damage,
    newest,
    number,
    state_size,
    with_collected,
)
from engine.journal.lines import whole
from engine.journal.observations import (
    LOOK,
    OBSERVATIONS,
    UNKNOWN,
    Look,
    Observation,
    Row,
    dump_look,
    dump_observation,
    last_look,
    observation_damage,
    observations,
)
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
    is_digest,
    is_inside,
    is_run_id,
    load_intent,
    seal,
    unseal,
)
from engine.journal.standing import applied, earlier, find, freed, taken_back, undone_by

__all__ = [
    "COLLECTED",
    "FORMAT",
    "LOOK",
    "OBSERVATIONS",
    "UNKNOWN",
    "ActionRecord",
    "Attributes",
    "Damaged",
    "LogState",
    "Look",
    "Observation",
    "Row",
    "Run",
    "RunKind",
    "RunState",
    "Step",
    "applied",
    "collected",
    "collected_damage",
    "damage",
    "dump_intent",
    "dump_look",
    "dump_observation",
    "earlier",
    "find",
    "freed",
    "is_digest",
    "is_inside",
    "is_run_id",
    "last_look",
    "load_intent",
    "newest",
    "number",
    "observation_damage",
    "observations",
    "read_file",
    "read_object",
    "read_run",
    "run_folder",
    "run_ids",
    "runs",
    "seal",
    "state_path",
    "state_size",
    "taken_back",
    "undone_by",
    "unseal",
    "whole",
    "with_collected",
]
