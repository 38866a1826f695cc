"""The simulated model as an HTTP server on loopback that speaks chat completions.

What it refuses and how it misbehaves is set per server, so that a client can be tried against
endpoints of different manners.
"""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from skillgit.config import SimulationConfig
from skillgit.errors import BlockedError, ReplyError
from skillgit.models.simulated.model import MODEL_NAMES, respond
from skillgit.models.simulated.wire import (
    Json,
    dump,
    load_object,
    reply_to_wire,
    request_from_wire,
    response_format_kind,
)
from skillgit.ports import Clock
from skillgit.records import Record
from skillgit.records.canonical import fingerprint

LOOPBACK = "127.0.0.1"

_Connection: TypeAlias = socket.socket | tuple[bytes, socket.socket]


class ServerSettings(Record):
    """How the server behaves.

    `refuses` are the kinds of `response_format` it does not take, answered with
    `refusal_status`: 400 as vLLM, 500 as llama.cpp's server. `refuses_parameters` are request
    fields it does not know. With `busy_every` n each n-th completion is answered 429;
    with `garbled_every` n each n-th is answered with a body that is not JSON. With
    `ignores_seed` each answer has its own luck.
    Unit: `retry_after` in seconds.
    """

    simulation: SimulationConfig = SimulationConfig()
    key: str | None = None
    refuses: tuple[Literal["json_schema", "json_object"], ...] = ()
    refusal_status: Literal[400, 500] = 400
    refuses_parameters: tuple[str, ...] = ()
    busy_every: Annotated[int, Field(ge=0)] = 0
    retry_after: Annotated[float, Field(ge=0)] = 1.0
    garbled_every: Annotated[int, Field(ge=0)] = 0
    ignores_seed: bool = False


