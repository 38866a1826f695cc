"""Signatures with a real SSH key, looked at by git itself."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import RepositoryError
from skillgit.store.git import signing
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.git.signing import Signer, signer_of
from skillgit.store.proposals.adopt import Adopter, AdoptState
from skillgit.store.proposals.proposal import propose

Git = Callable[..., str]


@pytest.fixture
def ssh_key(tmp_path: Path, repo: Path, git: Git) -> Path:
    """A key that git signs with and that git trusts."""
    key = tmp_path / "key"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada@example.org", "-f", str(key)]
    subprocess.run(words, check=True, capture_output=True)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    git("config", "gpg.format", "ssh")
    git("config", "user.signingKey", str(key))
    git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    return key


def signer(repo: Path) -> Signer | None:
    return signer_of(open_repository(repo, durable=False).git, GitCli(repo, os.environ))


@pytest.mark.parametrize(
    ("settings", "signs"),
    [
        ({}, False),
        ({"commit.gpgSign": "true"}, True),
        ({"commit.gpgSign": "yes", "skillgit.sign": "off"}, False),
        ({"skillgit.sign": "1"}, True),
        ({"skillgit.sign": "true", "commit.gpgSign": "false"}, True),
    ],
)
def test_the_programs_own_setting_goes_before_gits(
    repo: Path, git: Git, settings: dict[str, str], signs: bool
) -> None:
    for name, value in settings.items():
        git("config", name, value)
    assert (signer(repo) is not None) is signs


def test_a_setting_that_is_neither_true_nor_false_is_named(repo: Path, git: Git) -> None:
    git("config", "skillgit.sign", "perhaps")
    with pytest.raises(RepositoryError, match=r"skillgit\.sign"):
        signer(repo)


def test_git_agrees_with_every_signature_of_a_proposal(
    run: Any, git: Git, clock: Any, ssh_key: Path
) -> None:
    git("config", "commit.gpgSign", "true")
    run.begin()
    run.accept(run.edited(run.text, run.ADD_RISKS), 0.5, [run.ADD_RISKS])
    run.accept(run.edited(run.text, run.SAY_HOW), 0.75, [run.SAY_HOW])
    run.end()
    refs = Refs(run.pygit, run.folder / ".git", clock=clock)
    sign = signer(run.folder)
    made = propose(run.pygit, refs, "train-1", sign=sign)
    commits = git("rev-list", f"{run.base}..{made.commit}").split()
    assert len(commits) == made.versions == 2
    for commit in commits:
        git("verify-commit", commit)
    assert git("log", "--format=%G?", f"{run.base}..{made.commit}").split() == ["G", "G"]
    plain = git("log", "--format=%an %ae %at %cn %ce %ct%n%B", "skillopt/run/train-1~1")
    signed = git("log", "--format=%an %ae %at %cn %ce %ct%n%B", f"{made.commit}")
    assert signed.splitlines()[0] == plain.splitlines()[0]
    assert git("log", "--format=%G?", "skillopt/run/train-1").split() == ["N"] * 5
    assert propose(run.pygit, refs, "train-1", sign=sign) == propose(run.pygit, refs, "train-1")
    git("fsck", "--strict")


def test_what_adopt_replays_is_signed_too(
    run: Any, git: Git, proposal: str, ssh_key: Path, clock: Any
) -> None:
    old = run.commit_file("src/app.py", "print()\n")
    repository = open_repository(run.folder, durable=False)
    refs = Refs(repository.git, repository.common, clock=clock)
    cli = GitCli(run.folder, os.environ)
    sign = Signer(repository.git, cli)
    done = Adopter(repository, refs, cli, sign=sign).adopt(proposal, onto="main")
    assert done.state is AdoptState.REPLAYED
    assert set(git("log", "--format=%G?", f"{old}..main").split()) == {"G"}
    messages = git("log", "--format=%B", f"{old}..main")
    assert messages == git("log", "--format=%B", f"{run.base}..{proposal}")
    assert git("status", "--porcelain") == ""


def test_a_name_and_a_message_of_any_letters_stay_as_they_are(
    run: Any, git: Git, ssh_key: Path
) -> None:
    git("config", "i18n.commitEncoding", "ISO-8859-1")
    raw = git("commit-tree", "main^{tree}", "-p", "main", text="Ünïcode\n\nno line end")
    git("update-ref", "refs/heads/it", raw.strip())
    made = signer_for(run)(raw.strip())
    body = run.pygit[made].read_raw().partition(b"\n\n")[2]
    assert body == run.pygit[raw.strip()].read_raw().partition(b"\n\n")[2]
    assert b"\nencoding ISO-8859-1\n" in run.pygit[made].read_raw()
    git("verify-commit", made)


def signer_for(run: Any) -> Signer:
    return Signer(run.pygit, GitCli(run.folder, os.environ))


@pytest.mark.parametrize(
    "settings",
    [
        {"gpg.format": "ssh"},
        {"gpg.format": "ssh", "user.signingKey": "/no/such/key"},
        {"gpg.program": "/no/such/program"},
        {"gpg.program": "false"},
    ],
)
def test_without_a_key_it_is_one_sentence_and_what_to_do(
    run: Any, git: Git, settings: dict[str, str]
) -> None:
    for name, value in settings.items():
        git("config", name, value)
    with pytest.raises(
        RepositoryError, match="commits are to be signed, and git cannot: "
    ) as caught:
        signer_for(run).check()
    assert "\n" not in caught.value.message
    assert "git config user.signingKey" in caught.value.hint
    assert "git config skillgit.sign false" in caught.value.hint


def test_a_key_that_does_not_answer_is_not_waited_for(
    run: Any, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    git("config", "gpg.program", str(slow))
    monkeypatch.setattr(signing, "SIGN_TIMEOUT_S", 0.2)
    with pytest.raises(RepositoryError, match=r"no signature was made within 0\.2 s"):
        signer_for(run).check()


def test_a_merge_of_a_proposal_is_signed_too(
    run: Any, git: Git, proposal: str, ssh_key: Path, clock: Any
) -> None:
    run.commit_file(run.path, "Mine first.\n\n" + (run.folder / run.path).read_text())
    repository = open_repository(run.folder, durable=False)
    refs = Refs(repository.git, repository.common, clock=clock)
    cli = GitCli(run.folder, os.environ)
    adopter = Adopter(repository, refs, cli, sign=Signer(repository.git, cli))
    done = adopter.adopt(proposal, onto="main", merge=True)
    assert done.state is AdoptState.MERGED
    git("verify-commit", "main")
