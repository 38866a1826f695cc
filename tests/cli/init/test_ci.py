"""The workflow as GitHub would run it: its own scripts, on a repository with a pull request."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgit.cli.init.ci import github_workflow
from skillgit.config import parse_configs

CONFIG = """
[skill]
path = "{path}"
files = ["references/*.md"]
[tasks]
path = "{tasks}"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
"""


def workflow(path: str = "skills/brief/SKILL.md", tasks: str = "tasks/brief.jsonl") -> Any:
    return yaml.safe_load(github_workflow(parse_configs(CONFIG.format(path=path, tasks=tasks))))


def steps(text: str) -> list[dict[str, Any]]:
    return yaml.safe_load(text)["jobs"]["verify"]["steps"]


@pytest.mark.parametrize(
    ("path", "tasks", "expected"),
    [
        ("skills/brief/SKILL.md", "tasks/brief.jsonl", ["skills/brief/**", "tasks/brief.jsonl"]),
        ("SKILL.md", "tasks", ["SKILL.md", "references/*.md", "tasks/**"]),
    ],
)
def test_it_runs_where_a_skill_or_its_measure_changes(
    path: str, tasks: str, expected: list[str]
) -> None:
    asked = workflow(path, tasks)[True]["pull_request_target"]
    assert asked["paths"] == ["skillgit.toml", ".skillgit/**", *expected]
    assert asked["branches"] == ["main"]


def test_it_may_read_and_nothing_else_and_takes_no_text_of_a_stranger_into_a_script() -> None:
    found = workflow()
    assert found["permissions"] == {"contents": "read"}
    for step in found["jobs"]["verify"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "secrets" not in str(step)
        assert "ref" not in step.get("with", {})


@pytest.fixture
def hosted(trained: Path, tmp_path: Path, git) -> Path:
    """A host's repository with pull request 1, and the runner's checkout of its base."""
    host, runner = tmp_path / "host.git", tmp_path / "runner"
    subprocess.run(["git", "clone", "-q", "--bare", str(trained), str(host)], check=True)
    git("push", "-q", str(host), "refs/notes/skillopt", "skillopt/train-1:refs/pull/1/head")
    for ref in git("for-each-ref", "--format=%(refname)", "refs/heads/skillopt", cwd=host).split():
        git("update-ref", "-d", ref, cwd=host)
    subprocess.run(["git", "clone", "-q", str(host), str(runner)], check=True)
    return runner


def run_steps(runner: Path, git, **event: str) -> subprocess.CompletedProcess[str]:
    """The workflow's scripts after the installation, as a runner starts them."""
    bin_ = runner.parent / "bin"
    bin_.mkdir(exist_ok=True)
    shim = bin_ / "skillgit"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m skillgit "$@"\n')
    shim.chmod(0o755)
    base = git("rev-parse", "HEAD", cwd=runner).strip()
    given = {"NUMBER": "1", "BASE": base, "BODY": "A fine change.", **event}
    environ = {
        **os.environ,
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(runner.parent),
        "GITHUB_STEP_SUMMARY": str(runner.parent / "summary.md"),
    }
    text = github_workflow(parse_configs((runner / "skillgit.toml").read_text()))
    scripts = [step["run"] for step in steps(text) if "env" in step]
    done = None
    for script in scripts:
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=runner,
            env={**environ, **given},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            break
    assert done is not None
    return done


def test_an_honest_pull_request_passes(hosted: Path, git) -> None:
    done = run_steps(hosted, git)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all is as it says" in done.stdout
    assert (hosted.parent / "summary.md").read_text().startswith("## ✅")


def test_a_script_in_its_text_fails_it_and_is_not_run(hosted: Path, git) -> None:
    body = "<script>alert(1)</script>\n'; touch pwned; $(touch pwned) `touch pwned`\n"
    done = run_steps(hosted, git, BODY=body)
    assert done.returncode == 1
    assert "the pull request's text" in done.stdout
    assert not (hosted / "pwned").exists()


def test_without_shared_notes_it_fails_and_says_how_to_share_them(hosted: Path, git) -> None:
    host = hosted.parent / "host.git"
    git("update-ref", "-d", "refs/notes/skillopt", cwd=host)
    done = run_steps(hosted, git)
    assert done.returncode == 1
    assert "there are no notes here" in done.stdout
