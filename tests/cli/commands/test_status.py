from __future__ import annotations

from pathlib import Path


def test_before_the_first_run_it_says_what_to_type(skillgit, skill_repo: Path) -> None:
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    out = skillgit("status").ok().out
    assert "best   none yet" in out
    assert out.endswith(
        "Next:\n  git add skills/brief/SKILL.md tasks/brief.jsonl skillgit.toml\n"
        "  git commit -m 'Set up skillgit'\n  skillgit train\n"
    )


def test_an_ended_run_is_to_be_looked_at_and_adopted(skillgit, trained: Path, git) -> None:
    out = skillgit("status").ok().out
    assert "train-1@1, tag skillopt/best, not adopted" in out
    assert out.endswith("Next:\n  git diff main...skillopt/train-1\n  skillgit adopt train-1\n")
    git("merge", "--quiet", "skillopt/train-1")
    assert "tag skillopt/best, adopted" in skillgit("status").ok().out


def test_a_dirty_skill_is_mentioned(skillgit, trained: Path) -> None:
    (trained / "skills/brief/SKILL.md").write_text("# Mine\n")
    assert "not committed" in skillgit("status").ok().out
    *_, status = skillgit("status", "--json").ok().objects
    assert status["uncommitted"] == ["skills/brief/SKILL.md"]


def test_json_has_a_line_for_each_run_and_one_for_the_whole(skillgit, trained: Path) -> None:
    run, status = skillgit("status", "--json").ok().objects
    assert (run["kind"], run["run"], run["ended"], run["adopted"]) == (
        "run",
        "train-1",
        True,
        False,
    )
    assert status["next"][-1] == "skillgit adopt train-1"
