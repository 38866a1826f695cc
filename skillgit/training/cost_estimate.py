"""What the rest of a run takes in calls, tokens and money: at most, and likely. Pure arithmetic.

How long calls are is known from the journal, where there is one; else it is reckoned from the
texts. That is a guess, and is called one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from skillgit.config import Config, LrMode, ModelConfig, TrainConfig, UpdateMode
from skillgit.evaluation import rollout
from skillgit.evaluation.wiring import judge_config
from skillgit.gate.guards.length import skill_tokens, tokens_in
from skillgit.models.paid import cost_of
from skillgit.records import Record, Role, Task, Usage
from skillgit.stages.schedule import ends_epoch
from skillgit.training.current import MOST_AT_THE_END, is_refresh_due
from skillgit.training.state import Training, TrainingState

CURTAILED = 0.75
"""The share of a validation that is run where it may be cut short, as benchmarks/gate.py has it."""
FAILING = 0.5
"""The share of a batch that fails, as long as nothing was measured."""
PROMPT = 1_500
"""About what a prompt of ours takes beside what it quotes. Unit: tokens."""
ANSWERS = {Role.TARGET: 400, Role.OPTIMIZER: 600, Role.JUDGE: 150}
"""About how long an answer is, as long as none was seen. Unit: tokens."""
LONGEST_ANSWERS = {Role.TARGET: 4_096, Role.OPTIMIZER: 8_192, Role.JUDGE: 2_048}
"""How long an answer is at most, where the config sets no limit. Unit: tokens."""

Seen = Mapping[str, tuple[int, Usage]]


class Costs(Record):
    """Calls and tokens by role, and what the tokens cost; `usd` is `None` without prices."""

    calls: dict[Role, int]
    tokens: dict[Role, int]
    usd: float | None


class Estimate(Record):
    """What the rest of a run takes; `is_guess` says that no call of a kind it needs was ever seen."""

    most: Costs
    likely: Costs
    is_guess: bool


def estimate(setup: Training, state: TrainingState | None, seen: Seen) -> Estimate:
    """What is to come of a run. `seen` are calls and their tokens by role, as the journal has them."""
    most, likely = most_calls(setup, state), likely_calls(setup, state)
    longest = {role: _longest(setup, role) for role in most}
    usual = {role: _usual(setup, role, seen) for role in likely}
    return Estimate(
        most=_costs(setup.config, most, longest),
        likely=_costs(setup.config, likely, usual),
        is_guess=any(role.value not in seen for role, n in likely.items() if n),
    )


def most_calls(setup: Training, state: TrainingState | None) -> dict[Role, int]:
    """Calls of each role at most, from where the run stands to its end.

    Every step is taken to evaluate a candidate that nobody has measured yet, and every patch to
    need its merge.
    """
    return dict(calls_to_come(setup, state, most_price(setup)))


def likely_calls(setup: Training, state: TrainingState | None) -> dict[Role, int]:
    """Calls of each role as they are likely, from where the run stands to its end."""
    most = most_calls(setup, state)
    calls = calls_to_come(setup, state, _likely_price(setup, state))
    return {role: min(n, most.get(role, n)) for role, n in calls.items()}


# ── one walk over what is left of a run, and the prices that it is reckoned with ─────────────


@dataclass(frozen=True)
class Price:
    """What the parts of a schedule are taken to cost.

    `attempts` prices tasks that are each attempted so often, `minibatches` says how many
    minibatches of each kind a batch is cut into. `rollouts` is how often a step attempts each of
    its tasks, `validated` the share of a validation that is run, `compared` the train tasks that
    an epoch's end compares, `confirmed` how many versions a run's end measures once more on val,
    and `tested` how many it measures on test.
    """

    attempts: Callable[[Sequence[Task], float], Counter[Role]]
    minibatches: Callable[[int], list[int]]
    compared: Sequence[Task]
    confirmed: int
    tested: int
    rollouts: int = 1
    validated: float = 1.0


def calls_to_come(setup: Training, state: TrainingState | None, price: Price) -> Counter[Role]:
    """The calls of each role from where a run stands to its end, at some price."""
    gate = setup.config.gate
    val = price.attempts(setup.tasks.val, gate.repeats)
    validation = price.attempts(setup.tasks.val, gate.repeats * price.validated)
    calls: Counter[Role] = Counter()
    if state is None or state.current.score is None:
        calls += val
    for step in setup.steps_after(state.step if state else 0):
        batches = setup.batches_of(step)
        calls += price.attempts([*chain.from_iterable(batches)], price.rollouts) + validation
        cut = [price.minibatches(len(batch) * price.rollouts) for batch in batches]
        calls[Role.OPTIMIZER] += optimizer_calls(setup, summed(cut))
        if gate.enabled and is_refresh_due(setup, setup.position(step)):
            calls += val
    calls += _epoch_end_calls(setup, _epoch_ends_to_come(setup, state), price)
    if not (state and state.ended):
        calls += price.attempts(setup.tasks.test, price.tested)
        calls += price.attempts(setup.tasks.val, price.confirmed * gate.repeats)
    return calls


def most_price(setup: Training) -> Price:
    """The price at which nothing can be dearer."""
    dearest = sorted(setup.tasks.train, key=setup.evaluator.environment.max_calls)
    sizes = setup.config.train
    return Price(
        attempts=lambda tasks, times: rollout.most_calls(setup.evaluator, tasks, math.ceil(times)),
        minibatches=lambda batch: _most_minibatches(batch, sizes),
        compared=dearest[-setup.config.slow_update.samples :],
        confirmed=MOST_AT_THE_END if _confirms_best(setup) else 0,
        tested=3,
    )


def _likely_price(setup: Training, state: TrainingState | None) -> Price:
    gate, sizes = setup.config.gate, setup.config.train
    score = state.current.score if state else None
    failing = FAILING if score is None else 1 - score
    return Price(
        attempts=lambda tasks, times: _likely_attempts(setup, tasks, times),
        minibatches=lambda batch: _minibatches(batch, failing, sizes),
        compared=setup.tasks.train[: setup.config.slow_update.samples],
        confirmed=1 if _confirms_best(setup) else 0,
        tested=2,
        validated=CURTAILED if gate.enabled and gate.curtail else 1.0,
    )


def _confirms_best(setup: Training) -> bool:
    return bool(setup.config.gate.refresh_every) and setup.config.target.samples


def _likely_attempts(setup: Training, tasks: Sequence[Task], times: float) -> Counter[Role]:
    turns = sum(1 + len(task.turns) for task in tasks)
    judged = sum(task.id in setup.evaluator.pays_judge for task in tasks)
    return Counter({Role.TARGET: math.ceil(times * turns), Role.JUDGE: math.ceil(times * judged)})


def _epoch_ends_to_come(setup: Training, state: TrainingState | None) -> int:
    """How many epochs' ends will look back; the first of a run has nothing to look back at."""
    if state is None:
        return setup.config.train.epochs - 1
    closed = state.step // setup.steps_per_epoch
    closed -= ends_epoch(state.step, setup.steps_per_epoch) and not state.epoch_closed
    return setup.config.train.epochs - max(closed, 1)


