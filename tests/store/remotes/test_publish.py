from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skillgit.errors import ConflictError, UserError
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.remotes.publish import Publisher

PROPOSAL = "refs/heads/skillopt/train-1"


class Desk:
    """A repository with a proposal, and the bare remote it goes to."""

    def __init__(self, run, git, clock, proposal: str, folder: Path) -> None:
        self.run, self.git, self.clock, self.proposal = run, git, clock, proposal
        self.remote = folder / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)
        git("remote", "add", "origin", str(self.remote))
        git("push", "-q", "origin", "main")

    def publisher(self) -> Publisher:
        repository = open_repository(self.run.folder, durable=False)
        refs = Refs(repository.git, repository.common, clock=self.clock, command="propose")
        return Publisher(repository, refs, GitCli(self.run.folder, os.environ))

    def propose(self, commit: str | None = None) -> tuple[str, bool]:
        publisher, commit = self.publisher(), commit or self.git("rev-parse", PROPOSAL).strip()
        to = publisher.destination("origin", "train-1", commit)
        return to.branch, publisher.push(to, commit)

    def there(self, ref: str = PROPOSAL) -> str:
        return self.git("rev-parse", ref, cwd=self.remote).strip()

    def on_top(self, folder: Path, path: str = "README.md") -> str:
        """A reviewer's commit on the branch of the remote, from a clone of their own."""
        clone = folder / "reviewer"
        subprocess.run(["git", "clone", "-q", str(self.remote), str(clone)], check=True)
        who = ("-c", "user.name=R", "-c", "user.email=r@example.org")
        self.git("switch", "-q", "skillopt/train-1", cwd=clone)
        (clone / path).write_text("A reviewer was here.\n")
        self.git("add", path, cwd=clone)
        self.git(*who, "commit", "-q", "-m", "Say it better", cwd=clone)
        self.git("push", "-q", "origin", "skillopt/train-1", cwd=clone)
        return self.git("rev-parse", "HEAD", cwd=clone).strip()


@pytest.fixture
def desk(run, git, clock, proposal: str, tmp_path: Path) -> Desk:
    return Desk(run, git, clock, proposal, tmp_path)


def test_a_proposal_goes_under_its_own_name(desk: Desk) -> None:
    assert desk.propose() == ("skillopt/train-1", True)
    assert desk.there() == desk.proposal
    assert desk.propose() == ("skillopt/train-1", False)


def test_a_name_that_another_run_has_gets_a_number(desk: Desk, git) -> None:
    git("push", "-q", "origin", f"main:{PROPOSAL}", f"main:{PROPOSAL}-2")
    assert desk.propose() == ("skillopt/train-1-3", True)
    assert desk.there() == git("rev-parse", "main").strip()
    assert desk.there(f"{PROPOSAL}-3") == desk.proposal
    assert desk.propose() == ("skillopt/train-1-3", False)


def test_a_rebased_proposal_replaces_the_runs_own_commits(desk: Desk, run, git) -> None:
    desk.propose()
    run.commit_file("notes.txt", "main moved\n")
    git("branch", "-q", "mine", "skillopt/train-1")
    git("rebase", "-q", "main", "mine")
    rebased = git("rev-parse", "mine").strip()
    assert desk.propose(rebased) == ("skillopt/train-1", True)
    assert desk.there() == rebased


def test_a_reviewers_commits_are_never_overwritten(desk: Desk, run, git, tmp_path: Path) -> None:
    desk.propose()
    theirs = desk.on_top(tmp_path)
    assert desk.propose() == ("skillopt/train-1", False)
    assert desk.there() == theirs
    run.commit_file("notes.txt", "main moved\n")
    git("branch", "-q", "mine", "skillopt/train-1")
    git("rebase", "-q", "main", "mine")
    with pytest.raises(ConflictError, match="not of the run"):
        desk.propose(git("rev-parse", "mine").strip())
    assert desk.there() == theirs


def test_what_this_clone_pushed_itself_may_be_replaced(desk: Desk, run, git) -> None:
    git("switch", "-q", "-c", "mine", "skillopt/train-1")
    first = run.commit_file("README.md", "My own words.\n")
    assert desk.propose(first) == ("skillopt/train-1", True)
    (run.folder / "README.md").write_text("Better words.\n")
    git("commit", "-q", "-a", "--amend", "-m", "Better words")
    second = git("rev-parse", "mine").strip()
    assert desk.propose(second) == ("skillopt/train-1", True)
    assert desk.there() == second


def test_a_push_in_between_breaks_the_lease(desk: Desk, run, git, tmp_path: Path) -> None:
    desk.propose()
    publisher = desk.publisher()
    run.commit_file("notes.txt", "main moved\n")
    git("branch", "-q", "mine", "skillopt/train-1")
    git("rebase", "-q", "main", "mine")
    rebased = git("rev-parse", "mine").strip()
    to = publisher.destination("origin", "train-1", rebased)
    theirs = desk.on_top(tmp_path)
    with pytest.raises(ConflictError, match="in between"):
        publisher.push(to, rebased)
    assert desk.there() == theirs


def test_a_branch_that_appears_in_between_breaks_the_lease(desk: Desk, git) -> None:
    publisher = desk.publisher()
    to = publisher.destination("origin", "train-1", desk.proposal)
    git("push", "-q", "origin", f"main:{PROPOSAL}")
    with pytest.raises(ConflictError, match="in between"):
        publisher.push(to, desk.proposal)


def test_a_remote_that_refuses_is_quoted(desk: Desk) -> None:
    hook = desk.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(UserError, match="protected"):
        desk.propose()
