"""The gate: a candidate is kept only if its held-out score strictly rises. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable

from skillgit.ports import Rule, Ruling, Trial
from skillgit.records import Action, GateResult, Measurements, Metric, Score, SkillT

TIE = 1e-9


def select_gate_score(
    hard: float, soft: float, metric: Metric | str = Metric.HARD, mixed_weight: float = 0.5
) -> float:
    """The number that the gate compares: hard, soft, or (1 - w) * hard + w * soft.

    Raises: ValueError for an unknown metric.
    """
    match Metric(metric):
        case Metric.HARD:
            return hard
        case Metric.SOFT:
            return soft
        case Metric.MIXED:
            return (1.0 - mixed_weight) * hard + mixed_weight * soft


def evaluate_gate(
    candidate_skill: SkillT,
    cand_hard: float,
    current_skill: SkillT,
    current_score: float,
    best_skill: SkillT,
    best_score: float,
    best_step: int,
    global_step: int,
    *,
    cand_soft: float = 0.0,
    metric: Metric | str = Metric.HARD,
    mixed_weight: float = 0.5,
) -> GateResult[SkillT]:
    """Accept a candidate whose score is strictly above current's; float noise is a tie.

    A rejection leaves current and best as they were.

    Source: SkillOpt's validation gate.
    """
    score = select_gate_score(cand_hard, cand_soft, metric, mixed_weight)
    accepted = beats(score, current_score)
    new_best = accepted and beats(score, best_score)
    action = Action.REJECT
    if accepted:
        action = Action.ACCEPT_NEW_BEST if new_best else Action.ACCEPT
    return GateResult(
        action=action,
        current_skill=candidate_skill if accepted else current_skill,
        current_score=score if accepted else current_score,
        best_skill=candidate_skill if new_best else best_skill,
        best_score=score if new_best else best_score,
        best_step=global_step if new_best else best_step,
    )


def beats(score: float, other: float) -> bool:
    """Whether a score is strictly above another, beyond float noise."""
    return score - other > TIE


def mean_score(scores: Iterable[Score]) -> Score | None:
    """The mean of some scores; `None` of none."""
    known = list(scores)
    if not known:
        return None
    return Score(
        hard=min(1.0, sum(s.hard for s in known) / len(known)),
        soft=min(1.0, sum(s.soft for s in known) / len(known)),
    )


def scored_on_all(*measurements: Measurements) -> list[str]:
    """The keys of the tasks that have a score in every one of these, in order."""
    first, *others = ({k for k, s in m.scores.items() if s is not None} for m in measurements)
    return sorted(first.intersection(*others))


def strict(trial: Trial) -> Ruling:
    """The plain rule: `evaluate_gate` on the means over the tasks scored on every side."""
    sides = (trial.candidate_scores, trial.current_scores, trial.best_scores)
    shared = scored_on_all(*sides)

    def mean(side: Measurements) -> Score:
        found = mean_score(s for key in shared if (s := side.scores[key]) is not None)
        return found or Score(hard=0.0, soft=0.0)

    def gate_score(score: Score) -> float:
        return select_gate_score(score.hard, score.soft, trial.metric, trial.mixed_weight)

    candidate, current, best = (mean(side) for side in sides)
    result = evaluate_gate(
        trial.candidate,
        candidate.hard,
        trial.current,
        gate_score(current),
        trial.best,
        gate_score(best),
        trial.best_step,
        trial.global_step,
        cand_soft=candidate.soft,
        metric=trial.metric,
        mixed_weight=trial.mixed_weight,
    )
    reason = (
        f"{gate_score(candidate):.4f} against {gate_score(current):.4f} "
        f"on {len(shared)} tasks scored on every side"
        if shared
        else "no task is scored on every side"
    )
    return Ruling(result=result, reason=reason)


RULES: dict[str, Rule] = {"strict": strict}
