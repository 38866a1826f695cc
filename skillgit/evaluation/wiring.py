"""The bench of a configuration: the target in its environment, and a judge for every task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from skillgit.config import Config, ModelConfig
from skillgit.environments.registry import EnvironmentResources, build_environment, environment_kind
from skillgit.evaluation.rollout import Evaluator
from skillgit.judges import Asks, JudgeResources, build_judge, judge_asks, judge_identity
from skillgit.models import build_model
from skillgit.ports import Clock, Model
from skillgit.records import Role, Task
from skillgit.runtime.progress import Progress
from skillgit.tasks import task_key


def _trusts_nothing(command: Sequence[str]) -> bool:
    return not command


@dataclass(frozen=True)
class Runtime:
    """What only the command line may read, and hands in.

    `prompts` are the texts by name; programs see those of `variables` that are named for them and
    run for the work tree `root`, a judge's only if `may_run` trusts it. `stand_ins` answer for a
    role in place of the model that is configured.
    """

    key_of: Callable[[Role, ModelConfig], str | None]
    clock: Clock
    prompts: Mapping[str, str]
    progress: Progress
    variables: Mapping[str, str] = field(default_factory=dict)
    root: str | None = None
    may_run: Callable[[Sequence[str]], bool] = _trusts_nothing
    stand_ins: Mapping[Role, Model] = field(default_factory=dict)


def open_bench(config: Config, tasks: Sequence[Task], runtime: Runtime) -> Evaluator:
    """The bench for some tasks; a judge model is only built when one of them asks for it.

    Raises: ConfigError, TaskError; what `key_of` raises for a missing key.
    """
    resources = _judge_resources(config, tasks, runtime)
    target = None
    if environment_kind(config.target).needs_model:
        target = role_model(config, Role.TARGET, runtime)
    environment = build_environment(
        config.target,
        EnvironmentResources(
            clock=runtime.clock, model=target, variables=runtime.variables, root=runtime.root
        ),
    )
    return Evaluator(
        environment=environment,
        judges={task.id: build_judge(task, resources) for task in tasks},
        keys={task.id: task_key(task, judge_identity(task, resources)) for task in tasks},
        workers=config.train.workers
        if any(judge_asks(task) is not None for task in tasks)
        else workers_for(config, Role.TARGET, runtime),
        seed=config.train.seed,
        progress=runtime.progress,
    )


def workers_for(config: Config, role: Role, runtime: Runtime) -> int:
    """How many calls of a role to have in flight.

    One where nothing ever waits: threads would only get in each other's way.
    """
    model = _config_of(config, role)
    return 1 if model.never_waits and role not in runtime.stand_ins else config.train.workers


def judge_config(config: Config) -> ModelConfig:
    """The model that judges by rubrics: its own, or the optimizer's."""
    return config.judge or config.optimizer


def _config_of(config: Config, role: Role) -> ModelConfig:
    configs = {Role.TARGET: config.target, Role.OPTIMIZER: config.optimizer}
    return configs.get(role, judge_config(config))


def role_model(config: Config, role: Role, runtime: Runtime) -> Model:
    """The model of a role, ready to be asked.

    Raises: ConfigError; what `key_of` raises for a missing key.
    """
    if role in runtime.stand_ins:
        return runtime.stand_ins[role]
    model = _config_of(config, role)
    return build_model(
        model,
        api_key=runtime.key_of(role, model),
        clock=runtime.clock,
        workers=config.train.workers,
    )


def _judge_resources(config: Config, tasks: Sequence[Task], runtime: Runtime) -> JudgeResources:
    asks_model = any(judge_asks(task) is Asks.MODEL for task in tasks)
    model = judge_config(config)
    return JudgeResources(
        model=role_model(config, Role.JUDGE, runtime) if asks_model else None,
        model_name=model.model,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        prompts=runtime.prompts,
        clock=runtime.clock,
        root=runtime.root,
        variables=runtime.variables,
        may_run=runtime.may_run,
    )
