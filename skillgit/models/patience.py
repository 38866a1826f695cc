"""Reading from a connection for as long as a deadline says that may move while one waits.

A read of the HTTP client has a fixed time-out. Here the deadline is asked again when it has
passed, so that a request which waits behind others is not given up while these are answered.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any, Protocol

import httpcore2
import httpx2


class Deadline(Protocol):
    """When the request of the calling thread is given up. Unit: monotonic seconds."""

    def deadline(self) -> float:
        """As far as is known now."""

    def remaining(self, deadline: float) -> float:
        """Seconds until a deadline, more than 0."""


class PatientStream(httpcore2.NetworkStream):
    """A connection whose reads wait until the deadline has passed and has not moved."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """What came; `timeout` gives way to the deadline."""
        while True:
            deadline = self._deadline.deadline()
            try:
                return self._stream.read(max_bytes, self._deadline.remaining(deadline))
            except httpcore2.ReadTimeout:
                if self._deadline.deadline() <= deadline:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send."""
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """The same over TLS."""
        secured = self._stream.start_tls(ssl_context, server_hostname, timeout)
        return PatientStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._stream.get_extra_info(info)


class PatientBackend(httpcore2.NetworkBackend):
    """Opens such connections."""

    def __init__(self, backend: httpcore2.NetworkBackend, deadline: Deadline) -> None:
        self._backend = backend
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to a host."""
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return PatientStream(stream, self._deadline)


def make_patient(client: httpx2.Client, deadline: Deadline) -> None:
    """Have every connection of a client, those through a proxy too, read by the deadline.

    The client has no option for its network backend, so the pools' own is replaced.
    """
    transports = [client._transport, *client._mounts.values()]  # noqa: SLF001
    for transport in transports:
        if isinstance(transport, httpx2.HTTPTransport):
            pool = transport._pool  # noqa: SLF001
            pool._network_backend = PatientBackend(pool._network_backend, deadline)  # noqa: SLF001
