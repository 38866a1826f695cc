"""Signing from the command line, with a real SSH key."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def ssh_key(tmp_path: Path) -> Path:
    """A key without a passphrase."""
    key = tmp_path / "key"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada@example.org", "-f", str(key)]
    subprocess.run(words, check=True, capture_output=True)
    return key


def sign_with(key: Path, git: Git) -> None:
    allowed = key.with_name("allowed")
    allowed.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    git("config", "gpg.format", "ssh")
    git("config", "user.signingKey", str(key))
    git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    git("config", "commit.gpgSign", "true")


def signatures(git: Git, range_: str) -> set[str]:
    return set(git("log", "--format=%G?", range_).split())


def test_a_proposal_is_signed_and_its_run_is_not(skillgit, trained: Path, git, ssh_key) -> None:
    sign_with(ssh_key, git)
    skillgit("train", "--new", "--epochs", "1").ok()
    git("verify-commit", "skillopt/train-2")
    assert signatures(git, "main..skillopt/train-2") == {"G"}
    assert signatures(git, "main..skillopt/run/train-2") == {"N"}
    skillgit("adopt", "train-2").ok()
    assert git("rev-parse", "main") == git("rev-parse", "skillopt/train-2")
    assert "already" in skillgit("adopt", "best").ok().out or "adopted" in skillgit("status").out


def test_what_adopt_makes_again_is_signed(skillgit, trained: Path, git, ssh_key) -> None:
    sign_with(ssh_key, git)
    (trained / "other.txt").write_text("x\n")
    git("add", ".")
    git("commit", "--quiet", "--no-gpg-sign", "-m", "Something else")
    assert "replayed" in skillgit("adopt", "train-1").ok().out
    assert signatures(git, "main~1..main") == {"G"}
    assert signatures(git, "skillopt/train-1~1..skillopt/train-1") == {"N"}


def test_without_a_key_nothing_is_begun(skillgit, trained: Path, git) -> None:
    git("config", "skillgit.sign", "true")
    git("config", "gpg.format", "ssh")
    refs = git("for-each-ref")
    done = skillgit("train", "--new")
    assert done.code == 1
    assert done.err.startswith("error: commits are to be signed, and git cannot: ")
    assert "git config skillgit.sign false" in done.err
    assert git("for-each-ref") == refs
    git("config", "skillgit.sign", "false")
    skillgit("train", "--new", "--epochs", "1").ok()
    assert signatures(git, "main..skillopt/train-2") == {"N"}


def test_a_proposal_that_is_missing_is_made_by_the_next_start(
    skillgit, trained: Path, git, ssh_key
) -> None:
    git("branch", "-D", "skillopt/train-1")
    sign_with(ssh_key, git)
    done = skillgit("train", "--epochs", "2").ok()
    assert "train-1 has ended" in done.err
    assert "skillgit adopt train-1" in done.out
    assert signatures(git, "main..skillopt/train-1") == {"G"}
