from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
from conftest import FixedClock
from projects import CONFIG, Project

from skillgit.errors import ConflictError, UserError
from skillgit.history import ScoresLine
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.names import NIGHT_NOTES, NOTES
from skillgit.store.git.refs import Refs
from skillgit.store.git.repository import open_repository
from skillgit.store.git_store import GitStore
from skillgit.store.remotes.remotes import Remotes, include, is_private, refspecs
from skillgit.store.remotes.sync import Sync, SyncResult

SHORT = CONFIG.replace("epochs = 2", "epochs = 1")
RUN = "refs/heads/skillopt/run/train-1"


class Clone(Project):
    """One person's clone of a project."""

    def __init__(self, source: Path | str, path: Path, who: str, *options: str) -> None:
        self.path, self.clock, self.config_text = path, FixedClock(), SHORT
        subprocess.run(["git", "clone", "-q", *options, str(source), str(path)], check=True)
        self.git("config", "user.name", who)
        self.git("config", "user.email", f"{who}@example.org")

    def store(self) -> GitStore:
        with self.training_context() as context:
            return context.store

    def sync(self, runs: list[str] | None = None) -> SyncResult:
        repository = open_repository(self.path, durable=False)
        refs = Refs(repository.git, repository.common, clock=self.clock, command="sync")
        exchange = Sync(repository, refs, GitCli(self.path, os.environ), self.clock)
        return exchange.exchange("origin", runs)

    def note(self, word: str) -> None:
        """A line of notes on the skill, as a measurement leaves one."""
        line = ScoresLine(repeat=0, run="f" * 12, step=1, target=word, tasks={})
        store = self.store()
        skill = store.object_id(store.committed_skill("main"))
        store.add_lines("train-1", [(skill, line)], message="train-9 step 1")

    def notes(self, ref: str = NOTES) -> dict[str, set[str]]:
        """Every line by its object, as git's own command reads them."""
        listed = [line.split() for line in self.git("notes", "--ref", ref, "list").splitlines()]
        return {
            noted: set(self.git("cat-file", "blob", blob).splitlines()) for blob, noted in listed
        }

    def evaluations(self) -> int:
        """How many answers of the target were paid for to score a version."""
        with closing(sqlite3.connect(self.path / ".git/skillgit/journal.sqlite")) as journal:
            rows = journal.execute("SELECT COUNT(*) FROM replies WHERE purpose = 'evaluate'")
            return rows.fetchone()[0]


