from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from skillgit.errors import RepositoryError
from skillgit.store.git.repository import Repository, open_repository
from skillgit.store.git_store import GitStore

SKILL = "skills/brief/SKILL.md"


def opened(folder: Path) -> Repository:
    return open_repository(folder, durable=False)


def refused(folder: Path) -> RepositoryError:
    with pytest.raises(RepositoryError) as caught:
        opened(folder)
    return caught.value


# ── opening ──────────────────────────────────────────────────────────────────────────────────


def test_a_repository_opens_from_any_folder_in_it(skill_repo):
    for start in (skill_repo, skill_repo / "skills", skill_repo / "skills/brief"):
        found = opened(start)
        assert found.workdir == skill_repo
        assert found.common == found.git_dir == skill_repo / ".git"


def test_a_linked_work_tree_shares_the_common_dir(skill_repo, git, tmp_path):
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", "-b", "side", str(linked))
    found = opened(linked)
    assert found.workdir == linked
    assert found.common == skill_repo / ".git"
    assert found.private.path == skill_repo / ".git" / "skillgit"
    assert found.onto_commit("main").id == opened(skill_repo).onto_commit("main").id


def test_a_bare_repository_opens(skill_repo, git, tmp_path):
    git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    found = opened(tmp_path / "bare.git")
    assert found.workdir is None
    assert found.common == tmp_path / "bare.git"
    assert found.read_project_file("README.md") == b"A project.\n"
    assert found.read_project_file(SKILL, onto="main").startswith(b"# Brief")
    with pytest.raises(FileNotFoundError):
        found.read_project_file("nothing.toml")


def test_a_submodule_is_a_repository_of_its_own(skill_repo, git, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git("init", "-q", cwd=outer)
    git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(skill_repo),
        "sub",
        cwd=outer,
    )
    found = opened(outer / "sub" / "skills")
    assert found.workdir == outer / "sub"
    assert found.onto_commit("main").id == opened(skill_repo).onto_commit("main").id


def test_no_repository_is_one_sentence(tmp_path):
    error = refused(tmp_path)
    assert error.message == f"{tmp_path} is not in a git repository"
    assert "git init" in error.hint
    assert "there is no folder" in refused(tmp_path / "nothing").message


def test_a_sha256_repository_is_one_sentence(tmp_path, git):
    git("init", "-q", "--object-format=sha256", "deep", cwd=tmp_path)
    assert "SHA-256" in refused(tmp_path / "deep").message


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("extensions.refstorage", "reftable", "reftable"),
        ("extensions.fancynew", "true", "extension"),
    ],
)
def test_what_libgit2_cannot_read_is_one_sentence(repo, git, key, value, said):
    git("config", "core.repositoryformatversion", "1")
    git("config", key, value)
    assert said in refused(repo).message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_repository_is_one_sentence(skill_repo, tmp_path):
    for path in [skill_repo, *skill_repo.rglob("*")]:
        os.chown(path, 12345, 12345)
    error = refused(skill_repo)
    assert "belongs to another user" in error.message
    assert error.hint.endswith(f"git config --global --add safe.directory '{skill_repo}'")
    level = pygit2.enums.ConfigLevel.GLOBAL
    config = Path(pygit2.settings.search_path[level]) / ".gitconfig"
    config.write_text(f"[safe]\n\tdirectory = {skill_repo}\n")
    assert opened(skill_repo).workdir == skill_repo


def test_a_broken_git_file_is_one_sentence(tmp_path):
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert refused(tmp_path).message


def test_durable_is_a_matter_of_the_caller(skill_repo, monkeypatch):
    asked: list[bool] = []

    class Settings:
        enable_fsync_gitdir = staticmethod(asked.append)

    monkeypatch.setattr(pygit2, "settings", Settings)
    open_repository(skill_repo)
    open_repository(skill_repo, durable=False)
    assert asked == [True, False]


# ── partial and shallow clones ───────────────────────────────────────────────────────────────


def clone(skill_repo: Path, git: Callable[..., str], *options: str) -> Path:
    git("config", "uploadpack.allowFilter", "true")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    copy = skill_repo.parent / "copy"
    git("clone", "-q", "--no-checkout", *options, f"file://{skill_repo}", str(copy))
    git("config", "user.name", "Ada Tester", cwd=copy)
    git("config", "user.email", "ada@example.org", cwd=copy)
    return copy


def what_is_missing(copy: Path, open_store: Callable[..., GitStore]) -> RepositoryError | None:
    try:
        open_store(copy).committed_skill("main")
    except RepositoryError as error:
        return error
    return None


