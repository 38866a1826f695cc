from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from skillgit.cli.hooks.scripts import HOOKS, SESSION_END, Copy, copy_at, script, write_script

ALL = (*HOOKS, SESSION_END)


@pytest.mark.parametrize("name", ALL)
def test_a_script_is_read_by_every_shell_there_is(name: str) -> None:
    shells = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]
    for shell in shells:
        words = [shell, "sh", "-n"] if shell == "busybox" else [shell, "-n"]
        done = subprocess.run(
            words, input=script(name), text=True, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), shell


@pytest.mark.parametrize("name", ALL)
def test_what_is_written_is_known_again(tmp_path: Path, name: str) -> None:
    path = tmp_path / "hooks" / name
    assert copy_at(path, name) is Copy.NONE
    write_script(path, name)
    assert copy_at(path, name) is Copy.CURRENT
    assert path.stat().st_mode & 0o777 == 0o755
    assert [file.name for file in path.parent.iterdir()] == [name]


def test_an_edit_makes_it_somebodys_own(tmp_path: Path) -> None:
    path = tmp_path / "pre-commit"
    write_script(path, "pre-commit")
    path.write_text(path.read_text() + "make lint\n")
    assert copy_at(path, "pre-commit") is Copy.EDITED


def test_a_script_of_another_version_is_known_by_its_stamp(tmp_path: Path) -> None:
    path = tmp_path / "pre-commit"
    write_script(path, "post-merge")
    assert copy_at(path, "pre-commit") is Copy.OLDER


@pytest.mark.parametrize("data", [b"#!/bin/sh\nexit 0\n", b"", b"\xff\xfe", b"#!/bin/sh\n"])
def test_everything_else_is_foreign(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "pre-commit"
    path.write_bytes(data)
    assert copy_at(path, "pre-commit") is Copy.FOREIGN


def test_a_link_is_foreign_even_when_it_leads_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "pre-commit"
    path.symlink_to(tmp_path / "nowhere")
    assert copy_at(path, "pre-commit") is Copy.FOREIGN
