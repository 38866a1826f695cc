"""`skillgit forget`: what is let go of, and what is not."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from night_projects import House, make_house, write_sessions

Skillgit = Callable[..., Any]


def replies(repo: Path) -> int:
    with closing(sqlite3.connect(repo / ".git/skillgit/journal.sqlite")) as journal:
        found: int = journal.execute("SELECT COUNT(*) FROM replies").fetchone()[0]
        return found


def held(skillgit: Skillgit) -> dict[str, dict[str, Any]]:
    return {row["what"]: row for row in skillgit("forget", "--json").ok().objects}


def test_it_shows_what_there_is_and_what_to_type(skillgit, trained: Path) -> None:
    out = skillgit("forget").ok().out
    assert out.splitlines()[0].split() == ["what", "size", "of"]
    assert "skillgit forget --answers" in out
    assert "skillgit forget --sessions" not in out
    assert replies(trained)


def test_answers_of_ended_runs_go_and_nothing_is_paid_again(skillgit, trained: Path, git) -> None:
    refs = git("for-each-ref")
    size = held(skillgit)["answers"]["bytes"]
    (told,) = skillgit("forget", "--answers", "--yes", "--json").ok().objects
    assert told["bytes"] == size > 0
    assert replies(trained) == 0
    assert (trained / ".git/skillgit/journal.sqlite").stat().st_size < size
    assert git("for-each-ref") == refs
    assert "calls" not in skillgit("eval", "main", "best").ok().err
    assert "nothing was spent" in skillgit("train").ok().err
    assert "nothing to forget" in skillgit("forget", "--answers").ok().out
    skillgit("train", "--new", "--epochs", "1").ok()
    assert "train-2" in skillgit("status").ok().out


def test_an_unfinished_run_keeps_its_answers(skillgit, skill_repo: Path, git) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    git("add", ".")
    git("commit", "--quiet", "-m", "Set up")
    config = skill_repo / "skillgit.toml"
    text = config.read_text()
    config.write_text(f"{text}\n[budget]\ncalls = 12\n")
    assert skillgit("train").code == 5
    assert replies(skill_repo) == 12
    assert held(skillgit)["answers"]["kept"] == "1 run not ended"
    skillgit("forget", "--answers", "--yes").ok()
    assert replies(skill_repo) == 12


def test_nobody_there_to_agree_is_no_yes(skillgit, trained: Path) -> None:
    before = replies(trained)
    done = skillgit("forget", "--answers")
    assert done.code == 1
    assert "skillgit forget --answers --yes" in done.err
    assert replies(trained) == before


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = make_house(tmp_path / "repo")
    correction = "No, use uv instead of pip in this repo."
    write_sessions(Path(os.environ["HOME"]), made.path.resolve(), correction)
    return made


def test_what_was_read_of_sessions_goes(house: House, skillgit: Skillgit) -> None:
    skillgit("sleep").ok()
    folder = house.path / ".git/skillgit/harvest"
    assert any(folder.rglob("*"))
    refs = house.refs()
    skillgit("forget", "--sessions", "--yes").ok()
    assert not folder.exists()
    assert house.refs() == refs
    assert held(skillgit)["sessions"]["bytes"] == 0
    skillgit("adopt", "night-1").ok()
    skillgit("sleep").ok()


def test_a_night_that_has_not_ended_keeps_them(house: House, skillgit: Skillgit) -> None:
    house.write("skillgit.toml", house.config_text + "[budget]\ncalls = 3\n")
    house.commit("A budget")
    assert skillgit("sleep").code == 5
    answers = replies(house.path)
    done = skillgit("forget", "--answers", "--sessions", "--texts", "--yes")
    assert done.code == 1
    assert replies(house.path) == answers
    assert "night-1 has not ended" in done.err
    assert any((house.path / ".git/skillgit/harvest").rglob("*"))
    assert held(skillgit)["sessions"]["kept"] == "night-1 has not ended"


def test_texts_go_and_what_is_not_there_is_no_error(skillgit, trained: Path) -> None:
    (trained / ".git/skillgit/logs").mkdir(exist_ok=True)
    (trained / ".git/skillgit/logs/nights.log").write_text("slept\n")
    skillgit("forget", "--texts", "--yes").ok()
    assert not (trained / ".git/skillgit/logs").exists()
    skillgit("forget", "--texts", "--sessions", "--yes").ok()
    assert (trained / ".git/skillgit/moves.jsonl").exists()
    assert (trained / ".git/skillgit/trust.json").exists()


def test_where_nothing_was_ever_kept_it_says_so(skillgit, skill_repo: Path) -> None:
    assert all(row["bytes"] == 0 for row in held(skillgit).values())
    assert "nothing to forget" in skillgit("forget", "--answers", "--sessions").ok().out


def test_nights_go_as_the_how_to_says_and_their_numbers_stay_used(
    house: House, skillgit: Skillgit
) -> None:
    skillgit("sleep").ok()
    house.git("update-ref", "-d", "refs/skillopt/sleep")
    house.git("update-ref", "-d", "refs/notes/skillopt-night")
    house.git("branch", "-q", "-D", "skillopt/run/night-1", "skillopt/night-1")
    skillgit("forget", "--sessions", "--answers", "--yes").ok()
    house.git("gc", "--quiet", "--prune=now")
    assert "night 2 report" in skillgit("sleep").ok().out