@pytest.mark.parametrize("filters", ["blob:none", "tree:0"])
def test_a_partial_clones_missing_object_is_named_with_what_fetches_it(
    skill_repo, git, open_store, filters
):
    copy = clone(skill_repo, git, f"--filter={filters}")
    fetched = 0
    while (error := what_is_missing(copy, open_store)) is not None:
        assert "never fetched" in error.message
        command = error.hint.partition(": ")[2]
        subprocess.run(command.split(), cwd=copy, check=True, capture_output=True)
        fetched += 1
    assert fetched >= 1


def test_a_shallow_clone_is_trained_in(skill_repo, git, open_store, train):
    git("commit", "-q", "--allow-empty", "-m", "More")
    copy = clone(skill_repo, git, "--depth=1")
    trainer = train("train-1", open_store(copy))
    trainer.begin()
    trainer.accept("# Other\n", 0.5)
    assert [c.step for c in trainer.store.history("train-1")] == [1, 0]
    git("fsck", cwd=copy)


# ── the branch that runs start from ──────────────────────────────────────────────────────────


def test_an_unborn_repository_is_told_what_to_commit(repo):
    with pytest.raises(RepositoryError, match="no commit yet") as caught:
        opened(repo).onto_commit("main")
    assert "git commit" in caught.value.hint


def test_a_default_branch_of_another_name_is_named(skill_repo, git):
    git("branch", "-m", "trunk")
    with pytest.raises(RepositoryError, match="no branch 'main'") as caught:
        opened(skill_repo).onto_commit("main")
    assert 'onto = "trunk"' in caught.value.hint
    git("switch", "-q", "--detach")
    with pytest.raises(RepositoryError) as caught:
        opened(skill_repo).onto_commit("main")
    assert 'onto = "trunk"' in caught.value.hint


def test_a_branch_that_only_a_remote_has_is_one_command_away(skill_repo, git):
    git("update-ref", "refs/remotes/origin/release", "main")
    with pytest.raises(RepositoryError, match="only origin/release") as caught:
        opened(skill_repo).onto_commit("release")
    subprocess.run(caught.value.hint.split(), cwd=skill_repo, check=True)
    assert opened(skill_repo).onto_commit("release")


def test_a_detached_head_decides_nothing(skill_repo, git, train):
    git("switch", "-q", "--detach")
    git("commit", "-q", "--allow-empty", "-m", "elsewhere")
    trainer = train()
    trainer.begin()
    assert trainer.head.base == git("rev-parse", "main").strip()
    assert git("rev-parse", "HEAD") != git("rev-parse", "main")


# ── identity ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("key", ["user.name", "user.email"])
def test_a_missing_identity_is_said_with_what_to_type(skill_repo, git, key, store):
    git("config", "--unset", key)
    with pytest.raises(RepositoryError, match="whose commits") as caught:
        store.prepare()
    subprocess.run(["sh", "-c", caught.value.hint], cwd=skill_repo, check=True)
    assert opened(skill_repo).identity() == ("Your Name", "you@example.org")


@pytest.mark.parametrize("name", ["", "<>", "   "])
def test_a_name_that_is_none_is_a_missing_identity(skill_repo, git, name):
    git("config", "user.name", name)
    with pytest.raises(RepositoryError, match="whose commits"):
        opened(skill_repo).identity()


# ── the work tree ────────────────────────────────────────────────────────────────────────────


def test_project_files_are_read_from_the_work_tree(skill_repo):
    (skill_repo / "skillgit.toml").write_text("not committed\n")
    assert opened(skill_repo / "skills").read_project_file("skillgit.toml") == b"not committed\n"
    for path in ("../secret", "/etc/passwd", ".git/config", "a/../../x"):
        with pytest.raises(RepositoryError, match="no path"):
            opened(skill_repo).read_project_file(path)


def test_local_changes_are_told_and_nothing_is_written(skill_repo, git):
    found = opened(skill_repo)
    assert found.uncommitted((SKILL, "README.md", "nothing")) == ()
    (skill_repo / SKILL).write_text("changed\n")
    (skill_repo / "new.md").write_text("new\n")
    git("rm", "-q", "--cached", "README.md")
    index = (skill_repo / ".git/index").read_bytes()
    assert found.uncommitted((SKILL, "README.md", "new.md")) == (SKILL, "README.md", "new.md")
    assert (skill_repo / ".git/index").read_bytes() == index


def test_a_bare_repository_has_no_local_changes(skill_repo, git, tmp_path):
    git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert opened(tmp_path / "bare.git").uncommitted((SKILL,)) == ()


def test_a_repository_that_was_moved_still_opens(skill_repo, tmp_path):
    shutil.move(skill_repo, tmp_path / "elsewhere")
    assert opened(tmp_path / "elsewhere").workdir == tmp_path / "elsewhere"
