"""Models and the journal of what they were paid for: everything that costs goes through here.

A new provider is one file, and one line in `PROVIDERS`. Each is imported when it is built, so
that a command which asks no model does not wait for an SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from skillgit.config import ModelConfig, Provider
from skillgit.ports import Clock, Model

__all__ = ["PROVIDERS", "Wiring", "build_model"]


@dataclass(frozen=True)
class Wiring:
    """What a provider gets beside its configuration; `api_key` is the key itself."""

    api_key: str | None
    clock: Clock
    workers: int


class Factory(Protocol):
    """Makes a model from its configuration."""

    def __call__(self, config: ModelConfig, wiring: Wiring) -> Model: ...


def _openai(config: ModelConfig, wiring: Wiring) -> Model:
    from skillgit.models.openai_chat import OpenAIChat

    return OpenAIChat(config, api_key=wiring.api_key, clock=wiring.clock, workers=wiring.workers)


def _simulated(config: ModelConfig, wiring: Wiring) -> Model:
    from skillgit.models.simulated import SimulatedModel

    return SimulatedModel(config.simulation, wiring.clock)


PROVIDERS: Mapping[Provider, Factory] = {
    Provider.OPENAI: _openai,
    Provider.SIMULATED: _simulated,
}


def build_model(config: ModelConfig, *, api_key: str | None, clock: Clock, workers: int) -> Model:
    """The model of one role, ready to be called from `workers` threads.

    `api_key` is the value behind `api_key_env`; none is sent when that is unset or empty.
    Raises: ConfigError for an address or key that cannot be one; BlockedError for no key where
    there has to be one.
    """
    return PROVIDERS[config.provider](config, Wiring(api_key, clock, workers))
