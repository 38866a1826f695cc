"""Chat completions as bytes: a request in the form an endpoint takes, and a body read back.

Pure. What is read comes from anyone's server, so every field is looked at before it is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from skillgit.models.endpoint import AnswerForm, LimitForm, RequestForm, Sending
from skillgit.records import Message, ModelReply, ModelRequest, Speaker, ToolCall, ToolSpec, Usage

EMPTY_ENDINGS = ("length", "content_filter")


class BodyError(Exception):
    """A body that is no chat completion. `code` is the status it carries inside, if any."""

    def __init__(self, message: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


def to_payload(request: ModelRequest, request_form: RequestForm) -> dict[str, JsonValue]:
    """The body of a request, with only what this form sends."""
    payload: dict[str, JsonValue] = {
        "model": request.model,
        "messages": [_message(message) for message in _messages(request, request_form)],
    }
    if request.tools:
        payload["tools"] = [_tool(tool) for tool in request.tools]
    if request.answer_schema is not None and request_form.answer is not AnswerForm.FREE:
        payload["response_format"] = _response_format(request.answer_schema, request_form.answer)
    if request.max_tokens is not None and request_form.limit is not LimitForm.UNSENT:
        payload[request_form.limit.name.lower()] = request.max_tokens
    if request.temperature is not None and request_form.temperature is Sending.SENT:
        payload["temperature"] = request.temperature
    if request.seed is not None and request_form.seed is Sending.SENT:
        payload["seed"] = request.seed
    return payload


def _messages(request: ModelRequest, request_form: RequestForm) -> tuple[Message, ...]:
    if request_form.answer in (AnswerForm.OBJECT, AnswerForm.FREE):
        return with_schema(request)
    return request.messages


def with_schema(request: ModelRequest) -> tuple[Message, ...]:
    """The messages, the last with the answer's schema in words, for where nothing else carries it."""
    if request.answer_schema is None or not request.messages:
        return request.messages
    *before, last = request.messages
    if _has_schema(last.content, request.answer_schema):
        return request.messages
    schema = json.dumps(request.answer_schema, ensure_ascii=False)
    told = f"{last.content.rstrip()}\n\n{_ANSWER}\n\n```json\n{schema}\n```\n"
    return (*before, last.model_copy(update={"content": told}))


_ANSWER = "Answer with one JSON object and nothing else. It fits this schema:"


def _has_schema(text: str, schema: dict[str, JsonValue]) -> bool:
    """Whether a project's own prompt has put the schema into its text."""
    title = schema.get("title")
    return isinstance(title, str) and f'"title": "{title}"' in text


def _message(message: Message) -> dict[str, JsonValue]:
    sent: dict[str, JsonValue] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        sent["content"] = message.content or None
        sent["tool_calls"] = calls_to_wire(message.tool_calls)
    if message.role is Speaker.TOOL:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def calls_to_wire(calls: Iterable[ToolCall]) -> list[JsonValue]:
    """Tool calls as a message carries them."""
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in calls
    ]


def _tool(tool: ToolSpec) -> dict[str, JsonValue]:
    parameters: dict[str, JsonValue] = tool.parameters or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
        },
    }


def _response_format(schema: dict[str, JsonValue], form: AnswerForm) -> dict[str, JsonValue]:
    if form is AnswerForm.OBJECT:
        return {"type": "json_object"}
    if form is AnswerForm.OBJECT_WITH_SCHEMA:
        return {"type": "json_object", "schema": schema}
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", str(schema.get("title", "")))[:64] or "answer"
    strict = form is AnswerForm.STRICT_SCHEMA
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": schema, "strict": strict},
    }


def read_reply(body: bytes, *, milliseconds: int) -> ModelReply:
    """The answer in a body.

    Content that is null is an empty answer when the reply was cut off or filtered, and a broken
    body otherwise; a refusal's text is the answer.
    Raises: BodyError.
    """
    completion = _completion(body)
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BodyError("the reply has no choices")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BodyError("the reply has no message")
    finish_reason = choice.get("finish_reason")
    ending = clean_text(finish_reason) if isinstance(finish_reason, str) else "stop"
    tool_calls = tuple(calls_from_wire(message.get("tool_calls")))
    text = text_from_wire(message.get("content"))
    if text is None:
        text = text_from_wire(message.get("refusal"))
    if text is None and not tool_calls and ending not in EMPTY_ENDINGS:
        raise BodyError("the reply has no content")
    return ModelReply(
        text=text or "",
        tool_calls=tool_calls,
        finish_reason=ending,
        usage=_usage(completion.get("usage")),
        milliseconds=milliseconds,
    )


def error_text(body: bytes) -> tuple[str, str]:
    """What a server says went wrong, and its code for it (empty if it gives none)."""
    text = clean_text(body.decode("utf-8", "replace"))
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if not isinstance(parsed, dict):
        return text, ""
    return _described(parsed, text)


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced, so that nothing that stores it raises later."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _completion(body: bytes) -> dict[str, JsonValue]:
    try:
        parsed = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise BodyError("the reply is not JSON") from error
    if not isinstance(parsed, dict):
        raise BodyError("the reply is not a JSON object")
    if parsed.get("error") and not parsed.get("choices"):
        text, code = _described(parsed, "")
        raise BodyError(text, code=int(code) if code.isascii() and code.isdigit() else None)
    return parsed


def _described(parsed: dict[str, JsonValue], whole: str) -> tuple[str, str]:
    inner = parsed.get("error", parsed)
    if isinstance(inner, str):
        return clean_text(inner), str(parsed.get("code") or "")
    if not isinstance(inner, dict):
        return whole, ""
    said = inner.get("message") or inner.get("detail") or whole or inner
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=True)
    param = inner.get("param")
    if isinstance(param, str) and param not in text:
        text = f"{text} ({param})"
    code = inner.get("code") or inner.get("type") or ""
    return clean_text(text), clean_text(str(code))


def text_from_wire(content: JsonValue) -> str | None:
    """Content as text: a string, or the text parts of a list joined; `None` if there is none."""
    if isinstance(content, str):
        return clean_text(content)
    if not isinstance(content, list):
        return None
    parts: list[str] = []
    for part in content:
        said = part.get("text") if isinstance(part, dict) else part
        if isinstance(said, str):
            parts.append(said)
    return clean_text("".join(parts))


def calls_from_wire(calls: JsonValue) -> Iterator[ToolCall]:
    """The tool calls in a message."""
    if not isinstance(calls, list):
        return
    for number, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        yield ToolCall(
            id=clean_text(str(call.get("id") or f"call_{number}")),
            name=clean_text(str(function.get("name") or "")),
            arguments=clean_text(arguments or ""),
        )


def _usage(usage: JsonValue) -> Usage:
    counted = usage if isinstance(usage, dict) else {}
    return Usage(
        prompt_tokens=_count(counted.get("prompt_tokens")),
        completion_tokens=_count(counted.get("completion_tokens")),
    )


def _count(value: JsonValue) -> int:
    return value if type(value) is int and value > 0 else 0
