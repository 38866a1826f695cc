"""Times: always UTC, whatever zone the machine is in."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.sleep.harvest.lines import parse_time


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00.000Z",
        "2026-03-01T12:00:00",
        "2026-03-01T20:00:00+08:00",
        "2026-03-01T04:30:00-07:30",
        1772366400,
        1772366400000,
        1772366400.0,
    ],
)
def test_all_ways_to_write_a_time_are_one_time(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for zone in ("UTC", "Asia/Shanghai", "America/Los_Angeles"):
        monkeypatch.setitem(os.environ, "TZ", zone)
        time.tzset()
        assert parse_time(value) == datetime(2026, 3, 1, 12, tzinfo=UTC)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "value",
    ["", "yesterday", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59-23:59", None, True, [], {},
     float("nan"), float("inf"), 10**40, -1],
)  # fmt: skip
def test_what_is_no_time_is_none(value: object) -> None:
    assert parse_time(value) is None


@given(st.one_of(st.text(), st.floats(), st.integers()))
def test_nothing_raises(value: object) -> None:
    time = parse_time(value)
    assert time is None or time.tzinfo is UTC
