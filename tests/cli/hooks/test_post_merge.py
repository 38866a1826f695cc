from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def hooked(trained: Path, skillgit) -> Path:
    """A repository with a run that has ended, and our hooks."""
    skillgit("hooks", "install").ok()
    return trained


def test_a_merge_of_a_proposal_says_what_it_brought(hooked: Path, tried) -> None:
    done = tried("merge", "-q", "skillopt/train-1")
    assert done.code == 0
    assert "train-1 is adopted: brief-writer 0.0000 -> " in done.err
    assert "Key Risks" in done.err
    assert "git log ORIG_HEAD..HEAD" in done.err


def test_without_the_runs_branch_the_first_score_is_left_out(hooked: Path, tried, git) -> None:
    git("branch", "-D", "skillopt/run/train-1")
    done = tried("merge", "-q", "--no-ff", "-m", "m", "skillopt/train-1")
    assert "train-1 is adopted: brief-writer 1.0000, " in done.err or " is adopted" in done.err
    assert "->" not in done.err.splitlines()[0]


def test_a_squash_says_that_a_commit_adopts(hooked: Path, tried) -> None:
    done = tried("merge", "-q", "--squash", "skillopt/train-1")
    assert "the commit is what adopts them" in done.err


def test_a_pulled_squash_is_recognised(hooked: Path, tried, git) -> None:
    git("switch", "--quiet", "-c", "pr")
    git("merge", "--quiet", "--squash", "skillopt/train-1")
    subprocess.run(["git", "commit", "--quiet", "--no-edit"], cwd=hooked, check=True)
    git("switch", "--quiet", "main")
    done = tried("merge", "-q", "pr")
    assert "train-1 is adopted, squashed into one commit" in done.err


def test_a_merge_of_something_else_starts_no_python(hooked: Path, tried, git, calls) -> None:
    git("switch", "--quiet", "-c", "topic")
    git("commit", "--quiet", "--allow-empty", "-m", "Skillopt is nice")
    git("switch", "--quiet", "main")
    calls()
    assert tried("merge", "-q", "topic").err == ""
    assert calls() == []


def test_an_adopt_goes_well_with_the_hook(hooked: Path, skillgit) -> None:
    skillgit("adopt", "train-1").ok()


def test_a_version_measured_again_says_its_score(hooked: Path, skillgit, tried, git) -> None:
    skill = hooked / "skills/brief/SKILL.md"
    skill.write_text(skill.read_text().replace("- Write one page.", "- Write at most one page."))
    git("commit", "--quiet", "-am", "By hand")
    git("branch", "next")
    skillgit("adopt", "train-1", "--regate", "--into", "next").ok()
    assert "train-1 is adopted: brief-writer 0.0000 -> 1.0000" in tried("merge", "-q", "next").err
