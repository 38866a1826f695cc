from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from skillgit.cli.show import progress
from skillgit.cli.show.progress import Snapshot, TimeLeft, duration, shown

SEEN = Snapshot(
    phase="evaluate",
    step=3,
    total_steps=16,
    done=12,
    total=64,
    current=0.5625,
    best=0.625,
    calls=312,
    tokens=41_200,
    seconds_left=240,
)


def test_a_moment_is_two_lines_that_fit_a_terminal() -> None:
    assert SEEN.where() == "step 3 of 16, evaluate 12/64"
    assert SEEN.standing() == "score 0.5625, best 0.6250, 312 calls, 41.2k tokens, 4 min left"


def test_what_is_not_known_yet_is_left_out() -> None:
    start = Snapshot("evaluate", 0, 0, 1, 4, None, None, 1, 0, None)
    assert start.where() == "start, evaluate 1/4"
    assert start.standing() == "1 calls, 0 tokens"


def test_times_are_for_people() -> None:
    words = [duration(s) for s in (0, 40.4, 89, 91, 720, 3590, 11_100, -1)]
    assert words == ["0 s", "40 s", "89 s", "2 min", "12 min", "1 h 00 min", "3 h 05 min", "0 s"]


def test_a_pipe_hears_where_it_is_after_a_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.05)
    with shown(lambda: SEEN) as write:
        write("step 2/16: reject")
        progress.threading.Event().wait(0.3)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "step 2/16: reject"
    assert told[1] == f"{SEEN.where()}: {SEEN.standing()}"


def test_a_terminal_sees_it_live(trained: Path) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "skillgit", "train", "--new", "--epochs", "1"]
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "SKILLGIT_CLOCK": ""}
    with subprocess.Popen(
        words, cwd=trained, env=environ, stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        told = b""
        while chunk := read(ours):
            told += chunk
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[" in told
    assert b"step 4/4: " in told
    assert b"score " in told


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_the_time_left_is_known_after_a_step_and_falls_while_the_next_is_at_work() -> None:
    left = TimeLeft(began=100.0)
    assert left.seconds(110.0) is None
    left.step_done(120.0, left=3)
    seen = [left.seconds(120.0 + passed) for passed in (0, 5, 20, 500)]
    assert seen == [60.0, 55.0, 40.0, 40.0]
    left.step_done(620.0, left=2)
    assert left.seconds(620.0) == 520.0


def test_no_time_is_left_after_the_last_step() -> None:
    left = TimeLeft(began=0.0)
    left.step_done(10.0, left=0)
    assert left.seconds(30.0) == 0.0
