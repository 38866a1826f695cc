"""A team over plain git: a pull request merged on the host, and measurements that are shared."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skillgit.store.git.locks import held
from skillgit.store.git.repository import open_repository

SKILL = "skills/brief/SKILL.md"


class Team:
    """Ada's trained repository, the host's bare one, and the clones of Bob and Cem."""

    def __init__(self, trained: Path, folder: Path, git, skillgit) -> None:
        self.ada, self.host, self.skillgit, self._git = trained, folder / "host.git", skillgit, git
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.host)], check=True)
        git("remote", "add", "origin", str(self.host))
        git("push", "-q", "origin", "main")
        git("fetch", "-q", "origin")
        self.bob, self.cem = (self.clone(folder / name) for name in ("bob", "cem"))

    def clone(self, path: Path) -> Path:
        subprocess.run(["git", "clone", "-q", str(self.host), str(path)], check=True)
        self.git(path, "config", "user.name", path.name)
        self.git(path, "config", "user.email", f"{path.name}@example.org")
        return path

    def git(self, folder: Path, *words: str) -> str:
        return self._git(*words, cwd=folder)

    def say(self, folder: Path, *words: str) -> str:
        return self.skillgit(*words, cwd=folder).ok().out

    def adopted(self, folder: Path, run: str = "train-1") -> bool:
        found = self.skillgit("status", "--json", cwd=folder).ok().objects
        return next(o["adopted"] for o in found if o["kind"] == "run" and o["run"] == run)


@pytest.fixture
def team(trained: Path, tmp_path: Path, git, skillgit) -> Team:
    return Team(trained, tmp_path, git, skillgit)


def test_a_squash_merge_on_the_host_counts_as_adopted_everywhere(team: Team) -> None:
    git = team.git
    team.say(team.ada, "propose", "train-1")
    git(team.cem, "fetch", "-q")
    git(team.cem, "merge", "-q", "--squash", "origin/skillopt/train-1")
    git(team.cem, "commit", "-q", "-m", "Better briefs (#12)")
    git(team.cem, "push", "-q", "origin", "main")
    skill = team.cem / SKILL
    skill.write_text(f"{skill.read_text()}- Mind the reader.\n")
    git(team.cem, "commit", "-q", "-a", "-m", "Mind the reader")
    git(team.cem, "push", "-q", "origin", "main")
    assert not team.adopted(team.ada)
    git(team.ada, "pull", "-q", "--ff-only", "origin", "main")
    assert team.adopted(team.ada)
    assert "already" in team.say(team.ada, "adopt", "train-1")
    team.say(team.ada, "sync")
    for folder in (team.bob, team.cem):
        git(folder, "pull", "-q", "--ff-only", "origin", "main")
        team.say(folder, "sync")
        assert "already" in team.say(folder, "adopt", "train-1")


def test_after_a_sync_a_colleague_verifies_and_shows_what_was_trained(team: Team) -> None:
    team.say(team.ada, "propose", "train-1")
    out = team.say(team.ada, "sync")
    assert "train-1 is on origin as skillopt/run/train-1" in out
    out = team.say(team.bob, "sync")
    assert "runs that came in: train-1" in out
    assert "skillopt/best is at" in out
    team.git(team.bob, "fetch", "-q")
    out = team.say(team.bob, "verify", "origin/main...origin/skillopt/train-1")
    assert "all is as it says" in out
    assert "accept" in team.say(team.bob, "log", "train-1")
    best = team.git(team.ada, "rev-parse", "skillopt/best")
    assert team.git(team.bob, "rev-parse", "skillopt/best") == best


def test_publishing_best_says_what_it_does_to_others(team: Team) -> None:
    done = team.skillgit("sync", "--publish-best", cwd=team.ada).ok()
    assert "git pull --tags fails until they type" in done.err
    tags = team.git(team.host, "for-each-ref", "--format=%(refname)", "refs/tags")
    assert tags == "refs/tags/skillopt/best\n"


def test_json_counts_what_went_and_came(team: Team) -> None:
    (sent,) = team.skillgit("sync", "--json", cwd=team.ada).ok().objects
    assert sent["kind"] == "sync"
    assert sent["lines_out"] > 0
    assert sent["runs_out"] == {"train-1": "skillopt/run/train-1"}
    (got,) = team.skillgit("sync", "origin", "--json", cwd=team.bob).ok().objects
    assert got["lines_in"] == sent["lines_out"]
    assert got["runs_in"] == ["train-1"]
    assert "already" in team.say(team.bob, "sync")


def test_only_notes_go_where_only_notes_are_wanted(team: Team) -> None:
    team.say(team.ada, "sync", "--notes-only")
    refs = team.git(team.host, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/main", "refs/notes/skillopt"]
    assert team.skillgit("sync", "--notes-only", "--run", "train-1", cwd=team.ada).code == 2


def test_a_bundle_brings_a_run_where_there_is_no_network(team: Team, tmp_path: Path) -> None:
    bundle = tmp_path / "train-1.bundle"
    refs = ("refs/heads/skillopt/run/train-1", "refs/notes/skillopt")
    team.git(team.ada, "bundle", "create", "-q", str(bundle), *refs)
    team.git(team.bob, "bundle", "verify", "-q", str(bundle))
    team.git(
        team.bob,
        "fetch",
        "-q",
        str(bundle),
        "refs/heads/skillopt/run/train-1:refs/remotes/ada/skillopt/run/train-1",
        "refs/notes/skillopt:refs/notes/remotes/ada/skillopt",
    )
    assert "accept" in team.say(team.bob, "log", "train-1")
    assert "train-1@1" in team.say(team.bob, "verify", "main...train-1")


def test_two_syncs_of_one_clone_do_not_meet(team: Team, clock) -> None:
    private = open_repository(team.ada).private
    with held(private, "sync", clock=clock, command="skillgit sync"):
        done = team.skillgit("sync", cwd=team.ada)
    assert done.code == 4
    assert "sync is already being worked on by process" in done.err
