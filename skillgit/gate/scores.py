"""Scores put together: which number the gate compares, means, and measurements pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from skillgit.records import Measurements, Metric, Score

TIE = 1e-9
"""Differences up to this are float noise."""


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


def beats(score: float, other: float) -> bool:
    """Whether a score is strictly above another, beyond float noise."""
    return score - other > TIE


def is_perfect(score: float) -> bool:
    """Whether no score could be above this one, beyond float noise."""
    return not beats(1.0, score)


def mean_score(scores: Iterable[Score]) -> Score | None:
    """The mean of some scores, to the last bit the same in any order; `None` of none."""
    known = list(scores)
    if not known:
        return None
    return Score(
        hard=min(1.0, fsum([s.hard for s in known]) / len(known)),
        soft=min(1.0, fsum([s.soft for s in known]) / len(known)),
    )


def pool(object_id: str, rounds: Sequence[Measurements]) -> Measurements:
    """One measurement of several: each task's mean over the rounds in which it has a score.

    Shape: `rounds` in the order in which they were measured; a task tried in any of them is in
    the result.
    """
    if len(rounds) == 1:
        return rounds[0]
    keys = {key: None for measured in rounds for key in measured.scores}
    return Measurements(
        object_id=object_id, scores={key: mean_score(scores_of(key, rounds)) for key in keys}
    )


def scores_of(key: str, rounds: Sequence[Measurements]) -> list[Score]:
    """The scores that one task has, in the rounds' order."""
    return [s for measured in rounds if (s := measured.scores.get(key)) is not None]


def scored_on_all(*measurements: Measurements) -> list[str]:
    """The keys of the tasks that have a score in every one of these, in order."""
    first, *others = ({k for k, s in m.scores.items() if s is not None} for m in measurements)
    return sorted(first.intersection(*others))
