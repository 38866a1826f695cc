"""The learning rate: how many edits a step may apply."""

from __future__ import annotations

from skillgit.config import LrConfig
from skillgit.records import LearningRate
from skillgit.schedule import build_scheduler


def scheduled_learning_rate(
    config: LrConfig, step: int, total_steps: int, available: int
) -> LearningRate:
    """The schedule's rate at a step, clamped to the number of edits at hand."""
    rate = build_scheduler(config.scheduler, config.max, config.min, total_steps)(step)
    return LearningRate(
        learning_rate=min(rate, available),
        raw_learning_rate=rate,
        available_update_items=available,
        clamped=rate > available,
        reasoning=f"{config.scheduler} schedule, step {step} of {total_steps}",
    )
