"""The command line as a user has it: real processes in fresh repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """What `--json` printed."""
        return [json.loads(line) for line in self.out.splitlines()]

    def ok(self) -> Done:
        """This, after looking that it went well."""
        assert self.code == 0, f"exit {self.code}\n{self.out}\n{self.err}"
        return self


Skillgit = Callable[..., Done]


@pytest.fixture
def skillgit(tmp_path: Path) -> Skillgit:
    """`skillgit WORDS`, run in `tmp_path/repo` unless `cwd` says otherwise."""

    def run(*words: str, cwd: Path | None = None, text: str = "", **environ: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "skillgit", *words],
            cwd=cwd or tmp_path / "repo",
            env={**os.environ, **environ},
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


SKILL = """\
---
name: Brief Writer
description: Writes short research briefs.
---
# Brief writer

- Write one page.
- Begin with what the reader must know.
"""

TOPICS = (
    "tidal power in Wales, its sites, its costs and who builds it",
    "heat pumps for old houses with thin walls",
    "the market for used electric cars in Norway",
    "drone deliveries of medicine to mountain villages",
    "school meals made from surplus food",
    "wooden high-rise buildings and fire rules",
    "night trains between Berlin and Stockholm",
    "sea-level rise and the port of Rotterdam",
    "open data of weather services",
    "bees on the roofs of office towers",
    "water recycling in textile plants",
    "satellites that watch methane leaks",
    "libraries as cooling centres in summer",
    "cargo bikes for parcel services",
    "seed banks in the far north",
)


def task_lines(n: int = 15) -> str:
    """Rule-judged tasks in the `task_id` shape; a skill without rules fails them all."""
    checks = [
        {"op": "contains", "arg": "## Key Risks"},
        {"op": "regex", "arg": "[Cc]onfidence\\s*[:=]"},
    ]
    return "".join(
        json.dumps(
            {
                "task_id": f"bm-{i + 1:03d}",
                "task": f"Write a brief on {TOPICS[i]}.",
                "judge": {"kind": "rule", "checks": checks},
            }
        )
        + "\n"
        for i in range(n)
    )


@pytest.fixture
def skill_repo(repo: Path, git: Callable[..., str]) -> Path:
    """A repository with a deficient skill and its tasks, both committed."""
    write_project(repo)
    git("add", ".")
    git("commit", "--quiet", "-m", "Add the skill and its tasks")
    return repo


CLOCK = "2026-03-01T12:00:00Z"


def write_project(repo: Path) -> None:
    """Put the deficient skill and its tasks where they belong."""
    (repo / "skills" / "brief").mkdir(parents=True)
    (repo / "skills" / "brief" / "SKILL.md").write_text(SKILL)
    (repo / "tasks").mkdir()
    (repo / "tasks" / "brief.jsonl").write_text(task_lines())


@pytest.fixture(scope="session")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose one run has ended; only ever copied."""
    repo = tmp_path_factory.mktemp("trained") / "repo"
    repo.mkdir()
    hidden = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    environ = {**os.environ, **hidden, "HOME": str(repo.parent), "SKILLGIT_CLOCK": CLOCK}
    git, skillgit = ["git"], [sys.executable, "-m", "skillgit"]
    write_project(repo)
    for words in (
        [*git, "init", "--quiet", "--initial-branch=main"],
        [*git, "config", "user.name", "Ada Tester"],
        [*git, "config", "user.email", "ada@example.org"],
        [*skillgit, "init", "skills/brief", "--provider", "simulated"],
        [*git, "add", "."],
        [*git, "commit", "--quiet", "-m", "Add the skill and its tasks"],
        [*skillgit, "train", "--epochs", "2"],
    ):
        subprocess.run(words, cwd=repo, env=environ, check=True, capture_output=True)
    return repo


@pytest.fixture
def trained(trained_once: Path, tmp_path: Path) -> Path:
    """A repository whose one run has ended, for this test alone."""
    return shutil.copytree(trained_once, tmp_path / "repo", symlinks=True)
