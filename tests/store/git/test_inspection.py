from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.store.git.inspection import broken_refs, lock_files, private_files
from skillgit.store.git.repository import open_repository


@pytest.fixture
def committed(repo: Path, git) -> Path:
    git("commit", "--quiet", "--allow-empty", "-m", "A")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return repo


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"0123", b"main\n"])
def test_a_ref_that_holds_no_id_is_found(committed: Path, content: bytes) -> None:
    (committed / ".git/refs/heads/broken").write_bytes(content)
    (found,) = broken_refs(open_repository(committed))
    assert found.name == "broken"


def test_refs_that_hold_ids_or_names_are_sound(committed: Path) -> None:
    assert broken_refs(open_repository(committed)) == []


def test_lock_files_are_found_wherever_git_leaves_them(committed: Path, git) -> None:
    git("worktree", "add", "--quiet", "../other")
    places = (
        "index.lock",
        "HEAD.lock",
        "packed-refs.lock",
        "refs/notes/skillopt.lock",
        "worktrees/other/index.lock",
    )
    for place in places:
        file = committed / ".git" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    found = {file for file, _ in lock_files(open_repository(committed))}
    assert found == {(committed / ".git" / place).resolve() for place in places}


def test_private_files_are_listed_with_their_sizes(committed: Path) -> None:
    repository = open_repository(committed)
    assert private_files(repository) == []
    (repository.private.logs / "a").write_bytes(b"12345")
    repository.private.trust.write_bytes(b"123")
    assert [(path.name, size) for path, size in private_files(repository)] == [
        ("logs", 5),
        ("trust.json", 3),
    ]
