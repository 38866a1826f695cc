"""Chat completions as JSON ↔ requests and replies."""

from __future__ import annotations

import json
from typing import cast

from pydantic import JsonValue, ValidationError

from skillgit.errors import ReplyError
from skillgit.records import Message, ModelReply, ModelRequest, Record, Speaker, ToolCall, ToolSpec
from skillgit.records.canonical import fingerprint

Json = dict[str, JsonValue]


class WireFunction(Record, extra="ignore"):
    """A function as an endpoint is told of it, or as a model calls it."""

    name: str
    description: str | None = None
    parameters: Json | None = None
    arguments: str = ""


class WireTool(Record, extra="ignore"):
    """A tool offered, or a call of one."""

    id: str = ""
    function: WireFunction


class WirePart(Record, extra="ignore"):
    """One part of a message whose content is a list."""

    text: str = ""


class WireMessage(Record, extra="ignore"):
    """One message, its content a text or a list of parts."""

    role: str
    content: str | tuple[WirePart, ...] | None = None
    tool_calls: tuple[WireTool, ...] | None = None
    tool_call_id: str | None = None

    def message(self) -> Message:
        """The message in our own words; `developer` is the newer name of `system`."""
        content = self.content or ""
        text = content if isinstance(content, str) else "".join(part.text for part in content)
        return Message(
            role=Speaker("system" if self.role == "developer" else self.role),
            content=text,
            tool_calls=tuple(
                ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
                for call in self.tool_calls or ()
            ),
            tool_call_id=self.tool_call_id,
        )


class WireRequest(Record, extra="ignore"):
    """What an endpoint is asked."""

    model: str
    messages: tuple[WireMessage, ...]
    tools: tuple[WireTool, ...] | None = None
    response_format: Json | None = None
    temperature: float | None = None
    seed: int | None = None


def request_from_wire(body: Json) -> ModelRequest:
    """The request in a body.

    Raises: ReplyError when the body is not a chat completions request.
    """
    try:
        asked = WireRequest.model_validate(body)
        return ModelRequest(
            model=asked.model,
            messages=tuple(message.message() for message in asked.messages),
            tools=tuple(
                ToolSpec(
                    name=tool.function.name,
                    description=tool.function.description or "",
                    parameters=tool.function.parameters or {},
                )
                for tool in asked.tools or ()
            ),
            answer_schema=schema_of(asked.response_format),
            temperature=asked.temperature,
            seed=asked.seed,
        )
    except (ValidationError, ValueError) as error:
        raise ReplyError(f"not a chat completions request: {error}") from error


def response_format_kind(body: Json) -> str | None:
    """The kind of answer a body insists on: `json_schema`, `json_object`, or `None`."""
    asked = body.get("response_format")
    kind = asked.get("type") if isinstance(asked, dict) else None
    return kind if isinstance(kind, str) and kind != "text" else None


def schema_of(response_format: Json | None) -> Json | None:
    """The schema a response format carries, in either of the two places in use."""
    if response_format is None:
        return None
    named = response_format.get("json_schema")
    schema = named.get("schema") if isinstance(named, dict) else response_format.get("schema")
    if not isinstance(schema, dict):
        return None
    if isinstance(named, dict) and "title" not in schema:
        return {**schema, "title": named.get("name", "")}
    return schema


def reply_to_wire(request: ModelRequest, reply: ModelReply, *, created: int) -> Json:
    """The response body for a reply. Unit: `created` in seconds since 1970."""
    message: Json = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.tool_calls
        ]
    usage = reply.usage
    return {
        "id": f"chatcmpl-simulated-{fingerprint([request.model, reply.text], digits=12)}",
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "system_fingerprint": "simulated",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": reply.finish_reason,
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.total,
        },
    }


def dump(value: Json) -> bytes:
    """A body's bytes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def load_object(body: bytes) -> Json:
    """The JSON object in a body.

    Raises: ReplyError when there is none.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ReplyError("the body is not a JSON object")
    return cast("Json", value)
