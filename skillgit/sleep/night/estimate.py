"""The largest number of paid calls that a night can make, by role. Pure arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from skillgit.evaluation import rollout
from skillgit.records import Role, Task
from skillgit.sleep.night.plan import MAX_EDITS, MEMORY_STEP, Night


def most_calls(setup: Night) -> dict[Role, int]:
    """Calls of each role at most, from the beginning: baseline, two steps, and the fresh look."""
    config = setup.config
    steps = MEMORY_STEP if setup.plan.memory is not None else 1
    attempts = config.sleep.dream_rollouts
    n_train = len(setup.tasks.train) * attempts
    minibatches = 2 * math.ceil(n_train / config.train.minibatch_size) + 1
    calls = _attempts(setup, setup.tasks.val, config.gate.repeats * (steps + 2))
    calls += _attempts(setup, setup.tasks.train, attempts * steps)
    calls += _attempts(setup, setup.tasks.test, 2)
    asks = minibatches + math.ceil(minibatches / (config.train.merge_batch_size - 1)) + 3
    ranks = minibatches * MAX_EDITS > MAX_EDITS
    calls[Role.OPTIMIZER] += steps * (asks + ranks) + 1
    if config.sleep.dream_factor:
        calls[Role.OPTIMIZER] += len(setup.tasks.train)
    return {role: count for role, count in calls.items() if count}


def _attempts(setup: Night, tasks: Sequence[Task], times: int) -> Counter[Role]:
    return rollout.most_calls(setup.bench, tasks, times)
