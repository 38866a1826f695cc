from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from skillgit.errors import RepositoryError
from skillgit.history import CandidateScore, Phase
from skillgit.history.run_names import RunName
from skillgit.records import Action, Metric
from skillgit.store.runs.runs import new_run, phase_of, read_commit, run_names

AT = datetime(2026, 3, 1, tzinfo=UTC)
HEAD = {"skill": "brief", "onto": "main", "target": "a" * 16, "run_fingerprint": "b" * 16}


def begun(store, **fields):
    given = {"metric": Metric.HARD, "started": AT, **HEAD, **fields}
    return new_run(store.repository, RunName(kind="train", number=1), **given)


def test_a_run_begins_on_the_branch_it_goes_back_to(store, git):
    git("switch", "-q", "-c", "side")
    git("commit", "-q", "--allow-empty", "-m", "elsewhere")
    head = begun(store)
    assert head.base == git("rev-parse", "main").strip()
    assert (head.name, head.skill, head.onto) == ("train-1", "brief", "main")


def test_a_runs_id_is_of_its_base_fingerprint_committer_and_start(store, git):
    head = begun(store)
    elsewhere = AT.astimezone(timezone(timedelta(hours=8)))
    assert begun(store, started=elsewhere).run_id == head.run_id
    others = {
        begun(store, started=AT + timedelta(seconds=1)).run_id,
        begun(store, run_fingerprint="c" * 16).run_id,
    }
    git("config", "user.name", "Bob")
    others.add(begun(store).run_id)
    git("commit", "-q", "--allow-empty", "-m", "more")
    others.add(begun(store).run_id)
    assert len(others | {head.run_id}) == 5


def test_a_run_does_not_begin_without_a_branch_or_a_committer(store, git):
    with pytest.raises(RepositoryError, match="no branch 'trunk'"):
        begun(store, onto="trunk")
    git("config", "--unset", "user.email")
    with pytest.raises(RepositoryError, match="whose commits"):
        begun(store)


def test_runs_are_listed_by_number(train, store, git):
    for number in (10, 9, 1):
        train(f"train-{number}", run_id=f"{number:012d}").begin()
    git("update-ref", "refs/heads/skillopt/train-3", "main")
    git("update-ref", "refs/heads/skillopt/run/not a run".replace(" ", "_"), "main")
    assert run_names(store.repository) == ["train-1", "train-9", "train-10"]


def test_a_commit_is_read_back_with_its_bound_and_its_time(train, store):
    trainer = train()
    trainer.begin()
    at = datetime(2030, 1, 1, tzinfo=UTC)
    skill = trainer.skill.with_document(trainer.skill.main.path, b"# x\n")
    trainer.step = 1
    entry = trainer.entry(Action.REJECT, None, candidate=skill, finished_at=at)
    score = CandidateScore(score=0.5625, bound=True)
    tip = store.record(entry.model_copy(update={"score": score}))
    candidate = read_commit(store.repository.git, tip.parent)
    assert candidate is not None
    assert (candidate.score, candidate.bound, candidate.action) == (0.5625, True, Action.REJECT)
    assert candidate.time == tip.time == at
    assert candidate.state == tip.state == trainer.state
    assert candidate.subject.startswith("skillopt(brief): step 1: reject")


def test_a_commit_of_no_run_is_none_and_one_that_is_not_there_an_error(store, git):
    assert read_commit(store.repository.git, git("rev-parse", "main").strip()) is None
    with pytest.raises(RepositoryError, match="never fetched, or is lost"):
        read_commit(store.repository.git, "f" * 40)


def test_every_action_belongs_to_one_kind_of_moment():
    assert phase_of(Action.END) is Phase.END
    assert phase_of(Action.EPOCH) is Phase.EPOCH
    assert {phase_of(a) for a in Action if a not in (Action.END, Action.EPOCH)} == {Phase.STEP}
