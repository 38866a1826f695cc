"""Chat completions as the simulated server reads and writes them.

What client and server have in common is in `skillgit.models.wire`.
"""

from __future__ import annotations

import json
from typing import cast

from pydantic import JsonValue

from skillgit.errors import ReplyError
from skillgit.models.wire import calls_from_wire, calls_to_wire, text_from_wire
from skillgit.records import Message, ModelReply, ModelRequest, ToolSpec
from skillgit.records.canonical import fingerprint

Json = dict[str, JsonValue]


def request_from_wire(body: Json) -> ModelRequest:
    """The request in a body.

    Raises: ReplyError when the body is not a chat completions request.
    """
    try:
        return ModelRequest.model_validate(
            {
                "model": body.get("model"),
                "messages": [_message(message) for message in _objects(body.get("messages"))],
                "tools": [_tool(tool) for tool in _objects(body.get("tools") or [])],
                "answer_schema": schema_of(body.get("response_format")),
                "temperature": body.get("temperature"),
                "seed": body.get("seed"),
            }
        )
    except ValueError as error:
        raise ReplyError(f"not a chat completions request: {error}") from error


def _objects(value: JsonValue) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("messages and tools are lists of objects")
    return cast("list[Json]", value)


def _message(message: Json) -> Message:
    """The message in a request; `developer` is the newer name of `system`."""
    role = message.get("role")
    return Message.model_validate(
        {
            "role": "system" if role == "developer" else role,
            "content": text_from_wire(message.get("content")) or "",
            "tool_calls": tuple(calls_from_wire(message.get("tool_calls"))),
            "tool_call_id": message.get("tool_call_id"),
        }
    )


def _tool(tool: Json) -> ToolSpec:
    function = tool.get("function")
    told = function if isinstance(function, dict) else {}
    return ToolSpec.model_validate(
        {
            "name": told.get("name"),
            "description": told.get("description") or "",
            "parameters": told.get("parameters") or {},
        }
    )


def response_format_kind(body: Json) -> str | None:
    """The kind of answer a body insists on: `json_schema`, `json_object`, or `None`."""
    asked = body.get("response_format")
    kind = asked.get("type") if isinstance(asked, dict) else None
    return kind if isinstance(kind, str) and kind != "text" else None


def schema_of(response_format: JsonValue) -> Json | None:
    """The schema a response format carries, in either of the two places in use."""
    if not isinstance(response_format, dict):
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
        message["tool_calls"] = calls_to_wire(reply.tool_calls)
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
