"""Nights as a person has them: real processes, hand-written transcripts, a bare remote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from night_projects import CONFIG, House, as_lines, make_house, task, write_sessions

Skillgit = Callable[..., Any]

CORRECTION = "No, use uv instead of pip in this repo."


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A repository with three weeks of sessions, the same correction in five requests."""
    made = make_house(tmp_path / "repo")
    write_sessions(Path(os.environ["HOME"]), made.path.resolve(), CORRECTION)
    return made


def test_a_first_night_from_sessions_to_main(house: House, skillgit: Skillgit) -> None:
    night = skillgit("sleep").ok()
    assert night.out.startswith(
        "# SkillOpt-Sleep — night 1 report\n- held-out score: 0.000 -> 1.000"
    )
    assert "skillgit adopt night-1" in night.out
    assert "at most" in night.err
    diff = house.git("diff", "main...skillopt/night-1")
    assert "+- Use uv instead of pip in this repo." in diff
    adopted = skillgit("adopt", "night-1").ok()
    assert "main is at night-1 now" in adopted.out
    assert "To take it back:" in adopted.out
    assert "already" in skillgit("adopt", "night-1").ok().out
    second = skillgit("sleep").ok()
    assert "adopt" not in second.out
    assert "Use uv" not in second.out


def test_a_night_is_measured_again_where_the_skill_has_changed(
    house: House, skillgit: Skillgit
) -> None:
    skillgit("sleep").ok()
    text = (house.path / "skills/notes/SKILL.md").read_text()
    house.write("skills/notes/SKILL.md", text.replace("# Notes\n", "# Notes\n\n- Be kind.\n"))
    house.commit("Edit by hand")
    notes = house.refs().get("refs/notes/skillopt")
    done = skillgit("adopt", "night-1", "--regate").ok()
    assert "measured on val: 0.0000 -> 1.0000" in done.out
    assert house.refs().get("refs/notes/skillopt") == notes
    assert "Skillopt-Score: 1.0" in house.git("log", "-1", "--format=%B", "main")
    house.git("reset", "--quiet", "--hard", "main~1")
    assert "calls" not in skillgit("adopt", "night-1", "--regate").ok().err


def test_a_line_of_a_night_is_traced_to_the_requests_behind_it(
    house: House, skillgit: Skillgit
) -> None:
    skillgit("sleep").ok()
    skillgit("adopt", "night-1").ok()
    lines = skillgit("blame", "--json").ok().objects
    (line,) = [line for line in lines if "uv instead of pip" in line["text"]]
    assert line["origin"]["version"] == "night-1@1"
    assert line["origin"]["edit"]
    assert line["origin"]["tasks"]


def test_a_night_is_measured_only_where_its_tasks_are(house: House, skillgit: Skillgit) -> None:
    skillgit("sleep").ok()
    house.write("skills/notes/SKILL.md", (house.path / "skills/notes/SKILL.md").read_text() + "x\n")
    house.commit("Edit by hand")
    main = house.refs()["refs/heads/main"]
    house.git("update-ref", "-d", "refs/skillopt/sleep")
    refused = skillgit("adopt", "night-1", "--regate")
    assert refused.code == 1
    assert "night-1 cannot be measured here" in refused.err
    assert "skillgit eval" not in skillgit("adopt", "night-1").ok().out
    house.git("reset", "--quiet", "--hard", main)
    assert house.refs()["refs/heads/main"] == main


def test_nothing_but_our_own_refs_moves_in_a_night(house: House, skillgit: Skillgit) -> None:
    def seen() -> tuple[str, str, bytes, dict[str, str]]:
        ours = ("refs/heads/skillopt/", "refs/notes/skillopt", "refs/skillopt/")
        refs = {r: o for r, o in house.refs().items() if not r.startswith(ours)}
        index = (house.path / ".git/index").read_bytes()
        return house.git("rev-parse", "HEAD"), house.git("status", "--porcelain"), index, refs

    before = seen()
    skillgit("sleep").ok()
    assert seen() == before


def test_status_shows_the_last_night_and_what_to_do(house: House, skillgit: Skillgit) -> None:
    skillgit("sleep").ok()
    status = skillgit("status").ok().out
    assert "night  last night-1" in status
    assert "waiting" in status
    assert "skillgit reject night-1 -m WHY" in status
    assert skillgit("reject", "night-1", "-m", "we like pip").ok()
    assert "turned down" in skillgit("status").ok().out


