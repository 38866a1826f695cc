"""Three skills in one repository, from `init` to `adopt`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

NAMES = ("alpha", "beta", "gamma")
CONFIG = """\
[[skill]]
path = "skills/alpha/SKILL.md"

[[skill]]
path = "skills/beta/SKILL.md"
name = "beta"
tasks = "tasks/beta.jsonl"

[[skill]]
path = "skills/gamma/SKILL.md"

[tasks]
path = "tasks/shared.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
[train]
epochs = 1
batch_size = 3
workers = 2
"""
CHECKS = {
    "alpha": {"op": "contains", "arg": "## Key Risks"},
    "beta": {"op": "regex", "arg": "[Cc]onfidence\\s*[:=]"},
    "gamma": {"op": "contains", "arg": "## Summary"},
}
TOPICS = ("tides", "rails", "bees", "maps", "seeds", "roofs", "kelp", "trams", "bogs")


def tasks(name: str, **more: object) -> str:
    rows = [
        {
            "id": f"{name}-{i}",
            "prompt": f"Write a brief on {topic}, for {name}.",
            "split": ("train", "val", "train", "val", "val", "train", "val", "train", "test")[i],
            "judge": {"kind": "rule", "checks": [CHECKS[name]]},
            **more,
        }
        for i, topic in enumerate(TOPICS)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def three(repo: Path, git: Callable[..., str]) -> Path:
    """A repository with three skills, one with tasks of its own."""
    (repo / "tasks").mkdir()
    for name in NAMES:
        folder = repo / "skills" / name
        folder.mkdir(parents=True)
        front = f"---\nname: {name.upper()}\ndescription: Writes briefs.\n---\n"
        (folder / "SKILL.md").write_text(f"{front}# Briefs of {name}\n\n- Write one page.\n")
    (repo / "tasks/beta.jsonl").write_text(tasks("beta"))
    shared = tasks("alpha", skill="alpha") + tasks("gamma", skill=["gamma"])
    (repo / "tasks/shared.jsonl").write_text(shared)
    (repo / "skillgit.toml").write_text(CONFIG)
    git("add", ".")
    git("commit", "--quiet", "-m", "Add three skills")
    return repo


def tags(git: Callable[..., str]) -> dict[str, str]:
    lines = git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/tags")
    return dict(line.split() for line in lines.splitlines())


def test_three_skills_are_trained_at_once_and_adopted_one_by_one(skillgit, three, git) -> None:
    command = [sys.executable, "-m", "skillgit", "train", "--skill"]
    started = [
        subprocess.Popen(
            [*command, name], cwd=three, stdout=-1, stderr=-1, text=True, env=os.environ
        )
        for name in NAMES
    ]
    for process in started:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    trained = {
        o["skill"]: o["run"] for o in skillgit("status", "--json").ok().objects if "run" in o
    }
    assert sorted(trained) == list(NAMES)
    assert sorted(trained.values()) == ["train-1", "train-2", "train-3"]
    best = tags(git)
    assert sorted(best) == ["skillopt/alpha/best", "skillopt/best", "skillopt/beta/best",
                            "skillopt/gamma/best"]  # fmt: skip
    assert best["skillopt/best"] == best["skillopt/alpha/best"]

    for name, other in (("gamma", "beta"), ("beta", "alpha"), ("alpha", None)):
        out = skillgit("adopt", "best", "--skill", name).ok().out
        assert trained[name] in out
        assert git("status", "--porcelain") == ""
        text = git("show", f"main:skills/{name}/SKILL.md")
        assert text == git("show", f"skillopt/{name}/best:skills/{name}/SKILL.md")
        if other:
            untouched = (three / f"skills/{other}/SKILL.md").read_text()
            assert untouched.endswith("- Write one page.\n")
    git("fsck", "--strict")
    out = skillgit("status").ok().out
    assert out.count(", adopted") == 3


def test_commands_are_about_the_skill_that_is_named(skillgit, three: Path, git) -> None:
    done = skillgit("train").ok()
    assert "git log skillopt/best" in done.out
    done = skillgit("train", "--skill", "beta").ok()
    assert done.out.startswith("train-2: ")
    assert "git log skillopt/beta/best" in done.out
    assert skillgit("log").ok().out.startswith("train-")
    assert skillgit("log", "--skill", "beta").ok().out.startswith("train-2: beta, ended")
    assert skillgit("log", "--skill", "alpha").ok().out.startswith("train-1: alpha, ended")
    assert "\nskills/beta/SKILL.md\n" in skillgit("show", "train-2@1").ok().out
    (shown,) = skillgit("show", "best", "--skill", "beta", "--json").ok().objects
    assert shown["run"] == "train-2"
    assert skillgit("tasks", "--skill", "gamma").ok().out.startswith("tasks/shared.jsonl, read as")
    assert ": 9 tasks\n" in skillgit("tasks", "--skill", "gamma").ok().out
    again = skillgit("train", "--skill", "beta").ok()
    assert "train-2 has ended" in again.err
    assert "skillgit train --new --skill beta" in again.err
    assert skillgit("eval", "best", "--skill", "beta").ok().out.startswith("4 val tasks")
    out = skillgit("status").ok().out
    assert "skill  alpha, in skills/alpha/SKILL.md" in out
    assert "tag skillopt/beta/best, not adopted" in out
    assert "  skillgit train --skill gamma\n" in out
    assert "export" not in out
    assert "alpha" not in skillgit("status", "--skill", "beta").ok().out


@pytest.mark.parametrize(
    "words",
    [("train",), ("status",), ("show", "best"), ("eval", "best"), ("adopt", "best"), ("tasks",)],
)
def test_a_skill_that_is_not_there_is_named_with_the_nearest(skillgit, three, words) -> None:
    done = skillgit(*words, "--skill", "betta")
    assert (done.code, done.out) == (2, "")
    assert "there is no skill 'betta'" in done.err
    assert "Did you mean 'beta'?" in done.err
    done = skillgit(*words, "--skill", "zzz")
    assert "skillgit.toml has alpha, beta, gamma." in done.err


def test_the_log_of_a_skill_without_runs_says_so(skillgit, three: Path) -> None:
    done = skillgit("log", "--skill", "beta")
    assert done.code == 1
    assert "there is no run of a skill 'beta' yet" in done.err


def test_the_best_of_a_skill_that_was_never_trained_is_not_anothers(skillgit, three) -> None:
    skillgit("train").ok()
    done = skillgit("adopt", "best", "--skill", "gamma")
    assert done.code == 1
    assert "there is no best version yet" in done.err


def test_one_skill_of_a_proposal_may_be_all_of_it_or_nothing(skillgit, three, git) -> None:
    skillgit("train", "--skill", "beta").ok()
    done = skillgit("adopt", "train-1", "--only", "gamma")
    assert done.code == 1
    assert "train-1 changes none of skills/gamma/SKILL.md" in done.err
    assert "Did you mean 'beta'?" in skillgit("adopt", "train-1", "--only", "betta").err
    skillgit("adopt", "train-1", "--only", "beta").ok()
    assert git("rev-parse", "main") == git("rev-parse", "skillopt/train-1")


@pytest.mark.parametrize("words", [(), ("--only", "beta"), ("--skill", "gamma")])
def test_a_changed_skill_is_measured_again_on_its_own_tasks(
    skillgit, three: Path, git, words: tuple[str, ...]
) -> None:
    skillgit("train", "--skill", "beta").ok()
    skill = three / "skills/beta/SKILL.md"
    skill.write_text(skill.read_text().replace("# Briefs", "- Be kind.\n\n# Briefs"))
    git("commit", "--quiet", "-am", "By hand")
    done = skillgit("adopt", "train-1", "--regate", *words).ok()
    assert "at most 8 calls" in done.err
    assert "measured on val: 0.0000 -> " in done.out
    assert "calls" not in skillgit("eval", "main", "--skill", "beta").ok().err


def test_one_skill_may_be_named_too(skillgit, trained: Path) -> None:
    assert skillgit("status", "--skill", "brief-writer").ok().out.startswith("skill  skills/brief")
    done = skillgit("status", "--skill", "brief-writter")
    assert (done.code, "Did you mean 'brief-writer'?" in done.err) == (2, True)


def test_a_repository_of_one_skill_takes_a_second_and_goes_on(skillgit, trained, git) -> None:
    before = tags(git)
    text = (trained / "skillgit.toml").read_text()
    more = '\n[[skill]]\npath = "skills/more/SKILL.md"\ntasks = "tasks/brief.jsonl"\n'
    (trained / "skillgit.toml").write_text(text.replace("[skill]", "[[skill]]") + more)
    (trained / "skills/more").mkdir()
    (trained / "skills/more/SKILL.md").write_text("# More\n\n- Write one page.\n")
    assert "skill  more, in skills/more/SKILL.md" in skillgit("status").ok().out
    git("add", ".")
    git("commit", "--quiet", "-m", "Add a second skill")
    assert skillgit("show", "best", "--skill", "brief-writer", "--json").ok().objects[0]["run"]
    skillgit("train", "--epochs", "1", "--skill", "more").ok()
    after = tags(git)
    assert after["skillopt/best"] == before["skillopt/best"]
    assert sorted(after) == ["skillopt/best", "skillopt/more/best"]
    assert "train-1 is not finished" not in skillgit("train", "--epochs", "2").ok().err


def test_a_second_init_prints_the_lines_of_a_further_skill(skillgit, trained: Path, git) -> None:
    (trained / "skills/more").mkdir()
    (trained / "skills/more/SKILL.md").write_text("# More\n")
    before = (trained / "skillgit.toml").read_bytes()
    done = skillgit("init", "skills/more", "--tasks", "tasks/brief.jsonl")
    assert done.code == 1
    assert "write [[skill]] in place of [skill]" in done.err
    lines = '[[skill]]\npath = "skills/more/SKILL.md"\ntasks = "tasks/brief.jsonl"\n'
    assert lines in done.err.replace("hint: ", "")
    assert "skillgit train --skill more" in done.err
    assert (trained / "skillgit.toml").read_bytes() == before
    text = before.decode().replace("[skill]", "[[skill]]") + lines
    (trained / "skillgit.toml").write_text(text)
    assert "more, in skills/more/SKILL.md" in skillgit("status").ok().out
    assert "Edit " in skillgit("init", "skills/more").err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "beta"', 'name = "alpha"', "two skills are called 'alpha'"),
        ('path = "skills/gamma/SKILL.md"', 'path = "skills/./alpha/SKILL.md"', "two [[skill]]"),
        ('name = "beta"', 'nme = "beta"', "[[skill]] 2: unknown key 'skill.nme', did you mean"),
        ('path = "tasks/shared.jsonl"', "", "'tasks.path' is missing"),
    ],
)
def test_what_two_skills_cannot_share_is_said(skillgit, three: Path, old, new, said) -> None:
    text = (three / "skillgit.toml").read_text()
    (three / "skillgit.toml").write_text(text.replace(old, new))
    done = skillgit("status")
    assert done.code == 1
    assert said in done.err


def test_a_task_for_a_skill_that_is_not_there_is_an_error(skillgit, three: Path) -> None:
    with (three / "tasks/shared.jsonl").open("a") as file:
        file.write(tasks("alpha", skill="gama").replace("alpha-", "more-"))
    done = skillgit("train", "--skill", "gamma")
    assert done.code == 1
    assert "there is no skill 'gama', did you mean 'gamma'?" in done.err


def test_trust_is_asked_for_all_skills_at_once(skillgit, three: Path) -> None:
    check = '"judge": {"kind": "command", "command": ["python3", "tools/%s.py"]}'
    for name, file in (("beta", "beta"), ("alpha", "shared")):
        row = f'{{"id": "c-{name}", "prompt": "x", "split": "train", {check % name}}}\n'
        with (three / f"tasks/{file}.jsonl").open("a") as tasks_file:
            tasks_file.write(row)
    done = skillgit("trust", "--yes").ok()
    assert "tools/beta.py" in done.out
    assert "tools/alpha.py" in done.out
