"""Verdicts."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, Self, TypeVar

from pydantic import model_validator

from skillgit.records.base import Record

SkillT = TypeVar("SkillT")


class Metric(StrEnum):
    """Which score the gate compares."""

    HARD = "hard"
    SOFT = "soft"
    MIXED = "mixed"


class Action(StrEnum):
    """What a commit of a run stands for: a verdict, or one of the run's own marks."""

    BASELINE = "baseline"
    ACCEPT_NEW_BEST = "accept_new_best"
    ACCEPT = "accept"
    REJECT = "reject"
    SKIP = "skip"
    NOOP = "noop"
    FORCE_ACCEPT = "force_accept"
    REJECT_UNVERIFIED = "reject_unverified"
    REVERT = "revert"
    EPOCH = "epoch"
    END = "end"

    @property
    def accepted(self) -> bool:
        """Whether training goes on from the candidate."""
        return self in (Action.ACCEPT_NEW_BEST, Action.ACCEPT, Action.FORCE_ACCEPT)

    @property
    def rejected(self) -> bool:
        """Whether the candidate is followed by its revert."""
        return self in (Action.REJECT, Action.REJECT_UNVERIFIED)


class GateResult(Record, Generic[SkillT]):
    """The gate's decision: what training goes on from, and what is best, after it."""

    action: Action
    current_skill: SkillT
    current_score: float
    best_skill: SkillT
    best_score: float
    best_step: int

    @model_validator(mode="after")
    def _only_a_gates_verdict(self) -> Self:
        if self.action not in (Action.ACCEPT_NEW_BEST, Action.ACCEPT, Action.REJECT):
            raise ValueError(f"a gate does not say {self.action.value!r}")
        return self