def _epoch_end_calls(setup: Training, epochs: int, price: Price) -> Counter[Role]:
    """The comparison's two sides, an answer for each memory, and val for the guidance.

    Guidance is measured at once, or as current before the next gate: once for each epoch's end.
    """
    config = setup.config
    memories = config.looks_back.slow_update + config.looks_back.meta_skill
    calls: Counter[Role] = Counter()
    if not memories:
        return calls
    calls += price.attempts(price.compared, 2 * epochs)
    calls[Role.OPTIMIZER] += epochs * memories
    if config.looks_back.slow_update:
        calls += price.attempts(setup.tasks.val, epochs * config.gate.repeats)
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


def _minibatches(batch: int, failing: float, sizes: TrainConfig) -> list[int]:
    """How many minibatches of each kind a batch is cut into when such a share of it fails."""
    failed = round(batch * failing)
    groups = [math.ceil(failed / sizes.minibatch_size)]
    if not sizes.failure_only:
        groups.append(math.ceil((batch - failed) / sizes.minibatch_size))
    return groups


def _most_minibatches(batch: int, sizes: TrainConfig) -> list[int]:
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


# ── how long calls are ───────────────────────────────────────────────────────────────────────


def _usual(setup: Training, role: Role, seen: Seen) -> Usage:
    calls, usage = seen.get(role.value, (0, Usage()))
    if calls:
        return Usage(
            prompt_tokens=math.ceil(usage.prompt_tokens / calls),
            completion_tokens=math.ceil(usage.completion_tokens / calls),
        )
    skill, task = skill_tokens(setup.start), _task_tokens(setup)
    answer = ANSWERS[role]
    trajectory = min(task + ANSWERS[Role.TARGET], setup.config.reflect.max_chars // 4)
    prompt = {
        Role.TARGET: skill + task,
        Role.OPTIMIZER: PROMPT + skill + setup.config.train.minibatch_size * trajectory,
        Role.JUDGE: PROMPT + task + ANSWERS[Role.TARGET],
    }[role]
    return Usage(prompt_tokens=prompt, completion_tokens=answer)


def _longest(setup: Training, role: Role) -> Usage:
    """The longest call: the skill at its budget or twice as long as now, the longest texts."""
    config = setup.config
    skill = config.skill.max_tokens or 2 * skill_tokens(setup.start) + PROMPT
    task = max((_tokens_of(task) for task in setup.tasks.tasks), default=0)
    answer = _model(config, role).max_tokens or LONGEST_ANSWERS[role]
    target_answer = config.target.max_tokens or LONGEST_ANSWERS[Role.TARGET]
    turns = max((1 + len(task.turns) for task in setup.tasks.tasks), default=1)
    shown = config.train.minibatch_size * config.reflect.max_chars // 4
    if config.looks_back.slow_update or config.looks_back.meta_skill:
        compared = 2 * config.slow_update.samples * config.slow_update.max_chars // 4
        shown = max(shown, skill + compared)
    prompt = {
        Role.TARGET: skill + task + (turns - 1) * target_answer,
        Role.OPTIMIZER: 4 * PROMPT + 2 * skill + shown,
        Role.JUDGE: PROMPT + task + target_answer,
    }[role]
    return Usage(prompt_tokens=prompt, completion_tokens=answer)


def _model(config: Config, role: Role) -> ModelConfig:
    if role is Role.JUDGE:
        return judge_config(config)
    return config.target if role is Role.TARGET else config.optimizer


def _task_tokens(setup: Training) -> int:
    tasks = setup.tasks.tasks
    return math.ceil(sum(map(_tokens_of, tasks)) / len(tasks)) if tasks else 0


def _tokens_of(task: Task) -> int:
    text = "\n".join((task.system, task.context, task.prompt, *task.turns))
    return tokens_in(text.encode("utf-8", "replace"))


def _costs(config: Config, calls: Mapping[Role, int], each: Mapping[Role, Usage]) -> Costs:
    usage = {
        role: Usage(
            prompt_tokens=n * each[role].prompt_tokens,
            completion_tokens=n * each[role].completion_tokens,
        )
        for role, n in calls.items()
        if n
    }
    prices = config.budget.prices
    priced = prices.target is not None and prices.optimizer is not None
    return Costs(
        calls={role: n for role, n in calls.items() if n},
        tokens={role: used.total for role, used in usage.items()},
        usd=cost_of({role.value: used for role, used in usage.items()}, prices) if priced else None,
    )
