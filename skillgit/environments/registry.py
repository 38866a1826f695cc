"""Which environments there are. A new one is a module, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skillgit.config import ModelConfig, Provider
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


ENVIRONMENTS: Mapping[str, Callable[[ModelConfig, EnvironmentResources], Environment]] = {
    "chat": _chat,
    "command": _command,
}


def build_environment(config: ModelConfig, resources: EnvironmentResources) -> Environment:
    """The environment of a target: a program of its own, or a chat with its model."""
    name = "command" if config.provider is Provider.COMMAND else "chat"
    return ENVIRONMENTS[name](config, resources)
