"""Against a real server on loopback, scripted by each test."""

from __future__ import annotations

import gc
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from skillgit.config import ModelConfig
from skillgit.errors import BlockedError, CallError, ConfigError
from skillgit.models.openai_chat import OpenAIChat
from skillgit.records import Message, ModelRequest, Speaker, ToolCall, ToolSpec

KEY = "sk-test-0123456789abcdefghij"
OPEN_SCHEMA = {
    "title": "RawPatch",
    "type": "object",
    "properties": {"edits": {"type": "array", "default": []}},
}
CLOSED_SCHEMA = {
    "title": "RawPatch",
    "type": "object",
    "properties": {"edits": {"type": "array", "items": {"type": "string"}}},
    "required": ["edits"],
    "additionalProperties": False,
}

Open = Callable[..., OpenAIChat]


def request(text: str = "hi", **fields: Any) -> ModelRequest:
    messages = (Message(role=Speaker.USER, content=text),)
    return ModelRequest(model=fields.pop("model", "m-1"), messages=messages, **fields)


@pytest.fixture
def open_model(server: Any, clock: Any) -> Iterator[Open]:
    """Opens a model at the server; everything opened is closed after the test."""
    with ExitStack() as stack:

        def open_it(**given: Any) -> OpenAIChat:
            api_key = given.pop("api_key", KEY)
            its_clock = given.pop("clock", clock)
            workers = given.pop("workers", 4)
            settings = {"model": "m-1", "base_url": server.url, "timeout": 5, "retries": 2}
            config = ModelConfig.model_validate(settings | given)
            model = OpenAIChat(config, api_key=api_key, clock=its_clock, workers=workers)
            stack.callback(model.close)
            return model

        yield open_it


# ── what is sent and what comes back ─────────────────────────────────────────────────────────


def test_a_request_is_a_chat_completion(server: Any, open_model: Open) -> None:
    tool = ToolSpec(name="look", description="Looks.", result="seen")
    messages = (
        Message(role=Speaker.SYSTEM, content="Be brief."),
        Message(role=Speaker.USER, content="naïve?"),
        Message(role=Speaker.ASSISTANT, tool_calls=(ToolCall(id="c1", name="look"),)),
        Message(role=Speaker.TOOL, content="seen", tool_call_id="c1"),
    )
    open_model().complete(
        ModelRequest(
            model="m-1", messages=messages, tools=(tool,), temperature=0.5, max_tokens=9, seed=3
        )
    )
    body = server.asked[0].body
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "naïve?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}}
            ],
        },
        {"role": "tool", "content": "seen", "tool_call_id": "c1"},
    ]
    assert body["tools"][0]["function"]["name"] == "look"
    assert "seen" not in str(body["tools"])
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 9, 3)
    assert "response_format" not in body


def test_what_is_not_asked_is_not_sent(server: Any, open_model: Open) -> None:
    open_model().complete(request())
    assert server.asked[0].body.keys() == {"model", "messages"}


def test_an_answer_has_text_tokens_and_its_ending(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(say(body=said("cut", finish_reason="length")))
    reply = open_model().complete(request())
    assert (reply.text, reply.finish_reason) == ("cut", "length")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (7, 3)


def test_tool_calls_come_back(server: Any, open_model: Open, say: Any, said: Any) -> None:
    calls = [
        {"id": "x", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}},
        {"function": {"name": "look", "arguments": {"a": 1}}},
    ]
    server.says(say(body=said(None, tool_calls=calls)))
    reply = open_model().complete(request())
    assert reply.text == ""
    assert [(c.id, c.arguments) for c in reply.tool_calls] == [
        ("x", '{"a":1}'),
        ("call_1", '{"a": 1}'),
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        (["a", {"type": "image"}, "b"], "ab"),
        ("lone \ud800 surrogate", "lone � surrogate"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("", ""),
    ],
)
def test_content_is_read_as_text(
    server: Any, open_model: Open, say: Any, said: Any, content: Any, text: str
) -> None:
    server.says(say(body=said(content)))
    assert open_model().complete(request()).text == text


def test_no_usage_counts_as_nothing(server: Any, open_model: Open, say: Any, said: Any) -> None:
    server.says(
        say(body=said() | {"usage": None}), say(body=said() | {"usage": {"prompt_tokens": "7"}})
    )
    model = open_model()
    assert model.complete(request()).usage.total == 0
    assert model.complete(request()).usage.total == 0


