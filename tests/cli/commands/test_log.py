from __future__ import annotations

from pathlib import Path


def test_a_run_is_a_table_with_a_step_a_line(skillgit, trained: Path) -> None:
    lines = skillgit("log").ok().out.splitlines()
    assert lines[0].startswith("train-1: brief-writer, ended; best ")
    assert lines[2].split() == ["step", "verdict", "score", "best", "edits", "tokens", "commit"]
    assert lines[3].split()[:4] == ["0", "baseline", "0.0000", "0.0000"]
    assert lines[-1].split()[:4] == ["end", "after", "step", "8"]
    assert all(len(line) <= 80 for line in lines)


def test_the_table_agrees_with_git(skillgit, trained: Path, git) -> None:
    scores = git(
        "log",
        "--reverse",
        "--format=%H %(trailers:key=Skillopt-Step,valueonly,separator=)"
        " %(trailers:key=Skillopt-Action,valueonly,separator=)",
        "main..skillopt/run/train-1",
    )
    wanted = [line.split() for line in scores.splitlines() if not line.endswith(" revert")]
    objects = skillgit("log", "train-1", "--json").ok().objects
    assert [[o["commit"], str(o["step"]), o["action"]] for o in objects] == wanted
    assert {(o["version"], o["kind"]) for o in objects} == {(1, "commit")}


def test_log_needs_no_config(skillgit, trained: Path) -> None:
    (trained / "skillgit.toml").unlink()
    skillgit("log").ok()


def test_a_run_that_is_not_there_names_those_that_are(skillgit, trained: Path) -> None:
    done = skillgit("log", "train-7")
    assert done.code == 1
    assert "there is no run train-7" in done.err
    assert "There are train-1." in done.err
    assert skillgit("log", "../../etc").code == 1


def test_before_the_first_run_it_names_the_command_that_begins_one(skillgit, repo: Path) -> None:
    done = skillgit("log")
    assert done.code == 1
    assert "hint: skillgit train begins one." in done.err


def test_the_learning_rates_are_a_table_with_who_decided_and_why(skillgit, trained: Path) -> None:
    lines = skillgit("log", "--lr").ok().out.splitlines()
    assert lines[2].split("  ")[0] == "step"
    assert "decided by" in lines[2]
    assert all("schedule" in line for line in lines[3:])
    assert "cosine schedule, step 1 of 8" in lines[3]
    assert len(lines) == 3 + 8


def test_the_learning_rates_as_json(skillgit, trained: Path) -> None:
    objects = skillgit("log", "--lr", "--json").ok().objects
    assert [o["step"] for o in objects] == list(range(1, 9))
    assert {o["decided_by"] for o in objects} == {"schedule"}
    assert all(o["learning_rate"] <= o["available_update_items"] for o in objects)
