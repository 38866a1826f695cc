from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.proposals.adopt import AdoptState


def test_the_command_it_prints_undoes_it(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = run.head()
    done = adopt(proposal)
    assert done.undo == f"git reset --keep {old}"
    git(*done.undo.split()[1:])
    assert run.head() == old
    assert git("status", "--porcelain") == ""


def test_a_hook_of_the_user_runs(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    hook = run.folder / ".git/hooks/post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho ran > hook-ran\n")
    hook.chmod(0o755)
    adopt(proposal)
    assert (run.folder / "hook-ran").read_text() == "ran\n"


def test_line_ends_are_converted_as_git_is_told_to(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    git("config", "core.autocrlf", "true")
    (run.folder / run.path).unlink()
    git("checkout", "--", run.path)
    adopt(proposal)
    data = (run.folder / run.path).read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 5
    assert git("status", "--porcelain") == ""


def test_a_linked_work_tree_that_has_main_moves(
    run: Any, git: Any, proposal: str, adopt: Any, tmp_path: Path
) -> None:
    git("switch", "-q", "--detach")
    git("worktree", "add", "-q", str(tmp_path / "linked dir"), "main")
    old = run.head()
    done = adopt(proposal)
    assert run.head() == proposal
    assert "200 words" in (tmp_path / "linked dir" / run.path).read_text()
    assert "200 words" not in (run.folder / run.path).read_text()
    assert done.undo == f"git -C '{tmp_path / 'linked dir'}' reset --keep {old}"


def test_from_within_a_linked_work_tree_the_main_one_moves(
    run: Any, git: Any, proposal: str, adopt: Any, tmp_path: Path
) -> None:
    git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    adopt(proposal, at=tmp_path / "linked")
    assert "200 words" in (run.folder / run.path).read_text()
    assert git("status", "--porcelain") == ""


def test_a_detached_head_stays_where_it_is(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("switch", "-q", "--detach")
    old = run.head()
    done = adopt(proposal)
    assert (run.head(), run.head("HEAD")) == (proposal, old)
    assert git("status", "--porcelain") == ""
    assert not (run.folder / ".git/FETCH_HEAD").exists()
    assert done.undo == f"git branch -f main {old}"
    git(*done.undo.split()[1:])
    assert run.head() == old


def test_a_bare_repository_is_adopted_into(
    run: Any, git: Any, proposal: str, adopt: Any, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", str(run.folder), str(bare))
    done = adopt(proposal, at=bare)
    assert done.state is AdoptState.FAST_FORWARD
    assert git("rev-parse", "main", cwd=bare).strip() == proposal


def test_local_changes_are_refused_in_gits_words_and_kept(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = run.head()
    (run.folder / run.path).write_text("my own words\n")
    git("config", "merge.autoStash", "true")
    with pytest.raises(RepositoryError, match=r"local changes .* would be overwritten"):
        adopt(proposal)
    assert (run.folder / run.path).read_text() == "my own words\n"
    assert run.head() == old


def test_staged_changes_are_refused_and_kept(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    (run.folder / run.path).write_text("my own words\n")
    git("add", run.path)
    before = git("diff", "--cached")
    with pytest.raises(RepositoryError):
        adopt(proposal)
    assert git("diff", "--cached") == before


def test_what_is_staged_under_a_work_tree_that_looks_done_is_kept(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / run.path).write_text("my own words\n")
    git("add", run.path)
    (run.folder / run.path).write_text(git("show", f"{proposal}:{run.path}"))
    with pytest.raises(RepositoryError):
        adopt(proposal)
    assert git("show", f":{run.path}") == "my own words\n"


def test_local_changes_elsewhere_are_no_hindrance(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / "README.md").write_text("mine\n")
    adopt(proposal)
    assert (run.folder / "README.md").read_text() == "mine\n"
    assert run.head() == proposal


def test_a_locked_index_is_told(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = run.head()
    lock = run.folder / ".git/index.lock"
    lock.touch()
    with pytest.raises(RepositoryError, match=r"index\.lock.*File exists"):
        adopt(proposal)
    assert run.head() == old
    lock.unlink()
    assert adopt(proposal).new == proposal


def test_a_rebase_of_main_in_progress_is_told(
    run: Any, git: Any, proposal: str, adopt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = run.commit_file("a.txt", "a\n")
    monkeypatch.setenv("GIT_SEQUENCE_EDITOR", "sed -i -e s/^pick/edit/")
    git("rebase", "-q", "-i", "HEAD~1")
    with pytest.raises(RepositoryError, match="checked out at"):
        adopt(proposal)
    git("rebase", "--abort")
    assert run.head() == old


def test_a_merge_in_progress_is_told(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("switch", "-q", "-c", "other")
    run.commit_file("README.md", "theirs\n")
    git("switch", "-q", "main")
    run.commit_file("README.md", "ours\n")
    subprocess.run(["git", "merge", "other"], cwd=run.folder, capture_output=True, check=False)
    with pytest.raises(RepositoryError, match="unmerged files"):
        adopt(proposal)
    assert "<<<<<<<" in (run.folder / "README.md").read_text()


def test_a_merge_that_was_killed_after_writing_the_file_is_finished(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / run.path).write_text(git("show", f"{proposal}:{run.path}"))
    assert adopt(proposal).state is AdoptState.FAST_FORWARD
    assert run.head() == proposal
    assert git("status", "--porcelain") == ""


def test_a_merge_that_was_killed_after_writing_the_index_is_finished(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    (run.folder / run.path).write_text(git("show", f"{proposal}:{run.path}"))
    git("add", run.path)
    adopt(proposal)
    assert run.head() == proposal
    assert git("status", "--porcelain") == ""