def test_a_refusals_text_is_the_answer(server: Any, open_model: Open, say: Any, said: Any) -> None:
    server.says(say(body=said(None, refusal="I will not.")))
    assert open_model().complete(request()).text == "I will not."


def test_a_filtered_answer_is_empty_and_says_so(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(say(body=said(None, finish_reason="content_filter")))
    reply = open_model().complete(request())
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


# ── steps down ───────────────────────────────────────────────────────────────────────────────


def refusing(
    say: Any, said: Any, refused: Callable[[dict[str, Any]], str | None], status: int
) -> Any:
    """An endpoint that answers `status` with what `refused` says about a body."""

    def answer(body: dict[str, Any], number: int) -> Any:
        complaint = refused(body)
        if complaint is None:
            return say(body=said('{"edits":[]}'))
        return say(status=status, body={"error": {"message": complaint}})

    return answer


def formats(server: Any) -> list[str]:
    """The forms in which an answer was asked for, in order."""
    forms = []
    for asked in server.asked:
        form = asked.body.get("response_format")
        if form is None:
            forms.append("free")
        elif form["type"] == "json_object":
            forms.append("object with schema" if "schema" in form else "object")
        else:
            forms.append("strict" if form["json_schema"]["strict"] else "schema")
    return forms


def test_a_closed_schema_is_asked_for_strictly_and_an_open_one_is_not(
    server: Any, open_model: Open
) -> None:
    model = open_model()
    model.complete(request(answer_schema=CLOSED_SCHEMA))
    model.complete(request(answer_schema=OPEN_SCHEMA))
    assert formats(server) == ["strict", "schema"]
    assert server.asked[0].body["response_format"]["json_schema"]["name"] == "RawPatch"


@pytest.mark.parametrize("status", [400, 422, 500, 501])
@pytest.mark.parametrize(
    "words", ["unsupported response_format", "json_schema is not a known type"]
)
def test_a_refused_schema_is_asked_for_as_an_object(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any, status: int, words: str
) -> None:
    server.answer = refusing(
        say,
        said,
        lambda b: words if b["response_format"]["type"] == "json_schema" else None,
        status,
    )
    model = open_model()
    assert model.complete(request(answer_schema=CLOSED_SCHEMA)).text == '{"edits":[]}'
    assert formats(server) == ["strict", "schema", "object with schema"]
    model.complete(request("again", answer_schema=CLOSED_SCHEMA))
    assert formats(server)[3:] == ["object with schema"]
    assert clock.slept == []


def test_an_endpoint_that_takes_no_format_gets_none(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.answer = refusing(
        say, said, lambda b: "response_format?" if "response_format" in b else None, 400
    )
    model = open_model()
    model.complete(request(answer_schema=OPEN_SCHEMA))
    model.complete(request(answer_schema=OPEN_SCHEMA))
    assert formats(server) == ["schema", "object with schema", "object", "free", "free"]


@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_without_a_reason_finds_the_one_culprit(
    server: Any, open_model: Open, say: Any, said: Any, status: int
) -> None:
    server.answer = refusing(say, said, lambda b: "Bad Request" if "seed" in b else None, status)
    model = open_model()
    model.complete(request(answer_schema=OPEN_SCHEMA, seed=5, temperature=0.0))
    model.complete(request(answer_schema=OPEN_SCHEMA, seed=5, temperature=0.0))
    last = server.asked[-1].body
    assert "seed" not in last
    assert last["temperature"] == 0.0
    assert last["response_format"]["type"] == "json_schema"
    assert server.asked[-2].body.keys() == last.keys()


def test_a_server_error_without_a_reason_is_retried_before_the_schema_is_suspected(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any
) -> None:
    server.answer = refusing(
        say, said, lambda b: "oh" if b["response_format"]["type"] == "json_schema" else None, 500
    )
    model = open_model()
    model.complete(request(answer_schema=OPEN_SCHEMA))
    model.complete(request(answer_schema=OPEN_SCHEMA))
    assert formats(server) == ["schema", "schema", "object with schema", "object with schema"]
    assert len(clock.slept) == 1


def test_a_passing_overload_takes_nothing_away(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(
        say(status=500), say(body=said()), say(status=503), say(status=500), say(body=said())
    )
    model = open_model()
    model.complete(request(answer_schema=OPEN_SCHEMA))
    model.complete(request(answer_schema=OPEN_SCHEMA))
    assert set(formats(server)) == {"schema"}


def test_a_lasting_overload_ends_and_takes_nothing_away(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(*[say(status=500)] * 20, say(body=said()))
    model = open_model()
    with pytest.raises(CallError, match="500"):
        model.complete(request(answer_schema=OPEN_SCHEMA, seed=1))
    tried = len(server.asked)
    assert tried <= 8
    server.says(say(body=said()))
    model.complete(request(answer_schema=OPEN_SCHEMA, seed=1))
    assert formats(server)[-1] == "schema"
    assert "seed" in server.asked[-1].body


@pytest.mark.parametrize(
    ("refused", "kept"),
    [
        ("max_tokens", {"max_completion_tokens", "temperature", "seed"}),
        ("temperature", {"max_tokens", "seed"}),
        ("seed", {"max_tokens", "temperature"}),
    ],
)
def test_a_parameter_that_is_refused_by_name_is_sent_otherwise(
    server: Any, open_model: Open, say: Any, said: Any, refused: str, kept: set[str]
) -> None:
    server.answer = refusing(
        say, said, lambda b: f"Unsupported: '{refused}'" if refused in b else None, 400
    )
    model = open_model()
    for _ in range(2):
        model.complete(request(max_tokens=5, temperature=0.0, seed=1))
    assert len(server.asked) == 3
    assert server.asked[-1].body.keys() - {"model", "messages"} == kept


def test_two_refusals_in_a_row_step_down_two_features(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    def refused(body: dict[str, Any]) -> str | None:
        if "temperature" in body:
            return "Unsupported value: 'temperature'"
        return "Unsupported parameter: 'max_tokens'" if "max_tokens" in body else None

    server.answer = refusing(say, said, refused, 400)
    model = open_model()
    model.complete(request(max_tokens=5, temperature=0.0, seed=1))
    assert server.asked[-1].body.keys() == {"model", "messages", "max_completion_tokens", "seed"}


def test_a_models_name_is_no_complaint(server: Any, open_model: Open, say: Any, said: Any) -> None:
    server.answer = refusing(
        say, said, lambda b: "seed-oss takes no temperature" if "temperature" in b else None, 400
    )
    open_model().complete(request(model="seed-oss", temperature=0.0, seed=1))
    assert "seed" in server.asked[-1].body


@pytest.mark.parametrize(
    ("status", "code", "named"),
    [(404, "", "`model`"), (400, "model_not_found", "`model`"), (403, "", "OPENAI_API_KEY")],
)
def test_a_hint_names_what_to_look_at(
    server: Any, open_model: Open, say: Any, status: int, code: str, named: str
) -> None:
    server.says(say(status=status, body={"error": {"message": "no", "code": code}}))
    with pytest.raises(BlockedError) as caught:
        open_model().complete(request())
    assert named in caught.value.hint


def test_another_model_at_the_same_address_is_asked_at_its_best(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.answer = refusing(
        say, said, lambda b: "no response_format" if "response_format" in b else None, 400
    )
    model = open_model()
    model.complete(request(answer_schema=OPEN_SCHEMA))
    before = len(server.asked)
    model.complete(request(model="m-2", answer_schema=OPEN_SCHEMA))
    assert formats(server)[before] == "schema"


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 4096 tokens, max_tokens included",
        "max_tokens is too large",
        "The response was filtered: content_filter",
    ],
)
def test_a_refusal_of_what_was_asked_is_not_about_its_form(
    server: Any, open_model: Open, say: Any, words: str
) -> None:
    server.says(say(status=400, body={"error": {"message": words}}))
    with pytest.raises(CallError):
        open_model().complete(request(max_tokens=5, answer_schema=OPEN_SCHEMA))
    assert len(server.asked) == 1


def test_a_refusal_that_no_step_down_mends_fails_the_call(
    server: Any, open_model: Open, say: Any
) -> None:
    server.says(say(status=422, body={"detail": "no"}))
    with pytest.raises(CallError, match="422"):
        open_model().complete(
            request(max_tokens=5, answer_schema=CLOSED_SCHEMA, seed=1, temperature=0.0)
        )
    assert len(server.asked) <= 13


def test_sixteen_threads_learn_together(server: Any, open_model: Open, say: Any, said: Any) -> None:
    server.answer = refusing(
        say, said, lambda b: "response_format" if "response_format" in b else None, 400
    )
    model = open_model(workers=16)
    with ThreadPoolExecutor(16) as pool:
        replies = list(
            pool.map(
                lambda n: model.complete(request(str(n), answer_schema=OPEN_SCHEMA)), range(48)
            )
        )
    assert {reply.text for reply in replies} == {'{"edits":[]}'}
    before = len(server.asked)
    model.complete(request(answer_schema=OPEN_SCHEMA))
    assert len(server.asked) == before + 1


# ── retries ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_waited_out(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any, status: int
) -> None:
    server.says(say(status=status), say(status=status), say(body=said()))
    assert open_model().complete(request()).text == "hello"
    first, second = clock.slept
    assert 0.25 <= first <= 0.5
    assert 0.5 <= second <= 1.0


def test_retry_after_in_seconds_is_kept(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any
) -> None:
    server.says(say(status=429, headers={"Retry-After": "7"}), say(body=said()))
    open_model().complete(request())
    assert clock.slept == [7.0]


def test_retry_after_as_a_date_is_kept(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any
) -> None:
    date = format_datetime(clock.now() + timedelta(seconds=9), usegmt=True)
    server.says(say(status=503, headers={"Retry-After": date}), say(body=said()))
    open_model().complete(request())
    assert clock.slept == [9.0]


def test_an_hour_of_retry_after_is_cut_to_a_minute(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any
) -> None:
    server.says(say(status=429, headers={"Retry-After": "3600"}), say(body=said()))
    open_model().complete(request())
    assert clock.slept == [60.0]


@pytest.mark.parametrize(
    "value", ["soon", "-5", "nan", "0", "Thu, 01 Jan 1970 00:00:00 GMT", "inf"]
)
def test_a_senseless_retry_after_is_a_plain_pause(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any, value: str
) -> None:
    server.says(say(status=429, headers={"Retry-After": value}), say(body=said()))
    open_model().complete(request())
    assert clock.slept == [60.0] if value == "inf" else 0 < clock.slept[0] <= 0.5


def test_the_same_request_waits_the_same(
    server: Any, open_model: Open, say: Any, said: Any, clock: Any
) -> None:
    model = open_model()
    for _ in range(2):
        server.asked.clear()
        server.says(say(status=503), say(body=said()))
        model.complete(request(seed=3))
    assert clock.slept[0] == clock.slept[1]


def test_trouble_that_lasts_fails_the_call(server: Any, open_model: Open, say: Any) -> None:
    server.says(say(status=429, body={"error": {"message": "slow down"}}))
    with pytest.raises(CallError, match=r"429.*slow down"):
        open_model().complete(request())
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>", b"", b"null", b"[]", b"{}", b'{"choices": []}', b'{"choices": null}',
        b'{"choices": [null]}', b'{"choices": [{}]}', b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {}}]}', b"\xe9", b"[" * 50_000, b'{"choices": [{"mess',
    ],
)  # fmt: skip
def test_a_body_that_is_no_answer_is_retried_and_then_fails_the_call(
    server: Any, open_model: Open, say: Any, said: Any, body: bytes
) -> None:
    server.says(say(body=body))
    model = open_model()
    with pytest.raises(CallError, match="no usable answer"):
        model.complete(request())
    assert len(server.asked) == 3
    server.says(say(body=said()))
    assert model.complete(request()).text == "hello"


def test_a_connection_that_breaks_inside_the_body_is_retried(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(say(body=b'{"choices"', claim_length=500), say(body=said()))
    assert open_model().complete(request()).text == "hello"
    server.says(say(body=b'{"choices"', claim_length=500))
    with pytest.raises(CallError, match="broke"):
        open_model().complete(request())


def test_a_server_that_hangs_is_a_time_out(server: Any, open_model: Open, say: Any) -> None:
    server.says(say(hang=30))
    with pytest.raises(CallError, match=r"within 0\.2 s"):
        open_model(timeout=0.2, retries=1).complete(request())
    assert len(server.asked) == 2


def test_a_server_that_drips_is_a_time_out(
    server: Any, open_model: Open, say: Any, real_clock: Any
) -> None:
    server.says(say(body=b" " * 1000, drip=0.05))
    with pytest.raises(CallError, match=r"within 0\.3 s"):
        open_model(timeout=0.3, retries=0, clock=real_clock).complete(request())


def test_an_error_inside_a_200_is_an_error(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(say(body={"error": {"message": "upstream busy", "code": 502}}), say(body=said()))
    assert open_model().complete(request()).text == "hello"
    server.asked.clear()
    server.says(say(body={"error": {"message": "bad key", "code": 401}}))
    with pytest.raises(BlockedError, match="bad key"):
        open_model().complete(request())
    assert len(server.asked) == 1


# ── what cannot work ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, {"message": f"Incorrect API key provided: {KEY}"}),
        (403, {"message": "not allowed"}),
        (402, {"message": "Insufficient Balance"}),
        (404, {"message": "The model `m-1` does not exist", "code": "model_not_found"}),
        (400, {"message": "API key not valid. Please pass a valid API key."}),
        (400, {"message": "no such model", "code": "model_not_found"}),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}),
        (429, {"message": "You exceeded your current quota", "type": "insufficient_quota"}),
    ],
)
def test_what_no_retry_mends_blocks_at_once(
    server: Any, open_model: Open, say: Any, clock: Any, status: int, error: dict[str, str]
) -> None:
    server.says(say(status=status, body={"error": error}))
    with pytest.raises(BlockedError) as caught:
        open_model().complete(request(seed=1))
    assert len(server.asked) == 1
    assert clock.slept == []
    assert server.url in caught.value.message
    assert caught.value.hint
    assert KEY not in caught.value.message + caught.value.hint


