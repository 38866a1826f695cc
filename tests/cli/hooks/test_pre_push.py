from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.hooks.installing import install
from skillgit.cli.hooks.place import place_of


@pytest.fixture
def remote(project: Path, git, tmp_path: Path) -> Path:
    """A bare remote called origin, and refs of a training and of a night that were not pushed."""
    bare = tmp_path / "remote.git"
    git("init", "--quiet", "--bare", str(bare))
    git("remote", "add", "origin", str(bare))
    for branch in ("run/train-1", "train-1", "run/night-1", "night-1"):
        git("commit", "--quiet", "--allow-empty", "-m", branch)
        git("branch", f"skillopt/{branch}")
    git("notes", "--ref=skillopt", "add", "-m", "{}")
    git("notes", "--ref=skillopt-night", "add", "-m", "{}")
    git("update-ref", "refs/skillopt/sleep", git("commit-tree", "-m", "s", "HEAD^{tree}").strip())
    git("tag", "skillopt/best", "skillopt/run/train-1")
    git("reset", "--quiet", "--hard", "HEAD~4")
    install(place_of(worktree_at(project, os.environ)))
    return bare


def test_python_is_not_started_for_a_push_of_ones_own(remote: Path, tried, calls) -> None:
    assert tried("push", "-q", "origin", "main").code == 0
    assert calls() == []


def test_a_proposal_without_its_notes_is_said(remote: Path, tried) -> None:
    done = tried("push", "-q", "origin", "skillopt/train-1")
    assert done.code == 0
    assert "skillopt/train-1 goes without its notes" in done.err
    assert "git push origin refs/notes/skillopt" in done.err


def test_with_its_notes_nothing_is_said(remote: Path, tried) -> None:
    done = tried("push", "-q", "origin", "skillopt/train-1", "refs/notes/skillopt")
    assert (done.code, done.err) == (0, "")


def test_notes_that_the_remote_has_are_not_missed(remote: Path, tried, git) -> None:
    from skillgit.store.remotes.remotes import remote_notes

    git("update-ref", remote_notes("origin"), "refs/notes/skillopt")
    assert tried("push", "-q", "origin", "skillopt/train-1").err == ""


def test_all_is_said_to_send_run_branches(remote: Path, tried, git) -> None:
    git("branch", "-D", "skillopt/run/night-1", "skillopt/night-1")
    done = tried("push", "-q", "origin", "--all")
    assert done.code == 0
    assert "run branches go along" in done.err
    assert "git push origin --delete skillopt/run/train-1" in done.err


def test_a_run_that_is_pushed_on_purpose_is_not_remarked_on(remote: Path, tried) -> None:
    done = tried("push", "-q", "origin", "skillopt/run/train-1", "refs/notes/skillopt")
    assert (done.code, done.err) == (0, "")


def test_tags_are_said_to_move(remote: Path, tried) -> None:
    done = tried("push", "-q", "origin", "--tags")
    assert done.code == 0
    assert "skillopt/best" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("refs/notes/skillopt-night",),
        ("refs/skillopt/sleep",),
        ("skillopt/run/night-1",),
        ("--all",),
        ("--mirror",),
        ("refs/notes/skillopt-night:refs/heads/harmless",),
        ("refs/notes/*:refs/notes/*",),
    ],
)
def test_private_refs_are_held_back(remote: Path, tried, git, words: tuple[str, ...]) -> None:
    done = tried("push", "-q", "origin", *words)
    assert done.code == 1
    assert "private sessions" in done.err
    assert "--no-verify" in done.err
    assert git("for-each-ref", cwd=remote) == ""


def test_a_private_commit_under_another_name_is_held_back(remote: Path, tried, git) -> None:
    tip = git("rev-parse", "refs/skillopt/sleep").strip()
    done = tried("push", "-q", "origin", f"{tip}:refs/heads/harmless")
    assert done.code == 1
    assert "refs/skillopt/sleep" in done.err


def test_a_night_is_proposed_without_a_word(remote: Path, tried) -> None:
    assert tried("push", "-q", "origin", "skillopt/night-1").err == ""


def test_the_hint_sends_the_other_branches(remote: Path, tried, git) -> None:
    hint = next(x for x in tried("push", "origin", "--all").err.splitlines() if "hint:" in x)
    words = hint.split(" sends")[0].replace("'", "").split()
    assert tried(*words[words.index("git") + 1 :], "-q").code == 0
    assert "skillopt/run/night-1" not in git("for-each-ref", cwd=remote)
    assert "refs/heads/main" in git("for-each-ref", cwd=remote)


def test_taking_a_private_ref_away_from_a_remote_is_allowed(remote: Path, tried) -> None:
    assert tried("push", "-q", "--no-verify", "origin", "refs/skillopt/sleep").code == 0
    assert tried("push", "-q", "origin", "--delete", "refs/skillopt/sleep").code == 0


def test_the_frameworks_variables_are_understood(remote: Path, skillgit, project: Path) -> None:
    done = skillgit(
        *("hook", "pre-push", "origin", "url"),
        PRE_COMMIT_LOCAL_BRANCH="refs/skillopt/sleep",
        PRE_COMMIT_REMOTE_BRANCH="refs/skillopt/sleep",
        PRE_COMMIT_TO_REF="1" * 40,
    )
    assert done.code == 1
    assert "private sessions" in done.err


def test_without_skillgit_nothing_is_blocked(remote: Path, tried, without_skillgit: None) -> None:
    assert tried("push", "-q", "origin", "skillopt/train-1").code == 0
