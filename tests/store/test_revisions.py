from __future__ import annotations

from pathlib import Path
from typing import Any

import pygit2
import pytest

from skillgit.errors import UserError
from skillgit.store.git.refs import Refs
from skillgit.store.proposals.proposal import propose
from skillgit.store.revisions import find_proposal, resolve

BEST = "refs/tags/skillopt/best"


@pytest.fixture
def ids(run: Any, git: Any, clock: Any) -> dict[str, str]:
    """A whole run; its commits by what a person calls them, the proposal as `proposal`."""
    run.begin()
    run.reject("worse\n", 0.0)
    run.accept("better\n", 0.5)
    run.epoch()
    run.skip()
    run.accept("best\n", 0.75)
    run.reject("bad\n", 0.25)
    run.epoch(text="best\nguidance\n")
    run.end()
    git("update-ref", BEST, run.ids["4"])
    made = propose(run.pygit, Refs(run.pygit, run.folder / ".git", clock=clock), "train-1")
    return {**run.ids, "proposal": str(made.commit)}


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("train-1@0", "0"),
        ("train-1@1", "1"),
        ("train-1@1+", "1+"),
        ("train-1@2", "2"),
        ("train-1@2+", "2"),
        ("train-1@3", "3"),
        ("train-1@4", "4"),
        ("train-1@5", "5"),
        ("train-1@5+", "5+"),
        ("train-1@05", "5"),
        ("train-1@e1", "e1"),
        ("train-1@e2", "e2"),
        ("train-1@best", "4"),
        ("best", "4"),
        ("skillopt/best", "4"),
        ("train-1", "proposal"),
        ("skillopt/train-1", "proposal"),
        ("skillopt/run/train-1", "end"),
        ("train-1@5+~1", "5"),
        ("train-1@2^", "1+"),
        ("best~2", "e1"),
    ],
)
def test_versions_as_people_type_them(run: Any, ids: dict[str, str], typed: str, key: str) -> None:
    assert resolve(run.pygit, typed) == ids[key]


@pytest.mark.parametrize(
    "typed", ["main", "HEAD", "refs/heads/main", "main^{commit}", "v1", ":/Add the skill"]
)
def test_what_git_understands_is_understood(
    run: Any, git: Any, ids: dict[str, str], typed: str
) -> None:
    git("tag", "-a", "-m", "one", "v1", "main")
    assert resolve(run.pygit, typed) == run.base
    assert resolve(run.pygit, run.base[:9]) == run.base


def test_a_run_without_a_proposal_is_its_best(run: Any, git: Any, ids: dict[str, str]) -> None:
    git("update-ref", "-d", "refs/heads/skillopt/train-1")
    assert resolve(run.pygit, "train-1") == ids["4"]


def test_a_run_that_accepted_nothing_is_its_baseline(run: Any) -> None:
    run.begin()
    run.reject("worse\n", 0.0)
    assert resolve(run.pygit, "train-1") == run.ids["0"]
    assert resolve(run.pygit, "train-1@best") == run.ids["0"]


def test_guidance_that_became_best_is_found(run: Any) -> None:
    run.begin()
    run.accept("better\n", 0.5)
    run.epoch(text="better\nguidance\n")
    current = run.state.current.model_copy(update={"score": 0.9})
    run.state = run.state.model_copy(update={"current": current, "best": current})
    run.end()
    assert resolve(run.pygit, "train-1@best") == run.ids["e1"]


def test_a_run_goes_before_a_branch_and_a_branch_before_a_tag(
    run: Any, git: Any, ids: dict[str, str]
) -> None:
    for name in ("train-1", "best", "both"):
        git("branch", name, "main")
    git("tag", "both", ids["2"])
    assert resolve(run.pygit, "train-1") == ids["proposal"]
    assert resolve(run.pygit, "best") == ids["4"]
    assert resolve(run.pygit, "both") == run.base
    assert resolve(run.pygit, "refs/tags/both") == ids["2"]
    assert resolve(run.pygit, "refs/heads/train-1") == run.base


def test_a_branch_that_looks_like_an_id_is_a_branch(
    run: Any, git: Any, ids: dict[str, str]
) -> None:
    git("branch", ids["2"][:7], "main")
    assert resolve(run.pygit, ids["2"][:7]) == run.base