def test_a_wrong_key_names_the_variable(server: Any, open_model: Open, say: Any) -> None:
    server.says(say(status=401))
    with pytest.raises(BlockedError) as caught:
        open_model(api_key_env="LAB_KEY").complete(request())
    assert "LAB_KEY" in caught.value.hint
    with pytest.raises(BlockedError) as caught:
        open_model(api_key_env="LAB_KEY", api_key=None).complete(request())
    assert "Put the key into the variable LAB_KEY" in caught.value.hint


def test_nobody_there_blocks_after_the_retries(open_model: Open, clock: Any) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    url = f"http://ada:hunter2-secret@127.0.0.1:{port}/v1"
    with pytest.raises(BlockedError) as caught:
        open_model(base_url=url).complete(request())
    assert f"http://127.0.0.1:{port}/v1 cannot be reached" in caught.value.message
    assert "hunter2" not in caught.value.message + caught.value.hint
    assert "base_url" in caught.value.hint
    assert len(clock.slept) == 2


def test_the_official_address_without_a_key_blocks_before_any_call(clock: Any) -> None:
    with pytest.raises(BlockedError, match="no key") as caught:
        OpenAIChat(ModelConfig(model="m"), api_key=None, clock=clock, workers=1)
    assert "OPENAI_API_KEY" in caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "ftp://x/v1",
        "http://",
        "http://[::1",
        "http://x:99999/v1",
        "http://a\nb",
    ],
)
def test_an_address_that_is_none_is_a_mistake_in_the_config(open_model: Open, url: str) -> None:
    with pytest.raises(ConfigError, match="base_url"):
        open_model(base_url=url)


