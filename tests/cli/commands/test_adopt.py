from __future__ import annotations

from pathlib import Path


def test_adopting_moves_the_branch_and_prints_what_undoes_it(skillgit, trained, git) -> None:
    before = git("rev-parse", "main").strip()
    out = skillgit("adopt", "train-1").ok().out
    assert "main is at train-1 now" in out
    undo = out.splitlines()[-1].split()
    assert (
        git("show", "main:skills/brief/SKILL.md") == (trained / "skills/brief/SKILL.md").read_text()
    )
    git(*undo[1:])
    assert git("rev-parse", "main").strip() == before
    assert git("status", "--porcelain") == ""


def test_adopting_twice_says_that_it_is_there(skillgit, trained: Path) -> None:
    skillgit("adopt", "best").ok()
    done = skillgit("adopt", "train-1").ok()
    assert "already" in done.out
    assert "take it back" not in done.out


def test_json_says_what_happened(skillgit, trained: Path) -> None:
    (adoption,) = skillgit("adopt", "train-1", "--json").ok().objects
    assert (adoption["version"], adoption["kind"]) == (1, "adoption")
    assert adoption["state"] == "fast_forward"


def test_local_changes_in_the_way_are_kept(skillgit, trained: Path, git) -> None:
    (trained / "skills/brief/SKILL.md").write_text("# Mine\n")
    before = git("rev-parse", "main")
    done = skillgit("adopt", "train-1")
    assert done.code == 1
    assert (trained / "skills/brief/SKILL.md").read_text() == "# Mine\n"
    assert git("rev-parse", "main") == before


def test_another_branch_can_be_named(skillgit, trained: Path, git) -> None:
    git("branch", "release")
    skillgit("adopt", "train-1", "--into", "release").ok()
    assert git("rev-parse", "release") == git("rev-parse", "skillopt/train-1")


def test_a_run_that_is_not_there_is_named(skillgit, trained: Path) -> None:
    done = skillgit("adopt", "train-9")
    assert done.code == 1
    assert "train-9" in done.err


def test_another_document_of_the_skill_that_changed_ends_the_verdict(
    skillgit, skill_repo: Path, git
) -> None:
    more = skill_repo / "skills/brief/references/more.md"
    more.parent.mkdir()
    more.write_text("# More\n")
    skillgit("init", "skills/brief", "--provider", "simulated").ok()
    config = skill_repo / "skillgit.toml"
    path = 'path = "skills/brief/SKILL.md"'
    config.write_text(config.read_text().replace(path, f'{path}\nfiles = ["references/*.md"]'))
    git("add", ".")
    git("commit", "--quiet", "-m", "Two documents")
    skillgit("train", "--epochs", "1").ok()
    more.write_text("# More\n\n- Be kind.\n")
    git("commit", "--quiet", "-am", "By hand")
    out = skillgit("adopt", "train-1").ok().out
    assert "the result is unmeasured" in out
    assert "Skillopt-Score: unmeasured" in git("log", "-1", "--format=%B", "main")


def test_something_else_that_changed_does_not(skillgit, trained: Path, git) -> None:
    (trained / "skills/brief/other.md").write_text("# No document of the skill\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "By hand")
    assert "so the scores hold" in skillgit("adopt", "train-1").ok().out
