"""How many requests an endpoint gets at once, and how long each of them waits.

A server that answers one request at a time makes the others wait, so a request is not given up
while answers to others come back: what counts is the server's silence. A time-out halves the
number of requests at once; answers let it grow again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from skillgit.ports import Clock


@dataclass(eq=False)
class Ticket:
    """One request on its way.

    `ahead` counts the requests that the server may answer before this one.
    Unit: `sent_at`, and `heard_at` when the server was last heard of, in monotonic seconds;
    `patience` in seconds.
    """

    sent_at: float
    heard_at: float
    patience: float
    ahead: int


class Traffic:
    """The requests of one model. Thread-safe.

    Unit: `timeout` in seconds, how long a server may be silent.
    """

    def __init__(self, *, workers: int, timeout: float, clock: Clock) -> None:
        self._workers = workers
        self._timeout = timeout
        self._clock = clock
        self._changed = threading.Condition()
        self._limit = float(workers)
        self._in_flight: set[Ticket] = set()
        self._halved_at = float("-inf")
        self._ticket: ContextVar[Ticket | None] = ContextVar("ticket", default=None)

    @property
    def limit(self) -> int:
        """How many requests may be on their way at once, now."""
        return int(self._limit)

    @contextmanager
    def request(self, *, abandoned: int = 0) -> Iterator[Ticket]:
        """Room for one request of this thread; blocks until there is some.

        `abandoned` counts the earlier requests of the same call that were given up: a server
        that still works them off is given that much longer.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._in_flight) < self.limit)
            now = self._clock.monotonic()
            ticket = Ticket(now, now, self._timeout * (1 + abandoned), ahead=self.limit - 1)
            self._in_flight.add(ticket)
        token = self._ticket.set(ticket)
        try:
            yield ticket
        finally:
            self._ticket.reset(token)
            with self._changed:
                self._in_flight.remove(ticket)
                self._changed.notify_all()

    def deadline(self) -> float:
        """When this thread's request is given up, if nothing more is heard.

        Answers to others put it off, but no more of them than may have been ahead: a request
        that others overtake is stuck. Unit: monotonic seconds.
        """
        ticket = self._ticket.get()
        if ticket is None:
            return self._clock.monotonic() + self._timeout
        return ticket.heard_at + ticket.patience

    def remaining(self, deadline: float) -> float:
        """How long it is until then. Unit: seconds, more than 0."""
        return max(0.001, deadline - self._clock.monotonic())

    def answered(self) -> None:
        """A whole answer came, whatever it says."""
        with self._changed:
            now = self._clock.monotonic()
            for ticket in self._in_flight:
                if ticket.ahead > 0:
                    ticket.ahead -= 1
                    ticket.heard_at = now
            self._limit = min(float(self._workers), self._limit + 1 / self._limit)
            self._changed.notify_all()

    def timed_out(self, ticket: Ticket) -> None:
        """The request was given up; those of one burst halve the limit once."""
        with self._changed:
            if ticket.sent_at >= self._halved_at:
                self._limit = max(1.0, self._limit / 2)
                self._halved_at = self._clock.monotonic()
