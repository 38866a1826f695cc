"""Lines of runs of every kind, traced to what asked for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import CONFIG, SKILL_PATH, Project
from scripted import Scripted, answers
from training.test_candidate import AWARE, DRAFTS, KEY_RISKS, NOTHING, SUGGESTIONS, lapse
from training.test_epoch_end import guidance, in_epoch_2

from skillgit.history.notes import PairKind
from skillgit.review.blame import TracedLine, Tracer
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.runs.version_notes import NotedVersions
from skillgit.store.skills.blame import BlamedLine, blame


def traced(project: Project, rev: str = "skillopt/best") -> dict[str, TracedLine]:
    repository = open_repository(project.path)
    refs = Refs(repository.git, repository.common, clock=project.clock)
    git = GitCli(project.path, {"PATH": "/usr/bin:/bin", "HOME": str(project.path.parent)})
    tracer = Tracer(repository, NotedVersions(repository.git, refs), SKILL_PATH, is_main=True)
    lines = blame(git, SKILL_PATH, commit=project.git("rev-parse", rev).strip())
    return {line.text: tracer.trace(line) for line in lines}


def line_with(project: Project, words: str, rev: str = "skillopt/best") -> TracedLine:
    (found,) = [line for text, line in traced(project, rev).items() if words in text]
    return found


@pytest.fixture
def aware(tmp_path: Path) -> Project:
    both = {**lapse("Close with the line."), "edits": [KEY_RISKS]}
    project = Project(tmp_path / "project", config=AWARE)
    say = answers(AwareFailureAnalysis=both, AwareSuccessAnalysis=NOTHING)
    project.train(wrap=Scripted(say))
    return project


def test_an_edit_brings_its_line(aware: Project) -> None:
    origin = line_with(aware, "Key Risks").origin
    assert origin is not None
    assert origin.version == "train-1@1"
    assert origin.edit is not None
    assert origin.tasks == origin.edit.task_ids
    assert not origin.lapse


def test_a_note_on_a_lapse_has_the_tasks_it_is_about(aware: Project) -> None:
    origin = line_with(aware, "Close with the line.").origin
    assert origin is not None
    assert (origin.lapse, origin.edit) == (True, None)
    assert origin.tasks
    assert {task[:2] for task in origin.tasks} == {"b-"}


def test_marker_lines_are_of_the_step_and_nothing_more(aware: Project) -> None:
    origin = line_with(aware, "APPENDIX_START").origin
    assert origin is not None
    assert (origin.version, origin.edit, origin.lapse, origin.tasks) == (
        "train-1@1",
        None,
        False,
        (),
    )


def test_guidance_has_the_pairs_it_was_written_from(tmp_path: Path) -> None:
    needed = guidance("- Keep the order.", "- State your confidence level.")
    project = Project(tmp_path / "project", config=CONFIG)
    project.train(wrap=Scripted(in_epoch_2(KEY_RISKS, SlowUpdateGuidance=needed)))
    origin = line_with(project, "Keep the order.", "skillopt/run/train-1").origin
    assert origin is not None
    assert origin.version == "train-1@e2"
    assert {pair.kind for pair in origin.pairs} <= {PairKind.REGRESSED, PairKind.PERSISTENT_FAIL}
    assert origin.tasks == tuple(pair.task_id for pair in origin.pairs)
    assert origin.tasks


@pytest.mark.parametrize("config", [SUGGESTIONS, DRAFTS])
def test_a_line_of_a_rewrite_has_its_step(tmp_path: Path, config: str) -> None:
    project = Project(tmp_path / "project", config=config)
    project.train()
    came = [line.origin for line in traced(project).values() if line.origin]
    assert came
    assert all(origin.version.startswith("train-1@") and origin.noted for origin in came)


def test_what_is_taken_back_leaves_no_trace(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", config=CONFIG)
    project.train()
    lines = traced(project, "skillopt/run/train-1")
    log = ("log", "--format=%H", "--grep=: reject ", "skillopt/run/train-1")
    rejected = set(project.git(*log).split())
    assert rejected
    assert not rejected & {line.commit for line in lines.values()}


def test_a_line_not_committed_has_no_origin(aware: Project) -> None:
    (aware.path / SKILL_PATH).write_text("# New\n")
    git = GitCli(aware.path, {"PATH": "/usr/bin:/bin", "HOME": str(aware.path.parent)})
    (line,) = blame(git, SKILL_PATH)
    assert (line.number, line.text, line.commit) == (1, "# New", None)


def test_odd_lines_are_read_as_they_are(project_of_lines: Project) -> None:
    git = GitCli(project_of_lines.path, {"PATH": "/usr/bin:/bin", "HOME": "/"})
    lines = blame(git, SKILL_PATH, commit="HEAD")
    assert [line.text for line in lines] == [
        "\tauthor Eve",
        "",
        "caf\xe9 \u2028 x",
        "\ufffd",
        "crlf",
    ]
    assert blame(git, SKILL_PATH, commit="HEAD", lines=(3, 4)) == lines[2:4]
    assert all(isinstance(line, BlamedLine) and line.author == "Ada Tester" for line in lines)


@pytest.fixture
def project_of_lines(tmp_path: Path) -> Project:
    project = Project(tmp_path / "odd")
    text = "\tauthor Eve\n\ncaf\xe9 \u2028 x\n".encode() + b"\xff\ncrlf\r\n"
    (project.path / SKILL_PATH).write_bytes(text)
    project.commit("Odd lines")
    return project