class Stats:
    """What a server was asked so far. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._statuses: Counter[int] = Counter()
        self._models: Counter[str] = Counter()
        self._bodies: Counter[str] = Counter()
        self._asked = 0
        self._in_flight = 0
        self._most_in_flight = 0

    def begin(self) -> int:
        """Count a completion asked for; its number, from 1."""
        with self._lock:
            self._asked += 1
            self._in_flight += 1
            self._most_in_flight = max(self._most_in_flight, self._in_flight)
            return self._asked

    def end(self, status: int) -> None:
        """Count a completion answered."""
        with self._lock:
            self._in_flight -= 1
            self._statuses[status] += 1

    def served(self, model: str, body: bytes) -> None:
        """Count what was answered in full."""
        with self._lock:
            self._models[model] += 1
            self._bodies[fingerprint(body.decode("utf-8", "replace"))] += 1

    def report(self) -> Json:
        """The counts: `repeated` are completions whose body had been answered before."""
        with self._lock:
            return {
                "requests": self._asked,
                "statuses": {str(status): n for status, n in sorted(self._statuses.items())},
                "models": dict(sorted(self._models.items())),
                "distinct": len(self._bodies),
                "repeated": sum(self._bodies.values()) - len(self._bodies),
                "most_in_flight": self._most_in_flight,
            }


class SimulatedServer(ThreadingHTTPServer):
    """The listening server; `url` is the base URL for clients."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, settings: ServerSettings, clock: Clock, *, port: int = 0) -> None:
        self.settings = settings
        self.clock = clock
        self.stats = Stats()
        self._open: set[socket.socket] = set()
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def url(self) -> str:
        """The base URL, `/v1` included."""
        return f"http://{LOOPBACK}:{self.server_port}/v1"

    def process_request(self, request: _Connection, client_address: Any) -> None:
        """Serve a connection in a thread of its own, remembered until it ends."""
        if isinstance(request, socket.socket):
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: _Connection) -> None:
        """Close a connection."""
        if isinstance(request, socket.socket):
            self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close the listening socket and all connections that clients keep alive."""
        super().server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: _Connection, client_address: Any) -> None:
        """A client that went away is no error of the server's; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def running(settings: ServerSettings, clock: Clock, *, port: int = 0) -> Iterator[SimulatedServer]:
    """A server that answers in the background until the block ends."""
    server = SimulatedServer(settings, clock, port=port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _RefusedError(Exception):
    def __init__(self, status: int, message: str, *, code: str, headers: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: SimulatedServer

    def do_GET(self) -> None:
        """`/v1/models`, `/stats`."""
        if self.path == "/stats":
            self._send(HTTPStatus.OK, dump(self.server.stats.report()))
        elif self.path == "/v1/models":
            models: Json = {
                "object": "list",
                "data": [
                    {"id": name, "object": "model", "created": 0, "owned_by": "simulation"}
                    for name in MODEL_NAMES
                ],
            }
            self._send(HTTPStatus.OK, dump(models))
        else:
            self._send(HTTPStatus.NOT_FOUND, _error(f"no such path: {self.path}", "not_found"))

    def do_HEAD(self) -> None:
        """Nothing, for those who ask whether anyone is there."""
        self._send(HTTPStatus.OK, b"")

    def do_POST(self) -> None:
        """`/v1/chat/completions`."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            self._send(HTTPStatus.NOT_FOUND, _error(f"no such path: {self.path}", "not_found"))
            return
        turn, status, headers = self.server.stats.begin(), HTTPStatus.OK.value, ""
        try:
            answer = self._complete(body, turn)
        except _RefusedError as refusal:
            status, headers = refusal.status, refusal.headers
            answer = _error(str(refusal), refusal.code)
        self.server.stats.end(status)
        self._send(status, answer, headers)

    def _complete(self, body: bytes, turn: int) -> bytes:
        settings, clock = self.server.settings, self.server.clock
        self._check_admission(turn)
        try:
            asked = load_object(body)
            request = request_from_wire(asked)
        except ReplyError as error:
            raise _RefusedError(400, str(error), code="invalid_request") from error
        self._check_parameters(asked)
        if settings.ignores_seed:
            request = request.model_copy(update={"seed": secrets.randbelow(2**31)})
        try:
            reply = respond(request, settings.simulation)
        except BlockedError as error:
            message = f"{error.message}; {error.hint}"
            raise _RefusedError(404, message, code="model_not_found") from error
        if settings.simulation.latency_ms:
            clock.sleep(settings.simulation.latency_ms / 1000)
        self.server.stats.served(request.model, body)
        if settings.garbled_every and turn % settings.garbled_every == 0:
            return b"<html>upstream hiccup</html>"
        return dump(reply_to_wire(request, reply, created=int(clock.now().timestamp())))

    def _check_admission(self, turn: int) -> None:
        """Raises: _RefusedError for a wrong key, and for every n-th when busy."""
        settings = self.server.settings
        if settings.key and self.headers.get("Authorization") != f"Bearer {settings.key}":
            raise _RefusedError(401, "Incorrect API key provided.", code="invalid_api_key")
        if settings.busy_every and turn % settings.busy_every == 0:
            headers = f"Retry-After: {settings.retry_after:g}\r\n"
            raise _RefusedError(429, "Rate limit reached.", code="rate_limited", headers=headers)

    def _check_parameters(self, asked: Json) -> None:
        """Raises: _RefusedError for what this server does not know."""
        settings = self.server.settings
        if asked.get("stream"):
            raise _RefusedError(400, "Streaming is not simulated.", code="unsupported_value")
        kind = response_format_kind(asked)
        if kind in settings.refuses:
            raise _RefusedError(
                settings.refusal_status,
                f"response_format type {kind!r} is not supported",
                code="unsupported_value",
            )
        for name in settings.refuses_parameters:
            if name in asked:
                message = f"Unsupported parameter: {name!r} is not supported with this model."
                raise _RefusedError(400, message, code="unsupported_parameter")

    def _send(self, status: int, body: bytes, headers: str = "") -> None:
        """Status, headers and body in one write."""
        head = (
            f"HTTP/1.1 {int(status)} {HTTPStatus(status).phrase}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        )
        with suppress(ConnectionError):
            self.wfile.write(head.encode("latin-1") + body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Nothing: counts are at `/stats`."""


def _error(message: str, code: str) -> bytes:
    return dump({"error": {"message": message, "type": "simulated", "param": None, "code": code}})
