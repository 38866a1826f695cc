"""What the rest of a run takes in calls, tokens and money: at most, and likely. Pure arithmetic.

How long calls are is known from the journal, where there is one; else it is reckoned from the
texts. That is a guess, and is called one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import chain

from skillgit.config import Config, ModelConfig, TrainConfig
from skillgit.evaluation.wiring import judge_config
from skillgit.gate.guards.length import skill_tokens, tokens_in
from skillgit.judges import judge_asks
from skillgit.models.paid import cost_of
from skillgit.records import Record, Role, Task, Usage
from skillgit.training.current import is_refresh_due
from skillgit.training.estimate import most_calls, optimizer_calls, summed
from skillgit.training.state import Standing, Training

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


def estimate(setup: Training, standing: Standing | None, seen: Seen) -> Estimate:
    """What is to come of a run. `seen` are calls and their tokens by role, as the journal has them."""
    most, likely = most_calls(setup, standing), likely_calls(setup, standing)
    longest = {role: _longest(setup, role) for role in most}
    usual = {role: _usual(setup, role, seen) for role in likely}
    return Estimate(
        most=_costs(setup.config, most, longest),
        likely=_costs(setup.config, likely, usual),
        is_guess=any(role.value not in seen for role, n in likely.items() if n),
    )


def likely_calls(setup: Training, standing: Standing | None) -> dict[Role, int]:
    """Calls of each role as they are likely, from where the run stands to its end."""
    gate = setup.config.gate
    score = standing.state.current.score if standing else None
    failing = FAILING if score is None else 1 - score
    calls: Counter[Role] = Counter()
    share = gate.repeats * (CURTAILED if gate.enabled and gate.curtail else 1.0)
    if standing is None:
        calls += _attempts(setup.tasks.val, gate.repeats)
    for step in range((standing.step if standing else 0) + 1, setup.total_steps + 1):
        batches = setup.batches_of(step)
        calls += _attempts([*chain.from_iterable(batches)], 1.0)
        calls += _attempts(setup.tasks.val, share)
        cut = [_minibatches(len(batch), failing, setup.config.train) for batch in batches]
        calls[Role.OPTIMIZER] += optimizer_calls(setup, summed(cut))
        if gate.enabled and is_refresh_due(setup, setup.position(step)):
            calls += _attempts(setup.tasks.val, gate.repeats)
    calls += _epoch_ends(setup, standing)
    if not (standing and standing.ended):
        calls += _attempts(setup.tasks.test, 2.0)
        if gate.refresh_every and setup.config.target.samples:
            calls += _attempts(setup.tasks.val, gate.repeats)
    most = most_calls(setup, standing)
    return {role: min(n, most.get(role, n)) for role, n in calls.items()}


def _epoch_ends(setup: Training, standing: Standing | None) -> Counter[Role]:
    config = setup.config
    done = standing.step // setup.steps_per_epoch if standing else 1
    epochs = max(0, config.train.epochs - max(1, done))
    memories = config.slow_update.enabled + config.meta_skill.enabled
    calls: Counter[Role] = Counter()
    if not memories:
        return calls
    calls += _attempts(setup.tasks.train[: config.slow_update.samples], 2.0 * epochs)
    calls[Role.OPTIMIZER] += epochs * memories
    if config.slow_update.enabled:
        calls += _attempts(setup.tasks.val, epochs * config.gate.repeats)
    return calls


def _attempts(tasks: tuple[Task, ...] | list[Task], times: float) -> Counter[Role]:
    turns = sum(1 + len(task.turns) for task in tasks)
    judged = sum(judge_asks(task) is not None for task in tasks)
    return Counter({Role.TARGET: math.ceil(times * turns), Role.JUDGE: math.ceil(times * judged)})


def _minibatches(batch: int, failing: float, sizes: TrainConfig) -> list[int]:
    """How many minibatches of each kind a batch is cut into when such a share of it fails."""
    failed = round(batch * failing)
    groups = [math.ceil(failed / sizes.minibatch_size)]
    if not sizes.failure_only:
        groups.append(math.ceil((batch - failed) / sizes.minibatch_size))
    return groups


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
    if config.slow_update.enabled or config.meta_skill.enabled:
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
