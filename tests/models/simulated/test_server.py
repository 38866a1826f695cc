"""The server speaks chat completions to the openai SDK and refuses what it is told to refuse."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import openai
import pytest

from skillgit.config import SimulationConfig
from skillgit.models.simulated import MODEL_NAMES, SimulatedModel
from skillgit.models.simulated.server import ServerSettings, SimulatedServer, running
from skillgit.records import Message, ModelRequest, Speaker, ToolSpec

ASKED: dict[str, Any] = {
    "model": "sim-target",
    "messages": [
        {"role": "system", "content": '- Always add a section headed "## Key Risks".'},
        {"role": "user", "content": "Write a brief on night trains."},
    ],
    "seed": 7,
}
SCHEMA = {"title": "Nothing", "type": "object", "properties": {"n": {"type": "integer"}}}

Start = Callable[..., SimulatedServer]


@pytest.fixture
def start(clock: Any) -> Iterator[Start]:
    with ExitStack() as stack:

        def begin(**settings: Any) -> SimulatedServer:
            return stack.enter_context(running(ServerSettings(**settings), clock))

        yield begin


@pytest.fixture
def client_of() -> Iterator[Callable[..., openai.OpenAI]]:
    with ExitStack() as stack:

        def make(server: SimulatedServer, key: str = "any") -> openai.OpenAI:
            client = openai.OpenAI(base_url=server.url, api_key=key, max_retries=0)
            return stack.enter_context(client)

        yield make


ClientOf = Callable[..., openai.OpenAI]


def stats(server: SimulatedServer) -> dict[str, Any]:
    return dict(call(server, "GET", "/stats")[1])


def call(
    server: SimulatedServer, method: str, path: str, body: bytes | None = None
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
    finally:
        connection.close()


def test_the_sdk_gets_the_answer_that_the_engine_gives_in_process(
    start: Start, client_of: ClientOf, clock: Any
) -> None:
    answered = client_of(start()).chat.completions.create(**ASKED)
    messages = tuple(
        Message(role=Speaker(m["role"]), content=m["content"]) for m in ASKED["messages"]
    )
    engine = SimulatedModel(SimulationConfig(), clock)
    reply = engine.complete(ModelRequest(model="sim-target", messages=messages, seed=7))
    assert answered.choices[0].message.content == reply.text
    assert answered.choices[0].finish_reason == "stop"
    assert answered.usage is not None
    assert answered.usage.prompt_tokens == reply.usage.prompt_tokens
    assert answered.usage.total_tokens == reply.usage.total


def test_tools_go_there_and_back(start: Start, client_of: ClientOf) -> None:
    client = client_of(start(simulation=SimulationConfig(obedience=1.0)))
    tool = ToolSpec(name="look_up", parameters={"type": "object", "properties": {}})
    function = {"name": tool.name, "description": "", "parameters": tool.parameters}
    messages: list[Any] = [
        {"role": "system", "content": "- Use the `look_up` tool first."},
        {"role": "user", "content": [{"type": "text", "text": "Write about trams."}]},
    ]
    tools: list[Any] = [{"type": "function", "function": function}]
    first = client.chat.completions.create(model="sim-target", messages=messages, tools=tools)
    (wish,) = first.choices[0].message.tool_calls or []
    assert first.choices[0].finish_reason == "tool_calls"
    messages += [
        first.choices[0].message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": wish.id, "content": "Trams came in 1881."},
    ]
    second = client.chat.completions.create(model="sim-target", messages=messages, tools=tools)
    assert "Trams came in 1881." in (second.choices[0].message.content or "")


def test_models_are_listed_and_an_unknown_one_is_not_found(
    start: Start, client_of: ClientOf
) -> None:
    client = client_of(start())
    assert tuple(model.id for model in client.models.list()) == MODEL_NAMES
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(**ASKED | {"model": "gpt-nobody"})
    for name in ("gpt-nobody", *MODEL_NAMES):
        assert name in str(caught.value)


@pytest.mark.parametrize(
    "wanted",
    [
        {"type": "json_schema", "json_schema": {"name": "Nothing", "schema": SCHEMA}},
        {"type": "json_object", "schema": SCHEMA},
    ],
)
def test_a_schema_is_found_in_either_place(
    start: Start, client_of: ClientOf, wanted: dict[str, Any]
) -> None:
    client = client_of(start())
    asked = ASKED | {"model": "sim-optimizer", "response_format": wanted}
    texts = [
        client.chat.completions.create(**asked | {"seed": seed}).choices[0].message.content or ""
        for seed in range(6)
    ]
    assert sum('{"n": 0}' in text for text in texts) > 3


@pytest.mark.parametrize("status", [400, 500])
def test_response_formats_are_refused_as_set(
    start: Start, client_of: ClientOf, status: int
) -> None:
    client = client_of(start(refuses=("json_schema",), refusal_status=status))
    named = {"type": "json_schema", "json_schema": {"name": "N", "schema": SCHEMA}}
    with pytest.raises(openai.APIStatusError, match="response_format") as caught:
        client.chat.completions.create(**ASKED | {"response_format": named})
    assert caught.value.status_code == status
    loose = {"type": "json_object", "schema": SCHEMA}
    client.chat.completions.create(**ASKED | {"response_format": loose})


def test_parameters_are_refused_as_set(start: Start, client_of: ClientOf) -> None:
    client = client_of(start(refuses_parameters=("seed",)))
    with pytest.raises(openai.BadRequestError, match="seed"):
        client.chat.completions.create(**ASKED)


def test_a_key_is_required_as_set(start: Start, client_of: ClientOf) -> None:
    server = start(key="right")
    client_of(server, "right").chat.completions.create(**ASKED)
    with pytest.raises(openai.AuthenticationError) as caught:
        client_of(server, "wrong").chat.completions.create(**ASKED)
    assert "wrong" not in str(caught.value)


def test_every_nth_call_is_busy_and_says_how_long(start: Start, client_of: ClientOf) -> None:
    client = client_of(start(busy_every=3, retry_after=2.5))
    for _ in range(2):
        client.chat.completions.create(**ASKED)
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(**ASKED)
    assert caught.value.response.headers["Retry-After"] == "2.5"
    client.chat.completions.create(**ASKED)


def test_every_nth_body_can_be_garbled(start: Start) -> None:
    server = start(garbled_every=1)
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.request("POST", "/v1/chat/completions", json.dumps(ASKED))
    response = connection.getresponse()
    assert response.status == 200
    assert b"<html>" in response.read()
    connection.close()


def test_with_real_noise_equal_requests_differ(start: Start, client_of: ClientOf) -> None:
    half = SimulationConfig(obedience=0.5)
    noisy, still = (
        client_of(start(simulation=half, ignores_seed=True)),
        client_of(start(simulation=half)),
    )

    def texts(client: openai.OpenAI) -> set[str | None]:
        made = (client.chat.completions.create(**ASKED) for _ in range(24))
        return {answered.choices[0].message.content for answered in made}

    assert len(texts(noisy)) == 2
    assert len(texts(still)) == 1


def test_requests_are_counted(start: Start, client_of: ClientOf) -> None:
    server = start(busy_every=3)
    client = client_of(server)
    for seed in (1, 1):
        client.chat.completions.create(**ASKED | {"seed": seed})
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(**ASKED)
    assert stats(server) == {
        "requests": 3,
        "statuses": {"200": 2, "429": 1},
        "models": {"sim-target": 2},
        "distinct": 1,
        "repeated": 1,
        "most_in_flight": 1,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"null",
        b'{"model": "sim-target"}',
        b'{"model": 1, "messages": 2}',
        b'{"model": "sim-target", "messages": [{"role": "nobody", "content": "x"}]}',
        b"\xff",
        b"[" * 100_000,
        b'{"model": "sim-target", "messages": [], "stream": true}',
    ],
)
def test_what_is_no_request_is_refused(start: Start, body: bytes) -> None:
    status, answered = call(start(), "POST", "/v1/chat/completions", body)
    assert status == 400
    assert answered["error"]["message"]


def test_unknown_paths_are_not_found_and_the_connection_stays_usable(start: Start) -> None:
    server = start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("POST", "/v1/responses", 404),
        ("HEAD", "/", 200),
        ("GET", "/v1/models", 200),
    ):
        connection.request(method, path, b"{}" if method == "POST" else None)
        response = connection.getresponse()
        response.read()
        assert response.status == status
    connection.close()


def test_many_calls_at_once_get_the_answers_of_one_at_a_time(
    start: Start, client_of: ClientOf
) -> None:
    client = client_of(start())
    alone = [client.chat.completions.create(**ASKED | {"seed": n}) for n in range(16)]
    together: dict[int, Any] = {}

    def ask(seed: int) -> None:
        together[seed] = client.chat.completions.create(**ASKED | {"seed": seed})

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, answered in enumerate(alone):
        assert together[seed].choices == answered.choices


def test_a_server_that_is_closed_lets_go_of_its_connections(clock: Any) -> None:
    with running(ServerSettings(), clock) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
        connection.request("GET", "/stats")
        connection.getresponse().read()
        assert connection.sock.fileno() > 0
        still_open = connection.sock
    assert still_open.recv(1) == b""
    connection.close()
