"""Runs of the version before, whose messages tell the state in a trailer.

`data/run-with-state-trailer.bundle` holds all refs of a `skillgit demo` of that version.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

BUNDLE = Path(__file__).parents[1] / "data" / "run-with-state-trailer.bundle"
SKILL = "skills/field-notes/SKILL.md"


@pytest.fixture
def older(repo: Path, git: Callable[..., str]) -> Path:
    """The demo's repository as that version left it, its run ended."""
    git("fetch", "-q", "--update-head-ok", str(BUNDLE), "refs/*:refs/*")
    git("reset", "-q", "--hard", "main")
    return repo


@pytest.fixture
def unfinished(older: Path, git: Callable[..., str]) -> Path:
    """The same, killed after its third step."""
    words = ("log", "-1", "--format=%H", "--grep=^Skillopt-Step: 3$", "skillopt/run/train-1")
    git("update-ref", "refs/heads/skillopt/run/train-1", git(*words).strip())
    git("branch", "-q", "-D", "skillopt/train-1")
    return older


def test_a_run_that_was_begun_goes_on_and_ends(unfinished: Path, git, skillgit) -> None:
    before = git("rev-parse", "skillopt/run/train-1").strip()
    skillgit("train").ok()
    git("merge-base", "--is-ancestor", before, "skillopt/run/train-1")
    objects = skillgit("log", "--json", "train-1").ok().objects
    assert objects[-1]["action"] == "end"
    assert objects[-1]["best"] > objects[0]["score"]
    assert "Skillopt-State" not in git("log", f"{before}..skillopt/run/train-1")
    assert "Skillopt-State" not in git("log", "main..skillopt/train-1")
    git("fsck", "--strict")


def test_it_is_read(older: Path, skillgit, git) -> None:
    objects = skillgit("log", "--json", "train-1").ok().objects
    assert objects[-1]["action"] == "end"
    assert skillgit("show", "best").ok().out
    assert skillgit("show", "skillopt/train-1").ok().out
    assert "train-1" in skillgit("status").ok().out
    skillgit("verify", "main...skillopt/train-1").ok()


def test_its_proposal_is_adopted_and_recognised(older: Path, skillgit, git) -> None:
    assert "is at train-1 now" in skillgit("adopt", "train-1").ok().out
    assert "has train-1 already" in skillgit("adopt", "train-1").ok().out
    assert "train-1@" in skillgit("blame", SKILL).ok().out


def test_what_is_replayed_of_it_tells_no_state(older: Path, skillgit, git) -> None:
    old = git("rev-parse", "main").strip()
    (older / "README.md").write_text("Hello\n")
    git("add", ".")
    git("commit", "-q", "-m", "Say hello")
    assert "was replayed on main" in skillgit("adopt", "train-1").ok().out
    assert "Skillopt-Step" in git("log", f"{old}..main")
    assert "Skillopt-State" not in git("log", f"{old}..main")
    assert "has train-1 already" in skillgit("adopt", "train-1").ok().out


def test_a_squash_of_it_is_recognised(older: Path, skillgit, git) -> None:
    git("merge", "-q", "--squash", "skillopt/train-1")
    git("commit", "-q", "--no-edit")
    text = (older / SKILL).read_text()
    (older / SKILL).write_text(f"{text}\nMine.\n")
    git("commit", "-q", "-a", "-m", "Go on")
    assert "has train-1 already" in skillgit("adopt", "train-1").ok().out
