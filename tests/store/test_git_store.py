from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from skillgit.errors import ConflictError, RepositoryError
from skillgit.history import ConfigNote, Phase, RejectedLine, ReportNote, RunPosition, StepNote
from skillgit.records import Action, Edit, EditOp, EditOutcome, Outcome
from skillgit.store.git.names import NIGHT_NOTES, NOTES

SKILL = "skills/brief/SKILL.md"
RUN = "refs/heads/skillopt/run/train-1"


def text(n: int) -> str:
    return f"# Brief\n\nWrite a brief.\n\n- Rule {n}.\n"


def a_small_run(trainer) -> None:
    trainer.begin(0.25)
    trainer.accept(text(1), 0.5, lines=(trainer.step_note(),))
    trainer.reject(text(2), 0.375, lines=(trainer.step_note(Action.REJECT),))
    trainer.skip()
    trainer.epoch()
    trainer.end()


def everything_else(repo: Path, git) -> dict[str, object]:
    """All that a run must leave alone: index, HEAD, tracked files and refs that are not its own."""
    own = ("refs/heads/skillopt/", "refs/tags/skillopt/", "refs/notes/skillopt")
    refs = [r for r in git("show-ref").splitlines() if not r.split()[1].startswith(own)]
    files = [p for p in sorted(repo.rglob("*")) if ".git" not in p.parts and p.is_file()]
    return {
        "index": (repo / ".git/index").read_bytes(),
        "index time": (repo / ".git/index").stat().st_mtime_ns,
        "HEAD": (repo / ".git/HEAD").read_bytes(),
        "refs": refs,
        "status": git("--no-optional-locks", "status", "--porcelain=v2"),
        "files": [(p, p.read_bytes(), p.stat().st_mtime_ns) for p in files],
    }


def test_git_reads_a_run_as_it_was_written(train, git):
    a_small_run(train())
    subjects = git("log", "--format=%s", "skillopt/run/train-1").splitlines()
    assert [s.removeprefix("skillopt(brief): ")[:14] for s in subjects] == [
        "end: best 0.50",
        "epoch 0",
        "step 3: skip (",
        'Revert "skillo',
        "step 2: reject",
        "step 1: accept",
        "step 0: baseli",
        "Add the skill",
    ]
    git("fsck", "--strict", "--full")
    scores = git("log", "--format=%(trailers:key=Skillopt-Score,valueonly)", "skillopt/run/train-1")
    assert scores.split() == ["0.5", "unmeasured", "unmeasured", "0.5", "0.375", "0.5", "0.25"]
    assert "Skillopt-Run: train-1" in git(
        "interpret-trailers", "--parse", text=git("log", "-1", "--format=%B", RUN)
    )


def test_a_run_changes_only_the_paths_of_the_skill(train, git):
    trainer = train()
    trainer.begin()
    trainer.accept(text(1), 0.5)
    assert git("diff", "--name-only", "main", RUN).split() == [SKILL]
    assert git("show", f"{RUN}:{SKILL}") == text(1)


def test_index_head_work_tree_and_foreign_refs_stay_as_they_are(train, git, skill_repo):
    git("branch", "other")
    git("tag", "-a", "v1", "-m", "v1")
    git("notes", "add", "-m", "mine", "main")
    (skill_repo / SKILL).write_text("changed by hand\n")
    (skill_repo / "new.txt").write_text("untracked\n")
    before = everything_else(skill_repo, git)
    trainer = train()
    trainer.store.prepare()
    a_small_run(trainer)
    trainer.store.finish(trainer.head)
    list(trainer.store.history("train-1"))
    trainer.store.repository.uncommitted((SKILL,))
    assert everything_else(skill_repo, git) == before


def test_a_rejected_candidate_is_followed_by_gits_own_revert(train, git):
    trainer = train()
    trainer.begin()
    tip = trainer.reject(text(1), 0.0)
    candidate = tip.parent
    assert tip.action is Action.REVERT
    assert f"This reverts commit {candidate}." in git("log", "-1", "--format=%b", tip.id)
    assert git("rev-parse", f"{tip.id}^{{tree}}") == git("rev-parse", "main^{tree}")
    assert git("show", f"{candidate}:{SKILL}") == text(1)


def test_history_is_newest_first_and_stops_at_the_runs_own_step_0(train, git, open_store):
    a_small_run(train())
    git("merge", "-q", "--ff-only", "skillopt/run/train-1")
    store = open_store()
    second = train("train-2", store, run_id="ffffffffffff")
    second.begin()
    second.skip()
    assert [(c.step, c.action) for c in store.history("train-2")] == [
        (1, Action.SKIP),
        (0, Action.BASELINE),
    ]
    assert [c.step for c in store.history("train-1")] == [3, 3, 3, 2, 2, 1, 0]
    assert list(store.history("train-9")) == []


