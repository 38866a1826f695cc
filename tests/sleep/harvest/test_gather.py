"""Gather: which sessions are taken, where the others went, and what is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from transcripts import START, ClaudeSession, codex_event, codex_meta, jsonl

from skillgit.sleep.harvest import (
    SOURCES,
    Digests,
    Harvest,
    SessionStatus,
    SourceLocation,
    Wanted,
    gather,
)
from skillgit.sleep.harvest.gather import OWN_RUN_MARK, in_project, transcript_damage

Gather = Callable[..., Harvest]
REPO = Path("/work/repo")


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "claude" / "projects" / "-work-repo"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def places(projects: Path, tmp_path: Path) -> list[SourceLocation]:
    return [
        SourceLocation("claude-code", SOURCES["claude-code"], (projects.parent,)),
        SourceLocation("codex", SOURCES["codex"], (tmp_path / "codex",)),
    ]


@pytest.fixture
def run(places: list[SourceLocation], tmp_path: Path) -> Gather:
    def run(since: datetime | None = None, wanted: tuple[Path, ...] | None = (REPO,)) -> Harvest:
        return gather(places, Wanted(wanted, since), Digests(tmp_path / "kept"))

    return run


def test_every_session_has_a_fate(run: Gather, projects: Path, tmp_path: Path) -> None:
    ClaudeSession("mine").user("Add a test").write(projects)
    ClaudeSession("inside", cwd="/work/repo/sub").user("Add a test").write(projects)
    ClaudeSession("beside", cwd="/work/repo-2").user("Add a test").write(projects)
    ClaudeSession("above", cwd="/work").user("Add a test").write(projects)
    ClaudeSession("nowhere", cwd="").user("Add a test").write(projects)
    ClaudeSession("headless").user("Go", entrypoint="sdk-cli").write(projects)
    ClaudeSession("agent-1").user("Explore").write(projects)
    ClaudeSession("deep").user("Explore").write(projects / "mine" / "subagents")
    ClaudeSession("ours", cwd="/tmp/skillgit-ab12cd_9").user("Go").write(projects)
    ClaudeSession("marked").user(f"{OWN_RUN_MARK}\nGo").write(projects)
    ClaudeSession("silent").user("/clear").agent().write(projects)
    (projects / "empty.jsonl").write_bytes(b"")
    (projects / "notes.txt").write_text("not a transcript")
    copy = ClaudeSession("mine").user("Add a test").user("And more")
    copy.write(projects, "resumed")
    rollout = tmp_path / "codex" / "2026" / "03" / "01" / "rollout-x.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_bytes(jsonl(codex_meta("x"), codex_event(1, "user_message", message="Fix it")))
    found = run()
    assert found.status_counts == {
        SessionStatus.TAKEN: 3, SessionStatus.COPY: 1, SessionStatus.OTHER_PROJECT: 2, SessionStatus.NO_PROJECT: 2, SessionStatus.NO_PERSON: 1,
        SessionStatus.SUBAGENT: 2, SessionStatus.HEADLESS: 1, SessionStatus.OWN_RUN: 2,
    }  # fmt: skip
    assert found.files == 14
    assert sorted(s.source for s in found.sessions) == ["claude-code", "claude-code", "codex"]


def test_all_projects_are_all(run: Gather, projects: Path) -> None:
    ClaudeSession("a", cwd="/x").user("Add a test").write(projects)
    ClaudeSession("b", cwd="").user("Add a test").write(projects)
    assert run(wanted=None).status_counts == {SessionStatus.TAKEN: 2}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
def test_a_session_53_minutes_after_the_last_harvest_is_taken_in_any_zone(
    zone: str, run: Gather, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "TZ", zone)
    time.tzset()
    ClaudeSession().user("Add a test").write(projects)
    begun = START + timedelta(minutes=1)
    assert run(begun - timedelta(minutes=53)).status_counts == {SessionStatus.TAKEN: 1}
    assert run(begun).status_counts == {SessionStatus.NOT_NEW: 1}
    monkeypatch.undo()
    time.tzset()


def test_a_second_harvest_reads_only_what_has_changed(run: Gather, projects: Path) -> None:
    first = ClaudeSession("a").user("Add a test")
    first.write(projects)
    ClaudeSession("b").user("Write the docs").write(projects)
    once = run()
    assert once.read_anew == 2
    again = run()
    assert again.read_anew == 0
    assert again.model_copy(update={"read_anew": 2}) == once
    first.user("And one more").write(projects)
    assert run().read_anew == 1
    assert len(run().sessions[0].turns) == 2


def test_what_an_agent_has_deleted_is_still_known(run: Gather, projects: Path) -> None:
    path = ClaudeSession("a").user("Add a test").write(projects)
    before = run()
    path.unlink()
    assert run().sessions == before.sessions


def test_of_other_projects_no_word_is_kept(run: Gather, projects: Path, tmp_path: Path) -> None:
    path = ClaudeSession("a", cwd="/elsewhere").user("Our private plans").write(projects)
    assert run().status_counts == {SessionStatus.OTHER_PROJECT: 1}
    kept = b"".join(file.read_bytes() for file in (tmp_path / "kept").iterdir())
    assert b"private plans" not in kept
    assert run(wanted=(Path("/elsewhere"),)).status_counts == {SessionStatus.TAKEN: 1}
    path.unlink()
    assert run(wanted=(Path("/elsewhere"),)).status_counts == {SessionStatus.TAKEN: 1}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]\n", b"\xff\xfe\x00", b"1\nnothing\n"])
def test_a_damaged_index_or_digest_costs_a_reading_and_no_more(
    damage: bytes, run: Gather, projects: Path, tmp_path: Path
) -> None:
    ClaudeSession("a").user("Add a test").write(projects)
    before = run().sessions
    for file in (tmp_path / "kept").iterdir():
        file.write_bytes(damage)
        assert run().sessions == before
        assert run().sessions == before


def test_a_file_that_cannot_be_read_costs_itself(
    run: Gather, projects: Path, tmp_path: Path
) -> None:
    ClaudeSession("a").user("Add a test").write(projects)
    (projects / "link.jsonl").symlink_to(tmp_path / "gone")
    os.mkfifo(projects / "pipe.jsonl")
    (projects / "folder.jsonl").mkdir()
    (projects / "loop").symlink_to(projects)
    locked = projects / "locked.jsonl"
    locked.write_bytes(b"{}")
    locked.chmod(0)
    fates = run().status_counts
    assert fates[SessionStatus.TAKEN] == 1
    if os.getuid():
        assert fates[SessionStatus.UNREADABLE] == 1
        locked.chmod(0o600)
        assert SessionStatus.UNREADABLE not in run().status_counts


def test_digests_are_for_their_owner_alone(run: Gather, projects: Path, tmp_path: Path) -> None:
    ClaudeSession("a").user("Add a test").write(projects)
    run()
    modes = {
        path.stat().st_mode & 0o077 for path in [tmp_path / "kept", *(tmp_path / "kept").iterdir()]
    }
    assert modes == {0}


def test_damage_and_unknown_records_are_told_by_source(
    places: list[SourceLocation], projects: Path, tmp_path: Path
) -> None:
    ClaudeSession("a").user("Add a test").add("new-kind").add("new-kind").write(projects)
    (projects / "b.jsonl").write_bytes(b"[]\n{\n")
    found = transcript_damage(places, Wanted((REPO,)), Digests(tmp_path / "kept"))
    assert found["claude-code"].unknown == {"new-kind": 2}
    assert found["claude-code"].damaged == {"not an object": 1, "not JSON": 1}


@pytest.mark.parametrize(
    ("cwd", "inside"),
    [
        ("/work/repo", True),
        ("/work/repo/", True),
        ("/work/repo/a/b", True),
        ("/work/repo2", False),
        ("/work", False),
        ("repo", False),
        ("", False),
    ],
)
def test_a_folder_is_in_a_project_by_its_parts(cwd: str, *, inside: bool) -> None:
    assert in_project(cwd, [REPO]) is inside


def test_a_time_is_utc(run: Gather, projects: Path) -> None:
    ClaudeSession("a").user("Add", timestamp="2026-03-01T17:00:00+08:00").write(projects)
    assert run().sessions[0].ended == datetime(2026, 3, 1, 9, tzinfo=UTC)
