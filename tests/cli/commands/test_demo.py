from __future__ import annotations

from pathlib import Path


def test_the_demo_raises_the_score_and_says_what_to_try(skillgit, tmp_path: Path, git) -> None:
    done = skillgit("demo", "play", cwd=tmp_path).ok()
    repo = tmp_path / "play"
    objects = skillgit("log", "--json", cwd=repo).ok().objects
    actions = [o["action"] for o in objects]
    assert actions.count("accept_new_best") + actions.count("accept") >= 3
    assert actions.count("reject") >= 3
    assert objects[-1]["best"] - objects[0]["score"] >= 0.3
    assert "$ git -C play log --oneline skillopt/best" in done.out
    assert done.out.endswith(
        "Try next:\n"
        "  git -C play diff main...skillopt/train-1\n"
        "  skillgit -C play show best\n"
        "  skillgit -C play adopt train-1\n"
    )
    assert git("config", "user.name", cwd=repo) == "Skillgit Demo\n"
    assert git("status", "--porcelain", cwd=repo) == ""


def test_the_demos_log_is_for_people(skillgit, tmp_path: Path, git) -> None:
    skillgit("demo", "play", cwd=tmp_path).ok()
    repo = tmp_path / "play"
    messages = git("log", "--format=%B%x00", "main..skillopt/run/train-1", cwd=repo).split("\0\n")
    assert len(messages) > 8
    assert max(len(message.strip().split("\n")) for message in messages) <= 12
    shown = git("log", "skillopt/run/train-1", cwd=repo).split("\n")
    assert max(map(len, shown)) <= 100
    skillgit("adopt", "train-1", cwd=repo).ok()
    log = git("log", "main", cwd=repo)
    assert "Skillopt-Step: " in log
    assert "{" not in log


def test_the_demo_uses_the_identity_that_there_is(started, tmp_path: Path, git) -> None:
    config = tmp_path / ".gitconfig"
    config.write_text("[user]\nname = Eve\nemail = eve@example.org\n[commit]\ngpgSign = true\n")
    started("demo", cwd=tmp_path, GIT_CONFIG_GLOBAL=str(config), HOME=str(tmp_path)).ok()
    repo = tmp_path / "skillgit-demo"
    assert git("log", "-1", "--format=%an", "main", cwd=repo) == "Eve\n"


def test_a_folder_with_something_in_it_stays_as_it_is(skillgit, tmp_path: Path) -> None:
    (tmp_path / "play").mkdir()
    (tmp_path / "play" / "mine.txt").write_text("mine")
    done = skillgit("demo", "play", cwd=tmp_path)
    assert done.code == 1
    assert [f.name for f in (tmp_path / "play").iterdir()] == ["mine.txt"]