class Team:
    """Two clones and the bare remote between them."""

    def __init__(self, folder: Path) -> None:
        Project(folder / "first", config=SHORT)
        self.remote = folder / "remote.git"
        subprocess.run(
            ["git", "clone", "-q", "--bare", str(folder / "first"), str(self.remote)], check=True
        )
        self.ada = Clone(self.remote, folder / "ada", "ada")
        self.bob = Clone(self.remote, folder / "bob", "bob")

    def remote_refs(self) -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split() for line in lines)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.remote, check=True, capture_output=True, text=True
        )
        return done.stdout

    def fsck(self) -> None:
        for folder in (self.remote, self.ada.path, self.bob.path):
            done = subprocess.run(
                ["git", "fsck", "--strict"], cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


# ── what a colleague measured ────────────────────────────────────────────────────────────────


def test_what_a_colleague_measured_is_measured_by_nobody_else(team: Team) -> None:
    team.ada.train()
    assert team.ada.evaluations() > 0
    assert team.ada.sync().runs_out == {"train-1": "skillopt/run/train-1"}
    result = team.bob.sync()
    assert result.runs_in == ("train-1",)
    assert result.lines_in > 0
    records = team.bob.train()
    assert records[0].entry.run.name == "train-2"
    assert team.bob.evaluations() == 0
    verdicts = [r.entry.action for r in records]
    assert verdicts == [commit.action for commit in _history(team.ada, "train-1")]
    team.fsck()


def test_a_plain_fetch_of_the_notes_is_enough(team: Team) -> None:
    team.ada.train()
    team.ada.sync()
    include(GitCli(team.bob.path, os.environ), team.bob.path / ".git")
    team.bob.git("fetch", "--quiet")
    team.bob.train()
    assert team.bob.evaluations() == 0


def test_a_score_rejected_there_is_paid_for_nowhere(tmp_path: Path) -> None:
    team = Team(tmp_path)
    config = SHORT.replace("epochs = 1", "epochs = 4")
    team.ada.train(config)
    rejected = [c for c in _history(team.ada, "train-1") if c.action.rejected]
    assert rejected
    team.ada.sync()
    team.bob.sync()
    team.bob.train(config)
    assert [c for c in _history(team.bob, "train-2") if c.action.rejected]
    assert team.bob.evaluations() == 0


def _history(clone: Clone, run: str) -> list:
    commits = list(clone.store().history(run))[::-1]
    return [c for c in commits if c.action != "revert"]


def test_every_clone_derives_its_own_best(team: Team) -> None:
    team.ada.train()
    team.ada.sync()
    team.bob.sync()
    team.bob.store().prepare()
    best = team.ada.git("rev-parse", "skillopt/best")
    assert team.bob.git("rev-parse", "skillopt/best") == best
    assert "refs/tags/skillopt/best" not in team.remote_refs()


def test_runs_of_a_remote_nobody_syncs_with_move_no_tag(team: Team) -> None:
    team.ada.train()
    team.ada.git("push", "--quiet", "origin", RUN)
    team.bob.git("fetch", "--quiet")
    team.bob.store().prepare()
    assert "refs/tags/skillopt/best" not in team.bob.refs()


# ── losing nothing ───────────────────────────────────────────────────────────────────────────


def test_twenty_rounds_of_two_who_sync_at_once_lose_nothing(team: Team) -> None:
    written: list[str] = []
    for n in range(20):
        for clone, who in ((team.ada, "ada"), (team.bob, "bob")):
            written.append(f"{who}{n:02d}")
            clone.note(written[-1])
        failures: list[Exception] = []

        def work(clone: Clone, failures: list[Exception] = failures) -> None:
            try:
                clone.sync()
            except Exception as error:  # noqa: BLE001 - a thread's failure is told at the end
                failures.append(error)

        threads = [threading.Thread(target=work, args=(c,)) for c in (team.ada, team.bob)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
    team.ada.sync()
    team.bob.sync()
    for clone in (team.ada, team.bob):
        ((_, lines),) = clone.notes().items()
        assert {line.split('"target":"')[1].split('"')[0] for line in lines} == {*written}
    assert team.ada.refs()[NOTES] == team.bob.refs()[NOTES] == team.remote_refs()[NOTES]
    team.fsck()


def test_two_who_know_the_same_push_nothing(team: Team) -> None:
    team.ada.note("a")
    team.ada.sync()
    team.bob.sync()
    before = team.remote_refs()
    assert (team.ada.sync().lines_out, team.bob.sync().lines_in) == (0, 0)
    assert team.remote_refs() == before


def test_a_prune_in_one_clone_takes_nothing_from_anybody(team: Team) -> None:
    team.ada.note("a")
    team.ada.sync()
    team.bob.sync()
    lines = team.ada.notes()
    (noted,) = lines
    team.bob.git("notes", "--ref", NOTES, "remove", noted)
    team.bob.sync()
    team.ada.sync()
    assert team.bob.notes() == team.ada.notes() == lines


def test_notes_forced_away_on_the_remote_come_back(team: Team) -> None:
    team.ada.note("a")
    team.ada.sync()
    team.bob.note("b")
    team.bob.git("push", "--quiet", "--force", "origin", f"{NOTES}:{NOTES}")
    team.ada.sync()
    team.bob.sync()
    ((_, lines),) = team.bob.notes().items()
    assert len(lines) == 2


def test_a_run_of_the_same_name_gets_another_one_there(team: Team) -> None:
    team.ada.train()
    team.bob.clock.at = team.bob.clock.at.replace(year=2027)
    team.bob.train()
    team.ada.sync()
    assert team.bob.sync().runs_out == {"train-1": "skillopt/run/train-1-2"}
    assert team.bob.sync().runs_out == {}
    assert team.ada.sync().runs_in == ("train-1-2",)
    refs = team.remote_refs()
    assert refs[RUN] == team.ada.refs()[RUN]
    assert refs[f"{RUN}-2"] == team.bob.refs()[RUN]


def test_a_run_that_grew_is_pushed_forward(team: Team) -> None:
    team.ada.train()
    tip = team.ada.refs()[RUN]
    team.ada.git("push", "--quiet", "origin", f"{RUN}~2:{RUN}")
    assert team.ada.sync().runs_out == {"train-1": "skillopt/run/train-1"}
    assert team.remote_refs()[RUN] == tip


def test_a_run_that_is_further_there_is_left_alone(team: Team) -> None:
    team.ada.train()
    team.ada.sync()
    tip = team.remote_refs()[RUN]
    team.ada.git("update-ref", RUN, f"{RUN}~2")
    assert team.ada.sync().runs_out == {}
    assert team.remote_refs()[RUN] == tip


def test_a_partial_clone_gets_the_notes_whole(team: Team, tmp_path: Path) -> None:
    team.git("config", "uploadpack.allowFilter", "true")
    team.git("config", "uploadpack.allowAnySHA1InWant", "true")
    team.ada.train()
    team.ada.sync()
    partial = Clone(f"file://{team.remote}", tmp_path / "partial", "cem", "--filter=blob:none")
    include(GitCli(partial.path, os.environ), partial.path / ".git")
    partial.git("fetch", "--quiet")
    partial.store().prepare()
    assert partial.sync().lines_in > 0
    assert partial.notes() == team.ada.notes()


# ── what does not leave ──────────────────────────────────────────────────────────────────────


def test_nothing_of_a_night_leaves(team: Team) -> None:
    team.ada.train()
    for ref in ("refs/heads/skillopt/run/night-1", "refs/heads/skillopt/night-1"):
        team.ada.git("update-ref", ref, RUN)
    for ref in (NIGHT_NOTES, "refs/skillopt/sleep"):
        team.ada.git("update-ref", ref, NOTES)
    team.ada.sync()
    assert not [ref for ref in team.remote_refs() if "night" in ref or "sleep" in ref]


def test_a_night_cannot_even_be_asked_for(team: Team) -> None:
    team.ada.train()
    team.ada.git("update-ref", "refs/heads/skillopt/run/night-1", RUN)
    with pytest.raises(UserError, match="night-1 is a night"):
        team.ada.sync(["night-1"])


def test_nights_that_somebody_pushed_by_hand_are_not_fetched(team: Team) -> None:
    team.ada.train()
    team.ada.git("push", "-q", "origin", f"{RUN}:refs/heads/skillopt/run/night-1")
    team.ada.git("push", "-q", "origin", f"{NOTES}:{NIGHT_NOTES}")
    team.bob.sync()
    assert not [ref for ref in team.bob.refs() if "night" in ref]


@pytest.mark.parametrize(
    ("ref", "private"),
    [
        ("refs/notes/skillopt", False),
        ("refs/notes/skillopt-night", True),
        ("refs/skillopt/sleep", True),
        ("refs/heads/skillopt/run/night-12", True),
        ("refs/heads/skillopt/night-12", True),
        ("refs/heads/skillopt/run/train-1", False),
        ("refs/heads/main", False),
    ],
)
def test_what_is_private_is_told_by_its_name(ref: str, private: bool) -> None:
    assert is_private(ref) is private


def test_a_run_on_commits_nobody_pushed_stays_until_it_is_named(team: Team) -> None:
    team.ada.write("notes.txt", "not for everybody yet\n")
    team.ada.commit("Keep this here")
    team.ada.train()
    result = team.ada.sync()
    assert "does not have yet" in result.left_out["train-1"]
    assert RUN not in team.remote_refs()
    assert NOTES in team.remote_refs()
    assert team.ada.sync(["train-1"]).runs_out == {"train-1": "skillopt/run/train-1"}


def test_no_run_is_pushed_where_none_is_wanted(team: Team) -> None:
    team.ada.train()
    assert team.ada.sync([]).runs_out == {}
    assert {ref for ref in team.remote_refs() if "skillopt" in ref} == {NOTES}


def test_the_main_branch_and_the_work_tree_are_not_touched(team: Team) -> None:
    team.ada.train()
    team.ada.sync()
    before = team.bob.refs()
    index = (team.bob.path / ".git/index").read_bytes()
    team.bob.sync()
    moved = {ref for ref, target in team.bob.refs().items() if before.get(ref) != target}
    kept = "refs/remotes/origin/skillopt/run/train-1"
    assert moved == {NOTES, "refs/notes/remotes/origin/skillopt", kept}
    assert (team.bob.path / ".git/index").read_bytes() == index
    assert not (team.bob.path / ".git/FETCH_HEAD").exists()


# ── remotes that do not do as asked ──────────────────────────────────────────────────────────


def test_a_remote_that_is_gone_says_so(team: Team) -> None:
    team.remote.rename(team.remote.with_name("elsewhere.git"))
    with pytest.raises(UserError, match="origin does not answer"):
        team.ada.sync()


def test_a_remote_that_refuses_is_not_asked_for_ever(team: Team) -> None:
    hook = team.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no notes here >&2\nexit 1\n")
    hook.chmod(0o755)
    team.ada.note("a")
    with pytest.raises(UserError, match="no notes here"):
        team.ada.sync()
    assert len(team.ada.notes()) == 1


def test_no_push_may_force(team: Team) -> None:
    with pytest.raises(ValueError, match="forces"):
        Remotes(GitCli(team.ada.path, os.environ)).push("origin", "+main:main")


# ── the moving tag ───────────────────────────────────────────────────────────────────────────


def publish(clone: Clone) -> str | None:
    repository = open_repository(clone.path, durable=False)
    refs = Refs(repository.git, repository.common, clock=clone.clock, command="sync")
    exchange = Sync(repository, refs, GitCli(clone.path, os.environ), clone.clock)
    return exchange.publish_tag("origin", "refs/tags/skillopt/best")


def test_the_best_tag_goes_out_only_when_asked_for(team: Team) -> None:
    team.ada.train()
    team.ada.sync()
    assert "refs/tags/skillopt/best" not in team.remote_refs()
    assert publish(team.ada) is None
    best = team.ada.refs()["refs/tags/skillopt/best"]
    assert team.remote_refs()["refs/tags/skillopt/best"] == best
    team.ada.git("update-ref", "refs/tags/skillopt/best", f"{RUN}~1")
    assert publish(team.ada) == best
    assert team.remote_refs()["refs/tags/skillopt/best"] != best


def test_a_tag_that_moved_in_between_is_not_overwritten(team: Team, monkeypatch) -> None:
    team.ada.train()
    publish(team.ada)
    team.ada.git("update-ref", "refs/tags/skillopt/best", f"{RUN}~1")
    listed = Remotes.listed
    first = team.git("rev-parse", "main").strip()

    def late(self: Remotes, remote: str, *patterns: str) -> dict[str, str]:
        found = listed(self, remote, *patterns)
        team.git("update-ref", "refs/tags/skillopt/best", first)
        return found

    monkeypatch.setattr(Remotes, "listed", late)
    with pytest.raises(ConflictError, match="somebody else moved"):
        publish(team.ada)
    assert team.remote_refs()["refs/tags/skillopt/best"] == first


# ── the included file ────────────────────────────────────────────────────────────────────────


def test_the_included_file_only_adds_to_fetch_and_one_line_removes_it(team: Team) -> None:
    git = team.ada.git
    before = git("config", "--local", "--list")
    include(GitCli(team.ada.path, os.environ), team.ada.path / ".git")
    added = {*git("config", "--list", "--local", "--includes").splitlines()}
    added -= {*before.splitlines()}
    assert added == {
        "include.path=skillgit/sharing.gitconfig",
        *(f"remote.origin.fetch={spec}" for spec in refspecs("origin")),
    }
    git("fetch", "--quiet", "--prune")
    git("config", "--local", "--unset-all", "include.path", "^skillgit/sharing.gitconfig$")
    assert git("config", "--local", "--list") == before


def test_including_twice_is_including_once(team: Team) -> None:
    for _ in range(2):
        include(GitCli(team.ada.path, os.environ), team.ada.path / ".git")
    assert team.ada.git("config", "--get-all", "include.path").split() == [
        "skillgit/sharing.gitconfig"
    ]


def test_a_remote_that_was_renamed_leaves_no_ghost(team: Team) -> None:
    cli = GitCli(team.ada.path, os.environ)
    include(cli, team.ada.path / ".git")
    team.ada.git("remote", "rename", "origin", "hub")
    assert Remotes(cli).names() == ["hub"]


def test_a_bundle_carries_a_run_and_its_notes(team: Team, tmp_path: Path) -> None:
    team.ada.train()
    bundle = tmp_path / "train-1.bundle"
    team.ada.git("bundle", "create", "-q", str(bundle), RUN, NOTES)
    kept = "refs/remotes/ada/skillopt/run/train-1"
    team.bob.git(
        "fetch", "-q", str(bundle), f"{RUN}:{kept}", f"{NOTES}:refs/notes/remotes/ada/skillopt"
    )
    team.bob.train()
    assert team.bob.evaluations() == 0
    for noted, lines in team.ada.notes().items():
        assert lines <= team.bob.notes()[noted]


# ── which remote ─────────────────────────────────────────────────────────────────────────────


def test_the_branchs_own_remote_is_meant_then_origin_then_the_only_one(team: Team) -> None:
    remotes = Remotes(GitCli(team.ada.path, os.environ))
    assert remotes.choose(None, onto="main") == "origin"
    team.ada.git("remote", "add", "fork", "/nowhere")
    team.ada.git("config", "branch.main.remote", "fork")
    assert remotes.choose(None, onto="main") == "fork"
    assert remotes.choose("origin", onto="main") == "origin"
    with pytest.raises(UserError, match="no remote 'else'"):
        remotes.choose("else", onto="main")


def test_no_remote_at_all_is_one_clear_sentence(tmp_path: Path) -> None:
    alone = Project(tmp_path / "alone", config=SHORT)
    with pytest.raises(UserError, match="has no remote"):
        Remotes(GitCli(alone.path, os.environ)).choose(None, onto="main")
