from __future__ import annotations

import random

import pytest

from skillgit.errors import RepositoryError
from skillgit.history import Mark
from skillgit.records import Action, Metric
from skillgit.store.runs.best_tag import tags_of

TAG = "refs/tags/skillopt/best"
A, B, C, D = (letter * 16 for letter in "abcd")


def text(n: int) -> str:
    return f"# Brief\n\n- Rule {n}.\n"


def tagged(git) -> str:
    return git("rev-parse", TAG).strip()


def test_step_0_sets_best_if_nothing_has(train, git):
    first = train().begin(0.25)
    assert tagged(git) == first.id
    assert git("cat-file", "-t", TAG) == "commit\n"


def test_the_tag_follows_a_new_best_and_nothing_else(train, git):
    trainer = train()
    trainer.begin(0.25)
    best = trainer.accept(text(1), 0.5)
    assert tagged(git) == best.id
    trainer.accept(text(2), 0.375)
    trainer.reject(text(3), 0.25)
    trainer.skip()
    trainer.epoch()
    assert tagged(git) == best.id
    better = trainer.accept(text(4), 0.75)
    trainer.end()
    assert tagged(git) == better.id


def test_a_run_without_scores_sets_no_tag(train, store):
    train().begin(None)
    assert store.refs.read(TAG) is None


def test_a_zero_is_a_score(train, git):
    assert train().begin(0.0).id == tagged(git)


def test_among_runs_of_one_fingerprint_the_highest_wins_and_the_earlier_on_a_tie(
    train, git, open_store
):
    first = train()
    first.begin(0.25)
    best = first.accept(text(1), 0.5)
    second = train("train-2", open_store(), run_id="2" * 12)
    second.begin(0.25)
    second.accept(text(2), 0.5)
    assert tagged(git) == best.id
    second.accept(text(3), 0.1 + 0.4 + 1e-12)
    assert tagged(git) == best.id
    higher = second.accept(text(4), 0.625)
    assert tagged(git) == higher.id


def test_numbers_order_runs_not_letters(train, git, open_store):
    ninth = train("train-9", run_id="9" * 12).begin(0.5)
    train("train-10", open_store(), run_id="a" * 12).begin(0.5)
    assert tagged(git) == ninth.id


def test_the_tag_is_repaired(train, git, store):
    trainer = train()
    base = trainer.begin(0.25)
    best = trainer.accept(text(1), 0.5)
    for wrong in (base.id, None):
        if wrong is None:
            git("update-ref", "-d", TAG)
        else:
            git("update-ref", TAG, wrong)
        store.prepare()
        assert tagged(git) == best.id


def test_with_no_run_branch_left_the_tag_stays(train, git, open_store):
    best = train().begin(0.25)
    git("update-ref", "-d", "refs/heads/skillopt/run/train-1")
    open_store().prepare()
    assert tagged(git) == best.id


@pytest.mark.parametrize("annotated", [True, False])
def test_a_persons_tag_of_that_name_is_not_overwritten(train, git, store, annotated):
    git("tag", *(["-a", "-m", "mine"] if annotated else []), "skillopt/best")
    before = git("rev-parse", TAG)
    with pytest.raises(RepositoryError, match="tag skillopt/best is not skillgit's") as caught:
        store.prepare()
    assert git("rev-parse", TAG) == before
    tag, delete = caught.value.hint.split(" && ")
    git(*tag.split()[1:])
    git(*delete.split()[1:])
    assert git("rev-parse", "old-skillopt-best") == before
    store.prepare()


def test_a_night_does_not_move_the_tag(train, git):
    best = train().begin(0.25)
    night = train("night-1", run_id="f" * 12)
    night.begin(0.25)
    night.accept(text(1), 1.0)
    assert tagged(git) == best.id


def test_runs_of_another_skill_have_a_tag_of_their_own(train, git, open_store):
    best = train().begin(0.25)
    other = open_store(skill_name="mail", several=True, is_default=False)
    mail = train("train-2", other, run_id="2" * 12, skill="mail")
    mail.begin(0.5)
    tip = mail.accept(text(1), 0.75)
    assert tagged(git) == best.id
    assert git("rev-parse", "refs/tags/skillopt/mail/best").strip() == tip.id


def test_the_default_of_several_skills_has_both_tags():
    own, best = "refs/tags/skillopt/brief/best", TAG
    assert tags_of("brief", several=False, is_default=True) == (best,)
    assert tags_of("brief", several=True, is_default=True) == (own, best)
    assert tags_of("brief", several=True, is_default=False) == (own,)


