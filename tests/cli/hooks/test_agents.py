from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from skillgit.cli.app.worktree import worktree_at
from skillgit.cli.hooks.agents import (
    AGENTS,
    ENDED,
    Agent,
    install_agent,
    is_installed,
    sessions_ended,
    uninstall_agent,
)
from skillgit.cli.hooks.place import HookPlace, place_of
from skillgit.errors import UserError

from .conftest import snapshot


@pytest.fixture(params=sorted(AGENTS))
def agent(request: pytest.FixtureRequest) -> Agent:
    return AGENTS[request.param]


@pytest.fixture
def here(project: Path) -> HookPlace:
    return place_of(worktree_at(project, os.environ))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


OTHERS = """{
    "model": "x",   "hooks": {"Stop": [],
      "SessionEnd": [{"hooks": [{"type": "command", "command": "echo über"}]}]}
}"""


@pytest.mark.parametrize("before", [None, "{}", OTHERS, '{"hooks": {}}\n', ""])
def test_settings_come_back_byte_for_byte(
    agent: Agent, here: HookPlace, home: Path, before: str | None
) -> None:
    path = agent.settings(os.environ)
    if before is not None:
        path.parent.mkdir()
        path.write_text(before)
    at_first, in_git = snapshot(home), snapshot(here.common)
    assert install_agent(agent, here, os.environ)
    assert is_installed(agent, os.environ)
    assert not install_agent(agent, here, os.environ)
    assert uninstall_agent(agent, here, os.environ)
    assert snapshot(home) == at_first
    assert snapshot(here.common) == in_git


def test_settings_changed_since_keep_the_change(agent: Agent, here: HookPlace, home: Path) -> None:
    path = agent.settings(os.environ)
    path.parent.mkdir()
    path.write_text(OTHERS)
    install_agent(agent, here, os.environ)
    settings = json.loads(path.read_text())
    settings["theirs"] = True
    path.write_text(json.dumps(settings))
    uninstall_agent(agent, here, os.environ)
    assert json.loads(path.read_text()) == {**json.loads(OTHERS), "theirs": True}


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"SessionEnd": {}}}'])
def test_settings_of_another_shape_are_left(
    agent: Agent, here: HookPlace, home: Path, text: str
) -> None:
    path = agent.settings(os.environ)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(UserError):
        install_agent(agent, here, os.environ)
    assert path.read_text() == text


def test_the_agents_own_variable_moves_the_file(tmp_path: Path) -> None:
    settings = AGENTS["claude"].settings({"CLAUDE_CONFIG_DIR": str(tmp_path), "HOME": "/nowhere"})
    assert settings == tmp_path / "settings.json"
    assert AGENTS["codex"].settings({"HOME": "/h"}) == Path("/h/.codex/hooks.json")


def command_of(agent: Agent) -> str:
    groups: list[dict[str, Any]] = agent.snippet()["hooks"]["SessionEnd"]
    command: str = groups[0]["hooks"][0]["command"]
    return command


def end_session(agent: Agent, cwd: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command_of(agent)],
        cwd=cwd,
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )


def test_the_end_of_a_session_is_noted_without_starting_a_python(
    agent: Agent, here: HookPlace, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_agent(agent, here, os.environ)
    for name in ("python", "python3", "skillgit"):
        program = tmp_path / "first" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/started'\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'first'}:{os.environ['PATH']}")
    event = {"session_id": "1f-ab", "transcript_path": "/x.jsonl", "hook_event_name": "SessionEnd"}
    done = end_session(agent, here.tree.root / "skills", json.dumps(event))
    assert not (tmp_path / "started").exists()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (line,) = (here.common / "skillgit/harvest" / ENDED).read_text().splitlines()
    moment, name, session = line.split()
    assert datetime.fromisoformat(moment) <= datetime.now(UTC)
    assert (name, session) == (agent.name, "1f-ab")


@pytest.mark.parametrize("text", ["", "null", "{", '{"session_id": "$(rm -rf /)"}', "x" * 200_000])
def test_no_input_fails_a_session(agent: Agent, here: HookPlace, home: Path, text: str) -> None:
    install_agent(agent, here, os.environ)
    done = end_session(agent, here.tree.root, text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (here.common / "skillgit/harvest" / ENDED).read_text().endswith(f" {agent.name} -\n")


def test_elsewhere_it_does_nothing(agent: Agent, home: Path) -> None:
    done = end_session(agent, home, "{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(home.iterdir()) == []


def test_sessions_are_counted_since_the_last_harvest(tmp_path: Path) -> None:
    assert sessions_ended(tmp_path, None) == 0
    (tmp_path / ENDED).write_text(
        "2026-03-01T10:00:00Z claude a\n2026-03-01T11:00:00Z claude b\n"
        "2026-03-01T12:00:00Z codex c\n2026-03-01T12:30:00Z codex c\n"
    )
    assert sessions_ended(tmp_path, None) == 3
    assert sessions_ended(tmp_path, datetime(2026, 3, 1, 10, 30, tzinfo=UTC)) == 2
    assert sessions_ended(tmp_path, datetime(2026, 3, 2, tzinfo=UTC)) == 0
