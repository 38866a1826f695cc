from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillgit.cli.app.completion import KINDS, completion_script


@pytest.fixture
def typed(skillgit, trained: Path):
    """What completes a line, as bash asks for it."""

    def ask(line: str, **more: str) -> list[str]:
        words = len(line.split(" ")) - 1
        asked = {"_SKILLGIT_COMPLETE": "bash_complete", "COMP_WORDS": line}
        done = skillgit(**asked, COMP_CWORD=str(words), **more).ok()
        assert done.err == ""
        return [text.partition(",")[2] for text in done.out.splitlines() if text]

    return ask


def test_commands_and_options_complete(typed) -> None:
    assert "train" in typed("skillgit t")
    assert "hook" not in typed("skillgit h")
    assert set(typed("skillgit hooks ")) == {"install", "status", "uninstall"}
    assert "--epochs" in typed("skillgit train --e")


def test_runs_and_nights_complete(typed, git) -> None:
    for name in ("night-2", "night-10", "train-9"):
        git("branch", f"skillopt/run/{name}", "skillopt/run/train-1")
    assert typed("skillgit log ")[:4] == ["night-10", "night-2", "train-9", "train-1"]
    assert typed("skillgit adopt night-1") == ["night-10"]
    assert "best" in typed("skillgit adopt ")


def test_runs_of_a_remote_complete_too(typed, git, trained: Path, tmp_path: Path) -> None:
    git("update-ref", "refs/remotes/origin/skillopt/run/train-7", "skillopt/run/train-1")
    assert "train-7" in typed("skillgit show train-")


def test_the_moments_of_a_run_complete(typed) -> None:
    found = typed("skillgit show train-1@")
    assert {"train-1@best", "train-1@0", "train-1@1", "train-1@1+", "train-1@e1"} <= set(found)
    assert typed("skillgit eval main train-1@b") == ["train-1@best"]
    assert typed("skillgit show train-99@") == ["train-99@best"]


def test_task_names_complete(typed) -> None:
    assert "bm-007" in typed("skillgit eval best --tasks bm-00")
    assert typed("skillgit eval best --tasks bm-001,bm-002,bm-00")[0] == "bm-001,bm-002,bm-003"


def test_branches_complete_where_one_is_asked_for(typed, git) -> None:
    git("branch", "release")
    assert typed("skillgit adopt best --into r") == ["release"]


def test_the_folder_of_the_option_counts(typed, trained: Path, tmp_path: Path, skillgit) -> None:
    line = f"skillgit -C {trained} log tr"
    asked = {"_SKILLGIT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "4"}
    assert skillgit(cwd=tmp_path, **asked).ok().out.split() == ["plain,train-1"]


def test_outside_of_a_repository_nothing_completes_and_nothing_is_said(
    skillgit, tmp_path: Path
) -> None:
    for line in ("skillgit log ", "skillgit eval x --tasks ", "skillgit -C /nowhere show "):
        words = str(len(line.split(" ")) - 1)
        asked = {"_SKILLGIT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": words}
        done = skillgit(cwd=tmp_path, **asked)
        assert (done.out.strip(), done.err) == ("", "")


@pytest.mark.parametrize("asked", ["tcsh_complete", "bash", "x"])
def test_an_unknown_question_is_not_answered(skillgit, repo: Path, asked: str) -> None:
    done = skillgit(_SKILLGIT_COMPLETE=asked)
    assert (done.code, done.out) == (1, "")


def test_names_are_read_without_what_trains() -> None:
    code = (
        "import sys, skillgit.cli.app.completion, skillgit.cli.app.group\n"
        "print([m for m in ('pygit2', 'pydantic', 'rich', 'openai') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("shell", sorted(KINDS))
def test_the_command_prints_the_script(skillgit, repo: Path, shell: str) -> None:
    assert skillgit("completion", shell).ok().out == completion_script(shell)


def test_another_shell_is_wrong_usage(skillgit, repo: Path) -> None:
    assert skillgit("completion", "tcsh").code == 2


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "skillgit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgit "$@"\n')
    (folder / "skillgit").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def in_shell(shell: str, script: str, cwd: Path) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    options = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *options, "-c", script],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("skillgit log tr", ["train-1"]),
        ("skillgit show train-1@b", ["best"]),  # bash has cut the word at the @
        ("git skillgit log tr", ["train-1"]),
        ("git -C . skillgit log tr", ["train-1"]),
    ],
)
def test_bash_completes(trained: Path, on_path: None, line: str, found: list[str]) -> None:
    function = "_git_skillgit" if line.startswith("git") else "_skillgit_completion"
    script = (
        f'eval "$(skillgit completion bash)"\nCOMP_LINE={json.dumps(line)}\n'
        f'COMP_POINT=${{#COMP_LINE}}\n{function}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    assert in_shell("bash", script, trained) == found


def test_zsh_reads_its_script(trained: Path, on_path: None) -> None:
    script = (
        'autoload -Uz compinit && compinit -u -D\neval "$(skillgit completion zsh)"\n'
        "print ${_comps[skillgit]} ${+functions[_git-skillgit]}"
    )
    assert in_shell("zsh", script, trained) == ["_skillgit_completion", "1"]


def test_fish_completes(trained: Path, on_path: None) -> None:
    script = 'skillgit completion fish | source\ncomplete -C "skillgit log tr"'
    assert in_shell("fish", script, trained) == ["train-1"]