def test_a_branch_called_best_is_meant_while_there_is_no_tag(run: Any, git: Any) -> None:
    git("branch", "best")
    assert resolve(run.pygit, "best") == run.base


def test_a_colleagues_run_is_found_on_the_remote(
    run: Any, git: Any, ids: dict[str, str], tmp_path: Path
) -> None:
    git("clone", "-q", str(run.folder), str(tmp_path / "clone"), cwd=tmp_path)
    clone = pygit2.Repository(str(tmp_path / "clone"))
    assert resolve(clone, "train-1") == ids["proposal"]
    assert resolve(clone, "train-1@2") == ids["2"]
    assert find_proposal(clone, "train-1").commit == ids["proposal"]


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("train-2", "there is no version 'train-2'", "train-1"),
        ("train-2@1", "there is no version 'train-2@1'", "train-1"),
        ("mian", "there is no version 'mian'", "main"),
        ("bset", "there is no version 'bset'", "best"),
        ("", "there is no version ''", "git branch"),
        ("-x", "there is no version '-x'", "git branch"),
        ("train-1@9", "train-1 has no step 9", "Its last step is 5"),
        ("train-1@e3", "no end of an epoch 3", "Its last one is 2"),
        ("train-1@latest", "names no version", "train-1@12"),
        ("train-1@", "names no version", "train-1@12"),
        ("train-1@-1", "names no version", "train-1@12"),
        ("best~99", "best has no ~99", "git log"),
        ("main:README.md", "there is no version", "git branch"),
        ("deadbeef" * 5, "there is no version", "git branch"),
        ("a\0b", "there is no version", "git branch"),
    ],
)
def test_what_is_not_there_is_told_with_what_is_near(
    run: Any, ids: dict[str, str], typed: str, message: str, hint: str
) -> None:
    with pytest.raises(UserError) as caught:
        resolve(run.pygit, typed)
    assert message in caught.value.message
    assert hint in caught.value.hint


# ── what can be adopted ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("typed", ["train-1", "best", "skillopt/train-1"])
def test_a_proposal_is_found_by_its_names(run: Any, ids: dict[str, str], typed: str) -> None:
    found = find_proposal(run.pygit, typed)
    assert (found.run, found.commit, found.base) == ("train-1", ids["proposal"], run.base)
    assert (found.versions, found.goes_on) == (3, False)


def test_a_proposal_whose_branch_is_gone_is_built_again(
    run: Any, git: Any, ids: dict[str, str]
) -> None:
    git("update-ref", "-d", "refs/heads/skillopt/train-1")
    assert find_proposal(run.pygit, "train-1").commit == ids["proposal"]


def test_best_of_a_run_that_goes_on_is_built_from_the_tag(run: Any, git: Any) -> None:
    run.begin()
    run.reject("worse\n", 0.0)
    best = run.accept("better\n", 0.5)
    run.reject("bad\n", 0.25)
    git("update-ref", BEST, best)
    found = find_proposal(run.pygit, "best")
    assert found.goes_on
    assert git("show", f"{found.commit}:{run.path}") == "better\n"
    assert git("rev-list", "--count", f"main..{found.commit}").strip() == "1"
    by_run = find_proposal(run.pygit, "train-1")
    assert by_run.commit is None
    assert "has not ended yet" in by_run.reason


def test_a_run_that_accepted_nothing_says_why(run: Any) -> None:
    run.begin()
    run.reject("worse\n", 0.0)
    run.end()
    found = find_proposal(run.pygit, "train-1")
    assert (found.commit, found.reason) == (None, "train-1 tried 1 version, and none was accepted")


@pytest.mark.parametrize("typed", ["train-1@5", "skillopt/run/train-1"])
def test_a_runs_own_branch_is_no_proposal(run: Any, ids: dict[str, str], typed: str) -> None:
    with pytest.raises(UserError, match="not on its proposal") as caught:
        find_proposal(run.pygit, typed)
    assert caught.value.hint == "skillgit adopt train-1"


@pytest.mark.parametrize("typed", ["main", "train-7", "best"])
def test_what_is_no_proposal_is_told(run: Any, typed: str) -> None:
    with pytest.raises(UserError):
        find_proposal(run.pygit, typed)
