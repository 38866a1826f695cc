"""Repositories in which git itself calls the hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

CONFIG = """\
[skill]
path = "skills/brief/SKILL.md"
files = ["references/*.md"]
[tasks]
path = "tasks/brief.jsonl"
[target]
provider = "simulated"
model = "sim-target"
[optimizer]
provider = "simulated"
model = "sim-optimizer"
"""
SKILL = "---\nname: brief\ndescription: Writes briefs.\n---\n# Brief\n\n- Be short.\n"
REGION = "\n<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->\n"
FOREIGN = "#!/bin/sh\necho theirs >>theirs.log\n"


@dataclass(frozen=True)
class Ended:
    """How git ended."""

    code: int
    err: str


Tried = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`skillgit` is on PATH, and each call of it leaves a line in `calls`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "skillgit"
    program.write_text(
        f'#!/bin/sh\necho "$@" >>"{tmp_path}/calls"\nexec "{sys.executable}" -m skillgit "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[], list[str]]:
    """How skillgit was called since the last look."""

    def look() -> list[str]:
        file = tmp_path / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    return look


@pytest.fixture
def without_skillgit(tmp_path: Path) -> None:
    """Nothing called skillgit is on PATH."""
    (tmp_path / "bin" / "skillgit").unlink()
    if found := shutil.which("skillgit"):
        pytest.skip(f"{found} is installed beside the tools")


@pytest.fixture
def tried(tmp_path: Path) -> Tried:
    """A git command that may fail."""

    def run(*words: str, cwd: Path | None = None, **environ: str) -> Ended:
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or tmp_path / "repo",
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Ended(done.returncode, done.stderr)

    return run


@pytest.fixture
def project(repo: Path, git: Callable[..., str]) -> Path:
    """A repository with a skill and its config, committed, and no hook at all."""
    write(repo, "skillgit.toml", CONFIG)
    write(repo, "skills/brief/SKILL.md", SKILL)
    write(repo, "tasks/brief.jsonl", "")
    git("add", ".")
    git("commit", "--quiet", "-m", "Begin")
    for sample in (repo / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    return repo


def write(repo: Path, path: str, text: str) -> Path:
    """Write a file of a repository."""
    whole = repo / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(text)
    return whole


def snapshot(folder: Path) -> dict[str, tuple[bytes | str, int]]:
    """Every file below a folder with its bytes and mode, and every folder."""
    found: dict[str, tuple[bytes | str, int]] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = (str(path.readlink()), 0)
        elif path.is_dir():
            found[name] = ("folder", 0)
        else:
            found[name] = (path.read_bytes(), path.stat().st_mode)
    return found
