"""The learning rate: how many edits a step may apply, and who decides that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from skillgit.config import LrConfig, LrMode
from skillgit.errors import CallError, ReplyError
from skillgit.prompting.answers import MISSING_IS_NULL, Answer, Text, Texts, known_or_null
from skillgit.prompting.prompts import Optimizer, Prompt
from skillgit.records import Edit, LearningRate, Record, Score, Skill
from skillgit.stages.rendering import NOTHING_YET, shown_edits, shown_skill
from skillgit.stages.schedule import build_scheduler

PURPOSE = "learning_rate"


class LearningRateFields(Record):
    """What the optimizer is shown: no usual number, no schedule, no earlier rates."""

    skill: str
    edits: str
    rollouts: str
    step_buffer: str
    meta_skill: str


Confidence = Annotated[
    Literal["low", "medium", "high"] | SkipJsonSchema[None],
    known_or_null("low", "medium", "high"),
    MISSING_IS_NULL,
]


class LearningRateDecision(Answer):
    """The optimizer's answer."""

    learning_rate: int = Field(ge=0, description="How many of the edits to make in this step.")
    reasoning: Text
    confidence: Confidence
    risk_notes: Texts = Field(description="What could go wrong with so many.")


LEARNING_RATE = Prompt("learning_rate", LearningRateFields, LearningRateDecision)


def scheduled_learning_rate(
    config: LrConfig, step: int, total_steps: int, available: int
) -> LearningRate:
    """The rate that needs no call: the schedule's at a step, or no limit with mode `none`."""
    if config.mode is LrMode.NONE:
        return LearningRate(
            learning_rate=None,
            available_update_items=available,
            reasoning="all edits, by lr.mode none",
        )
    rate = build_scheduler(config.scheduler, config.max, config.min, total_steps)(step)
    return LearningRate(
        learning_rate=min(rate, available),
        raw_learning_rate=rate,
        available_update_items=available,
        clamped=rate > available,
        reasoning=f"{config.scheduler} schedule, step {step} of {total_steps}",
    )


def decide_autonomous_learning_rate(
    edits: Sequence[Edit],
    skill: Skill,
    optimizer: Optimizer,
    *,
    rollout_score: Score | None,
    n_rollouts: int,
    step_buffer: str,
    meta_skill: str,
) -> LearningRate:
    """The rate that the optimizer decides on, clamped to the number of edits at hand.

    Without a usable answer it is 0, with `fallback`: the step then makes no edit. Of no edits
    nothing is asked.
    Raises: BlockedError, BudgetError.
    """
    available = len(edits)
    if not edits:
        return LearningRate(
            learning_rate=0, available_update_items=0, reasoning="there is no edit to decide on"
        )
    fields = LearningRateFields(
        skill=shown_skill(skill),
        edits=shown_edits(edits),
        rollouts=_shown_rollouts(rollout_score, n_rollouts),
        step_buffer=step_buffer or NOTHING_YET,
        meta_skill=meta_skill or NOTHING_YET,
    )
    try:
        answered = optimizer.ask(LEARNING_RATE, fields, purpose=PURPOSE, slot="decision")
    except (ReplyError, CallError) as error:
        return LearningRate(
            learning_rate=0,
            available_update_items=available,
            fallback=True,
            reasoning=f"no usable decision: {error}",
            raw_response=error.text if isinstance(error, ReplyError) else "",
        )
    decision = answered.answer
    return LearningRate(
        learning_rate=min(decision.learning_rate, available),
        raw_learning_rate=decision.learning_rate,
        available_update_items=available,
        clamped=decision.learning_rate > available,
        confidence=decision.confidence,
        reasoning=decision.reasoning,
        risk_notes=tuple(decision.risk_notes),
        raw_response=answered.text,
    )


def _shown_rollouts(score: Score | None, n_rollouts: int) -> str:
    if score is None:
        return f"{n_rollouts} attempts, none of them scored."
    return f"{n_rollouts} attempts; hard {score.hard:.4g}, soft {score.soft:.4g} on average."
