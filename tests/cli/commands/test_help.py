from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_help_alone_lists_the_commands(skillgit, repo: Path) -> None:
    assert skillgit("help").ok().out == skillgit("--help").ok().out


@pytest.mark.parametrize("words", [("train",), ("hooks", "install"), ("help",)])
def test_help_of_a_command_is_that_commands_help(skillgit, repo: Path, words) -> None:
    assert skillgit("help", *words).ok().out == skillgit(*words, "--help").ok().out


@pytest.mark.parametrize("words", [("nope",), ("train", "nope"), ("hooks", "nope")])
def test_help_of_what_is_no_command_is_wrong_usage(skillgit, repo: Path, words) -> None:
    done = skillgit("help", *words)
    assert done.code == 2
    assert "nope" in done.err


def test_the_hidden_command_is_not_listed(skillgit, repo: Path) -> None:
    assert "What the installed hooks call" not in skillgit("help").ok().out


@pytest.fixture
def git_skillgit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git skillgit`, as the console script makes it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "git-skillgit"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom skillgit.cli import main\n"
        "sys.argv[0] = 'git-skillgit'\nmain()\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_git_skillgit_help_shows_the_help(git, repo: Path, git_skillgit: None) -> None:
    assert "Train the skill" in git("skillgit", "help")
    assert "--epochs" in git("skillgit", "help", "train")


def test_git_help_skillgit_asks_for_the_page_that_is_installed(
    git, repo: Path, git_skillgit: None
) -> None:
    viewer = ("-c", "man.viewer=seen", "-c", "man.seen.cmd=echo asked for")
    assert git(*viewer, "help", "skillgit").split() == ["asked", "for", "git-skillgit"]
    assert git(*viewer, "skillgit", "--help").split() == ["asked", "for", "git-skillgit"]


def test_the_page_is_found_beside_the_program(repo: Path, tmp_path: Path) -> None:
    pages = tmp_path / "share" / "man" / "man1"
    pages.mkdir(parents=True)
    for name in ("skillgit.1", "git-skillgit.1"):
        source = Path(__file__).parents[3] / "docs" / "man" / name
        (pages / name).write_bytes(source.read_bytes())
    try:
        done = subprocess.run(
            ["man", "-M", str(pages.parent), "-P", "cat", "git-skillgit"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no man")
    if "minimized" in done.stdout:
        pytest.skip("man is switched off here")
    assert "SKILLGIT(1)" in done.stdout