# ── keys ─────────────────────────────────────────────────────────────────────────────────────


def test_a_key_does_not_follow_a_redirect(server: Any, open_model: Open, say: Any) -> None:
    server.says(say(status=307, headers={"Location": f"http://u:p@{server.host}/elsewhere"}))
    with pytest.raises(BlockedError) as caught:
        open_model().complete(request())
    assert len(server.asked) == 1
    assert "redirect" in caught.value.message
    assert "u:p@" not in caught.value.message


@pytest.mark.parametrize(
    "echo",
    [
        lambda key: key,
        lambda key: f"Bearer {key} is wrong",
        lambda key: key[:14] + "…",
        lambda key: "x" * 395 + key,
        lambda key: f"{key}{key}",
    ],
)
@pytest.mark.parametrize("status", [400, 401, 429, 500, 418])
def test_no_error_holds_the_key(
    server: Any,
    open_model: Open,
    say: Any,
    caplog: pytest.LogCaptureFixture,
    status: int,
    echo: Callable[[str], str],
) -> None:
    caplog.set_level(logging.DEBUG)
    server.says(say(status=status, body={"error": {"message": echo(KEY)}}))
    with pytest.raises((CallError, BlockedError)) as caught:
        open_model().complete(request())
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY[:8] not in f"{error!r} {error} {error.__dict__}"
        error = error.__cause__ or error.__context__
    assert KEY[:8] not in caplog.text