def test_a_step_is_as_old_as_its_last_paid_call_and_never_older_than_its_parent(train):
    trainer = train()
    at = datetime(2030, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC)
    base = trainer.store.repository.onto_commit("main").commit_time
    assert trainer.begin().time.timestamp() == base + 1
    assert trainer.accept(text(1), 0.5, finished_at=at).time == at.replace(microsecond=0)
    assert trainer.skip().time == at.replace(microsecond=0) + timedelta(seconds=1)
    earlier = trainer.accept(text(2), 0.75, finished_at=at - timedelta(days=1))
    assert earlier.time == at.replace(microsecond=0) + timedelta(seconds=1)


def test_commits_are_the_users_own(train, git):
    trainer = train()
    commit = trainer.begin()
    shown = git("log", "-1", "--format=%an <%ae> %cn <%ce> %ai", commit.id)
    assert shown.startswith("Ada Tester <ada@example.org> Ada Tester <ada@example.org> ")
    assert shown.strip().endswith("+0000")


def test_step_0_carries_a_start_that_is_not_the_base(train, git):
    trainer = train()
    other = trainer.skill.with_document(SKILL, b"# Another start\n")
    commit = trainer.begin(candidate=other)
    assert git("show", f"{commit.id}:{SKILL}") == "# Another start\n"
    assert trainer.store.skill_at(commit.id) == other


def test_notes_stand_on_the_candidate_and_are_read_by_git(train, git):
    trainer = train()
    trainer.begin()
    note = trainer.step_note(Action.REJECT)
    tip = trainer.reject(text(1), 0.0, lines=(note,))
    assert git("notes", "--ref=skillopt", "show", tip.parent) == note.to_line() + "\n"
    assert trainer.store.notes_on(tip.parent) == (note,)


def test_recording_one_moment_is_one_notes_commit_and_one_move(train, git):
    trainer = train()
    trainer.begin()
    here = trainer.store.object_id(trainer.skill)
    line = trainer.scores({"0" * 16: (1.0, 1.0)})
    trainer.accept(text(1), 0.5, lines=(trainer.step_note(),), object_lines=((here, line),))
    assert git("rev-list", "--count", NOTES) == "1\n"
    moves = [r for r in git("reflog", RUN).splitlines() if r]
    assert len(moves) == 2


def test_the_ledger_answers_by_content_in_any_run(train):
    trainer = train()
    trainer.begin()
    here = trainer.store.object_id(trainer.skill)
    line = trainer.scores({"0" * 16: (1.0, 0.5), "1" * 16: None})
    trainer.skip(object_lines=((here, line),))
    (known,) = trainer.store.measurements(here, "a" * 16, repeats=1, before=None)
    assert set(known.scores) == {"0" * 16}
    own = RunPosition(run_id=trainer.head.run_id, step=0)
    (none,) = trainer.store.measurements(here, "a" * 16, repeats=1, before=own)
    assert none.scores == {}
    other = RunPosition(run_id="f" * 12, step=0)
    (known,) = trainer.store.measurements(here, "a" * 16, repeats=1, before=other)
    assert set(known.scores) == {"0" * 16}


def test_nights_keep_their_notes_to_themselves(train, git, store, open_store):
    night = train("night-7")
    tip = night.begin(lines=(night.step_note(),))
    assert git("notes", "--ref=skillopt-night", "list").split()[1] == tip.id
    assert NOTES not in git("for-each-ref", "--format=%(refname)").split()
    assert store.notes_on(tip.id) == ()
    assert len(open_store(private=True).notes_on(tip.id)) == 1


def test_a_report_is_added_outside_of_a_step(train, git):
    trainer = train()
    commit = trainer.begin()
    note = ReportNote(run=trainer.head.run_id, markdown="# Night\n- ok\n")
    trainer.store.add_lines("night-7", [(commit.id, note)], message="night-7 report")
    assert git("notes", "--ref=skillopt-night", "show", commit.id) == note.to_line() + "\n"


def test_an_ended_run_gets_a_proposal_and_an_empty_one_none(train):
    trainer = train()
    a_small_run(trainer)
    assert trainer.store.finish(trainer.head) == "skillopt/train-1"
    nothing = train("train-2", run_id="f" * 12)
    nothing.begin()
    nothing.end()
    assert nothing.store.finish(nothing.head) is None


# ── another writer ───────────────────────────────────────────────────────────────────────────


def test_a_branch_that_another_moved_is_a_conflict(train, git):
    trainer = train()
    trainer.begin()
    trainer.skip()
    git("update-ref", RUN, f"{RUN}~1")
    with pytest.raises(ConflictError, match="another writer moved"):
        trainer.skip()


