from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.git.repository import open_repository
from skillgit.store.git.trees import replace_files, written


def test_a_write_that_failed_is_tried_again() -> None:
    left = [OSError(errno.ENOENT, "gone")] * 3

    def write() -> str:
        if left:
            raise left.pop()
        return "id"

    assert written(write) == "id"


def test_a_write_that_keeps_failing_is_one_sentence() -> None:
    def write() -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RepositoryError, match=r"cannot be written: .*No space left") as caught:
        written(write)
    assert "disk is full" in caught.value.hint


def test_another_error_is_not_held_up() -> None:
    def write() -> str:
        raise KeyError("x")

    with pytest.raises(KeyError):
        written(write)


TIDY = """
import os, sys
folders = [os.path.join(sys.argv[1], f"{n:02x}") for n in range(256)]
print("begun", flush=True)
while True:
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            pass
"""


def test_folders_of_objects_that_go_away_beside_us_lose_nothing(
    repo: Path, git: Callable[..., str]
) -> None:
    words = [sys.executable, "-c", TIDY, str(repo / ".git/objects")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            found = open_repository(repo, durable=False)
            trees = [replace_files(found.git, None, {f"a/{n}": b"%d" % n}) for n in range(600)]
        finally:
            other.kill()
    assert len(set(trees)) == 600
    git("fsck", "--strict")