def test_a_best_that_an_epoch_made_is_the_epochs_commit(train, git):
    trainer = train()
    trainer.begin(0.25)
    trainer.accept(text(1), 0.5)
    mark = Mark(score=0.75, step=1, origin="slow_update_epoch_02")
    trainer.state = trainer.state.model_copy(update={"current": mark, "best": mark})
    skill = trainer.skill.with_document(trainer.skill.main.path, b"# Guided\n")
    tip = trainer.epoch(candidate=skill)
    assert tagged(git) == tip.id


# ── another fingerprint ──────────────────────────────────────────────────────────────────────


def measured(trainer, skill_text: str | None, tasks, target=None, phase="step"):
    skill = trainer.skill
    if skill_text is not None:
        skill = skill.with_document(skill.main.path, skill_text.encode())
    line = trainer.scores(tasks, target=target or trainer.head.target, phase=phase)
    return ((trainer.store.object_id(skill), line),)


@pytest.fixture
def two_runs(train, open_store):
    """A run that holds the tag, and a trainer of another target."""

    first = train()
    first.begin(0.25)
    best = first.accept(text(1), 0.75)
    second = train("train-2", open_store(), run_id="2" * 12, run="c" * 16, target="d" * 16)
    return best, second


def test_another_fingerprint_does_not_take_over_what_it_never_measured(two_runs, git):
    best, second = two_runs
    second.begin(0.5)
    second.accept(text(9), 1.0, object_lines=measured(second, text(9), {A: (1.0, 1.0)}))
    assert tagged(git) == best.id


def test_another_fingerprint_takes_over_with_a_version_that_beats_the_tagged_one(two_runs, git):
    best, second = two_runs
    held = measured(second, text(1), {A: (1.0, 1.0), B: (0.0, 0.0)})
    second.begin(0.0, object_lines=held)
    assert tagged(git) == best.id
    ours = measured(second, text(5), {A: (0.0, 0.0), B: (1.0, 1.0)})
    second.accept(text(5), 0.5, object_lines=ours)
    assert tagged(git) == best.id
    more = measured(second, text(6), {A: (1.0, 1.0), B: (1.0, 1.0)})
    tip = second.accept(text(6), 1.0, object_lines=more)
    assert tagged(git) == tip.id


def test_too_few_common_tasks_prove_nothing(two_runs, git):
    best, second = two_runs
    second.begin(0.0, object_lines=measured(second, text(1), {A: (0.0, 0.0)}))
    ours = measured(second, text(6), {A: (1.0, 1.0), B: (1.0, 1.0)})
    second.accept(text(6), 1.0, object_lines=ours)
    assert tagged(git) == best.id


def test_scores_on_the_test_split_do_not_decide(two_runs, git):
    best, second = two_runs
    held = measured(second, text(1), {A: (1.0, 1.0), C: (0.0, 0.0), D: (0.0, 0.0)})
    second.begin(0.0, object_lines=held)
    second.accept(text(6), 1.0, object_lines=measured(second, text(6), {A: (1.0, 1.0)}))
    final = measured(second, text(6), {C: (1.0, 1.0), D: (1.0, 1.0)}, phase="end")
    second.end(object_lines=final)
    second.store.prepare()
    assert tagged(git) == best.id


def test_the_new_fingerprints_metric_decides(two_runs, git):
    best, second = two_runs
    second.head = second.head.model_copy(update={"metric": Metric.SOFT})
    second.begin(0.0, object_lines=measured(second, text(1), {A: (1.0, 0.25)}))
    tip = second.accept(text(6), 0.5, object_lines=measured(second, text(6), {A: (0.0, 0.5)}))
    assert tagged(git) == tip.id
    assert best.id != tip.id


# ── step by step, and all at once ────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(4))
def test_following_each_step_is_the_same_as_working_it_out_anew(train, git, open_store, seed):
    draw = random.Random(seed)
    trainers = []
    for n in range(3):
        trainer = train(f"train-{n + 1}", open_store(), run_id=f"{n}" * 12)
        trainer.begin(draw.choice([0.125, 0.25]))
        trainers.append(trainer)
    for n in range(25):
        trainer = draw.choice(trainers)
        score = draw.randrange(9) / 8
        if draw.random() < 0.25:
            trainer.skip()
        else:
            draw.choice([trainer.accept, trainer.reject])(text(n), score)
        assert tagged(git) == open_store().best()
    run_best = open_store().refs.read(TAG)
    assert any(run_best == c.id for t in trainers for c in t.store.history(t.head.name))
    assert git("log", "-1", "--format=%(trailers:key=Skillopt-Action,valueonly)", TAG).strip() in (
        Action.ACCEPT_NEW_BEST,
        Action.BASELINE,
    )
