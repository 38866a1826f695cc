from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from skillgit.cli.app.clock import CLOCK_VARIABLE, SystemClock, clock_of
from skillgit.errors import UsageError


@pytest.mark.parametrize(
    "text", ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00", "2026-03-01T13:00:00+01:00"]
)
def test_a_set_clock_stands_still_at_its_time(text: str) -> None:
    clock = clock_of({CLOCK_VARIABLE: text})
    assert clock.now() == clock.now() == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert clock.monotonic() == clock.monotonic() == 0.0


def test_waiting_on_a_set_clock_comes_to_an_end_in_its_own_thread_alone() -> None:
    clock = clock_of({CLOCK_VARIABLE: "2026-03-01"})
    clock.sleep(0.01)
    assert clock.monotonic() == 0.01
    seen: list[float] = []
    thread = threading.Thread(target=lambda: seen.append(clock.monotonic()))
    thread.start()
    thread.join()
    assert seen == [0.0]


@pytest.mark.parametrize("environ", [{}, {CLOCK_VARIABLE: ""}])
def test_without_a_set_clock_time_is_the_systems(environ: dict[str, str]) -> None:
    clock = clock_of(environ)
    assert isinstance(clock, SystemClock)
    assert clock.now().tzinfo is UTC


def test_what_is_no_time_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="SKILLGIT_CLOCK"):
        clock_of({CLOCK_VARIABLE: "noon"})
