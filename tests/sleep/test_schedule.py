from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import UsageError
from skillgit.sleep.schedule import (
    ScheduleEntry,
    command_line,
    entry_in,
    launchd_plist,
    parse_time,
    systemd_units,
    with_entry,
    without_entry,
)

ENTRY = ScheduleEntry(
    name="/home/ada/notes", hour=3, minute=17, command="/venv/bin/python -m skillgit"
)
FOREIGN = "MAILTO=ada\n# mine\n*/5 * * * * poll\nthis line is broken\n\n@daily tidy"


def test_a_block_of_its_own_is_added_and_nothing_else_changes() -> None:
    text = with_entry(FOREIGN, ENTRY)
    assert text.startswith(FOREIGN + "\n")
    assert "\n17 3 * * * /venv/bin/python -m skillgit\n" in text
    assert text.count("skillgit nights of /home/ada/notes") == 2


def test_scheduling_again_moves_the_one_block() -> None:
    later = ENTRY.model_copy(update={"hour": 4})
    text = with_entry(with_entry(FOREIGN, ENTRY), later)
    assert text.count(" * * * /venv") == 1
    assert entry_in(text, ENTRY.name) == later


def test_each_repository_has_its_own_block() -> None:
    other = ScheduleEntry(name="/home/ada/notes2", hour=5, minute=0, command="x")
    text = with_entry(with_entry("", ENTRY), other)
    assert entry_in(text, ENTRY.name) == ENTRY
    assert entry_in(text, other.name) == other
    assert without_entry(text, ENTRY.name) == other.block()


@given(st.text(alphabet="a# \n*>x", max_size=60))
def test_what_is_put_in_comes_out_again(text: str) -> None:
    base = text if not text or text.endswith("\n") else text + "\n"
    assert without_entry(with_entry(base, ENTRY), ENTRY.name) == base


def test_a_block_without_its_end_is_left_alone() -> None:
    text = f"{ENTRY.begin}\n17 3 * * * x\n"
    assert without_entry(text, ENTRY.name) == text
    assert entry_in(text, ENTRY.name) is None


def test_percent_signs_are_escaped_since_cron_takes_them_for_line_ends() -> None:
    entry = ENTRY.model_copy(update={"command": "cd /a%b"})
    assert r"/a\%b" in entry.block()


@pytest.mark.parametrize(
    ("text", "time"), [("03:17", (3, 17)), ("3:17", (3, 17)), ("23:59", (23, 59)), ("0:00", (0, 0))]
)
def test_a_time_of_day(text: str, time: tuple[int, int]) -> None:
    assert parse_time(text) == time


@pytest.mark.parametrize("text", ["", "24:00", "3", "03:60", "3:7", "noon", "-1:00"])
def test_what_is_no_time_of_day(text: str) -> None:
    with pytest.raises(UsageError):
        parse_time(text)


def test_the_next_night_is_today_or_tomorrow() -> None:
    noon = datetime(2026, 3, 1, 12, 0)  # noqa: DTZ001 - a local time
    assert ENTRY.next_after(noon) == datetime(2026, 3, 2, 3, 17)  # noqa: DTZ001
    assert ENTRY.next_after(noon.replace(hour=1)) == datetime(2026, 3, 1, 3, 17)  # noqa: DTZ001


def test_words_are_quoted_and_the_log_is_appended_to() -> None:
    line = command_line(["py", "-C", "/my notes"], log="/my notes/.git/x.log", path="/opt/bin")
    assert line == "PATH=/opt/bin py -C '/my notes' >>'/my notes/.git/x.log' 2>&1"


def test_where_there_is_no_cron_a_timer_and_a_plist_are_ready_to_use() -> None:
    units = systemd_units(ENTRY, ["py", "-m", "skillgit"])
    assert "OnCalendar=*-*-* 03:17:00" in units
    assert "ExecStart=py -m skillgit" in units
    plist = launchd_plist(ENTRY, ["py", "a&b"], log="/log")
    assert "<integer>17</integer>" in plist
    assert "<string>a&amp;b</string>" in plist
