from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import RepositoryError, UserError
from skillgit.store.git.refs import Refs
from skillgit.store.proposals.adopt import AdoptState
from skillgit.store.proposals.adopted import How
from skillgit.store.proposals.proposal import propose


def test_main_is_fast_forwarded_with_its_work_tree(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    old = run.head()
    done = adopt(proposal)
    assert (done.state, done.old, done.new, done.commits) == (
        AdoptState.FAST_FORWARD,
        old,
        proposal,
        3,
    )
    assert run.head() == proposal
    assert git("status", "--porcelain") == ""
    assert (run.folder / run.path).read_text() == run.edited(
        git("show", f"{run.base}:{run.path}"), run.ADD_RISKS, run.SAY_HOW
    )
    assert str(done) == "main is at train-1 now (3 commits)"
    git("fsck", "--strict")


def test_adopting_twice_says_so(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    adopt(proposal)
    again = adopt(proposal)
    assert (again.state, again.old, again.new) == (AdoptState.ALREADY, proposal, proposal)
    assert str(again) == "main has train-1 already: its commits are in it"


def test_the_move_is_logged_before_it(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = run.head()
    (run.folder / ".git/index.lock").touch()
    with pytest.raises(RepositoryError):
        adopt(proposal)
    lines = (run.folder / ".git/skillgit/moves.jsonl").read_text().splitlines()
    last = json.loads(lines[-1])
    assert (last["ref"], last["old"], last["new"]) == ("refs/heads/main", old, proposal)


def test_another_branch_can_be_named(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    git("branch", "trunk")
    old = run.head()
    adopt(proposal, "trunk")
    assert (run.head(), run.head("trunk")) == (old, proposal)


def test_a_branch_that_is_not_there_is_told(run: Any, proposal: str, adopt: Any) -> None:
    with pytest.raises(RepositoryError, match="there is no branch 'mian'"):
        adopt(proposal, "mian")


def test_skillgits_own_branches_are_no_place_for_it(run: Any, proposal: str, adopt: Any) -> None:
    with pytest.raises(UserError, match="own branch"):
        adopt(proposal, "skillopt/run/train-1")


def test_a_commit_of_no_run_is_no_proposal(run: Any, git: Any, adopt: Any) -> None:
    with pytest.raises(UserError, match="no proposal"):
        adopt(run.head())


def test_edits_that_are_all_there_change_nothing(
    run: Any, git: Any, clock: Any, adopt: Any
) -> None:
    run.begin()
    run.accept(run.edited(run.text, run.ADD_RISKS), 0.5, [run.ADD_RISKS])
    run.end()
    refs = Refs(run.pygit, run.folder / ".git", clock=clock)
    tip = propose(run.pygit, refs, "train-1").commit
    mine = run.edited((run.folder / run.path).read_text(), run.ADD_RISKS) + "\nMine.\n"
    old = run.commit_file(run.path, mine)
    done = adopt(tip)
    assert (done.state, done.recognised.how) == (AdoptState.ALREADY, How.SAME_EDITS)
    assert str(done) == "main has train-1 already: each of its edits is there"
    assert run.head() == old


def test_git_merges_when_asked_to(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    old = run.commit_file(run.path, "Mine first.\n\n" + (run.folder / run.path).read_text())
    done = adopt(proposal, merge=True)
    assert done.state is AdoptState.MERGED
    assert git("log", "-1", "--format=%P").split() == [old, proposal]
    git(*done.undo.split()[1:])
    assert run.head() == old


def test_a_conflict_of_gits_merge_is_left_to_resolve(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    mine = (run.folder / run.path).read_text().replace("- Be short.", "- Be brief.")
    old = run.commit_file(run.path, mine)
    with pytest.raises(UserError, match="CONFLICT") as caught:
        adopt(proposal, merge=True)
    assert caught.value.message.count("CONFLICT") == 1
    assert "git merge --abort" in caught.value.hint
    git("merge", "--abort")
    assert run.head() == old


def test_a_merge_needs_a_work_tree(run: Any, git: Any, proposal: str, adopt: Any) -> None:
    run.commit_file(run.path, "Mine first.\n\n" + (run.folder / run.path).read_text())
    git("switch", "-q", "--detach")
    with pytest.raises(UserError, match="checked out nowhere"):
        adopt(proposal, merge=True)


ADOPT_ELSEWHERE = """
import os, sys
from pathlib import Path
import time
from skillgit.store.proposals.adopt import Adopter
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git_store import GitStore
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository

class Clock:
    def now(self):
        from datetime import datetime, UTC
        return datetime.now(UTC)
    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)

folder = Path(sys.argv[1])
repository = open_repository(folder, durable=False)
refs = Refs(repository.git, repository.common, clock=Clock())
print("ready", flush=True)
Adopter(repository, refs, GitCli(folder, os.environ)).adopt(sys.argv[2], onto="main")
print("done", flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.008, 0.012, 0.016, 0.024])
def test_kill_9_during_adopt_then_again_finishes_or_says_done(
    run: Any, git: Any, proposal: str, adopt: Any, delay: float
) -> None:
    run.commit_file("src/app.py", "print()\n")
    process = subprocess.Popen(
        [sys.executable, "-c", ADOPT_ELSEWHERE, str(run.folder), proposal],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    _wait_for_gits(run.folder)
    done = adopt(proposal)
    assert done.state in (AdoptState.REPLAYED, AdoptState.ALREADY)
    assert git("show", f"main:{run.path}") == git("show", f"{proposal}:{run.path}")
    assert git("status", "--porcelain") == ""
    assert git("rev-list", "--count", f"{run.base}..main").strip() == "4"
    git("fsck", "--strict")


def _wait_for_gits(folder: Path) -> None:
    """Whatever git was doing for the killed process, it does to the end."""
    lock = folder / ".git/index.lock"
    for _ in range(100):
        time.sleep(0.05)
        if not lock.exists():
            break


def test_a_commit_in_an_encoding_nobody_knows_is_in_nobodys_way(
    run: Any, git: Any, proposal: str, adopt: Any
) -> None:
    tree = git("rev-parse", "HEAD^{tree}").strip()
    head = git("rev-parse", "HEAD").strip()
    raw = (
        f"tree {tree}\nparent {head}\nauthor A <a@b.c> 1700000000 +0000\n"
        "committer A <a@b.c> 1700000000 +0000\nencoding klingon\n\nChange nothing\n"
    )
    odd = git("hash-object", "-t", "commit", "-w", "--stdin", text=raw).strip()
    git("reset", "--quiet", "--hard", odd)
    assert adopt(proposal).state is AdoptState.REPLAYED
