"""The simulated target: a canned answer that obeys what it recognises in its system prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from skillgit.config import SimulationConfig
from skillgit.models.simulated.chance import luck
from skillgit.models.simulated.drafts import canned_draft, subject_of
from skillgit.models.simulated.obedience import follow, obeyed, rule_lines
from skillgit.models.simulated.schemas import instance
from skillgit.records import Message, ModelReply, ModelRequest, Speaker, ToolCall, ToolSpec
from skillgit.records.canonical import fingerprint


def answer(request: ModelRequest, config: SimulationConfig) -> ModelReply:
    """The target's next message."""
    system = _texts(request.messages, Speaker.SYSTEM)
    prompts = _texts(request.messages, Speaker.USER)
    task = "\n\n".join(prompts)
    results = _results_since_last_prompt(request.messages)
    if not results:
        for tool in request.tools:
            if _is_called(tool, system, task, request.seed, config):
                return ModelReply(tool_calls=(_call(tool, task),), finish_reason="tool_calls")
    freshness = fingerprint([message.model_dump(mode="json") for message in request.messages])
    rules = obeyed("\n\n".join(system), task, request.seed, freshness, config)
    draft = canned_draft(prompts[-1] if prompts else "", extra=" ".join(results))
    return ModelReply(text=follow(draft, rules))


def _texts(messages: Sequence[Message], role: Speaker) -> list[str]:
    return [message.content for message in messages if message.role is role]


def _results_since_last_prompt(messages: Sequence[Message]) -> list[str]:
    results: list[str] = []
    for message in messages:
        if message.role is Speaker.USER:
            results = []
        elif message.role is Speaker.TOOL:
            results.append(message.content)
    return results


def _is_called(
    tool: ToolSpec, system: Sequence[str], task: str, seed: int | None, config: SimulationConfig
) -> bool:
    """Whether the skill tells to use the tool and the target listens."""
    told = re.compile(
        rf"(?i)\b(?:use|using|call|calling|run|query|consult|invoke|with)\b[^.\n]*"
        rf"(?<!\w){re.escape(tool.name)}(?!\w)"
    )
    lines = (line for text in system for line in rule_lines(text))
    asked = any(
        told.search(line) and not re.match(r"(?i)(?:never|do not|don['’]t|avoid)\b", line)
        for line in lines
    )
    return asked and luck("obey", task, "tool", tool.name, seed) < config.obedience


def _call(tool: ToolSpec, task: str) -> ToolCall:
    arguments: JsonValue = instance(tool.parameters, text=subject_of(task))
    return ToolCall(
        id=f"call_{fingerprint([tool.name, task], digits=12)}",
        name=tool.name,
        arguments=json.dumps(arguments if isinstance(arguments, dict) else {}),
    )