def test_a_key_with_a_line_end_is_the_key(server: Any, open_model: Open) -> None:
    open_model(api_key=f"{KEY}\n").complete(request())
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", [f"{KEY}\nX: y", f"{KEY}é", f"{KEY}\x00"])
def test_a_key_that_no_header_can_hold_is_not_shown(open_model: Open, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_model(api_key=key)
    assert "OPENAI_API_KEY" in caught.value.message
    assert KEY not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("name", [None, ""])
def test_without_a_variable_no_key_is_sent(server: Any, open_model: Open, name: str | None) -> None:
    open_model(api_key_env=name).complete(request())
    assert "authorization" not in server.asked[0].headers


def test_user_info_in_the_address_is_sent_when_there_is_no_key(
    server: Any, open_model: Open
) -> None:
    open_model(base_url=f"http://ada:pw@{server.host}/v1", api_key=None).complete(request())
    assert server.asked[0].headers["authorization"] == "Basic YWRhOnB3"


def test_no_variable_decides_anything(
    server: Any, open_model: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS",
        "X-Foreign: from-the-environment\nAuthorization: from-the-environment\n"
        "Host: from-the-environment\nUser-Agent: from-the-environment\n"
        "X-Stainless-Raw-Response: true\nContent-Type: text/from-the-environment\nnaïve ☃: ☃\nno colon",
    )
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    open_model(api_key=None).complete(request())
    headers = server.asked[0].headers
    assert "from-the-environment" not in str(headers)
    assert headers.keys() == {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length",
        "user-agent", "x-stainless-raw-response",
    }  # fmt: skip


def test_the_sdks_log_switch_shows_nothing(server: Any) -> None:
    program = f"""
import datetime
from skillgit.config import ModelConfig
from skillgit.models import build_model
from skillgit.records import *
class Clock:
    def now(self): return datetime.datetime.now(datetime.UTC)
    def monotonic(self): return 0.0
    def sleep(self, seconds): pass
config = ModelConfig(model="m", base_url={server.url!r})
model = build_model(config, api_key={KEY!r}, clock=Clock(), workers=1)
model.complete(ModelRequest(model="m", messages=(Message(role="user", content="private words"),)))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"OPENAI_LOG": "debug", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


# ── many at once ─────────────────────────────────────────────────────────────────────────────


def test_no_more_calls_are_in_flight_than_there_are_workers(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    server.says(say(body=said(), hang=0.02))
    model = open_model(workers=3)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: model.complete(request(str(n))), range(24)))
    assert server.most_in_flight == 3


def test_a_call_that_waits_for_its_retry_is_not_in_flight(
    server: Any, open_model: Open, say: Any, said: Any
) -> None:
    served = threading.Event()

    class Waiting:
        def now(self) -> datetime:
            return datetime(2026, 3, 1, tzinfo=UTC)

        def monotonic(self) -> float:
            return 0.0

        def sleep(self, seconds: float) -> None:
            assert served.wait(5)

    server.answer = lambda body, n: say(status=503) if n == 0 else say(body=said())
    model = open_model(workers=1, clock=Waiting())
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(model.complete, request("slow"))
        while not server.asked:
            pass
        model.complete(request("quick"))
        served.set()
        assert slow.result().text == "hello"


def test_dropping_a_model_closes_its_connections(server: Any, clock: Any) -> None:
    config = ModelConfig(model="m-1", base_url=server.url)
    OpenAIChat(config, api_key=KEY, clock=clock, workers=1).complete(request())
    gc.collect()
