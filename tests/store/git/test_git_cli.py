from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.git.git_cli import GitCli, GitResult, gc_auto, version

Git = Callable[..., str]


@pytest.fixture
def cli(repo: Path) -> GitCli:
    return GitCli(repo, os.environ)


def alias(cli: GitCli, script: str) -> tuple[str, ...]:
    return ("-c", f"alias.x=!{script}", "x")


def test_output_and_input_are_bytes_as_git_has_them(cli: GitCli) -> None:
    oid = cli.checked("hash-object", "-w", "--stdin", stdin=b"a\0\xff\r\n").text
    assert cli.checked("cat-file", "blob", oid).stdout == b"a\0\xff\r\n"


def test_a_failure_is_told_in_gits_own_words(cli: GitCli) -> None:
    result = cli.run("rev-parse", "--verify", "nowhere")
    assert not result.ok
    with pytest.raises(RepositoryError, match="Needed a single revision"):
        cli.checked("rev-parse", "--verify", "nowhere")


def test_no_argument_meets_a_shell(cli: GitCli, tmp_path: Path) -> None:
    cli.run("rev-parse", "--verify", f"$(touch {tmp_path}/owned); touch {tmp_path}/owned")
    assert not (tmp_path / "owned").exists()


def test_a_password_in_a_url_is_not_repeated() -> None:
    said = "fatal: Authentication failed for 'https://user:secret@example.org/x.git/'\n"
    result = GitResult(code=128, stdout=b"", stderr=said)
    assert result.words == "Authentication failed for 'https://example.org/x.git/'"


def test_the_environment_is_the_one_handed_in_and_does_not_mislead(
    repo: Path, tmp_path: Path
) -> None:
    handed_in = {
        "PATH": os.environ["PATH"],
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "LC_ALL": "de_DE.UTF-8",
        "MINE": "yes",
    }
    cli = GitCli(repo, handed_in)
    assert Path(cli.checked("rev-parse", "--show-toplevel").text) == repo
    seen = dict(line.split("=", 1) for line in cli.checked(*alias(cli, "env")).text.split("\n"))
    assert seen["MINE"] == "yes"
    assert (seen["LC_ALL"], seen["GIT_OPTIONAL_LOCKS"], seen["GIT_TERMINAL_PROMPT"]) == (
        "C",
        "0",
        "0",
    )
    assert "HOME" not in seen


def test_another_folder_keeps_the_environment(repo: Path, tmp_path: Path, git: Git) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", str(tmp_path / "linked"))
    cli = GitCli(repo, os.environ).at(tmp_path / "linked")
    assert Path(cli.checked("rev-parse", "--show-toplevel").text) == tmp_path / "linked"


def test_what_takes_too_long_is_stopped_politely_with_all_it_started(
    cli: GitCli, tmp_path: Path
) -> None:
    script = f"trap 'echo polite > {tmp_path}/end; exit 0' TERM; echo $$ > {tmp_path}/pid; sleep 60"
    with pytest.raises(RepositoryError, match=r"did not end within 0.5 seconds"):
        cli.run(*alias(cli, f"{script} & wait"), timeout=0.5)
    assert not _alive(int((tmp_path / "pid").read_text()))
    assert (tmp_path / "end").read_text() == "polite\n"


def _alive(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    return True


def test_a_process_that_a_hook_leaves_behind_is_not_waited_for(cli: GitCli, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert cli.run(*alias(cli, f"sleep 60 & echo $! > {pid}; echo done")).text == "done"
    os.kill(int(pid.read_text()), signal.SIGKILL)  # raises if it has ended by itself


def test_a_large_output_does_not_block(cli: GitCli) -> None:
    data = b"x" * 3_000_000
    oid = cli.checked("hash-object", "-w", "--stdin", stdin=data).text
    assert cli.checked("cat-file", "blob", oid).stdout == data


def test_a_missing_git_is_one_clear_sentence(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="not found") as caught:
        GitCli(repo, {"PATH": str(tmp_path)}).run("status")
    assert "install git" in caught.value.hint


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match=r"no folder .*gone"):
        GitCli(tmp_path / "gone", os.environ).run("status")


def test_the_version_is_numbers(cli: GitCli) -> None:
    assert version(cli) >= (2, 20)


def test_gc_waits_until_it_is_done(cli: GitCli, repo: Path, git: Git) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("repack", "-q", "-d")
    git("commit", "-q", "--allow-empty", "-m", "y")
    git("repack", "-q", "-d")
    git("config", "gc.autoPackLimit", "1")
    assert gc_auto(cli).ok
    assert len(list((repo / ".git/objects/pack").glob("*.pack"))) == 1


def test_another_index_can_be_read(repo: Path, cli: GitCli, tmp_path: Path) -> None:
    (repo / "file").write_text("staged elsewhere\n")
    other = tmp_path / "index"
    subprocess.run(
        ["git", "add", "file"],
        cwd=repo,
        env={**os.environ, "GIT_INDEX_FILE": str(other)},
        check=True,
    )
    assert cli.checked("ls-files").text == ""
    assert cli.with_index(other).checked("ls-files").text == "file"
