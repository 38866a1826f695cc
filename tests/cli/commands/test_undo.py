"""`skillgit undo`: what an adopt did is taken back, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

SKILL = "skills/brief/SKILL.md"


@pytest.fixture
def before(trained: Path, git) -> str:
    return git("rev-parse", "main").strip()


def commit(repo: Path, git, name: str) -> str:
    (repo / name).write_text("x\n")
    git("add", name)
    git("commit", "--quiet", "-m", name)
    return git("rev-parse", "HEAD").strip()


def test_an_adopt_is_taken_back_with_its_work_tree(skillgit, trained, before, git) -> None:
    text = (trained / SKILL).read_text()
    skillgit("adopt", "train-1").ok()
    done = skillgit("undo").ok()
    assert git("rev-parse", "main").strip() == before
    assert (trained / SKILL).read_text() == text
    assert git("status", "--porcelain") == ""
    assert f"main is at {before[:12]} again" in done.out
    assert "skillgit adopt train-1" in done.out
    git(*done.out.splitlines()[-1].split()[1:])
    assert git("rev-parse", "main") == git("rev-parse", "skillopt/train-1")
    git("fsck", "--strict")


def test_it_can_be_adopted_and_undone_again(skillgit, trained, before, git) -> None:
    for _ in range(2):
        skillgit("adopt", "train-1").ok()
        skillgit("undo").ok()
    assert git("rev-parse", "main").strip() == before
    done = skillgit("undo")
    assert (done.code, "nothing to undo" in done.err) == (1, True)


def test_two_adopts_are_undone_one_after_the_other(skillgit, trained, before, git) -> None:
    git("branch", "next", "main")
    skillgit("adopt", "train-1", "--into", "next").ok()
    skillgit("adopt", "train-1").ok()
    skillgit("undo").ok()
    assert git("rev-parse", "main").strip() == before
    assert git("rev-parse", "next") == git("rev-parse", "skillopt/train-1")
    done = skillgit("undo", "next").ok()
    assert "skillgit adopt train-1 --into next" in done.out
    assert git("rev-parse", "next").strip() == before


def test_what_failed_is_not_taken_for_done(skillgit, trained, before, git) -> None:
    (trained / SKILL).write_text("# Mine\n")
    assert skillgit("adopt", "train-1").code == 1
    done = skillgit("undo")
    assert (done.code, "nothing to undo" in done.err) == (1, True)
    assert (trained / SKILL).read_text() == "# Mine\n"


def test_commits_on_top_are_not_lost(skillgit, trained, before, git) -> None:
    skillgit("adopt", "train-1").ok()
    mine = commit(trained, git, "mine.txt")
    done = skillgit("undo")
    assert done.code == 1
    assert "since skillgit adopt train-1" in done.err
    assert git("rev-parse", "main").strip() == mine
    revert = done.err.split("hint: ")[1].split(" takes")[0].split()
    git(*revert[1:])
    assert git("diff", before, "main", "--", SKILL) == ""
    assert (trained / "mine.txt").exists()


def test_what_a_remote_has_is_not_rewritten(skillgit, trained, before, git, tmp_path) -> None:
    git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    git("remote", "add", "origin", str(tmp_path / "remote.git"))
    skillgit("adopt", "train-1").ok()
    git("push", "--quiet", "origin", "main")
    new = git("rev-parse", "main")
    done = skillgit("undo")
    assert done.code == 1
    assert "origin/main has it, too" in done.err
    assert "git revert --no-edit" in done.err
    assert git("rev-parse", "main") == new


def test_local_changes_in_the_way_are_gits_to_refuse(skillgit, trained, before, git) -> None:
    skillgit("adopt", "train-1").ok()
    new = git("rev-parse", "main")
    mine = (trained / SKILL).read_text() + "mine\n"
    (trained / SKILL).write_text(mine)
    assert skillgit("undo").code == 1
    assert ((trained / SKILL).read_text(), git("rev-parse", "main")) == (mine, new)
    (trained / "elsewhere.txt").write_text("kept\n")
    git("stash", "--quiet")
    skillgit("undo").ok()
    assert (trained / "elsewhere.txt").read_text() == "kept\n"


def test_a_dry_run_moves_nothing(skillgit, trained, before, git) -> None:
    skillgit("adopt", "train-1").ok()
    new = git("rev-parse", "main")
    (told,) = skillgit("undo", "--dry-run", "--json").ok().objects
    assert (told["branch"], told["old"], told["done"]) == ("main", before, False)
    assert git("rev-parse", "main") == new


def test_a_replay_and_a_merge_are_taken_back_too(skillgit, trained, git) -> None:
    old = commit(trained, git, "other.txt")
    for words in ((), ("--merge",)):
        skillgit("adopt", "train-1", *words).ok()
        assert git("rev-parse", "main").strip() != old
        skillgit("undo").ok()
        assert git("rev-parse", "main").strip() == old


def test_a_branch_nobody_adopted_to_is_told(skillgit, trained) -> None:
    done = skillgit("undo", "nothing")
    assert (done.code, "no adopt to nothing here" in done.err) == (1, True)
