from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from skillgit.cli.app import run as cli_run
from skillgit.cli.app.group import root
from skillgit.errors import BlockedError, BudgetError, ConflictError, UserError, WaitingError


def test_help_names_every_command_and_needs_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['skillgit', '--help']\n"
        "from skillgit.cli import main\n"
        "try: main()\n"
        "except SystemExit as done: assert not done.code\n"
        "heavy = {'pydantic', 'pygit2', 'openai', 'rich', 'unidiff', 'yaml', 'sqlite3', 'asyncio'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "loaded: []" in done.stdout
    for name in root.list_commands(click.Context(root)):
        assert f"\n  {name} " in done.stdout


def test_version_is_one_line(skillgit, tmp_path: Path) -> None:
    assert skillgit("--version", cwd=tmp_path).ok().out == "skillgit 0.1.0\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["frobnicate"], "no such command 'frobnicate'"),
        (["show"], "missing argument 'REV'"),
        (["log", "--frobnicate"], "no such option '--frobnicate'"),
        (["-C", "nowhere", "log"], "-C: there is no folder 'nowhere'"),
        (["simulate", "--port", "x"], "invalid value for '--port'"),
    ],
)
def test_wrong_words_exit_with_2_and_say_which(skillgit, tmp_path, words, message) -> None:
    done = skillgit(*words, cwd=tmp_path)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")
    assert done.out == ""


def test_no_words_show_the_help_on_stderr(skillgit, tmp_path: Path) -> None:
    done = skillgit(cwd=tmp_path)
    assert done.code == 2
    assert "Commands:" in done.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UserError("x", hint="git add y"), 1),
        (BlockedError("x", hint="git add y"), 3),
        (ConflictError("x", hint="git add y"), 4),
        (BudgetError("x", hint="git add y"), 5),
        (WaitingError("x", hint="git add y"), 6),
    ],
)
def test_each_error_has_its_exit_code_and_its_hint(error, code, monkeypatch, capsys) -> None:
    assert ended_by(error, monkeypatch) == code
    assert capsys.readouterr().err == "error: x\nhint: git add y\n"


def test_every_line_of_a_hint_is_marked(monkeypatch, capsys) -> None:
    ended_by(UserError("x", hint="one\ntwo"), monkeypatch)
    assert capsys.readouterr().err == "error: x\nhint: one\nhint: two\n"


def test_a_bug_leaves_a_trace_without_the_key(monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    error = ValueError("asked https://ada:pw@host/v1 with sk-very-secret")
    assert ended_by(error, monkeypatch) == 70
    told = capsys.readouterr().err
    path = Path(told.partition("The trace is in ")[2].partition("; it holds")[0])
    trace = path.read_text()
    path.unlink()
    assert "ValueError" in trace
    assert "sk-very-secret" not in trace + told
    assert "ada:pw" not in trace + told


def test_the_trace_of_a_bug_in_a_repository_is_in_its_private_folder(
    monkeypatch, capsys, repo: Path
) -> None:
    monkeypatch.chdir(repo)
    assert ended_by(ValueError("x"), monkeypatch) == 70
    assert "/.git/skillgit/logs/skillgit-trace-" in capsys.readouterr().err
    (trace,) = (repo / ".git" / "skillgit" / "logs").iterdir()
    assert trace.stat().st_mode & 0o077 == 0


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "skillgit", "--help"],
        cwd=tmp_path,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (cli_run.BROKEN_PIPE, "")


def test_an_interrupt_says_that_finished_work_is_committed(monkeypatch, capsys) -> None:
    assert ended_by(KeyboardInterrupt(), monkeypatch, resume="skillgit train") == 130
    behind = RuntimeError("cannot release un-acquired lock")
    behind.__context__ = KeyboardInterrupt()
    assert ended_by(behind, monkeypatch, resume="skillgit train") == 130
    told = capsys.readouterr().err
    assert "every finished step is committed" in told
    assert "hint: skillgit train goes on from there." in told


def test_directories_follow_one_another_as_in_git(skillgit, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    done = skillgit("-C", "a", "-C", "b", "log", cwd=tmp_path)
    assert done.code == 1
    assert f"{tmp_path / 'a' / 'b'} is not in a git repository" in done.err


def test_git_skillgit_is_the_same_program(tmp_path: Path) -> None:
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["git", "skillgit", "nonsense"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "hint: git skillgit --help shows what there is." in done.stderr


def test_the_simulated_server_prints_its_address_and_ends_on_interrupt(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "skillgit", "simulate"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("http://127.0.0.1:")
        time.sleep(0.2)
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0


def ended_by(error: BaseException, monkeypatch, *, resume: str | None = None) -> int:
    """The exit code of a command that ends with this error."""

    def fail(invocation: cli_run.Invocation, _: list[str]) -> int:
        invocation.resume = resume
        raise error

    monkeypatch.setattr(cli_run, "_invoke", fail)
    return cli_run.run([], os.environ)