def test_a_step_that_is_there_already_is_a_conflict(train, open_store):
    first = train()
    first.begin()
    second = train("train-1", open_store())
    second.state = first.state
    first.skip()
    with pytest.raises(ConflictError, match="there already"):
        second.skip()
    with pytest.raises(ConflictError, match="there already"):
        second.begin()


def test_a_branch_that_is_gone_or_of_another_run_is_a_conflict(train, git, open_store):
    trainer = train()
    trainer.begin()
    git("update-ref", "-d", RUN)
    trainer.store.history("train-1")
    with pytest.raises(ConflictError, match="no branch any more"):
        trainer.skip()
    other = train("train-1", open_store(), run_id="f" * 12)
    other.begin()
    trainer.store.history("train-1")
    with pytest.raises(ConflictError, match="another run by now"):
        trainer.skip()


def test_a_branch_that_is_checked_out_while_training_is_not_moved(train, git, skill_repo):
    trainer = train()
    trainer.begin()
    git("switch", "-q", "skillopt/run/train-1")
    with pytest.raises(RepositoryError, match="is checked out"):
        trainer.accept(text(1), 0.5)
    assert git("status", "--porcelain") == ""
    git("switch", "-q", "--detach")
    trainer.step = 0
    trainer.accept(text(1), 0.5)
    assert git("status", "--porcelain") == ""


def test_a_persons_commit_on_a_run_is_named(train, git):
    trainer = train()
    trainer.begin()
    made = git("commit-tree", "-p", RUN, "-m", "by hand", f"{RUN}^{{tree}}").strip()
    git("update-ref", RUN, made)
    with pytest.raises(RepositoryError, match=made[:12]):
        list(trainer.store.history("train-1"))


# ── killed ───────────────────────────────────────────────────────────────────────────────────

KILLED = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    import conftest, pathlib
    from datetime import datetime, UTC
    from skillgit.config import SkillConfig
    from skillgit.records import Action
    from skillgit.store.git_store import GitStore
    from skillgit.store.git.repository import open_repository
    from skillgit.store.git.refs import Refs

    class Clock:
        def now(self): return datetime(2026, 3, 1, tzinfo=UTC)
        def monotonic(self): return 0.0
        def sleep(self, seconds): pass

    swap = Refs._swap
    def killed(self, name, *rest):
        if name == {at!r} and {armed}[0]:
            if {after}: swap(self, name, *rest)
            os.kill(os.getpid(), signal.SIGKILL)
        return swap(self, name, *rest)
    armed = [False]
    Refs._swap = killed
    repository = open_repository(pathlib.Path({repo!r}), durable=True)
    store = GitStore(repository, SkillConfig(path={skill!r}), skill_name="brief", clock=Clock())
    trainer = conftest.Trainer(store)
    trainer.begin(0.25)
    armed[0] = True
    trainer.accept({text!r}, 0.5, lines=(trainer.step_note(),))
