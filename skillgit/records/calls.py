"""Calls to models and programs, and what they took."""

from __future__ import annotations

from enum import StrEnum

from pydantic import JsonValue

from skillgit.records.base import Record
from skillgit.records.tasks import ToolSpec


class Role(StrEnum):
    """Whose work a paid call is."""

    TARGET = "target"
    OPTIMIZER = "optimizer"
    JUDGE = "judge"


class Usage(Record):
    """Tokens that a call took, as the endpoint counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


class ToolCall(Record):
    """A model's wish to call a tool; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str = ""


class Speaker(StrEnum):
    """Who says a message, in the words of chat completions."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Message(Record):
    """One message of a conversation."""

    role: Speaker
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class ModelRequest(Record):
    """What is asked of a model, before it is fitted to what an endpoint takes.

    `answer_schema` is the JSON schema the answer has to fit; its `title` names the answer.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    answer_schema: dict[str, JsonValue] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


class PaidReply(Record):
    """What came back from something paid for.

    Unit: milliseconds.
    """

    usage: Usage = Usage()
    milliseconds: int = 0


class ModelReply(PaidReply):
    """A model's answer."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"


class PaidCall(Record):
    """Which paid call this is: with the request's hash, its key in the journal.

    `purpose` is the phase (`rollout`, `evaluate`, `reflect`, …), `slot` what tells its calls
    apart there (`t12/0/1`: task, repeat, turn; or a minibatch).
    """

    role: Role
    purpose: str
    slot: str
