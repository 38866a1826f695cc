"""How a training goes: its steps, its learning rate, its memories, its gate."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from skillgit.config.budget import Count, Fraction
from skillgit.records import Metric, Record

RULE_ALIASES = {"pace": "betting"}
"""The gate rules that had another name before, by that name."""


class Scheduler(StrEnum):
    """The curve of the learning rate over a run."""

    CONSTANT = "constant"
    LINEAR = "linear"
    COSINE = "cosine"


class LrMode(StrEnum):
    """Who decides how many edits a step may apply."""

    FIXED = "fixed"
    AUTONOMOUS = "autonomous"
    NONE = "none"


class UpdateMode(StrEnum):
    """How proposals become a new text."""

    PATCH = "patch"
    REWRITE_FROM_SUGGESTIONS = "rewrite_from_suggestions"
    FULL_REWRITE_MINIBATCH = "full_rewrite_minibatch"


class PairPolicy(StrEnum):
    """Which pairs of a comparison are looked at."""

    MIXED = "mixed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class Leak(StrEnum):
    """What is done with a candidate that holds what only the tasks should."""

    WARN = "warn"
    REJECT = "reject"


class AppendixSource(StrEnum):
    """Which analysts may write notes on lapses."""

    BOTH = "both"
    FAILURE_ONLY = "failure_only"


class TrainConfig(Record):
    """The loop's sizes."""

    epochs: Count = 4
    """How many times the train tasks are gone through."""
    batch_size: Count = 40
    """How many train tasks one batch attempts."""
    accumulation: Count = 1
    """How many batches are attempted and reflected on before one update."""
    update_mode: UpdateMode = UpdateMode.PATCH
    """How proposals become a new text: `patch` applies edits one by one;
    `rewrite_from_suggestions` has the document rewritten from the selected edits;
    `full_rewrite_minibatch` has each reflection write the whole main document, and merges those."""
    minibatch_size: Count = 8
    """How many attempts one reflection looks at together."""
    merge_batch_size: Annotated[int, Field(ge=2)] = 8
    """How many patches are merged in one call."""
    failure_only: bool = False
    """Learn from failures alone, not from what went well."""
    seed: int = 42
    """What the order of tasks, and the seeds of requests, are drawn from."""
    workers: Count = 16
    """How many calls are in flight at once, at most."""
    stop_when_perfect: bool = True
    """End the run once every val task passes: no candidate could rise above that. With `[gate]
    refresh_every`, or with `--force`, it goes on."""


class ReflectConfig(Record):
    """What an analyst is shown, and what it may write.

    Unit: `max_chars` in characters, for one trajectory.
    """

    max_chars: Annotated[int, Field(ge=200)] = 12_000
    """How much of one attempt a reflection is shown; the middle is cut. Unit: characters."""
    skill_aware: bool = False
    """Tell defects of the skill, which edits mend, from lapses in following it, which a note in
    the skill's protected appendix reminds of."""
    appendix_source: AppendixSource = AppendixSource.BOTH
    """Which reflections may write such notes: those on failures and on successes, or on failures
    alone."""
    appendix_max: Count = 12
    """The most notes the appendix has; when there would be more, they are consolidated."""


class LrConfig(Record):
    """The learning rate, in edits a step."""

    mode: LrMode = LrMode.FIXED
    """How the number of edits a step may apply is decided: by the schedule (`fixed`), by the
    optimizer (`autonomous`), or not at all (`none`: all of them)."""
    scheduler: Scheduler = Scheduler.COSINE
    """The curve that falls from `max` at the first step to `min` at the last."""
    max: Count = 4
    """The most edits a step may apply, and the most one reflection may propose."""
    min: Count = 2
    """The fewest edits that the schedule comes down to."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


class SlowUpdateConfig(Record):
    """The look over a whole epoch. Unit: `max_chars` in characters, for one trajectory."""

    enabled: bool = True
    """At an epoch's end, write guidance into the skill's protected region."""
    samples: Count = 20
    """How many train tasks are attempted with the skill before and after the epoch."""
    gate: bool = False
    """Judge the guidance as a step is judged; `false` has training go on from it, and measures
    it before the next step is judged."""
    pair_policy: PairPolicy = PairPolicy.MIXED
    """Which pairs are looked at: all, only those whose result changed, or only the others."""
    max_chars: Annotated[int, Field(ge=200)] = 3_000
    """How much of one attempt is shown; the middle is cut. Unit: characters."""


class MetaSkillConfig(Record):
    """The optimizer's own memory."""

    enabled: bool = True
    """At an epoch's end, write down which kinds of edit work here; the next epoch reads it."""


class GateConfig(Record):
    """When a candidate is kept."""

    enabled: bool = True
    """Keep a candidate only if it measures better; `false` keeps every one."""
    metric: Metric = Metric.HARD
    """Which score is compared: all checks pass, the share that passes, or a mix of both."""
    mixed_weight: Fraction = 0.5
    """The weight of the soft score in `mixed`."""
    rule: str = "strict"
    """The rule that decides."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """How often luck may pass for a gain: of an equal candidate with `paired`, in a whole run
    with `betting`."""
    min_delta: Fraction = 0.0
    """What a candidate's score has to be above current's by more than."""
    no_regression: bool | Fraction = False
    """Reject a candidate under which any task falls: `true` by however little, a number by more
    than that."""
    repeats: Count = 1
    """How often each val task is attempted; its score is the mean."""
    curtail: bool = True
    """Stop measuring a candidate once it can no longer be accepted; the verdict is the same."""
    refresh_every: Annotated[int, Field(ge=0)] = 0
    """Measure current again before judging at every n-th step, if the target samples, and pool
    its scores; 0 never does."""
    max_unscored: Fraction = 0.2
    """The share of val tasks that may go unscored before a step counts as blocked."""
    leak: Leak = Leak.WARN
    """What to do with a candidate that holds a `regex` check, a task's reference, or a task's
    own words: mark it in its note (`warn`), or reject it unmeasured (`reject`)."""

    @field_validator("rule")
    @classmethod
    def _by_its_name_of_today(cls, rule: str) -> str:
        return RULE_ALIASES.get(rule, rule)

    @property
    def tolerance(self) -> float | None:
        """How far a task may fall; `None` for however far."""
        if self.no_regression is False:
            return None
        return float(self.no_regression) if self.no_regression is not True else 0.0
