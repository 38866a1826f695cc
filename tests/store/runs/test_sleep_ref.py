from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import FixedClock, Git

from skillgit.errors import RepositoryError
from skillgit.store.git.refs import RefMovedError, Refs
from skillgit.store.git.repository import Repository, open_repository
from skillgit.store.runs.sleep_ref import SleepFiles, read_sleep, write_sleep

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def place(repo: Path, git: Git) -> tuple[Repository, Refs]:
    git("commit", "--quiet", "--allow-empty", "-m", "start")
    repository = open_repository(repo)
    return repository, Refs(repository.git, repository.common, clock=FixedClock())


def write(place: tuple[Repository, Refs], before: SleepFiles, **files: bytes) -> str:
    return write_sleep(*place, before, files, message="night-1", time=NOW)


def test_before_the_first_night_there_is_nothing(place: tuple[Repository, Refs]) -> None:
    assert read_sleep(*place) == SleepFiles()


def test_a_night_is_one_commit_and_files_that_it_does_not_name_stay(
    place: tuple[Repository, Refs], git: Git
) -> None:
    write(place, read_sleep(*place), a=b"1", b=b"2")
    write(place, read_sleep(*place), a=b"3")
    found = read_sleep(*place)
    assert found.files == {"a": b"3", "b": b"2"}
    assert git("rev-list", "--count", "refs/skillopt/sleep").strip() == "2"
    git("fsck", "--strict")


def test_another_writer_in_between_is_noticed(place: tuple[Repository, Refs]) -> None:
    before = read_sleep(*place)
    write(place, before, a=b"1")
    with pytest.raises(RefMovedError):
        write(place, before, a=b"2")


def test_a_ref_that_leads_to_no_commit_is_said(
    place: tuple[Repository, Refs], git: Git, repo: Path
) -> None:
    blob = git("hash-object", "-w", "--stdin", text="x").strip()
    git("update-ref", "refs/skillopt/sleep", blob)
    with pytest.raises(RepositoryError):
        read_sleep(*place)
