"""Which tasks a step sees and how many edits it may apply: pure functions of the step's number."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from skillgit.config import Scheduler
from skillgit.records.canonical import slot_seed

ItemT = TypeVar("ItemT")


def build_scheduler(
    mode: Scheduler | str, max_lr: int = 4, min_lr: int = 2, total_steps: int = 1
) -> Callable[[int], int]:
    """The learning rate as a function of the 1-based step number.

    Progress is step / total_steps, so the first step has already moved and the last one is
    `min_lr`; a run of one step uses `max_lr`.

    Raises: ValueError for an unknown mode or bounds out of order.
    Source: SkillOpt's edit budget schedules.
    """
    curve = _CURVES[Scheduler(mode)]
    if not 0 <= min_lr <= max_lr:
        raise ValueError(f"min_lr {min_lr} and max_lr {max_lr} are out of order")

    def learning_rate(step: int) -> int:
        if total_steps <= 1:
            return max_lr
        share = curve(min(step / total_steps, 1.0))
        return max(min_lr, round(min_lr + (max_lr - min_lr) * share))

    return learning_rate


_CURVES: dict[Scheduler, Callable[[float], float]] = {
    Scheduler.CONSTANT: lambda _: 1.0,
    Scheduler.LINEAR: lambda t: 1.0 - t,
    Scheduler.COSINE: lambda t: (1.0 + math.cos(math.pi * t)) / 2.0,
}


def steps_per_epoch(train_size: int, batch_size: int, accumulation: int = 1) -> int:
    """How many steps see every train task once; the last may see fewer."""
    return math.ceil(train_size / (batch_size * accumulation))


def epoch_of(step: int, per_epoch: int) -> int:
    """The 1-based epoch of a 1-based step; step 0 belongs to epoch 0."""
    return math.ceil(step / per_epoch)


def ends_epoch(step: int, per_epoch: int) -> bool:
    """Whether an epoch is complete after this step."""
    return step > 0 and step % per_epoch == 0


def batches_at(
    step: int, train_ids: Sequence[str], *, batch_size: int, accumulation: int = 1, seed: int = 42
) -> tuple[tuple[str, ...], ...]:
    """The task ids that a step rolls out: whatever the order they are given in, the same ones.

    Each epoch is a new shuffle of all train tasks, cut in order.

    Shape: up to `accumulation` batches of up to `batch_size` ids.
    """
    per_epoch = steps_per_epoch(len(train_ids), batch_size, accumulation)
    shuffled = sorted(train_ids)
    random.Random(slot_seed(seed, "epoch", epoch_of(step, per_epoch))).shuffle(shuffled)  # noqa: S311 - a reproducible shuffle, no secret
    start = (step - 1) % per_epoch * batch_size * accumulation
    mine = shuffled[start : start + batch_size * accumulation]
    return tuple(in_batches(mine, batch_size))


def in_batches(items: Sequence[ItemT], size: int) -> list[tuple[ItemT, ...]]:
    """The items cut in order.

    Shape: batches of `size`, the last perhaps smaller.
    """
    return [tuple(items[start : start + size]) for start in range(0, len(items), size)]
