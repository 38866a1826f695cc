"""What a run writes down: states, steps and note lines, as the store keeps them.

The header of a run's commit carries a `RunState`; its note carries a `StepNote` or one of its siblings; a
skill object's note carries `ScoresLine` and `RejectedLine`. All are read back by resume.
"""

from __future__ import annotations

from skillgit.history.notes import (
    AppendixRecord,
    ConfigNote,
    Costs,
    Entry,
    NightNote,
    NoteLine,
    Refresh,
    RejectedLine,
    ReportNote,
    ScoresLine,
    StepNote,
    TestNote,
    TurnedDownNote,
)
from skillgit.history.run_state import (
    CandidateScore,
    Mark,
    Phase,
    Remeasured,
    RunCommit,
    RunHead,
    RunPosition,
    RunState,
)

__all__ = [
    "AppendixRecord",
    "CandidateScore",
    "ConfigNote",
    "Costs",
    "Entry",
    "Mark",
    "NightNote",
    "NoteLine",
    "Phase",
    "Refresh",
    "RejectedLine",
    "Remeasured",
    "ReportNote",
    "RunCommit",
    "RunHead",
    "RunPosition",
    "RunState",
    "ScoresLine",
    "StepNote",
    "TestNote",
    "TurnedDownNote",
]
