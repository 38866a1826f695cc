"""The command line as a user has it: real processes in fresh repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
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


# Starts a process for each command by forking one that has imported everything already: the
# imports are most of what a short command costs.
FORKER = """
import importlib, io, json, os, sys
from skillgit.cli.app.group import COMMANDS
from skillgit.cli.app import run as cli_run
for name in COMMANDS:
    importlib.import_module(f"skillgit.cli.commands.{name}")
while line := sys.stdin.buffer.readline():
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(job["cwd"])
        os.environ.clear()
        os.environ.update(job["environ"])
        for fd, (path, flags) in enumerate(job["files"]):
            os.dup2(os.open(path, flags, 0o600), fd)
        sys.stdin = open(0)
        code = cli_run.run(job["words"], os.environ)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="session")
def forker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """The process that commands are forked from, behind the same walls as they are."""
    home = tmp_path_factory.mktemp("forker")
    environ = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = [sys.executable, "-c", FORKER]
    with subprocess.Popen(words, env=environ, text=True, bufsize=1, **pipes) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def skillgit(tmp_path: Path, forker: subprocess.Popen[str]) -> Skillgit:
    """`skillgit WORDS`, run in `tmp_path/repo` unless `cwd` says otherwise."""
    assert forker.stdin is not None
    assert forker.stdout is not None
    into, out, err = (tmp_path / f".{name}" for name in ("stdin", "stdout", "stderr"))

    def run(*words: str, cwd: Path | None = None, text: str = "", **environ: str) -> Done:
        into.write_text(text)
        new = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        job = {
            "words": words,
            "cwd": str(cwd or tmp_path / "repo"),
            "environ": {**os.environ, **environ},
            "files": [(str(into), os.O_RDONLY), (str(out), new), (str(err), new)],
        }
        print(json.dumps(job), file=forker.stdin)
        code = int(forker.stdout.readline())
        return Done(code, out.read_text(), err.read_text())

    return run


@pytest.fixture
def started(tmp_path: Path) -> Skillgit:
    """The same, in a process that is started afresh."""

    def run(*words: str, cwd: Path | None = None, **environ: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "skillgit", *words],
            cwd=cwd or tmp_path / "repo",
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
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
