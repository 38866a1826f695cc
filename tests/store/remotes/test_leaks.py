from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.store.git.repository import open_repository
from skillgit.store.remotes.remotes import PrivatePush, leaks

NIGHT = ("refs/heads/skillopt/night-7", "refs/notes/skillopt-night", "refs/skillopt/sleep")


@pytest.fixture
def nights(repo: Path, git) -> Path:
    """A repository with a remote, and with the refs of a night."""
    git("commit", "--quiet", "--allow-empty", "-m", "A")
    git("remote", "add", "origin", "https://example.org/x.git")
    for ref in (*NIGHT, "refs/heads/skillopt/run/train-1", "refs/notes/skillopt"):
        git("update-ref", ref, "HEAD")
    return repo


def found(repo: Path) -> list[PrivatePush]:
    return leaks(open_repository(repo).git)


def test_a_plain_remote_is_sent_nothing_private(nights: Path) -> None:
    assert found(nights) == []


def test_a_mirror_is_sent_everything(nights: Path, git) -> None:
    git("config", "remote.origin.mirror", "true")
    assert found(nights) == [PrivatePush(remote="origin", setting="mirror = true", refs=NIGHT)]


@pytest.mark.parametrize(
    ("refspec", "refs"),
    [
        ("refs/*:refs/*", NIGHT),
        ("+refs/heads/*:refs/heads/*", NIGHT[:1]),
        ("refs/notes/*", NIGHT[1:2]),
        ("refs/skillopt/sleep", NIGHT[2:]),
        ("skillopt/*", NIGHT[:1]),
    ],
)
def test_a_refspec_that_takes_nights_along_is_named_with_what_it_sends(
    nights: Path, git, refspec: str, refs: tuple[str, ...]
) -> None:
    git("config", "remote.origin.push", refspec)
    assert found(nights) == [PrivatePush(remote="origin", setting=f"push = {refspec}", refs=refs)]


@pytest.mark.parametrize(
    "refspec", ["HEAD", "main", "refs/heads/main", "refs/notes/skillopt", "^refs/skillopt/sleep"]
)
def test_a_refspec_that_leaves_nights_out_is_fine(nights: Path, git, refspec: str) -> None:
    git("config", "remote.origin.push", refspec)
    assert found(nights) == []


def test_a_mirror_without_nights_sends_none_yet(repo: Path, git) -> None:
    git("remote", "add", "--mirror=push", "backup", "https://example.org/x.git")
    assert [(leak.remote, leak.refs) for leak in found(repo)] == [("backup", ())]
