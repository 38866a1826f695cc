"""What a program prints as its attempt at a task: the answer, or a whole rollout as JSON.

An answer that only asks to log in is refused: it says nothing about the skill.
"""

from __future__ import annotations

import json
import re

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from skillgit.errors import BlockedError, CallError
from skillgit.records import Message, Speaker, ToolCall, Usage
from skillgit.runtime.processes import CommandReply

_LONGEST_LOGIN_MESSAGE = 300
_LOGIN_MESSAGE = re.compile(
    r"(?:not (?:currently )?(?:logged|signed) in\b"
    r"|you(?:['’]re| are) not (?:logged|signed) in\b"
    r"|(?:invalid|incorrect|missing|expired|no) api key\b"
    r"|(?:oauth|access|auth(?:entication)?) token (?:has |is )?(?:been )?(?:revoked|expired|invalid)"
    r"|(?:api error: ?)?401\b.{0,200}(?:authenticat|api[ -]?key|unauthori[sz]ed)"
    r"|(?:your )?credit balance is too low)"
    r"|(?:.{0,200}\b)?(?:please )?run:? [`'\"]?(?:/login|[\w-]+(?: auth)? login)[`'\"]?(?: .{0,80})?\.?$",
    re.IGNORECASE,
)


class AgentReply(BaseModel):
    """A rollout as a program prints it; fields that we do not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    answer: str
    trajectory: tuple[Message, ...] = ()
    tokens: Usage = Usage()
    files: dict[str, str] = Field(default_factory=dict)

    @field_validator("trajectory", mode="before")
    @classmethod
    def _messages(cls, value: JsonValue) -> JsonValue:
        if not isinstance(value, list):
            return value
        return [_message(item) if isinstance(item, dict) else item for item in value]

    @field_validator("tokens", mode="before")
    @classmethod
    def _usage(cls, value: JsonValue) -> JsonValue:
        """A number is the tokens of the answer; `prompt` and `completion` may be short."""
        if isinstance(value, int) and not isinstance(value, bool):
            value = {"completion": value}
        if not isinstance(value, dict):
            return value
        found: dict[str, JsonValue] = {}
        for name in ("prompt", "completion"):
            count = value.get(f"{name}_tokens", value.get(name, 0))
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise ValueError("tokens are whole numbers")
            found[f"{name}_tokens"] = count
        return found


def read_reply(reply: CommandReply) -> AgentReply:
    """The attempt in a program's output.

    The output is a rollout when it is, as a whole, a JSON object with the text `answer`; else it
    is the answer itself.
    Raises: CallError when a rollout cannot be read as one.
    """
    value = _json_object(reply.stdout)
    if value is None:
        if reply.cut and reply.stdout.lstrip().startswith("{"):
            raise CallError(f"it printed {_printed(reply)} bytes: too much to be read as a rollout")
        return AgentReply(answer=_answer(reply))
    try:
        return AgentReply.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CallError(f"the rollout that it printed: {where}: {first['msg']}") from error


def _answer(reply: CommandReply) -> str:
    text = reply.stdout.rstrip("\r\n")
    return f"{text}\n[cut here: {reply.cut} more bytes were printed]" if reply.cut else text


def _printed(reply: CommandReply) -> int:
    return len(reply.stdout.encode("utf-8")) + reply.cut


def _json_object(text: str) -> dict[str, JsonValue] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("answer"), str) else None


def _message(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A message as chat completions have it, with what we do not keep left out."""
    content = item.get("content")
    calls = item.get("tool_calls")
    call_id = item.get("tool_call_id")
    return {
        "role": item.get("role", Speaker.ASSISTANT.value),
        "content": content
        if isinstance(content, str)
        else ""
        if content is None
        else _json(content),
        "tool_calls": [_call(n, call) for n, call in enumerate(calls)]
        if isinstance(calls, list)
        else [],
        "tool_call_id": call_id if isinstance(call_id, str) else None,
    }


def _call(number: int, value: JsonValue) -> dict[str, JsonValue]:
    call = value if isinstance(value, dict) else {"name": value}
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", "")
    return ToolCall(
        id=str(call.get("id") or f"call-{number}"),
        name=str(inner.get("name") or ""),
        arguments=arguments if isinstance(arguments, str) else _json(arguments),
    ).model_dump(mode="json")


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def refuse_login_message(answer: str, *, who: str) -> None:
    """Nothing, for an answer that is one.

    Raises: BlockedError for a message that asks to log in.
    """
    text = answer.strip()
    if (
        text
        and len(text) <= _LONGEST_LOGIN_MESSAGE
        and "\n" not in text
        and _LOGIN_MESSAGE.match(text)
    ):
        raise BlockedError(
            f"{who} does not do tasks, it answers: {text}",
            hint="log in, or set the key, as the message says; then run the same command again",
        )
