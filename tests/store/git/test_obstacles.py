from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.git.obstacles import refuse_checked_out, refuse_taken_names
from skillgit.store.git.repository import open_repository

RUN = "refs/heads/skillopt/run/train-1"


@pytest.fixture
def run(repo: Path, git: Callable[..., str]) -> Path:
    """A repository with a run branch of three commits."""
    for n in range(3):
        (repo / "file").write_text(f"{n}\n")
        git("add", "file")
        git("commit", "-q", "-m", str(n))
    git("update-ref", RUN, "HEAD")
    return repo


def refused(folder: Path, run: str = "train-1") -> RepositoryError:
    with pytest.raises(RepositoryError) as caught:
        refuse_checked_out(open_repository(folder, durable=False), run)
    return caught.value


def type_hint(hint: str, folder: Path) -> None:
    """What a hint says can be typed."""
    subprocess.run(["bash", "-ec", hint], cwd=folder, check=True, capture_output=True)


# ── names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ref", "named"),
    [
        ("refs/heads/skillopt", "the branch skillopt is"),
        ("refs/heads/skillopt/run", "the branch skillopt/run is"),
        ("refs/heads/skillopt/best", "the branch skillopt/best is"),
        ("refs/tags/skillopt", "the tag skillopt is"),
        ("refs/tags/skillopt/best/x", "the tag skillopt/best/x is"),
        ("refs/tags/skillopt/brief", "the tag skillopt/brief is"),
        ("refs/notes/skillopt/x", "the ref refs/notes/skillopt/x is"),
        ("refs/notes/skillopt-night/x", "the ref refs/notes/skillopt-night/x is"),
        ("refs/skillopt/sleep/x", "the ref refs/skillopt/sleep/x is"),
    ],
)
def test_a_name_in_the_way_is_refused_and_the_hint_moves_it(run, git, ref, named):
    git("update-ref", "-d", RUN)
    git("update-ref", ref, "HEAD")
    found = open_repository(run, durable=False)
    with pytest.raises(RepositoryError, match=named) as caught:
        refuse_taken_names(found, skill="brief")
    type_hint(caught.value.hint, run)
    refuse_taken_names(found, skill="brief")
    assert git("rev-parse", "HEAD") in git("show-ref", "--hash")


@pytest.mark.parametrize(
    "ref",
    [
        "refs/heads/skillopt-mine",
        "refs/tags/skillopt/best",
        "refs/notes/skillopt",
        "refs/notes/skillopt-more/x",
        "refs/remotes/origin/skillopt/best",
    ],
)
def test_other_names_are_no_obstacle(run, git, ref):
    git("update-ref", ref, "HEAD")
    refuse_taken_names(open_repository(run, durable=False), skill="brief")


# ── checked out ──────────────────────────────────────────────────────────────────────────────


def test_a_run_that_is_checked_out_nowhere_is_no_obstacle(run, git, tmp_path):
    git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    git("switch", "-q", "--detach", RUN)
    refuse_checked_out(open_repository(run, durable=False), "train-1")


def test_a_run_in_the_main_work_tree_is_refused(run, git):
    git("switch", "-q", "skillopt/run/train-1")
    error = refused(run)
    assert error.message == (
        f"skillopt/run/train-1 is checked out in {run}, so its steps cannot be committed"
    )
    type_hint(error.hint, run)
    refuse_checked_out(open_repository(run, durable=False), "train-1")


def test_a_run_in_a_linked_work_tree_is_refused_from_anywhere(run, git, tmp_path):
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), "skillopt/run/train-1")
    for start in (run, linked):
        error = refused(start)
        assert f"is checked out in {linked}" in error.message
    type_hint(error.hint, linked)
    refuse_checked_out(open_repository(run, durable=False), "train-1")


def test_a_run_in_the_main_work_tree_is_seen_from_a_linked_one(run, git, tmp_path):
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", "--detach", str(linked))
    git("switch", "-q", "skillopt/run/train-1")
    error = refused(linked)
    assert f"is checked out in {run}" in error.message
    type_hint(error.hint, linked)
    refuse_checked_out(open_repository(run, durable=False), "train-1")


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_a_run_that_is_being_rebased_is_refused(run, git, backend):
    git("switch", "-q", "-c", "other", "HEAD~2")
    (run / "file").write_text("other\n")
    git("commit", "-q", "-a", "-m", "other")
    git("switch", "-q", "skillopt/run/train-1")
    stopped = subprocess.run(
        ["git", "rebase", backend, "other"], cwd=run, capture_output=True, check=False
    )
    assert stopped.returncode != 0
    error = refused(run)
    assert "is being rebased" in error.message
    assert error.hint == "git rebase --abort"


def test_a_run_that_a_rebase_of_another_branch_takes_along_is_refused(run, git):
    git("branch", "onto", "HEAD~2")
    git("switch", "-q", "-c", "top")
    git("commit", "-q", "--allow-empty", "-m", "top")
    git("switch", "-q", "onto")
    (run / "file").write_text("other\n")
    git("commit", "-q", "-a", "-m", "other")
    subprocess.run(
        ["git", "rebase", "--update-refs", "onto", "top"],
        cwd=run,
        capture_output=True,
        check=False,
    )
    assert "is being rebased" in refused(run).message


def test_a_run_that_is_being_bisected_is_refused(run, git):
    git("switch", "-q", "skillopt/run/train-1")
    git("bisect", "start", "HEAD", "HEAD~2")
    error = refused(run)
    assert "is being bisected" in error.message
    type_hint(error.hint, run)
    assert "is checked out" in refused(run).message


def test_a_bare_repositorys_head_checks_nothing_out(run, git, tmp_path):
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", ".", str(bare))
    git("update-ref", RUN, "HEAD", cwd=bare)
    git("symbolic-ref", "HEAD", RUN, cwd=bare)
    refuse_checked_out(open_repository(bare, durable=False), "train-1")
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), "skillopt/run/train-1", cwd=bare)
    assert f"is checked out in {linked}" in refused(bare).message


@pytest.mark.parametrize(
    "name", ["refs/heads/SkillOpt", "refs/heads/SKILLOPT/x/y", "refs/tags/Skillopt/v1"]
)
def test_names_that_differ_in_case_alone_are_in_the_way_where_files_have_no_case(
    run: Path, git: Callable[..., str], name: str
) -> None:
    git("update-ref", name, "HEAD")
    repository = open_repository(run, durable=False)
    refuse_taken_names(repository, skill="brief")
    git("config", "core.ignoreCase", "true")
    with pytest.raises(RepositoryError, match="does not tell capitals") as caught:
        refuse_taken_names(open_repository(run, durable=False), skill="brief")
    type_hint(caught.value.hint, run)
    refuse_taken_names(open_repository(run, durable=False), skill="brief")
