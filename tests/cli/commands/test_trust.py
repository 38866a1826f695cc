from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def asking(skillgit, skill_repo: Path) -> Path:
    """A config that came with a clone: it names a server, and nobody agreed to anything."""
    skillgit(
        "init", "skills/brief", "--base-url", "https://models.example.org/v1", "--api-key-env", "K"
    ).ok()
    (skill_repo / ".git" / "skillgit" / "trust.json").unlink()
    return skill_repo


def test_it_shows_what_is_asked_before_anything_is_agreed_to(skillgit, asking: Path) -> None:
    done = skillgit("trust")
    assert done.code == 1
    assert "send the key in K to https://models.example.org/v1" in done.out
    assert "hint: skillgit trust --yes agrees" in done.err
    assert "Nothing has been agreed to." in skillgit("trust", "--list").ok().out


def test_what_was_agreed_to_can_be_listed_and_taken_back(skillgit, asking: Path) -> None:
    skillgit("trust", "--yes").ok()
    (entry, *_) = skillgit("trust", "--list", "--json").ok().objects
    assert "models.example.org" in entry["line"]
    skillgit("trust", "--revoke").ok()
    assert skillgit("trust", "--list", "--json").ok().out == ""
    assert skillgit("trust").code == 1


def test_two_wishes_at_once_are_wrong_usage(skillgit, asking: Path) -> None:
    assert skillgit("trust", "--yes", "--revoke").code == 2
