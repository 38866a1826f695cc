"""What the loop hands to the store."""

from __future__ import annotations

from datetime import datetime

from skillgit.history.notes import NoteLine
from skillgit.history.run_state import CandidateScore, Phase, RunHead, RunState
from skillgit.records import Action, Record, Skill


class Entry(Record):
    """One moment of a run, complete: everything the store needs to make its commits and notes.

    `candidate` is the skill of the commit (`None`: the tree stays). A rejected candidate is
    followed by its revert in the same move. `lines` go on the (candidate's) commit,
    `object_lines` on the skill objects named. `finished_at` is the latest finish time of the
    paid calls; `None` when nothing was paid. `takes_back` are commits that are reverted first,
    the newest of them first.
    """

    run: RunHead
    step: int
    phase: Phase
    action: Action
    score: CandidateScore
    state: RunState
    candidate: Skill | None = None
    body: tuple[str, ...] = ()
    lines: tuple[NoteLine, ...] = ()
    object_lines: tuple[tuple[str, NoteLine], ...] = ()
    finished_at: datetime | None = None
    summary: str = ""
    takes_back: tuple[str, ...] = ()
