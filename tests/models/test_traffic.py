"""A serial server on loopback, and the limits that follow from what it does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from skillgit.config import ModelConfig
from skillgit.errors import CallError, ContextError
from skillgit.models.openai_chat import OpenAIChat
from skillgit.models.traffic import Traffic
from skillgit.models.unread import counting_unread
from skillgit.records import Message, ModelRequest, Speaker
from skillgit.runtime.pool import ordered_map


class SerialServer(HTTPServer):
    """Answers one request at a time, and works off those whose client has gone."""

    request_queue_size = 64

    def __init__(self, body: dict[str, Any], seconds: float) -> None:
        self.requests = 0
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                served.requests += 1
                time.sleep(seconds)
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@pytest.fixture
def serial_server(said: Any) -> Iterator[SerialServer]:
    server = SerialServer(said(), seconds=0.1)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def asked(text: str) -> ModelRequest:
    return ModelRequest(model="m-1", messages=(Message(role=Speaker.USER, content=text),))


def test_sixteen_workers_do_not_drown_a_server_that_answers_one_at_a_time(
    serial_server: SerialServer, real_clock: Any
) -> None:
    url = f"http://127.0.0.1:{serial_server.server_address[1]}/v1"
    config = ModelConfig.model_validate(
        {"model": "m-1", "base_url": url, "api_key_env": "", "timeout": 0.6, "retries": 2}
    )
    model = OpenAIChat(config, api_key=None, clock=real_clock, workers=16)
    try:
        replies = ordered_map(
            lambda task: model.complete(asked(f"task {task}")), list(range(20)), workers=16
        )
    finally:
        model.close()
    assert len(replies) == 20
    assert serial_server.requests <= 24


def test_a_request_that_was_given_up_counts_and_the_message_names_both_keys(
    server: Any, say: Any, clock: Any
) -> None:
    server.says(say(hang=30))
    config = ModelConfig.model_validate(
        {"model": "m", "base_url": server.url, "api_key_env": "", "timeout": 0.1, "retries": 1}
    )
    model = OpenAIChat(config, api_key=None, clock=clock, workers=2)
    with counting_unread() as unread, pytest.raises(CallError, match=r"`timeout`.*`workers`"):
        model.complete(asked("hi"))
    model.close()
    assert unread.requests == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 2048 tokens."),
        (400, "request (4390 tokens) exceeds the available context size (4096 tokens)"),
        (500, "Context size has been exceeded."),
        (400, "the initial prompt is greater than the context length"),
    ],
)
def test_a_request_longer_than_the_context_has_an_error_of_its_own(
    server: Any, say: Any, clock: Any, status: int, message: str
) -> None:
    server.says(say(status=status, body={"error": {"message": message}}))
    config = ModelConfig.model_validate(
        {"model": "m", "base_url": server.url, "api_key_env": "", "timeout": 5}
    )
    model = OpenAIChat(config, api_key=None, clock=clock, workers=2)
    with pytest.raises(ContextError, match="without --new"):
        model.complete(asked("hi"))
    model.close()
    assert len(server.asked) == 1


class HandClock:
    """Time that the test moves."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> Any:
        raise AssertionError("the time of day was not needed")

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_time_outs_of_one_burst_halve_the_limit_once_and_answers_raise_it() -> None:
    clock = HandClock()
    traffic = Traffic(workers=8, timeout=5, clock=clock)
    with traffic.request() as first:
        clock.sleep(5)
        traffic.timed_out(first)
        traffic.timed_out(first)
        assert traffic.limit == 4
        for _ in range(5):
            traffic.answered()
        assert traffic.limit == 5
        for _ in range(100):
            traffic.answered()
        assert traffic.limit == 8


def test_the_limit_never_falls_below_one() -> None:
    clock = HandClock()
    traffic = Traffic(workers=2, timeout=5, clock=clock)
    for _ in range(4):
        with traffic.request() as ticket:
            clock.sleep(5)
            traffic.timed_out(ticket)
    assert traffic.limit == 1


def test_answers_to_others_put_a_deadline_off_until_the_request_is_overtaken() -> None:
    clock = HandClock()
    traffic = Traffic(workers=3, timeout=5, clock=clock)
    with traffic.request():
        assert traffic.deadline() == 5
        seen = []
        for _ in range(4):
            clock.sleep(4)
            traffic.answered()
            seen.append(traffic.deadline())
    assert seen == [9, 13, 13, 13]


def test_what_was_given_up_before_gives_a_request_longer() -> None:
    traffic = Traffic(workers=3, timeout=5, clock=HandClock())
    with traffic.request(abandoned=2):
        assert traffic.deadline() == 15
