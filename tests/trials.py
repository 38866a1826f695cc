"""Trials to decide on, made from plain numbers."""

from __future__ import annotations

from skillgit.ports import Trial
from skillgit.records import Measurements, Metric, Score, Skill, SkillDocument


def skill(text: str) -> Skill:
    return Skill(name="s", documents=(SkillDocument(path="SKILL.md", data=text.encode()),))


def measured(**scores: float | None) -> Measurements:
    return Measurements(
        object_id="0" * 40,
        scores={k: None if v is None else Score(hard=v, soft=v) for k, v in scores.items()},
    )


def trial(
    candidate: Measurements, current: Measurements, best: Measurements | None = None, **more: object
) -> Trial:
    made = Trial(
        candidate=skill("new"),
        current=skill("old"),
        best=skill("old"),
        candidate_scores=candidate,
        current_scores=current,
        best_scores=best or current,
        best_step=0,
        global_step=3,
        metric=Metric.HARD,
        mixed_weight=0.5,
    )
    return Trial.model_validate({**dict(made), **more})


def tally(wins: int, losses: int, ties: int = 0, **more: object) -> Trial:
    """A candidate that wins, loses and ties so many tasks."""
    ours = [1.0] * wins + [0.0] * losses + [1.0] * ties
    theirs = [0.0] * wins + [1.0] * losses + [1.0] * ties
    keys = [f"t{i:03d}" for i in range(len(ours))]
    return trial(
        measured(**dict(zip(keys, ours, strict=True))),
        measured(**dict(zip(keys, theirs, strict=True))),
        **more,
    )
