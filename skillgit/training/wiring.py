"""A run put together from its parts: the one place that knows every room.

The command line and the nights build a `TrainingContext` from what only they may read (keys, clock,
project files) and open runs in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from skillgit.config import Config
from skillgit.evaluation.rollout import Evaluator
from skillgit.evaluation.wiring import Runtime, open_bench, role_model, workers_for
from skillgit.gate import gate_rule
from skillgit.models.journal import Journal
from skillgit.ports import Clock, Paid, Rule
from skillgit.prompting.prompts import Optimizer
from skillgit.records import Role
from skillgit.store.git_store import GitStore
from skillgit.tasks import TaskSet


@dataclass(frozen=True)
class TrainingContext:
    """Everything that runs of one skill share. `prompts` are the texts by name."""

    config: Config
    tasks: TaskSet
    store: GitStore
    evaluator: Evaluator
    rule: Rule
    journal: Journal
    clock: Clock
    prompts: Mapping[str, str]
    optimizer_model: Callable[[Paid], Optimizer]


def is_simulated(config: Config) -> bool:
    """Whether no call of this configuration leaves the process."""
    return not any(m.kind.leaves_process for m in (config.target, config.optimizer))


def rule_of(config: Config) -> Rule:
    """The gate's rule.

    Raises: ConfigError when there is none of that name.
    """
    return gate_rule(config.gate.rule).decide


def open_training_context(
    config: Config, tasks: TaskSet, store: GitStore, journal: Journal, runtime: Runtime
) -> TrainingContext:
    """Build the models, the judges and the bench of a configuration.

    Raises: ConfigError, TaskError; what `key_of` raises for a missing key.
    """
    rule = rule_of(config)
    evaluator = open_bench(config, tasks.tasks, runtime)
    optimizer = role_model(config, Role.OPTIMIZER, runtime)

    def asked_with(paid: Paid) -> Optimizer:
        return Optimizer(
            model=optimizer,
            model_name=config.optimizer.model,
            paid=paid,
            texts=runtime.prompts,
            seed=config.train.seed,
            temperature=config.optimizer.temperature,
            max_tokens=config.optimizer.max_tokens,
            workers=workers_for(config, Role.OPTIMIZER, runtime),
        )

    return TrainingContext(
        config=config,
        tasks=tasks,
        store=store,
        evaluator=evaluator,
        rule=rule,
        journal=journal,
        clock=runtime.clock,
        prompts=runtime.prompts,
        optimizer_model=asked_with,
    )
