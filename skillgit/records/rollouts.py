"""Attempts at tasks, and their grades."""

from __future__ import annotations

from pydantic import Field

from skillgit.records.base import Record, UnitInterval
from skillgit.records.calls import Message, Usage
from skillgit.records.tasks import Task


class Rollout(Record):
    """The target's attempt at one task with one skill.

    `failure` says why there is no answer to judge (a time-out, a refused call); such a rollout
    is unscored, never 0. `files` are what a program wrote, by path.
    Unit: milliseconds.
    """

    task_id: str
    answer: str = ""
    trajectory: tuple[Message, ...] = ()
    usage: Usage = Usage()
    milliseconds: int = 0
    files: dict[str, str] = Field(default_factory=dict)
    failure: str | None = None


class Score(Record):
    """What one measurement of a task, or a mean of several, came to."""

    hard: UnitInterval
    soft: UnitInterval


class Grade(Record):
    """A judge's verdict on a rollout; `score` is `None` when it could not be judged.

    `reasons` are the single things that were missed, where a judge tells them apart; `reason`
    says all of it in one text.
    """

    score: Score | None
    reason: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """A success is a full score; anything below is a failure."""
        return self.score is not None and self.score.hard >= 1.0


class GradedRollout(Record):
    """A rollout with its task and its grade."""

    task: Task
    rollout: Rollout
    grade: Grade


class Measurements(Record):
    """An evaluated skill and its scores per task, by task key (16 hex of the task's content).

    A task is `None` when it was tried and could not be scored, and absent when it was not sent.
    """

    object_id: str
    scores: dict[str, Score | None]
