"""The schedule against a crontab program that keeps its table in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from night_projects import CONFIG, House, make_house

Skillgit = Callable[..., Any]

CRONTAB = """#!/bin/sh
table="$(dirname "$0")/table"
case "$1" in
  -l) [ -f "$table" ] || { echo "no crontab for ada" >&2; exit 1; }; cat "$table" ;;
  -r) rm -f "$table" ;;
  *) cat "$1" > "$table" ;;
esac
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return make_house(tmp_path / "repo")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "crontab"
    program.write_text(CRONTAB)
    program.chmod(0o755)
    return folder / "table"


@pytest.fixture
def scheduled(started: Skillgit, table: Path) -> Skillgit:
    """`skillgit`, in a process that finds our crontab first."""
    path = f"{table.parent}:{os.environ['PATH']}"

    def run(*words: str, **environ: str) -> Any:
        return started(*words, PATH=path, **environ)

    return run


FOREIGN = "# mine\nMAILTO=ada\n*/5 * * * * poll\nthis is no line of cron\n"


def test_a_night_is_scheduled_shown_and_taken_out_again(
    house: House, scheduled: Skillgit, table: Path
) -> None:
    table.write_text(FOREIGN)
    done = scheduled("sleep", "--schedule").ok()
    assert "03:17" in done.out
    text = table.read_text()
    assert text.startswith(FOREIGN)
    assert f"-m skillgit -C {house.path.resolve()} sleep >>" in text
    assert "logs/nights.log 2>&1" in text
    scheduled("sleep", "--schedule", "05:40").ok()
    assert table.read_text().count("-m skillgit") == 1
    assert "\n40 5 * * * " in table.read_text()
    assert "05:40" in scheduled("status").ok().out
    scheduled("sleep", "--unschedule").ok()
    assert table.read_text() == FOREIGN
    assert "no night is scheduled" in scheduled("sleep", "--unschedule").ok().out


def test_a_key_that_only_the_shell_knows_is_refused(
    house: House, scheduled: Skillgit, table: Path
) -> None:
    house.write(
        "skillgit.toml",
        CONFIG.replace('provider = "simulated"', 'provider = "openai"').replace(
            "[target.simulation]\nobedience = 1.0\n", ""
        ),
    )
    refused = scheduled("sleep", "--schedule", OPENAI_API_KEY="sk-only-in-the-shell")
    assert refused.code == 1
    assert "skillgit.apiKeyCommand" in refused.err
    assert "sk-only" not in refused.err + refused.out
    assert not table.exists()
    house.git("config", "skillgit.apiKeyCommand", "echo sk-from-a-program")
    scheduled("sleep", "--schedule").ok()
    assert "sk-from" not in table.read_text()


def test_what_is_no_time_is_wrong_usage(house: House, scheduled: Skillgit) -> None:
    assert scheduled("sleep", "--schedule", "25:00").code == 2
    assert scheduled("sleep", "--schedule", "--unschedule").code == 2
