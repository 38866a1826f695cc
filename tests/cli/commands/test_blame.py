"""`skillgit blame`: from a line to the step and the failures behind it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SKILL = "skills/brief/SKILL.md"


@pytest.fixture
def adopted(skillgit, trained: Path) -> Path:
    skillgit("adopt", "train-1").ok()
    return trained


def lines_of(skillgit, *words: str) -> dict[str, dict]:
    return {line["text"]: line for line in skillgit("blame", "--json", *words).ok().objects}


def trained_lines(lines: dict[str, dict]) -> dict[str, dict]:
    return {text: line for text, line in lines.items() if line["origin"]}


def test_every_line_is_there_as_git_blames_it(skillgit, adopted: Path, git) -> None:
    found = skillgit("blame", "--json").ok().objects
    text = (adopted / SKILL).read_text()
    assert [line["text"] for line in found] == text.split("\n")[:-1]
    assert [line["number"] for line in found] == list(range(1, len(found) + 1))
    blamed = git("blame", "-s", "-l", "--root", SKILL).splitlines()
    assert [line["commit"] for line in found] == [line.split(" ")[0] for line in blamed]
    assert {line["path"] for line in found} == {SKILL}


def test_a_line_of_a_run_has_its_edit_its_tasks_and_its_scores(skillgit, adopted: Path) -> None:
    (line,) = [x for t, x in trained_lines(lines_of(skillgit)).items() if "Key Risks" in t]
    origin = line["origin"]
    assert (origin["run"], origin["noted"]) == ("train-1", True)
    assert origin["version"].startswith("train-1@")
    assert origin["edit"]["content"] == line["text"]
    assert origin["tasks"]
    assert set(origin["tasks"]) == set(origin["edit"]["task_ids"])
    assert any(set(p["task_ids"]) & set(origin["tasks"]) for p in origin["patterns"])
    assert origin["before"] < origin["after"]


def test_a_persons_lines_have_no_origin(skillgit, adopted: Path, git) -> None:
    lines = lines_of(skillgit)
    assert lines["# Brief writer"]["origin"] is None
    commit = lines["# Brief writer"]["commit"]
    assert lines["# Brief writer"]["author"] == git("log", "-1", "--format=%an", commit).strip()
    assert lines["# Brief writer"]["subject"] == "Add the skill and its tasks"


def test_the_table_fits_and_says_how_to_hear_more(skillgit, adopted: Path) -> None:
    out = skillgit("blame").ok().out
    assert out.splitlines()[0].split() == ["line", "version", "score", "asked", "for", "by", "text"]
    assert "failing task" in out
    assert "lines came of a run" in out
    more = out.splitlines()[-1].split()
    story = skillgit(*more[1:]).ok().out
    assert "why: " in story
    assert "asked for by" in story


def test_neighbours_of_one_origin_share_a_story(skillgit, adopted: Path) -> None:
    out = skillgit("blame", "-L", "1,3").ok().out
    assert out.count(": Add the skill and its tasks") == 1
    assert [line[0] for line in out.splitlines()] == ["1", "2", "3", " "]


def test_what_is_not_committed_says_so(skillgit, adopted: Path) -> None:
    path = adopted / SKILL
    path.write_text(path.read_text() + "- Mine.\n")
    assert lines_of(skillgit)["- Mine."]["commit"] is None
    assert "not committed" in skillgit("blame").ok().out
    assert "- Mine." not in lines_of(skillgit, "--rev", "main")


def test_versions_are_named_as_everywhere(skillgit, trained: Path) -> None:
    assert not trained_lines(lines_of(skillgit))
    for version in ("best", "train-1", "train-1@best"):
        assert trained_lines(lines_of(skillgit, "--rev", version)), version


def test_applied_again_it_is_still_known(skillgit, trained: Path, git) -> None:
    path = trained / SKILL
    path.write_text(path.read_text().replace("- Write one page.", "- Write at most one page."))
    git("commit", "--quiet", "-am", "By hand")
    skillgit("adopt", "train-1").ok()
    line = next(x for t, x in trained_lines(lines_of(skillgit)).items() if "Key Risks" in t)
    assert line["origin"]["score"] is None
    assert line["origin"]["edit"]
    out = skillgit("blame", "-L", str(line["number"])).ok().out
    assert "not measured there" in out


def test_a_squash_is_looked_through(skillgit, trained: Path, git) -> None:
    git("merge", "--quiet", "--squash", "skillopt/train-1")
    git("commit", "--quiet", "--no-edit")
    line = next(x for t, x in trained_lines(lines_of(skillgit)).items() if "Key Risks" in t)
    assert line["origin"]["edit"]["content"] == line["text"]


def test_without_the_runs_notes_the_version_is_known_still(skillgit, adopted: Path, git) -> None:
    for ref in ("refs/heads/skillopt/run/train-1", "refs/notes/skillopt"):
        git("update-ref", "-d", ref)
    line = next(x for t, x in trained_lines(lines_of(skillgit)).items() if "Key Risks" in t)
    assert (line["origin"]["run"], line["origin"]["noted"]) == ("train-1", False)
    assert "skillgit sync" in skillgit("blame").ok().out
    assert "notes are not here" in skillgit("blame", "-L", str(line["number"])).ok().out


def test_it_runs_from_a_folder_below_and_with_any_file(skillgit, adopted: Path) -> None:
    below = adopted / "skills" / "brief"
    assert "SKILL.md: " in skillgit("blame", "SKILL.md", cwd=below).ok().out
    assert "0 of" in skillgit("blame", "../../skillgit.toml", cwd=below).ok().out


def test_a_bare_repository_has_it_too(skillgit, adopted: Path, tmp_path: Path, git) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "--quiet", "--bare", ".", str(bare))
    shutil.rmtree(adopted)
    assert "came of a run" in skillgit("blame", cwd=bare).ok().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nothing.md",), 1, "nothing.md"),
        (("-L", "900"), 1, "lines"),
        (("-L", "5,2"), 2, "no range"),
        (("-L", "x"), 2, "no range"),
        (("-L", "0"), 2, "no range"),
        (("--rev", "train-9"), 1, "train-9"),
        (("/etc/hostname",), 1, "hostname"),
    ],
)
def test_what_is_not_there_is_said(skillgit, adopted: Path, words, code: int, said: str) -> None:
    done = skillgit("blame", *words)
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err


def test_nothing_moves(skillgit, adopted: Path, git) -> None:
    before = git("for-each-ref"), (adopted / ".git/index").read_bytes(), git("status", "--short")
    skillgit("blame").ok()
    after = git("for-each-ref"), (adopted / ".git/index").read_bytes(), git("status", "--short")
    assert after == before
