from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import RepositoryError
from skillgit.history.trailers import STATE_HEADER, state_text
from skillgit.store.runs.runs import read_commit


@pytest.fixture
def trained(train: Any) -> Any:
    """A run with one version of each kind."""
    trainer = train()
    trainer.begin()
    trainer.accept("# Brief\n\n- Name the risks.\n", 0.5)
    trainer.reject("# Worse\n", 0.25)
    trainer.epoch()
    trainer.end()
    return trainer


def header(git: Any, commit: str) -> str:
    raw = git("cat-file", "commit", commit).partition("\n\n")[0]
    (line,) = [line for line in raw.split("\n") if line.startswith(f"{STATE_HEADER} ")]
    return line.partition(" ")[2]


def test_each_commit_of_a_run_has_its_state_in_a_header(trained: Any, git: Any) -> None:
    ref = "skillopt/run/train-1"
    commits = git("rev-list", f"main..{ref}").split()
    assert len(commits) == 6
    for commit in commits:
        assert json.loads(header(git, commit))["run_id"] == trained.head.run_id
    assert header(git, ref) == state_text(trained.state)
    assert "Skillopt-State" not in git("log", ref)
    assert "{" not in git("log", ref)


def test_git_takes_it_everywhere(trained: Any, git: Any, tmp_path: Path) -> None:
    git("fsck", "--strict")
    tip = git("rev-parse", "skillopt/run/train-1").strip()
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", str(remote))
    git("config", "receive.fsckObjects", "true", cwd=remote)
    git("push", "-q", str(remote), "skillopt/run/train-1", "main")
    clone = tmp_path / "clone"
    fetched = ("-c", "transfer.fsckObjects=true")
    git(*fetched, "clone", "-q", "-b", "skillopt/run/train-1", str(remote), str(clone))
    assert header(git_at(git, clone), tip) == state_text(trained.state)
    bundle = tmp_path / "all.bundle"
    git("bundle", "create", "-q", str(bundle), "--all")
    unbundled = tmp_path / "unbundled"
    git("clone", "-q", "-b", "skillopt/run/train-1", str(bundle), str(unbundled))
    assert header(git_at(git, unbundled), tip) == state_text(trained.state)
    git("gc", "-q", "--prune=now")
    assert read_commit(trained.store.repository.git, tip).state == trained.state


def git_at(git: Any, folder: Path) -> Any:
    return lambda *words: git(*words, cwd=folder)


@pytest.mark.parametrize("name", ["Zoë 'O' Müller, Jr.", "名前", 'Ada "x" (y) \\ z'])
def test_odd_names_are_written_as_git_writes_them(train: Any, git: Any, name: str) -> None:
    git("config", "user.name", name)
    train().begin()
    assert git("log", "-1", "--format=%an|%cn|%ai", "skillopt/run/train-1").startswith(
        f"{name}|{name}|20"
    )
    git("fsck", "--strict")


def test_where_header_and_trailer_disagree_the_header_counts(trained: Any, git: Any) -> None:
    ref = "skillopt/run/train-1"
    other = trained.state.model_copy(update={"skill": "other"})
    raw = git("cat-file", "commit", ref).rstrip("\n")
    text = f"{raw}\nSkillopt-State: {state_text(other)}\n"
    made = git("hash-object", "-t", "commit", "-w", "--stdin", text=text).strip()
    assert read_commit(trained.store.repository.git, made).state == trained.state
    lines = text.split("\n")
    bare = "\n".join(line for line in lines if not line.startswith(f"{STATE_HEADER} "))
    made = git("hash-object", "-t", "commit", "-w", "--stdin", text=bare).strip()
    assert read_commit(trained.store.repository.git, made).state == other


def test_a_state_of_a_newer_version_is_an_error(trained: Any, git: Any) -> None:
    raw = git("cat-file", "commit", "skillopt/run/train-1")
    newer = raw.replace('"v":1', '"new":true,"v":2')
    made = git("hash-object", "-t", "commit", "-w", "--stdin", text=newer).strip()
    with pytest.raises(RepositoryError, match="format 2"):
        read_commit(trained.store.repository.git, made)


def test_a_proposal_has_no_state_at_all(trained: Any, git: Any) -> None:
    branch = trained.store.finish(trained.head)
    assert branch == "skillopt/train-1"
    raw = git("cat-file", "commit", branch)
    assert "Skillopt-Step: 1" in raw
    assert STATE_HEADER not in raw.lower()
    assert read_commit(trained.store.repository.git, git("rev-parse", branch).strip()) is None
