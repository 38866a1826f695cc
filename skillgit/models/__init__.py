"""Models and the journal of what they were paid for: everything that costs goes through here.

A new provider is one file, and one entry in `skillgit.config.providers`. Each is imported when it is
built, so that a command which asks no model does not wait for an SDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from skillgit.config import ModelConfig
from skillgit.errors import ConfigError
from skillgit.ports import Clock, Model

__all__ = ["Wiring", "build_model"]


@dataclass(frozen=True)
class Wiring:
    """What a provider gets beside its configuration; `api_key` is the key itself."""

    api_key: str | None
    clock: Clock
    workers: int


class Factory(Protocol):
    """Makes a model from its configuration."""

    def __call__(self, config: ModelConfig, wiring: Wiring) -> Model: ...


def build_openai(config: ModelConfig, wiring: Wiring) -> Model:
    """A model behind an OpenAI-compatible server."""
    from skillgit.models.openai_chat import OpenAIChat

    return OpenAIChat(config, api_key=wiring.api_key, clock=wiring.clock, workers=wiring.workers)


def build_simulated(config: ModelConfig, wiring: Wiring) -> Model:
    """The simulated model, in this process."""
    from skillgit.models.simulated import SimulatedModel

    return SimulatedModel(config.simulation, wiring.clock)


def build_model(config: ModelConfig, *, api_key: str | None, clock: Clock, workers: int) -> Model:
    """The model of one role, ready to be called from `workers` threads.

    `api_key` is the value behind `api_key_env`; none is sent when that is unset or empty.
    Raises: ConfigError for an address or key that cannot be one, or a provider without models; BlockedError for no key where
    there has to be one.
    """
    if config.kind.build is None:
        raise ConfigError(f"provider {config.provider!r} is a program, not a model to talk to")
    module, _, name = config.kind.build.partition(":")
    factory = cast("Factory", getattr(import_module(module), name))
    return factory(config, Wiring(api_key, clock, workers))
