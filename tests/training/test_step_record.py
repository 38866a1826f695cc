"""What a step leaves behind: its entry, and the state after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from projects import SKILL_PATH, SKILL_TEXT

from skillgit.evaluation.evaluate import Evaluation
from skillgit.history import RejectedLine, StepNote
from skillgit.records import (
    Action,
    Edit,
    EditOp,
    EditOutcome,
    Grade,
    GradedRollout,
    Outcome,
    Rollout,
    Score,
)
from skillgit.training.run_ends import baseline
from skillgit.training.state import Origin, Training, TrainingState
from skillgit.training.step_record import result_fields, rolled_out, step_transition
from skillgit.training.validate import GateDecision, ValidationResult

Open = Callable[..., Training]


def edit(content: str) -> EditOutcome:
    return EditOutcome(edit=Edit(op=EditOp.ADD, content=content), outcome=Outcome.APPLIED)


def note(setup: Training, action: Action, score: float | None, *contents: str) -> StepNote:
    return StepNote(
        run=setup.run_head.run_id,
        step=1,
        action=action,
        n_total=4,
        n_fail=4,
        edits=tuple(map(edit, contents)),
        score_before=0.0,
        score_after=score,
    )


@pytest.fixture
def setup(open_training: Open) -> Training:
    return open_training()


@pytest.fixture
def state(setup: Training) -> TrainingState:
    return baseline(setup).state


def validation(
    setup: Training, state: TrainingState, action: Action, score: float, text: str
) -> ValidationResult:
    candidate = setup.start.with_document(SKILL_PATH, text.encode())
    scores = dict.fromkeys(state.current.measurements.scores, Score(hard=score, soft=score))
    measured = setup.unmeasured(candidate).model_copy(update={"scores": scores})
    return ValidationResult(
        GateDecision(action=action, score=score, reason="as it is"),
        Evaluation(measurements=measured, rounds=(measured,), measured=len(scores)),
        state,
        (),
    )


BETTER = SKILL_TEXT + "\n## Key Risks\n"


def test_an_accepted_candidate_is_current_and_if_it_is_better_best(
    setup: Training, state: TrainingState
) -> None:
    for action, is_best in ((Action.ACCEPT_NEW_BEST, True), (Action.ACCEPT, False)):
        judged = validation(setup, state, action, 0.5, BETTER)
        candidate = setup.start.with_document(SKILL_PATH, BETTER.encode())
        step = note(setup, action, 0.5, "x")
        found = step_transition(setup, state, step, candidate, judged, setup.account(1))
        assert found.state.step == 1
        assert found.state.current.skill == candidate
        assert found.state.current.origin == Origin.of_step(1)
        assert (found.state.best == found.state.current) is is_best
        assert found.entry.candidate == candidate
        assert found.entry.state.edits == 1
        assert found.entry.state.epoch == 1


def test_a_rejected_set_is_noted_on_what_it_made_and_alone_on_what_it_was_tried_on(
    setup: Training, state: TrainingState
) -> None:
    candidate = setup.start.with_document(SKILL_PATH, BETTER.encode())
    made, there = setup.store.object_id(candidate), state.current.object_id
    for contents, places in ((("x",), [made, there]), (("x", "y"), [made])):
        judged = validation(setup, state, Action.REJECT, 0.0, BETTER)
        step = note(setup, Action.REJECT, 0.0, *contents)
        found = step_transition(setup, state, step, candidate, judged, setup.account(1))
        assert (found.state.current, found.state.best) == (state.current, state.best)
        assert found.state.epoch_notes == (step,)
        assert [place for place, _ in found.entry.object_lines] == places
        (line, *_) = [line for _, line in found.entry.object_lines]
        assert isinstance(line, RejectedLine)
        assert [e.content for e in line.edits] == list(contents)
        assert (line.tried_on, line.object) == (there, made)


def test_without_a_validation_what_is_kept_has_no_scores(
    setup: Training, state: TrainingState
) -> None:
    candidate = setup.start.with_document(SKILL_PATH, BETTER.encode())
    step = note(setup, Action.FORCE_ACCEPT, None)
    found = step_transition(setup, state, step, candidate, None, setup.account(1))
    assert found.state.current.measurements.scores == {}
    assert found.state.current.score is None
    assert found.state.best == state.best


def test_the_attempts_of_a_step_are_counted(setup: Training) -> None:
    def graded(score: Score | None) -> GradedRollout:
        task = setup.tasks.train[0]
        grade = Grade(score=score, reason="")
        return GradedRollout(task=task, rollout=Rollout(task_id=task.id, answer="a"), grade=grade)

    good, bad = Score(hard=1.0, soft=1.0), Score(hard=0.0, soft=0.5)
    found = rolled_out([graded(good), graded(bad), graded(None)])
    assert (found["n_total"], found["n_fail"], found["n_unscored"]) == (3, 1, 1)
    assert (found["rollout_hard"], found["rollout_soft"]) == (0.5, 0.75)
    assert rolled_out([])["rollout_hard"] is None


def test_a_step_that_measured_nothing_says_so(setup: Training, state: TrainingState) -> None:
    decision = GateDecision(action=Action.SKIP, score=0.0, reason="no edit was proposed")
    found = result_fields(state, decision, None)
    assert (found["score_before"], found["gate_reason"]) == (0.0, "no edit was proposed")
    assert (found["scores_measured"], found["scores_from_ledger"]) == (0, 0)
    judged = validation(setup, state, Action.ACCEPT, 0.5, BETTER)
    assert result_fields(state, judged.decision, judged)["scores_measured"] == 8
