"""Judging a candidate: it is measured on val, and the gate decides between it and current."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skillgit.history import NoteLine, Position
from skillgit.ports import Account, Trial
from skillgit.records import Action, Record, Skill
from skillgit.stages.rollout import Evaluation
from skillgit.standing import Standing, Training, ledger_lines


class Judged(Record):
    """The loop's verdict on a candidate, its score if it has one, and the sentence why."""

    action: Action
    score: float | None
    reason: str = ""


@dataclass(frozen=True)
class Hearing:
    """A candidate's verdict with all that was measured for it.

    `standing` is where training stood, with current measured if nobody had measured it;
    `object_lines` are what that adds to the ledger.
    """

    judged: Judged
    evaluation: Evaluation
    standing: Standing
    object_lines: tuple[tuple[str, NoteLine], ...]


def judge(
    setup: Training, standing: Standing, candidate: Skill, position: Position, account: Account
) -> Hearing:
    """Measure a candidate and ask the gate; with the gate off it is kept whatever it measures.

    Raises: BlockedError when too many tasks come back without a score; BudgetError.
    """
    lines: tuple[tuple[str, NoteLine], ...] = ()
    if setup.config.gate.enabled:
        standing, lines = measured_again(setup, standing, position, account)
    evaluation = setup.measure(candidate, position, account)
    judged = _ask_gate(setup, standing, candidate, evaluation, position.step)
    return Hearing(judged, evaluation, standing, (*lines, *ledger_lines(evaluation)))


def measured_again(
    setup: Training, standing: Standing, position: Position, account: Account
) -> tuple[Standing, tuple[tuple[str, NoteLine], ...]]:
    """Where training stands with current measured: what went into it unjudged is measured here.

    Best is not touched by it.
    """
    mark = standing.state.current
    if mark.score is not None:
        return standing, ()
    found = setup.measure(standing.current, position, account)
    mark = mark.model_copy(update={"score": setup.gate_score(found.score)})
    state = standing.state.model_copy(update={"current": mark})
    measured = replace(standing, state=state, current_scores=found.measurements)
    return measured, ledger_lines(found)


def _ask_gate(
    setup: Training, standing: Standing, candidate: Skill, evaluation: Evaluation, step: int
) -> Judged:
    score = setup.gate_score(evaluation.score)
    gate = setup.config.gate
    if not gate.enabled:
        return Judged(action=Action.FORCE_ACCEPT, score=score, reason="the gate is off")
    ruling = setup.rule(
        Trial(
            candidate=candidate,
            current=standing.current,
            best=standing.best,
            candidate_scores=evaluation.measurements,
            current_scores=standing.current_scores,
            best_scores=standing.best_scores,
            best_step=standing.state.best.step,
            global_step=step,
            metric=gate.metric,
            mixed_weight=gate.mixed_weight,
        )
    )
    return Judged(action=ruling.result.action, score=score, reason=ruling.reason)
