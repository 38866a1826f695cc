"""The engine behind both doors: one request in, one reply out, the role told by the model's name."""

from __future__ import annotations

from skillgit.config import SimulationConfig
from skillgit.errors import BlockedError
from skillgit.models.simulated import optimizer, target
from skillgit.models.simulated.obedience import CHARACTERS_PER_TOKEN
from skillgit.ports import Clock
from skillgit.records import ModelReply, ModelRequest, Usage

TARGET = "sim-target"
OPTIMIZER = "sim-optimizer"

MODEL_NAMES = (TARGET, OPTIMIZER)
"""A name that starts with one of these has its role: `sim-target-small` is a target as well."""


class SimulatedModel:
    """Both roles in process, deterministic: equal requests get equal replies.

    It is a simulation. It stands in for a model in demos, tests and benchmarks, and says nothing
    about any real one.
    """

    def __init__(self, config: SimulationConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock

    def complete(self, request: ModelRequest) -> ModelReply:
        """The simulated model's answer.

        Raises: BlockedError for a model name without a role.
        """
        if self._config.latency_ms:
            self._clock.sleep(self._config.latency_ms / 1000)
        reply = respond(request, self._config)
        return reply.model_copy(update={"milliseconds": round(self._config.latency_ms)})


def respond(request: ModelRequest, config: SimulationConfig) -> ModelReply:
    """The reply to a request, with tokens estimated at four characters each.

    Raises: BlockedError for a model name without a role.
    """
    if request.model.startswith(TARGET):
        reply = target.answer(request, config)
    elif request.model.startswith(OPTIMIZER):
        reply = optimizer.answer(request)
    else:
        raise BlockedError(
            f"the simulated model has no model {request.model!r}",
            hint=f"use a name that starts with one of: {', '.join(MODEL_NAMES)}",
        )
    asked = sum(len(message.content) for message in request.messages)
    said = len(reply.text) + sum(len(call.arguments) + len(call.name) for call in reply.tool_calls)
    usage = Usage(prompt_tokens=_tokens(asked), completion_tokens=_tokens(said))
    return reply.model_copy(update={"usage": usage})


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
