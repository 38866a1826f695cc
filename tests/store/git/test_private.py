from __future__ import annotations

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.git.private import PrivateFolder, common_dir


def test_the_folder_is_made_for_its_owner_alone(tmp_path):
    private = PrivateFolder(tmp_path)
    assert not (tmp_path / "skillgit").exists()
    assert private.journal == tmp_path / "skillgit" / "journal.sqlite"
    assert private.path.stat().st_mode & 0o777 == 0o700
    assert private.locks.stat().st_mode & 0o777 == 0o700
    assert private.logs.parent == private.trust.parent == private.moves.parent == private.path


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RepositoryError, match="cannot be made"):
        _ = PrivateFolder(tmp_path / "file").journal
    (tmp_path / "skillgit").write_text("")
    with pytest.raises(RepositoryError, match="cannot be made"):
        _ = PrivateFolder(tmp_path).locks


def test_work_trees_share_one(repo, git, tmp_path):
    git("commit", "-q", "--allow-empty", "-m", "Start")
    git("worktree", "add", "-q", str(tmp_path / "linked"))
    own = repo / ".git" / "worktrees" / "linked"
    assert common_dir(own) == common_dir(repo / ".git") == repo / ".git"
