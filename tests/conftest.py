"""The walls: no home, no system or global git config, no keys, sockets to loopback only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pygit2
import pytest

Git = Callable[..., str]

IDENTITY = {"name": "Ada Tester", "email": "ada@example.org"}


# Started in the background of a shell, Python ignores Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _walls(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "OPENAI_", "SKILLGIT_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for level in (
        pygit2.enums.ConfigLevel.SYSTEM,
        pygit2.enums.ConfigLevel.GLOBAL,
        pygit2.enums.ConfigLevel.XDG,
        pygit2.enums.ConfigLevel.PROGRAMDATA,
    ):
        pygit2.settings.search_path[level] = str(home)
    monkeypatch.setattr(socket.socket, "connect", _loopback_only(socket.socket.connect))


def _loopback_only(connect: Callable[..., object]) -> Callable[..., object]:
    def guarded(self: socket.socket, address: object) -> object:
        host = address[0] if isinstance(address, tuple) else address
        if self.family in (socket.AF_INET, socket.AF_INET6) and host not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            raise AssertionError(f"a test tried to reach {address!r}")
        return connect(self, address)

    return guarded


class FixedClock:
    """A clock that a test sets; sleeping moves it."""

    def __init__(self, at: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)) -> None:
        self.at = at
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """The git command line, run in `tmp_path/repo` unless `cwd` says otherwise."""

    def run(*arguments: str, cwd: Path | None = None, text: str | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or tmp_path / "repo",
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def repo(tmp_path: Path, git: Git) -> Path:
    """A fresh repository with an identity, a branch main, and no commit."""
    path = tmp_path / "repo"
    path.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    git("config", "user.name", IDENTITY["name"])
    git("config", "user.email", IDENTITY["email"])
    return path
