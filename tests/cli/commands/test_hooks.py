from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "person"
    folder.mkdir()
    return folder


def test_hooks_are_installed_shown_and_taken_away(skillgit, skill_repo: Path) -> None:
    assert "not installed" in skillgit("hooks", "status").ok().out
    assert "installed, as a file" in skillgit("hooks", "install").ok().out
    assert "as a file" in skillgit("hooks", "status").ok().out
    assert "removed" in skillgit("hooks", "uninstall").ok().out
    assert not (skill_repo / ".git/hooks/pre-commit").exists()


def test_json_says_how_each_hook_stands(skillgit, skill_repo: Path) -> None:
    objects = skillgit("hooks", "install", "--json").ok().objects
    assert [(o["kind"], o["hook"], o["way"], o["change"]) for o in objects] == [
        ("hook", name, "file", "installed") for name in ("pre-commit", "pre-push", "post-merge")
    ]
    kinds = [o["kind"] for o in skillgit("hooks", "status", "--json").ok().objects]
    assert kinds == ["hook"] * 3 + ["agent"] * 2


def test_where_a_foreign_hook_stands_the_line_is_said(skillgit, skill_repo: Path) -> None:
    foreign = skill_repo / ".git/hooks/pre-commit"
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("#!/bin/sh\n")
    done = skillgit("hooks", "install")
    assert done.code == 1
    assert "pre-commit could not be installed" in done.err
    (line,) = [text for text in done.out.splitlines() if "command -v skillgit" in text]
    foreign.write_text(f"#!/bin/sh\n{line}\n")
    skillgit("hooks", "install").ok()
    done = skillgit("hooks", "uninstall").ok()
    assert "take that line out by hand" in done.out


def test_outside_of_a_repository_it_is_one_sentence(skillgit, tmp_path: Path) -> None:
    done = skillgit("hooks", "install", cwd=tmp_path)
    assert done.code == 1
    assert "not in a git repository" in done.err


def test_an_agents_settings_are_shown_and_not_written(
    skillgit, skill_repo: Path, home: Path
) -> None:
    done = skillgit("hooks", "install", "--agent", "claude", HOME=str(home)).ok()
    assert '"SessionEnd"' in done.out
    assert "hooks install --agent claude --yes" in done.out
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("agent", "file"), [("claude", "settings.json"), ("codex", "hooks.json")])
def test_with_consent_they_are_written(
    skillgit, skill_repo: Path, home: Path, agent: str, file: str
) -> None:
    environ = {"HOME": str(home)}
    skillgit("hooks", "install", "--agent", agent, "--yes", **environ).ok()
    settings = json.loads((home / f".{agent}" / file).read_text())
    assert list(settings["hooks"]) == ["SessionEnd"]
    assert "notes when a session ends" in skillgit("hooks", "status", **environ).ok().out
    skillgit("hooks", "uninstall", "--agent", agent, **environ).ok()
    assert list(home.iterdir()) == []


def test_ended_sessions_are_counted(skillgit, skill_repo: Path) -> None:
    folder = skill_repo / ".git/skillgit/harvest"
    folder.mkdir(parents=True)
    (folder / "sessions-ended").write_text("2026-03-01T10:00:00Z claude a\n")
    out = skillgit("hooks", "status").ok().out
    assert "1 session ended since the last harvest" in out


def test_yes_goes_with_an_agent(skillgit, skill_repo: Path) -> None:
    assert skillgit("hooks", "install", "--yes").code == 2
