from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def set_up(skillgit, skill_repo: Path, git) -> Path:
    skill = skill_repo / "skills/brief/SKILL.md"
    skill.write_text(
        skill.read_text() + '- Add a section headed "Key Risks".\n- Close with a confidence line.\n'
    )
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    config = skill_repo / "skillgit.toml"
    text = config.read_text()
    config.write_text(
        text.replace("[optimizer]", "simulation = { obedience = 0.6 }\n\n[optimizer]")
    )
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up skillgit")
    return skill_repo


def test_it_measures_a_version_against_itself(set_up: Path, skillgit) -> None:
    done = skillgit("aa", "--repeats", "3").ok()
    assert "3 measurements on 4 val tasks" in done.out
    assert "against itself, gate strict would have accepted it in" in done.out
    (found,) = skillgit("aa", "--repeats", "3", "--json").ok().objects
    assert found["kind"] == "noise"
    assert len(found["means"]) == 3
    assert found["compared"] == 6


def test_what_the_ledger_has_is_not_measured_again(set_up: Path, skillgit, git) -> None:
    skillgit("aa", "HEAD", "--repeats", "2").ok()
    before = git("rev-parse", "refs/notes/skillopt")
    again = skillgit("aa", "HEAD", "--repeats", "2").ok()
    assert "to make" not in again.err
    assert git("rev-parse", "refs/notes/skillopt") == before
    more = skillgit("aa", "HEAD", "--repeats", "4").ok()
    assert "2 measurements to make" in more.err


def test_a_training_takes_what_it_measured(set_up: Path, skillgit) -> None:
    (noise,) = skillgit("aa", "main", "--repeats", "4", "--json").ok().objects
    skillgit("train", "--epochs", "1").ok()
    first = skillgit("log", "--json").ok().objects[0]
    assert first["score"] == pytest.approx(noise["mean"])


def test_one_repeat_is_refused(set_up: Path, skillgit) -> None:
    assert skillgit("aa", "--repeats", "1").code == 2
