"""The clocks of the command line: the system's, and one that stands still for tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from skillgit.errors import UsageError
from skillgit.ports import Clock

CLOCK_VARIABLE = "SKILLGIT_CLOCK"


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back. Unit: seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait. Unit: seconds."""
        time.sleep(seconds)


class StandingClock:
    """A clock that stands still; its sleep is real, and each thread sees only its own pass."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._passed = threading.local()

    def now(self) -> datetime:
        """The moment at which it stands."""
        return self._at

    def monotonic(self) -> float:
        """How long this thread has slept, so that waiting still comes to an end. Unit: seconds."""
        slept: float = getattr(self._passed, "slept", 0.0)
        return slept

    def sleep(self, seconds: float) -> None:
        """Wait. Unit: seconds."""
        time.sleep(seconds)
        self._passed.slept = self.monotonic() + seconds


def clock_of(environ: Mapping[str, str]) -> Clock:
    """The clock that the environment asks for; a time without a zone is UTC.

    Raises: UsageError when the variable is no ISO time.
    """
    text = environ.get(CLOCK_VARIABLE)
    if not text:
        return SystemClock()
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{CLOCK_VARIABLE} is no ISO time: {text!r}",
            hint=f"Unset {CLOCK_VARIABLE}, or write it as 2026-03-01T12:00:00Z",
        ) from error
    return StandingClock(at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC))