"""


@pytest.mark.parametrize(
    ("at", "after"),
    [(NOTES, False), (NOTES, True), (RUN, False), (RUN, True), ("refs/tags/skillopt/best", False)],
)
def test_a_kill_at_any_move_leaves_a_run_that_ends_the_same(
    at, after, train, git, skill_repo, open_store
):
    code = KILLED.format(
        tests=str(Path(__file__).parent),
        at=at,
        after=after,
        armed="armed",
        repo=str(skill_repo),
        skill=SKILL,
        text=text(1),
    )
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=os.environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -9, done.stderr
    git("fsck", "--strict")
    trainer = train("train-1", open_store())
    trainer.store.prepare()
    steps = [commit.step for commit in trainer.store.history("train-1")]
    moved = at.startswith("refs/tags") or (at == RUN and after)
    assert steps == ([1, 0] if moved else [0])
    if not moved:
        notes = git("rev-parse", NOTES) if at == RUN else None
        tip = next(iter(trainer.store.history("train-1")))
        trainer.state = tip.state
        trainer.accept(text(1), 0.5, lines=(trainer.step_note(),))
        assert notes in (None, git("rev-parse", NOTES))
    assert git("rev-list", "--count", NOTES) == "1\n"
    assert git("rev-parse", "skillopt/best") == git("rev-parse", RUN)
    assert len(git("notes", "--ref=skillopt", "show", RUN).splitlines()) == 1


# ── git's own housekeeping ───────────────────────────────────────────────────────────────────


def test_a_run_goes_on_after_gc_and_pack_refs(train, git, open_store):
    trainer = train()
    trainer.begin()
    trainer.accept(text(1), 0.5, lines=(trainer.step_note(),))
    git("pack-refs", "--all", "--prune")
    trainer.reject(text(2), 0.0, lines=(trainer.step_note(Action.REJECT),))
    git("gc", "-q", "--prune=now")
    trainer.accept(text(3), 0.75, lines=(trainer.step_note(),))
    git("gc", "-q", "--prune=now")
    again = train("train-1", open_store())
    again.step, again.state = trainer.step, trainer.state
    again.skip()
    git("fsck", "--strict")
    assert [c.step for c in again.store.history("train-1")] == [4, 3, 2, 2, 1, 0]
    assert git("rev-list", "--count", NOTES) == "3\n"
    assert git("rev-parse", "skillopt/best") == git("rev-parse", f"{RUN}~1")


# ── bounds ───────────────────────────────────────────────────────────────────────────────────


def loose(repo: Path) -> dict[str, int]:
    objects = repo / ".git/objects"
    return {p.name: p.stat().st_size for p in objects.glob("[0-9a-f][0-9a-f]/*")}


def test_a_step_among_2000_notes_writes_few_small_objects(train, git, skill_repo):
    trainer = train()
    trainer.begin()
    note = trainer.step_note()
    many = [(f"{n:05d}".rjust(40, "a")[::-1], note) for n in range(2000)]
    trainer.store.add_lines("train-1", many, message="train-1 many")
    here = trainer.store.object_id(trainer.skill)
    before = loose(skill_repo)
    trainer.accept(
        text(1),
        0.5,
        lines=(trainer.step_note(),),
        object_lines=((here, trainer.scores({"0" * 16: (1.0, 1.0)})),),
    )
    new = {name: size for name, size in loose(skill_repo).items() if name not in before}
    # skill blob and its three trees, commit; two note blobs, their subtrees, the root, a commit
    assert len(new) <= 11
    assert sum(new.values()) < 10_000


def test_a_steps_own_note_is_small(train):
    trainer = train()
    edit = Edit(
        op=EditOp.ADD, content="Always close with a line on confidence.", rationale="x" * 80
    )
    outcomes = tuple(EditOutcome(edit=edit, outcome=Outcome.APPLIED) for _ in range(4))
    assert len(trainer.step_note(edits=outcomes).to_line()) < 3000


# ── before a run ─────────────────────────────────────────────────────────────────────────────


def test_the_next_name_is_above_every_number_ever_used(train, git, store):
    assert str(store.next_name("train")) == "train-1"
    trainer = train("train-4")
    trainer.begin(lines=(ConfigNote(run=trainer.head.run_id, identity={}, epochs=1, tasks={}),))
    assert str(store.next_name("train")) == "train-5"
    git("update-ref", "refs/remotes/up/stream/skillopt/run/train-11", "main")
    assert str(store.next_name("train")) == "train-12"
    git("update-ref", "refs/remotes/origin/skillopt/night-3", "main")
    assert str(store.next_name("night")) == "night-4"
    git("update-ref", "-d", "refs/heads/skillopt/run/train-4")
    git("update-ref", "-d", "refs/remotes/up/stream/skillopt/run/train-11")
    assert str(store.next_name("train")) == "train-5"
    (store.repository.private.moves).unlink()
    assert str(store.next_name("train")) == "train-5"
    git("update-ref", "-d", NOTES)
    assert str(store.next_name("train")) == "train-1"


def test_numbers_from_elsewhere_count(store):
    from skillgit.store.git.names import RunName

    assert str(store.next_name("night", [RunName(kind="night", number=8)])) == "night-9"


def test_a_second_trainer_is_told_who_holds_the_run(store, open_store):
    with (
        store.hold("train-1"),
        pytest.raises(ConflictError, match=rf"process {os.getpid()} .*skillgit train"),
        open_store().hold("train-1"),
    ):
        pass
    with open_store().hold("train-1"):
        pass


def test_a_phase_orders_the_moments_of_one_step(train):
    trainer = train()
    trainer.begin()
    trainer.skip()
    trainer.epoch()
    with pytest.raises(ConflictError):
        trainer.store.record(trainer.entry(Action.SKIP, None))
    trainer.end()
    with pytest.raises(ConflictError):
        trainer.store.record(trainer.entry(Action.EPOCH, None, phase=Phase.EPOCH))


def test_notes_of_one_run_do_not_answer_for_another(train, store):
    here = store.object_id(store.committed_skill("main"))
    line = RejectedLine(
        run="c" * 12,
        step=3,
        target="a" * 16,
        tried_on=here,
        object=here,
        edits=(),
        before=0.5,
        after=0.25,
    )
    store.add_lines("train-1", [(here, line)], message="train-1")
    assert store.rejections(here, "a" * 16, before=RunPosition(run_id="c" * 12, step=3)) == []
    assert store.rejections(here, "a" * 16, before=RunPosition(run_id="d" * 12, step=3)) == [line]
    assert store.rejections(here, "e" * 16, before=None) == []
    assert not isinstance(store.notes_on(here)[0], StepNote)
    assert NIGHT_NOTES not in list(store.repository.git.references)
