"""What a judged step leaves behind: the entry to commit, and where training stands after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

from skillgit.evaluation.evaluate import Evaluation
from skillgit.gate import mean_score
from skillgit.history import (
    CandidateScore,
    Entry,
    NoteLine,
    Phase,
    Refresh,
    RejectedLine,
    StepNote,
)
from skillgit.history.messages import edit_lines
from skillgit.ports import Account
from skillgit.records import Action, GradedRollout, Measurements, Skill
from skillgit.stages.schedule import epoch_of
from skillgit.training.state import Origin, Training, TrainingState, Transition, Version
from skillgit.training.validate import GateDecision, ValidationResult, is_new_best


def step_transition(
    setup: Training,
    state: TrainingState,
    note: StepNote,
    candidate: Skill,
    validation: ValidationResult | None,
    account: Account,
) -> Transition:
    """The entry of a step whose note is written.

    Without a validation the candidate is current, unless it is kept unjudged.
    """
    evaluation = validation.evaluation if validation else None
    applied = tuple(o for o in note.edits if o.outcome.changed_text)
    after = _stand(setup, state, note, candidate, evaluation, account)
    object_lines = validation.object_lines if validation else ()
    if evaluation is not None and note.action is Action.REJECT:
        object_lines += _rejected_lines(setup, state, note, evaluation.measurements)
    entry = Entry(
        run=setup.run,
        step=note.step,
        phase=Phase.STEP,
        action=note.action,
        score=CandidateScore(score=note.score_after, bound=note.score_after_is_bound),
        state=after.run_state,
        candidate=candidate if candidate != state.current.skill else None,
        body=edit_lines(applied),
        lines=(note,),
        object_lines=object_lines,
        finished_at=account.finished_at,
        summary=_summary(note, after),
    )
    return Transition(entry, after)


def _summary(note: StepNote, after: TrainingState) -> str:
    """What a reader of the log has to know beside the verdict: that another version is best."""
    moved = note.refresh is not None and note.refresh.best is not None
    best = after.best
    if not moved or best.step == note.step:
        return ""
    return f"current measured again, best is step {best.step} now"


def _stand(
    setup: Training,
    state: TrainingState,
    note: StepNote,
    candidate: Skill,
    evaluation: Evaluation | None,
    account: Account,
) -> TrainingState:
    """Where training stands after a step: moved if it was accepted, else as it was."""
    costs = account.costs
    recorded = state.recorded.model_copy(
        update={
            "epoch": epoch_of(note.step, setup.steps_per_epoch),
            "edits": sum(o.outcome.changed_text for o in note.edits),
            "tokens": costs.prompt_tokens + costs.completion_tokens,
        }
    )
    after = replace(
        state,
        step=note.step,
        recorded=recorded,
        epoch_notes=(*state.epoch_notes, note),
        epoch_closed=False,
    )
    if not note.action.accepted:
        return after
    version = Version(
        skill=candidate,
        origin=Origin.of_step(note.step),
        step=note.step,
        score=note.score_after,
        measurements=evaluation.measurements if evaluation else setup.unmeasured(candidate),
    )
    is_best = is_new_best(note.action, note.score_after, state.best.score)
    return replace(after, current=version, best=version if is_best else state.best)


def _rejected_lines(
    setup: Training, state: TrainingState, note: StepNote, measured: Measurements
) -> tuple[tuple[str, NoteLine], ...]:
    """The rejected set on the object it made; an edit that was alone on its text's object too."""
    tried_on = state.current.measurements.object_id
    line = RejectedLine(
        run=setup.run.run_id,
        step=note.step,
        target=setup.run.target,
        tried_on=tried_on,
        object=measured.object_id,
        edits=note.rejected_edits,
        before=note.score_before,
        after=note.score_after,
        after_is_bound=note.score_after_is_bound,
    )
    places = [measured.object_id] if len(line.edits) > 1 else [measured.object_id, tried_on]
    return tuple((place, line) for place in places)


# ── what every step's note says, a training's or a night's ───────────────────────────────────


class RolledOut(TypedDict):
    """The fields of a note on the attempts that a step learned from."""

    n_total: int
    n_fail: int
    n_unscored: int
    rollout_hard: float | None
    rollout_soft: float | None


class CameOut(TypedDict):
    """The fields of a note on what the gate compared, and what that took."""

    score_before: float | None
    score_after: float | None
    score_after_is_bound: bool
    gate_reason: str
    tasks_needed: int | None
    refresh: Refresh | None
    warnings: tuple[str, ...]
    scores_from_ledger: int
    scores_measured: int
    scores_unscored: int
    scores_not_sent: int


def rolled_out(graded: Sequence[GradedRollout]) -> RolledOut:
    """How a step's attempts went."""
    rolled = mean_score(g.grade.score for g in graded if g.grade.score is not None)
    return {
        "n_total": len(graded),
        "n_fail": sum(g.grade.score is not None and not g.grade.passed for g in graded),
        "n_unscored": sum(g.grade.score is None for g in graded),
        "rollout_hard": rolled.hard if rolled else None,
        "rollout_soft": rolled.soft if rolled else None,
    }


def result_fields(
    state: TrainingState, decision: GateDecision, validation: ValidationResult | None
) -> CameOut:
    """What came of a step's candidate; without a validation nothing was measured for it."""
    evaluation = validation.evaluation if validation else None
    return {
        "score_before": state.current.score,
        "score_after": decision.score,
        "score_after_is_bound": decision.is_bound,
        "gate_reason": decision.reason,
        "tasks_needed": decision.needed,
        "refresh": validation.refresh if validation else None,
        "warnings": decision.warnings,
        "scores_from_ledger": evaluation.from_ledger if evaluation else 0,
        "scores_measured": evaluation.measured if evaluation else 0,
        "scores_unscored": evaluation.unscored if evaluation else 0,
        "scores_not_sent": len(evaluation.not_sent) if evaluation else 0,
    }
