"""The largest number of paid calls that the rest of a run can make, by role. Pure arithmetic."""

from __future__ import annotations

import math
from collections import Counter

from skillgit.records import Role
from skillgit.schedule import ends_epoch
from skillgit.standing import Standing, Training
from skillgit.train import batch_of


def most_calls(setup: Training, standing: Standing | None) -> dict[Role, int]:
    """Calls of each role at most, from where the run stands to its end, judges left out.

    Every step is taken to evaluate a candidate that nobody has measured yet, and every patch to
    need its merge.
    """
    calls: Counter[Role] = Counter()
    done = standing.step if standing else 0
    if standing is None:
        calls[Role.TARGET] += _rollouts(setup, "val")
    for step in range(done + 1, setup.total_steps + 1):
        batch = batch_of(setup, step)
        calls[Role.TARGET] += sum(setup.bench.environment.max_calls(task) for task in batch)
        calls[Role.TARGET] += _rollouts(setup, "val")
        calls[Role.OPTIMIZER] += _optimizer_calls(setup, len(batch))
    calls += _epoch_end_calls(setup, _epoch_ends_to_come(setup, standing))
    if standing and standing.state.current.score is None:
        calls[Role.TARGET] += _rollouts(setup, "val")
    if not (standing and standing.ended):
        calls[Role.TARGET] += 3 * _rollouts(setup, "test")
    return dict(calls)


def _epoch_ends_to_come(setup: Training, standing: Standing | None) -> int:
    """How many epochs' ends will look back; the first of a run has nothing to look back at."""
    if standing is None:
        return setup.config.train.epochs - 1
    closed = standing.step // setup.steps_per_epoch
    closed -= ends_epoch(standing.step, setup.steps_per_epoch) and not standing.epoch_closed
    return setup.config.train.epochs - max(closed, 1)


def _epoch_end_calls(setup: Training, epochs: int) -> Counter[Role]:
    """The comparison's two sides, an answer for each memory, and val for the guidance.

    Guidance is measured at once, or as current before the next gate: once for each epoch's end.
    """
    config = setup.config
    memories = config.slow_update.enabled + config.meta_skill.enabled
    calls: Counter[Role] = Counter()
    if not memories:
        return calls
    most = sorted(setup.bench.environment.max_calls(task) for task in setup.tasks.train)
    compared = sum(most[-config.slow_update.samples :])
    calls[Role.TARGET] = epochs * 2 * compared
    calls[Role.OPTIMIZER] = epochs * memories
    if config.slow_update.enabled:
        calls[Role.TARGET] += epochs * _rollouts(setup, "val")
    return calls


def _rollouts(setup: Training, split: str) -> int:
    tasks = {"val": setup.tasks.val, "test": setup.tasks.test}[split]
    return sum(setup.bench.environment.max_calls(task) for task in tasks)


def _optimizer_calls(setup: Training, batch: int) -> int:
    """Minibatches of failures and of successes, their merges, and one ranking."""
    sizes = setup.config.train
    if sizes.failure_only:
        minibatches = [math.ceil(batch / sizes.minibatch_size)]
    else:
        minibatches = max(
            (
                [math.ceil(f / sizes.minibatch_size), math.ceil((batch - f) / sizes.minibatch_size)]
                for f in range(batch + 1)
            ),
            key=sum,
        )
    merges = sum(merge_calls(n, sizes.merge_batch_size) for n in minibatches)
    final = 1 if all(minibatches) and len(minibatches) > 1 else 0
    return sum(minibatches) + merges + final + 1


def merge_calls(patches: int, merge_batch_size: int) -> int:
    """How many calls it takes to merge so many patches into one, so many at a time."""
    calls = 0
    while patches > 1:
        groups = [min(merge_batch_size, patches - i) for i in range(0, patches, merge_batch_size)]
        calls += sum(size > 1 for size in groups)
        patches = len(groups)
    return calls
