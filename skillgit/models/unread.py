"""Requests that were sent and whose answers were not read: they may have been paid for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Unread:
    """How many of them one call made."""

    requests: int = 0


_of_this_call: ContextVar[Unread | None] = ContextVar("unread", default=None)


@contextmanager
def counting_unread() -> Iterator[Unread]:
    """Count those that the block's thread makes."""
    unread = Unread()
    token = _of_this_call.set(unread)
    try:
        yield unread
    finally:
        _of_this_call.reset(token)


def note_unread() -> None:
    """One more, for whoever counts."""
    unread = _of_this_call.get()
    if unread is not None:
        unread.requests += 1
