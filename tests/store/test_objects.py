from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.objects import written
from skillgit.store.repository import open_repository
from skillgit.store.trees import replace_files


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


def test_folders_of_objects_that_go_away_beside_us_lose_nothing(
    repo: Path, git: Callable[..., str]
) -> None:
    done = threading.Event()
    folders = [repo / ".git/objects" / f"{n:02x}" for n in range(256)]

    def tidy() -> None:
        while not done.is_set():
            for folder in folders:
                try:
                    folder.rmdir()
                except OSError:
                    continue

    other = threading.Thread(target=tidy)
    other.start()
    try:
        found = open_repository(repo, durable=False)
        trees = [replace_files(found.git, None, {f"a/{n}": b"%d" % n}) for n in range(400)]
    finally:
        done.set()
        other.join()
    assert len(set(trees)) == 400
    git("fsck", "--strict")
