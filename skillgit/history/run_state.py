"""Where a run stands: its positions, its head, and its commits read back."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from skillgit.records import Action, Metric, Record


class Phase(StrEnum):
    """The three kinds of moment at which a run commits, in their order within one step number."""

    STEP = "step"
    EPOCH = "epoch"
    END = "end"


class RunPosition(Record):
    """A moment of one run: note lines of the run itself from its own position on do not count."""

    run_id: str
    step: int
    phase: Phase = Phase.STEP

    def is_reached_by(self, step: int, phase: Phase) -> bool:
        """Whether a line written at `step` and `phase` of this run is not older than this."""
        order = list(Phase)
        return (step, order.index(phase)) >= (self.step, order.index(self.phase))


class Mark(Record):
    """A skill's standing in a run: its gate score (`None`: not measured), step and origin.

    Origins are `initial_skill`, `step_0012`, `slow_update_epoch_02`.
    """

    score: float | None
    step: int
    origin: str


class RunState(Record):
    """Where a run stands after a commit: its header `skillopt-state`, one line of JSON.

    Runs made before have it in the trailer `Skillopt-State`.
    """

    v: Literal[1] = 1
    run_id: str
    skill: str
    onto: str
    epoch: int
    current: Mark
    best: Mark
    metric: Metric
    edits: int = 0
    tokens: int = 0
    target: str
    run: str


class RunHead(Record):
    """What stands in a run's every commit and never changes: its name and its start."""

    name: str
    run_id: str
    skill: str
    onto: str
    base: str
    target: str
    run: str
    metric: Metric

    def begun(self, start: Mark, *, tokens: int = 0) -> RunState:
        """Where the run stands at its start: current and best are the skill as it was found."""
        return RunState(
            run_id=self.run_id,
            skill=self.skill,
            onto=self.onto,
            epoch=0,
            current=start,
            best=start,
            metric=self.metric,
            tokens=tokens,
            target=self.target,
            run=self.run,
        )


class RunCommit(Record):
    """A commit of a run, read back from its trailers and its state.

    `score` is what was measured, `bound` says that it is only an upper bound (validation was cut
    short), `None` is unmeasured.
    """

    id: str
    parent: str
    run: str
    step: int
    action: Action
    score: float | None
    bound: bool = False
    state: RunState
    subject: str
    time: datetime


class CandidateScore(Record):
    """The number on a commit: measured, an upper bound, or (with `None`) unmeasured."""

    score: float | None
    bound: bool = False


class Remeasured(Record):
    """What a version measures that was applied again to a changed text, whose score is `before`.

    Both are gate scores on val by `metric`, under the target of that fingerprint; `before` is
    `None` where nobody asked.
    """

    score: float
    before: float | None
    metric: Metric
    target: str
