"""Lines: a bad line costs itself, and nothing else; times are UTC, whatever the machine's zone."""

from __future__ import annotations

import io
import json
import os
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import grows_in_proportion

from skillgit.sleep.harvest import lines as module
from skillgit.sleep.harvest.lines import Lines, parse_time
from skillgit.sleep.harvest.sessions import Damage


def read(data: bytes) -> tuple[list[dict[str, object]], Damage]:
    lines = Lines(io.BytesIO(data))
    found = list(lines)
    return found, lines.damage


GOOD = b'{"n": 1}\n'
AFTER = b'{"n": 2}\n'
BOTH = [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (b"[]\n", "not an object"),
        (b"null\n", "not an object"),
        (b'"x"\n', "not an object"),
        (b"12\n", "not an object"),
        (b"\xe9\n", "not JSON"),
        (b'{"n": \n', "not JSON"),
        (b'{"n": "half a li\n', "not JSON"),
        (b"{" * 50_000 + b"\n", "not JSON"),
        (b'{"a":' * 50_000 + b"\n", "not JSON"),
        (b"[" * 50_000 + b"\n", "not JSON"),
        (b'{"n": ' + b"9" * 5_000 + b"}\n", "not JSON"),
        (b'{"n": 3} trailing\n', "not JSON"),
    ],
)
def test_a_damaged_line_is_counted_and_the_rest_is_read(bad: bytes, what: str) -> None:
    found, damage = read(GOOD + bad + AFTER)
    assert [record for record in found if record.get("n") in (1, 2)] == BOTH
    assert damage.damaged[what] == 1
    assert damage.lines == 3


def test_a_mark_nuls_and_blank_lines_before_a_record_cost_nothing() -> None:
    found, damage = read(b"\xef\xbb\xbf" + GOOD + b"\n  \r\n" + b"\0" * 4_096 + AFTER)
    assert found == BOTH
    assert damage.damaged == {}


def test_two_records_on_one_line_are_two() -> None:
    found, damage = read(GOOD.strip() + AFTER)
    assert found == BOTH
    assert damage.damaged["several on one line"] > 0


def test_a_byte_that_is_no_character_is_replaced_and_counted() -> None:
    found, damage = read(b'{"t": "caf\xe9"}\n')
    assert found == [{"t": "caf\ufffd"}]
    assert damage.damaged == {"not UTF-8": 1}


def test_half_a_line_at_the_end_is_counted() -> None:
    found, damage = read(GOOD + b'{"n": 2, "t": "cut he')
    assert found == [{"n": 1}]
    assert damage.damaged == {"not JSON": 1}


def test_line_separators_inside_a_text_do_not_end_a_line() -> None:
    found, _ = read(json.dumps({"t": "a\u2028b\x85c"}, ensure_ascii=False).encode() + b"\n")
    assert found == [{"t": "a\u2028b\x85c"}]


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 100)
    found, damage = read(GOOD + b'{"t": "' + b"x" * 1_000 + b'"}\n' + AFTER)
    assert found == BOTH
    assert damage.damaged == {"too long": 1}


def test_unknown_types_are_told_apart_up_to_a_point() -> None:
    lines = Lines(io.BytesIO(b""))
    for number in range(1_000):
        lines.note_unknown(f"type-{number}")
    lines.note_unknown(None)
    lines.note_unknown({"no": "text"})
    assert sum(lines.damage.unknown.values()) == 1_002
    assert len(lines.damage.unknown) <= module.MAX_NAMES + 1


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    read(data)


def test_many_records_on_one_line_take_work_in_proportion() -> None:
    found, _ = read(b'{"n": 1}' * 20_000 + b"\n")
    assert len(found) == 20_000
    assert grows_in_proportion(lambda size: read(b'{"n": 1}' * size), 1_000)


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
def test_no_time_raises(value: object) -> None:
    when = parse_time(value)
    assert when is None or when.tzinfo is UTC
