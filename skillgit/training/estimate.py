"""The largest number of paid calls that the rest of a run can make, by role. Pure arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from skillgit.config import LrMode, TrainConfig, UpdateMode
from skillgit.evaluation import rollout
from skillgit.records import Role, Task
from skillgit.stages.schedule import ends_epoch
from skillgit.training.current import MOST_AT_THE_END, is_refresh_due
from skillgit.training.state import Standing, Training


def most_calls(setup: Training, standing: Standing | None) -> dict[Role, int]:
    """Calls of each role at most, from where the run stands to its end.

    Every step is taken to evaluate a candidate that nobody has measured yet, and every patch to
    need its merge.
    """
    calls: Counter[Role] = Counter()
    done = standing.step if standing else 0
    val = _attempts(setup, setup.tasks.val, setup.config.gate.repeats)
    if standing is None:
        calls += val
    for step in range(done + 1, setup.total_steps + 1):
        batches = setup.batches_of(step)
        calls += _attempts(setup, chain.from_iterable(batches)) + val
        cut = [_minibatches(len(batch), setup.config.train) for batch in batches]
        calls[Role.OPTIMIZER] += optimizer_calls(setup, summed(cut))
        if setup.config.gate.enabled and is_refresh_due(setup, setup.position(step)):
            calls += val
    calls += _epoch_end_calls(setup, _epoch_ends_to_come(setup, standing))
    if standing and standing.state.current.score is None:
        calls += val
    if not (standing and standing.ended):
        calls += _attempts(setup, setup.tasks.test, 3)
        if setup.config.gate.refresh_every and setup.config.target.samples:
            calls += _attempts(setup, setup.tasks.val, MOST_AT_THE_END * setup.config.gate.repeats)
    return dict(calls)


def _attempts(setup: Training, tasks: Iterable[Task], times: int = 1) -> Counter[Role]:
    return rollout.most_calls(setup.bench, tasks, times)


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
    dearest = sorted(setup.tasks.train, key=setup.bench.environment.max_calls)
    calls += _attempts(setup, dearest[-config.slow_update.samples :], 2 * epochs)
    calls[Role.OPTIMIZER] += epochs * memories
    if config.slow_update.enabled:
        calls += _attempts(setup, setup.tasks.val, epochs * config.gate.repeats)
    return calls


def summed(cut: Sequence[Sequence[int]]) -> list[int]:
    """The minibatches of several batches together, of each kind."""
    return [sum(kind) for kind in zip(*cut, strict=True)]


def optimizer_calls(setup: Training, minibatches: Sequence[int]) -> int:
    """The calls of one step: so many minibatches, their merges, one ranking, what a mode adds.

    Shape: `minibatches` are those of failures, and those of successes if they are looked at.
    """
    config = setup.config
    calls = sum(minibatches) + (config.lr.mode is LrMode.AUTONOMOUS) + config.reflect.skill_aware
    if config.train.update_mode is UpdateMode.FULL_REWRITE_MINIBATCH:
        return calls + merge_calls(sum(minibatches), config.train.merge_batch_size)
    if config.train.update_mode is UpdateMode.REWRITE_FROM_SUGGESTIONS:
        calls += len(setup.start.documents)
    merges = sum(merge_calls(n, config.train.merge_batch_size) for n in minibatches)
    final = 1 if all(minibatches) and len(minibatches) > 1 else 0
    return calls + merges + final + 1


def _minibatches(batch: int, sizes: TrainConfig) -> list[int]:
    """How many minibatches of each kind a batch can be cut into at most."""
    if sizes.failure_only:
        return [math.ceil(batch / sizes.minibatch_size)]
    return max(
        (
            [math.ceil(f / sizes.minibatch_size), math.ceil((batch - f) / sizes.minibatch_size)]
            for f in range(batch + 1)
        ),
        key=sum,
    )


def merge_calls(patches: int, merge_batch_size: int) -> int:
    """How many calls it takes to merge so many patches into one, so many at a time."""
    calls = 0
    while patches > 1:
        groups = [min(merge_batch_size, patches - i) for i in range(0, patches, merge_batch_size)]
        calls += sum(size > 1 for size in groups)
        patches = len(groups)
    return calls
