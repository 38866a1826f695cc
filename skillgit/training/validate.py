"""Judging a candidate: it is measured on val, and the gate decides between it and current."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skillgit.evaluation.evaluate import Evaluation, sending_order
from skillgit.gate import beats
from skillgit.gate.comparison import names_of
from skillgit.gate.early_stop import EarlyStopper
from skillgit.gate.guards import Objections, guard
from skillgit.history import NoteLine, Phase, Refresh, RunPosition
from skillgit.ports import Account, Trial
from skillgit.records import Action, Measurements, Record, Skill
from skillgit.stages.schedule import epoch_of
from skillgit.training.current import CurrentScores, refresh_current
from skillgit.training.state import TrainingState, Validation, ledger_lines


class GateDecision(Record):
    """The loop's verdict on a candidate, its score if it has one, and the sentence why.

    `is_bound` says that the score is the most it could have come to. `needed` is how many tasks
    more a rule that had too few asks for. `warnings` are what a reader of the text should look at.
    """

    action: Action
    score: float | None
    reason: str = ""
    is_bound: bool = False
    needed: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ValidationResult:
    """A candidate's verdict with all that was measured for it.

    `state` is where training stood, with current's score as it is by now; `object_lines` are
    what was measured, for the ledger; `refresh` says what measuring current again changed.
    """

    decision: GateDecision
    evaluation: Evaluation
    state: TrainingState
    object_lines: tuple[tuple[str, NoteLine], ...]
    refresh: Refresh | None = None


def validate(
    setup: Validation,
    state: TrainingState,
    candidate: Skill,
    position: RunPosition,
    account: Account,
) -> ValidationResult:
    """Measure a candidate and ask the gate; with the gate off it is kept whatever it measures.

    A text that a guard refuses is not measured.
    Raises: BlockedError when too many tasks come back without a score; BudgetError.
    """
    found = guard(candidate, state.current.skill, setup.tasks.tasks, setup.config)
    if found.refusals:
        return _refused(setup, state, candidate, found)
    if not setup.config.gate.enabled:
        evaluation = setup.measure(candidate, position, account)
        decision = GateDecision(
            action=Action.FORCE_ACCEPT,
            score=setup.gate_score(evaluation.score),
            reason="the gate is off",
            warnings=found.warnings,
        )
        return ValidationResult(decision, evaluation, state, ledger_lines(evaluation))
    met = refresh_current(setup, state, position, account)
    trial = _trial(setup, met, candidate, position)
    early_stopper = _early_stopper(setup, trial)
    evaluation = setup.measure(
        candidate,
        position,
        account,
        early_stopper=early_stopper if setup.config.gate.curtail else None,
    )
    decision = _ask_gate(setup, trial, early_stopper, evaluation)
    return ValidationResult(
        decision.model_copy(update={"warnings": found.warnings}),
        evaluation,
        met.state,
        (*met.lines, *ledger_lines(evaluation)),
        met.refresh,
    )


def _refused(
    setup: Validation, state: TrainingState, candidate: Skill, found: Objections
) -> ValidationResult:
    object_id = setup.store.object_id(candidate)
    unmeasured = Measurements(object_id=object_id, scores={})
    decision = GateDecision(
        action=Action.REJECT,
        score=None,
        reason="not measured: " + "; ".join(found.refusals),
        warnings=found.warnings,
    )
    return ValidationResult(decision, Evaluation(measurements=unmeasured, rounds=()), state, ())


def _trial(setup: Validation, met: CurrentScores, candidate: Skill, position: RunPosition) -> Trial:
    """The trial with everything but the candidate's scores."""
    gate, state, keys = setup.config.gate, met.state, setup.evaluator.keys
    object_id = setup.store.object_id(candidate)
    return Trial(
        candidate=candidate,
        current=state.current.skill,
        best=state.best.skill,
        candidate_scores=Measurements(object_id=object_id, scores={}),
        current_scores=state.current.measurements,
        best_scores=state.best.measurements,
        best_step=state.best.step,
        global_step=position.step,
        metric=gate.metric,
        mixed_weight=gate.mixed_weight,
        min_delta=gate.min_delta,
        no_regression=gate.tolerance,
        alpha=gate.alpha,
        look=look_at(setup, position),
        current_rounds=met.rounds,
        order=sending_order((keys[t.id] for t in setup.tasks.val), setup.evaluator.seed),
        names=names_of(setup.evaluator.keys),
    )


def look_at(setup: Validation, position: RunPosition) -> int:
    """The number of the look that a position in a run has, from 1; epochs' ends have their own."""
    epoch = epoch_of(position.step, setup.steps_per_epoch)
    return position.step + epoch - (position.phase is Phase.STEP)


def _early_stopper(setup: Validation, trial: Trial) -> EarlyStopper:
    gate = setup.config.gate
    return EarlyStopper(
        setup.rule,
        trial,
        repeats=gate.repeats,
        may_be_unscored=math.floor(gate.max_unscored * len(setup.tasks.val)),
    )


def _ask_gate(
    setup: Validation, trial: Trial, early_stopper: EarlyStopper, evaluation: Evaluation
) -> GateDecision:
    if evaluation.not_sent:
        hopeful = early_stopper.at_best(evaluation.rounds, evaluation.not_sent)
        total = len(setup.tasks.val)
        return GateDecision(
            action=Action.REJECT,
            score=setup.gate_score(evaluation.at_most),
            is_bound=True,
            reason=f"cut short after {total - len(evaluation.not_sent)} of {total} tasks, since "
            f"with all others passed it would be {hopeful.reason}",
            needed=hopeful.needed,
        )
    ruling = setup.rule(
        trial.model_copy(
            update={
                "candidate_scores": evaluation.measurements,
                "candidate_rounds": evaluation.rounds,
            }
        )
    )
    return GateDecision(
        action=ruling.result.action,
        score=setup.gate_score(evaluation.score),
        reason=ruling.reason,
        needed=ruling.needed,
    )


def is_new_best(action: Action, score: float | None, best: float | None) -> bool:
    """Whether a verdict makes its candidate the best; without a gate, whether its score does."""
    if action is not Action.FORCE_ACCEPT:
        return action is Action.ACCEPT_NEW_BEST
    return score is not None and (best is None or beats(score, best))
