"""Which environments there are. A new one is a module, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from skillgit.config import ModelConfig
from skillgit.environments.chat import ChatEnvironment
from skillgit.environments.command import CommandEnvironment
from skillgit.errors import ConfigError
from skillgit.ports import Clock, Environment, Model


@dataclass(frozen=True)
class EnvironmentResources:
    """What environments need from outside.

    `model` is for chats; a command runs for the work tree `root` and sees those of `variables`
    that the configuration names.
    """

    clock: Clock
    model: Model | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    root: str | None = None


def _chat(config: ModelConfig, resources: EnvironmentResources) -> Environment:
    if resources.model is None:
        raise ConfigError("the target needs a model to talk to")
    return ChatEnvironment(resources.model, config)


def _command(config: ModelConfig, resources: EnvironmentResources) -> Environment:
    return CommandEnvironment(
        config, clock=resources.clock, variables=resources.variables, root=resources.root
    )


class EnvironmentKind(NamedTuple):
    """An environment: how it is built, and what it needs: a model to talk to, a program to run."""

    build: Callable[[ModelConfig, EnvironmentResources], Environment]
    needs_model: bool
    runs_program: bool


ENVIRONMENTS: dict[str, EnvironmentKind] = {
    "chat": EnvironmentKind(_chat, needs_model=True, runs_program=False),
    "command": EnvironmentKind(_command, needs_model=False, runs_program=True),
}


def environment_kind(config: ModelConfig) -> EnvironmentKind:
    """The environment of a target: the one it names, or its provider's.

    Raises: ConfigError when there is none of that name, or it needs what the provider has not.
    """
    name = config.environment or config.kind.environment
    if name not in ENVIRONMENTS:
        raise ConfigError(
            f"target.environment: there is no environment {name!r}",
            hint=f"The environments are: {', '.join(ENVIRONMENTS)}.",
        )
    kind = ENVIRONMENTS[name]
    # Only a provider's program has been agreed to.
    if kind.runs_program and not config.kind.runs_program:
        raise ConfigError(
            f"target.environment: {name!r} runs a program, and provider {config.provider!r} has none"
        )
    if kind.needs_model and config.kind.build is None:
        raise ConfigError(
            f"target.environment: {name!r} needs a model, and provider {config.provider!r} has none"
        )
    return kind


def build_environment(config: ModelConfig, resources: EnvironmentResources) -> Environment:
    """The environment of a target, ready for its tasks.

    Raises: ConfigError.
    """
    return environment_kind(config).build(config, resources)
