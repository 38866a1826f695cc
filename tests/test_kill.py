"""kill -9 on the real program. The long version of this is `benchmarks/kill.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from projects import Project

CLOCK = "2026-03-01T12:00:00+00:00"


def start_training(project: Project) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "skillgit", "train"],
        cwd=project.path,
        env=os.environ | {"SKILLGIT_CLOCK": CLOCK},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def train(project: Project, kill_after: float | None = None) -> bool:
    """Whether the training got to its end."""
    process = start_training(project)
    try:
        _, errors = process.communicate(timeout=kill_after or 60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    assert process.returncode == 0, errors.decode()
    return True


@pytest.mark.parametrize("first_kill", [0.6])
def test_kill_9_again_and_again_changes_nothing_in_the_end(
    tmp_path: Path, first_kill: float
) -> None:
    whole, killed = Project(tmp_path / "whole"), Project(tmp_path / "killed")
    assert train(whole)
    after = first_kill
    while not train(killed, kill_after=after):
        after *= 1.3
    assert killed.refs() == whole.refs()
    killed.git("fsck", "--strict")
