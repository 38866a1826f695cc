"""How nights go."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from skillgit.config.budget import Count
from skillgit.config.training import GateConfig
from skillgit.records import Metric, Record


class Miner(StrEnum):
    """What turns sessions into tasks."""

    HEURISTIC = "heuristic"
    LLM = "llm"


class NightOptimizer(StrEnum):
    """Who writes a night's edits."""

    MODEL = "model"
    HANDOFF = "handoff"


class NightGateConfig(GateConfig):
    """A night's gate: a training's, with another score by default."""

    metric: Metric = Metric.MIXED
    """Which score is compared: all checks pass, the share that passes, or a mix of both."""


class SleepConfig(Record):
    """What is learned from a person's own agent sessions, and when it is kept.

    In the file, the gate's keys stand among the others.
    """

    gate: NightGateConfig = NightGateConfig()
    """When what a night wrote is kept."""
    projects: tuple[str, ...] = ()
    """The folders whose sessions are looked at, seen from the repository's root; without any, the
    work trees of this repository; `"*"` is all."""
    sources: tuple[str, ...] = ("claude-code", "codex")
    """Whose transcripts are read: `claude-code`, `codex`, `atif`, `neutral`; `name:FOLDER` reads
    them from there."""
    miner: Miner = Miner.HEURISTIC
    """What turns sessions into tasks: `heuristic` asks no model, `llm` asks the optimizer."""
    max_tasks: Count = 40
    """The most tasks that a file of mined tasks has, and that a night goes by."""
    optimizer: NightOptimizer = NightOptimizer.MODEL
    """Who writes a night's edits: the optimizer (`model`), or whoever answers the questions that
    are written to a private folder (`handoff`), for example your own coding agent."""
    dream_rollouts: Count = 1
    """How often a night attempts each train task; from 2 on, good and bad attempts are compared."""
    dream_factor: Annotated[int, Field(ge=0)] = 0
    """How many made-up variants of each train task a night adds to it."""
    recall_k: Annotated[int, Field(ge=0)] = 0
    """How many similar train tasks of earlier nights a night brings back for each of its own."""
    stack: bool = False
    """Build a night on the last proposal that you have not decided on, in place of `onto`."""

    @model_validator(mode="before")
    @classmethod
    def _gate_keys_stand_among_its_own(cls, keys: Any) -> Any:
        """A key that is not a night's own is its gate's, which refuses those that nobody knows."""
        if not isinstance(keys, dict) or isinstance(keys.get("gate"), GateConfig):
            return keys
        own = {name: keys[name] for name in cls.model_fields if name != "gate" and name in keys}
        return {**own, "gate": {name: keys[name] for name in keys if name not in own}}
