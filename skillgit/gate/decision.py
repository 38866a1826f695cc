"""The decision that every rule ends in: strictly greater is kept, and a tie is a rejection."""

from __future__ import annotations

from skillgit.gate.scores import beats, select_gate_score
from skillgit.records import Action, GateResult, Metric, SkillT


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