def test_a_rejected_night_is_not_proposed_again(house: House, skillgit: Skillgit) -> None:
    skillgit("sleep").ok()
    skillgit("reject", "night-1", "-m", "we like pip").ok()
    skillgit("reject", "night-1", "-m", "we like pip").ok()
    lines = house.git("notes", "--ref=skillopt-night", "show", "skillopt/night-1")
    assert lines.count("we like pip") == 1
    assert "Use uv instead of pip" not in skillgit("sleep").ok().out


def test_reject_needs_a_reason_and_a_proposal(house: House, skillgit: Skillgit) -> None:
    assert skillgit("reject", "night-1").code == 2
    assert skillgit("reject", "night-1", "-m", " ").code == 2
    assert skillgit("reject", "night-9", "-m", "no").code == 1
    skillgit("sleep").ok()
    skillgit("adopt", "night-1").ok()
    refused = skillgit("reject", "night-1", "-m", "no")
    assert refused.code == 1
    assert "in main already" in refused.err


def test_log_and_show_read_a_night(house: House, skillgit: Skillgit) -> None:
    skillgit("sleep").ok()
    assert "night-1" in skillgit("log", "night-1").ok().out
    assert "uv instead of pip" in skillgit("show", "night-1@1").ok().out
    shown = skillgit("show", "night-1").ok().out
    assert "# SkillOpt-Sleep — night 1 report" in shown
    assert skillgit("show", "night-1", "--json").ok().objects[0]["report"] in shown


def test_a_dry_run_leaves_everything_as_it_is(house: House, skillgit: Skillgit) -> None:
    refs = house.refs()
    done = skillgit("sleep", "--dry-run").ok()
    assert "This was a dry run" in done.out
    assert house.refs() == refs


def test_tasks_of_a_file_stand_in_for_sessions(house: House, skillgit: Skillgit) -> None:
    tasks = [
        task(f"t{i}", f"Write a note about thing number {i}", split)
        for i, split in enumerate(["train"] * 4 + ["val"] * 3)
    ]
    file = house.path.parent / "tasks.jsonl"
    file.write_text(as_lines(tasks))
    (report,) = skillgit("sleep", "--tasks", str(file), "--json").ok().objects
    assert report["n_tasks"] == 7
    assert report["n_sessions"] == 0
    assert report["kind"] == "night"
    twice = [*tasks, tasks[0]]
    file.write_text(as_lines(twice))
    assert "t0" in skillgit("sleep", "--tasks", str(file)).err


def test_without_sessions_a_night_says_so_and_costs_nothing(
    tmp_path: Path, skillgit: Skillgit
) -> None:
    house = make_house(tmp_path / "repo")
    done = skillgit("sleep").ok()
    assert "there is no task to learn from yet" in done.out
    assert not [ref for ref in house.refs() if "night" in ref]


def test_a_handoff_ends_with_6_and_goes_on(house: House, skillgit: Skillgit) -> None:
    house.write("skillgit.toml", CONFIG + '[sleep]\noptimizer = "handoff"\n')
    house.commit("Hand the optimizer's work over")
    folder = house.path / ".git/skillgit/handoff"
    waiting = skillgit("sleep")
    assert waiting.code == 6
    assert "wait" in waiting.err
    assert "skillgit sleep goes on from there" in waiting.err
    for _ in range(6):
        for file in folder.glob("*.md"):
            answer = file.with_name(f"{file.stem}.answer.md")
            if file.name.endswith(".answer.md") or answer.exists():
                continue
            text = '{"reasoning": "", "failure_summary": [], "edits": [], "memory": "Ask less."}'
            if "FailureAnalysis" in file.read_text():
                text = text.replace(
                    '"edits": []',
                    '"edits": [{"op": "add", "content": "Use uv instead of pip.", "rationale": ""}]',
                )
            answer.write_text(text)
        done = skillgit("sleep")
        if done.code != 6:
            break
    assert done.code == 0
    assert "Use uv instead of pip." in done.out


def sleeping(house: House, patience: float) -> bool:
    """Whether a real process slept to the end of the night before it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgit", "sleep"],
        cwd=house.path,
        env=os.environ | {"SKILLGIT_CLOCK": "2026-03-01T12:00:00+00:00"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    assert process.returncode == 0
    return True


def test_kill_9_again_and_again_ends_in_one_night(house: House) -> None:
    patience = [0.7 * 1.25**kills for kills in range(25)]
    assert any(sleeping(house, seconds) for seconds in patience)
    names = {ref for ref in house.refs() if "night-" in ref}
    assert names == {"refs/heads/skillopt/run/night-1", "refs/heads/skillopt/night-1"}
    house.git("fsck", "--strict", "--no-dangling")
    assert house.git("log", "--format=%s", "refs/skillopt/sleep").split().count("night-1") == 1
