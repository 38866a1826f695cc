from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GH = """#!{python}
import json, sys
with open({log!r}, "a") as log:
    print(json.dumps({{"words": sys.argv[1:], "stdin": sys.stdin.read()}}), file=log)
print("https://github.com/org/skills/pull/12")
"""


@pytest.fixture
def remote(trained: Path, tmp_path: Path, git) -> Path:
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(trained), str(bare)], check=True)
    for ref in git("for-each-ref", "--format=%(refname)", "refs/heads/skillopt", cwd=bare).split():
        git("update-ref", "-d", ref, cwd=bare)
    git("remote", "add", "origin", str(bare))
    return bare


@pytest.fixture
def gh(tmp_path: Path) -> Path:
    """A `gh` that writes down what it is asked; the log's path."""
    folder, log = tmp_path / "bin", tmp_path / "gh.jsonl"
    folder.mkdir()
    (folder / "gh").write_text(GH.format(python=sys.executable, log=str(log)))
    (folder / "gh").chmod(0o755)
    return log


def with_gh(gh: Path) -> dict[str, str]:
    return {"PATH": f"{gh.parent / 'bin'}:{os.environ['PATH']}"}


def without_gh(tmp_path: Path) -> dict[str, str]:
    """A path with git on it and no program that opens pull requests."""
    folder = tmp_path / "only-git"
    folder.mkdir(exist_ok=True)
    for name in ("git", "sh"):
        found = shutil.which(name)
        if found and not (folder / name).exists():
            (folder / name).symlink_to(found)
    return {"PATH": str(folder)}


def test_the_branch_is_pushed_and_the_pull_request_opened(skillgit, remote, gh, git) -> None:
    done = skillgit("propose", "train-1", **with_gh(gh)).ok()
    assert done.out == (
        "Pushed skillopt/train-1 on origin\n"
        "Opened a pull request: https://github.com/org/skills/pull/12\n"
    )
    assert git("rev-parse", "skillopt/train-1", cwd=remote) == git("rev-parse", "skillopt/train-1")
    asked = [json.loads(line) for line in gh.read_text().splitlines()]
    assert asked[0]["words"] == ["auth", "status"]
    words = asked[1]["words"]
    assert words[:6] == ["pr", "create", "--base", "main", "--head", "skillopt/train-1"]
    body = asked[1]["stdin"]
    for expected in ("| val | 0.0000 | **", "### Accepted edits", "skillgit verify", "git revert"):
        assert expected in body


def test_without_a_program_the_address_and_the_text_are_named(
    skillgit, trained: Path, remote, tmp_path: Path, git
) -> None:
    git("remote", "set-url", "origin", "git@github.com:org/skills.git")
    git("config", f"url.{remote}.insteadOf", "git@github.com:org/skills.git")
    git("config", "remote.origin.pushurl", "git@github.com:org/skills.git")
    out = skillgit("propose", "train-1", **without_gh(tmp_path)).ok().out
    assert "Its text is in\n  .git/skillgit/proposals/train-1.md" in out
    assert "### Accepted edits" in (trained / ".git/skillgit/proposals/train-1.md").read_text()


def test_a_dry_run_shows_the_body_and_pushes_nothing(skillgit, remote: Path, git) -> None:
    out = skillgit("propose", "train-1", "--dry-run").ok().out
    assert "`train-1` proposes a new version" in out
    assert "heads/skillopt" not in git("for-each-ref", cwd=remote)


def test_json_says_where_it_went(skillgit, remote, gh) -> None:
    (done,) = skillgit("propose", "train-1", "--json", **with_gh(gh)).ok().objects
    assert done["kind"] == "proposal"
    assert (done["branch"], done["pushed"]) == ("skillopt/train-1", True)
    assert done["url"] == "https://github.com/org/skills/pull/12"


def as_night(git, trained: Path) -> None:
    """The run's proposal under a night's name, as if a night had made it."""
    script = "sed -e 's/^Skillopt-Run: train-1$/Skillopt-Run: night-7/'"
    git("branch", "-q", "skillopt/night-7", "skillopt/train-1")
    subprocess.run(
        ["git", "filter-branch", "-f", "--msg-filter", script, "main..skillopt/night-7"],
        cwd=trained,
        env={**os.environ, "FILTER_BRANCH_SQUELCH_WARNING": "1"},
        check=True,
        capture_output=True,
    )
    git("update-ref", "-d", "refs/original/refs/heads/skillopt/night-7")


def test_a_night_is_shown_and_asked_about_before_it_leaves(
    skillgit, trained: Path, remote: Path, git, tmp_path: Path
) -> None:
    as_night(git, trained)
    done = skillgit("propose", "night-7", **without_gh(tmp_path))
    assert done.code == 1
    assert "`night-7` proposes a new version" in done.out
    assert "nobody is there to agree" in done.err
    assert "night" not in git("for-each-ref", cwd=remote)
    skillgit("propose", "night-7", "--yes", **without_gh(tmp_path)).ok()
    assert "refs/heads/skillopt/night-7" in git("for-each-ref", cwd=remote)


def test_a_secret_in_the_text_does_not_leave(skillgit, trained: Path, remote, git) -> None:
    git("switch", "-q", "skillopt/train-1")
    path = trained / "skills/brief/SKILL.md"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path.write_text(f"{path.read_text()}\nUse {token}.\n")
    git("commit", "-q", "-a", "-m", "Add a line")
    done = skillgit("propose", "train-1")
    assert done.code == 1
    assert "github-token" in done.err
    assert token not in done.err
    assert "heads/skillopt" not in git("for-each-ref", cwd=remote)


def test_a_run_that_accepted_nothing_has_nothing_to_propose(skillgit, trained, remote, git) -> None:
    git("update-ref", "-d", "refs/heads/skillopt/train-1")
    done = skillgit("propose", "train-9")
    assert done.code == 1
    assert "train-9" in done.err


def test_no_remote_is_one_clear_sentence(skillgit, trained: Path) -> None:
    done = skillgit("propose", "train-1")
    assert done.code == 1
    assert "has no remote" in done.err


def test_commits_that_would_go_along_are_mentioned(skillgit, trained, remote, gh, git) -> None:
    git("update-ref", "-d", "refs/heads/main", cwd=remote)
    done = skillgit("propose", "train-1", **with_gh(gh)).ok()
    assert "1 commit of main that origin does not have" in done.err
