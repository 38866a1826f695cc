from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import ConflictError, RepositoryError
from skillgit.store.git.private import PrivateFolder
from skillgit.store.git.refs import RefMovedError, Refs
from skillgit.store.git.repository import open_repository

NAME = "refs/heads/skillopt/run/train-1"


@pytest.fixture
def commits(repo: Path, git: Callable[..., str]) -> list[str]:
    """Four commits that nothing refers to, and one on main."""
    git("commit", "-q", "--allow-empty", "-m", "Start")
    tree = git("rev-parse", "HEAD^{tree}").strip()
    return [git("commit-tree", tree, "-m", str(n)).strip() for n in range(4)]


@pytest.fixture
def refs(repo, clock) -> Refs:
    found = open_repository(repo, durable=False)
    return Refs(found.git, found.common, clock=clock, command="skillgit train")


def moves(repo: Path) -> list[dict[str, object]]:
    lines = (repo / ".git/skillgit/moves.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_ref_that_is_not_there_is_made(refs, commits, git):
    assert refs.read(NAME) is None
    refs.move(NAME, old=None, new=commits[0], message="begin")
    assert refs.read(NAME) == git("rev-parse", NAME).strip() == commits[0]


def test_a_ref_moves_from_where_it_is(refs, commits, git):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    refs.move(NAME, old=commits[0], new=commits[1], message="step 1")
    assert git("rev-parse", NAME).strip() == commits[1]
    assert "step 1" in git("reflog", NAME)


def test_a_packed_ref_moves_too(refs, commits, git):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    git("pack-refs", "--all", "--prune")
    with pytest.raises(RefMovedError):
        refs.move(NAME, old=None, new=commits[1], message="again")
    refs.move(NAME, old=commits[0], new=commits[1], message="step 1")
    assert git("rev-parse", NAME).strip() == commits[1]


@pytest.mark.parametrize("old", [None, 1, 2])
def test_a_ref_that_is_elsewhere_stays_there(refs, commits, git, old):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    with pytest.raises(RefMovedError, match="another writer moved"):
        refs.move(NAME, old=None if old is None else commits[old], new=commits[3], message="no")
    assert git("rev-parse", NAME).strip() == commits[0]


def test_a_ref_that_is_gone_is_not_made_again(refs, commits, git):
    with pytest.raises(RefMovedError, match="is gone"):
        refs.move(NAME, old=commits[0], new=commits[1], message="no")
    assert refs.read(NAME) is None


def test_each_move_is_in_the_log_before_it_is_made(refs, commits, repo):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    with pytest.raises(RefMovedError):
        refs.move(NAME, old=commits[1], new=commits[2], message="no")
    first, second = moves(repo)
    assert first["command"] == "skillgit train"
    assert (first["ref"], first["old"], first["new"]) == (NAME, None, commits[0])
    assert first["time"] == "2026-03-01T12:00:00+00:00"
    assert (second["old"], second["new"]) == (commits[1], commits[2])


def test_a_move_to_where_it_is_writes_nothing(refs, commits, repo):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    refs.move(NAME, old=commits[0], new=commits[0], message="no")
    assert len(moves(repo)) == 1


def test_a_symbolic_ref_is_not_followed(refs, commits, git):
    git("symbolic-ref", NAME, "refs/heads/main")
    with pytest.raises(RepositoryError, match="points at refs/heads/main"):
        refs.read(NAME)


@pytest.mark.parametrize("content", ["", "not an id\n", "0123\n"])
def test_a_broken_ref_file_is_named(refs, commits, repo, content):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    (repo / ".git" / NAME).write_text(content)
    with pytest.raises(RepositoryError, match="cannot be read") as caught:
        refs.move(NAME, old=commits[0], new=commits[1], message="no")
    assert str(repo / ".git" / NAME) in caught.value.hint


def test_a_name_that_is_a_folder_or_below_a_branch_cannot_be_written(refs, commits, git):
    git("branch", "skillopt/run")
    with pytest.raises(RepositoryError, match="cannot be written"):
        refs.move(NAME, old=None, new=commits[0], message="no")


# ── locks ────────────────────────────────────────────────────────────────────────────────────


def hold(repo: Path, content: str = "") -> Path:
    lock = repo / ".git" / f"{NAME}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(content)
    return lock


@pytest.mark.parametrize("begun", [False, True])
def test_a_lock_that_stays_is_named_with_its_age_after_5_seconds(refs, commits, repo, clock, begun):
    old = commits[0] if begun else None
    if begun:
        refs.move(NAME, old=None, new=commits[0], message="begin")
    lock = hold(repo)
    os.utime(lock, times=(time.time() - 610,) * 2)
    with pytest.raises(ConflictError, match="10 min old") as caught:
        refs.move(NAME, old=old, new=commits[1], message="no")
    assert str(lock) in caught.value.message
    assert f"rm '{lock}'" in caught.value.hint
    assert not isinstance(caught.value, RefMovedError)
    assert 5.0 <= clock.monotonic() < 5.1
    assert lock.exists()


def test_a_lock_that_goes_is_waited_for(refs, commits, repo, clock):
    lock = hold(repo)

    def release(seconds: float) -> None:
        clock.slept.append(seconds)
        if len(clock.slept) == 10:
            lock.unlink()

    clock.sleep = release
    refs.move(NAME, old=None, new=commits[0], message="begin")
    assert refs.read(NAME) == commits[0]
    assert len(clock.slept) == 10


def dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


@pytest.mark.parametrize("written", [41, 17, 0])
def test_a_lock_that_a_killed_move_left_behind_is_taken_away(refs, commits, repo, clock, written):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    line = {**moves(repo)[-1], "old": commits[0], "new": commits[1], "pid": dead_process()}
    waiting = {**line, "new": commits[2], "pid": dead_process()}
    log = PrivateFolder(repo / ".git").moves
    log.write_text(f"{json.dumps(line)}\n{json.dumps(waiting)}\nnot a line\n")
    lock = hold(repo, f"{commits[1]}\n"[:written])
    os.utime(lock, times=(time.time() - 2,) * 2)
    refs.move(NAME, old=commits[0], new=commits[3], message="again")
    assert refs.read(NAME) == commits[3]
    assert not lock.exists()
    assert clock.slept == []


def test_a_fresh_lock_is_waited_for_whoever_made_it(refs, commits, repo, clock):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    line = {**moves(repo)[-1], "old": commits[0], "new": commits[1], "pid": dead_process()}
    PrivateFolder(repo / ".git").moves.write_text(json.dumps(line) + "\n")
    lock = hold(repo, f"{commits[1]}\n")
    clock.sleep = lambda seconds: (
        clock.slept.append(seconds),
        os.utime(lock, times=(time.time() - len(clock.slept) / 10,) * 2),
    )
    refs.move(NAME, old=commits[0], new=commits[1], message="again")
    assert len(clock.slept) >= 9


def test_a_ref_that_moves_between_two_looks_is_no_success(refs, commits, git, monkeypatch):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    read, looks = refs.read, []

    def moved_by_another_after_the_first_look(name: str) -> str | None:
        found = read(name)
        looks.append(found)
        if len(looks) == 1:
            git("update-ref", NAME, commits[1])
        return found

    monkeypatch.setattr(refs, "read", moved_by_another_after_the_first_look)
    with pytest.raises(RefMovedError):
        refs.move(NAME, old=commits[0], new=commits[2], message="no")
    assert git("rev-parse", NAME).strip() == commits[1]


def test_a_process_of_the_same_number_is_told_apart(refs, commits, repo):
    """In a container, the next trainer often has the number of the one that was killed."""
    refs.move(NAME, old=None, new=commits[0], message="begin")
    line = {**moves(repo)[-1], "old": commits[0], "new": commits[1], "process": "another"}
    PrivateFolder(repo / ".git").moves.write_text(json.dumps(line) + "\n")
    os.utime(hold(repo, f"{commits[1]}\n"), times=(time.time() - 2,) * 2)
    refs.move(NAME, old=commits[0], new=commits[1], message="again")
    assert refs.read(NAME) == commits[1]


@pytest.mark.parametrize(
    "who", ["alive", "another host", "another value", "another move", "nobody"]
)
def test_a_lock_that_may_be_anothers_is_left_alone(refs, commits, repo, who):
    refs.move(NAME, old=None, new=commits[0], message="begin")
    line = {**moves(repo)[-1], "old": commits[0], "new": commits[1], "pid": dead_process()}
    if who == "alive":
        line["pid"] = os.getppid()
    if who == "another host":
        line["host"] = "elsewhere"
    if who == "another move":
        line["old"] = commits[3]
    text = "" if who == "nobody" else json.dumps(line) + "\n"
    if who == "also alive":
        text += json.dumps({**line, "pid": os.getppid(), "process": "another"}) + "\n"
    log = PrivateFolder(repo / ".git").moves
    log.write_text(text)
    lock = hold(repo, {"another value": "f" * 10, "also alive": commits[1]}.get(who, ""))
    os.utime(lock, times=(time.time() - 60,) * 2)
    with pytest.raises(ConflictError, match="is locked"):
        refs.move(NAME, old=commits[0], new=commits[1], message="no")
    assert lock.exists()


# ── races ────────────────────────────────────────────────────────────────────────────────────

RACER = """
    import sys, time, pathlib
    from datetime import datetime, UTC
    import pygit2
    from skillgit.store.git.refs import Refs, RefMovedError
    from skillgit.store.git.repository import open_repository

    class Clock:
        def now(self): return datetime.now(UTC)
        def monotonic(self): return time.monotonic()
        def sleep(self, seconds): time.sleep(seconds)

    found = open_repository(pathlib.Path({repo!r}), durable=False)
    refs, git = Refs(found.git, found.common, clock=Clock()), found.git
    who = pygit2.Signature("Ada", "ada@example.org", 0, 0)
    tree = git[git.head.target].tree.id
    print("ready", flush=True)
    sys.stdin.readline()
    {body}
"""

ADD_ONE = """
    for n in range(40):
        while True:
            tip = refs.read("refs/heads/count")
            parents = [] if tip is None else [pygit2.Oid(hex=tip)]
            new = git.create_commit(None, who, who, sys.argv[1] + "/" + str(n), tree, parents)
            try:
                refs.move("refs/heads/count", old=tip, new=str(new), message="race")
            except RefMovedError:
                continue
            break
"""

CREATE = """
    wins = 0
    for n in range(100):
        new = git.create_commit(None, who, who, sys.argv[1] + "/" + str(n), tree, [])
        try:
            refs.move("refs/heads/new" + str(n), old=None, new=str(new), message="race")
            wins += 1
        except RefMovedError:
            pass
    print(wins)
"""


def race(repo: Path, body: str, racers: int = 4) -> list[str]:
    body = textwrap.indent(textwrap.dedent(body), "    ").strip()
    code = textwrap.dedent(RACER).format(repo=str(repo), body=textwrap.dedent("    " + body))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(racers)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in started]
    assert [process.returncode for process in started] == [0] * racers
    return said


def test_four_writers_lose_no_update(repo, commits, git):
    race(repo, ADD_ONE)
    assert git("rev-list", "--count", "refs/heads/count") == "160\n"
    assert len(set(git("log", "--format=%s", "refs/heads/count").split())) == 160


def test_of_four_that_make_a_ref_one_does(repo, commits):
    assert sum(int(wins) for wins in race(repo, CREATE)) == 100
