"""A real server on loopback that says what a test tells it to, and keeps what it was asked."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Say:
    """One answer. `drip` sends the body a byte at a time, with that pause in seconds between."""

    status: int = 200
    body: bytes | dict[str, Any] = b""
    headers: dict[str, str] = field(default_factory=dict)
    claim_length: int | None = None
    hang: float = 0.0
    drip: float = 0.0

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Asked:
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


def completion(text: str | None = "hello", **message: Any) -> dict[str, Any]:
    return {
        "choices": [
            {
                "index": 0,
                "finish_reason": message.pop("finish_reason", "stop"),
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


class Server:
    """Answers by `answer`, which gets the parsed body and the number of the request from 0."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.answer: Callable[[dict[str, Any], int], Say] = lambda body, n: Say(body=completion())
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                server._serve(self)

            def do_GET(self) -> None:
                server._serve(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        self.host = f"127.0.0.1:{self._http.server_address[1]}"
        self.url = f"http://{self.host}/v1"

    def says(self, *answers: Say) -> None:
        """These answers in turn, the last one for ever."""
        self.answer = lambda body, n: answers[min(n, len(answers) - 1)]

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        body = json.loads(raw) if raw else {}
        with self._lock:
            number = len(self.asked)
            headers = {name.lower(): value for name, value in handler.headers.items()}
            self.asked.append(Asked(headers, body, raw))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            self._send(handler, self.answer(body, number))
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True
        finally:
            with self._lock:
                self.in_flight -= 1

    def _send(self, handler: BaseHTTPRequestHandler, say: Say) -> None:
        if say.hang:
            self._stopping.wait(say.hang)
        handler.send_response(say.status)
        handler.send_header("Content-Type", "application/json")
        length = len(say.data) if say.claim_length is None else say.claim_length
        handler.send_header("Content-Length", str(length))
        for name, value in say.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        for chunk in (
            (say.data[i : i + 1] for i in range(len(say.data))) if say.drip else [say.data]
        ):
            handler.wfile.write(chunk)
            if say.drip and self._stopping.wait(say.drip):
                break
        if length != len(say.data):
            handler.close_connection = True
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_WR)

    def stop(self) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def say() -> type[Say]:
    return Say


@pytest.fixture
def said() -> Callable[..., dict[str, Any]]:
    """Makes the body of a chat completion."""
    return completion


class RealClock:
    """Real monotonic time, but nobody waits."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> Any:
        raise AssertionError("the time of day was not needed")

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def real_clock() -> RealClock:
    return RealClock()
