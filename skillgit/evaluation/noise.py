"""How noisy a skill's score is: one text measured again and again, against itself. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from statistics import fmean, stdev

from skillgit.config import GateConfig
from skillgit.gate import TIE, gate_rule, is_perfect, scored_on_all, select_gate_score
from skillgit.ports import Trial
from skillgit.records import Measurements, Record, Score, Skill


class Noise(Record):
    """What measuring one skill several times came to, on the tasks that have every score.

    `means` has the mean of each measurement, `spread` their standard deviation. `error` is the
    standard error of the mean of one measurement that the tasks' own wavering makes. `flipping`
    are the tasks that did not come out the same each time, with their means. `accepted` of
    `compared` pairs of measurements would have passed the gate, and none should.
    """

    tasks: int
    means: tuple[float, ...]
    spread: float
    error: float
    always_full: int
    always_nothing: int
    flipping: tuple[tuple[str, float], ...]
    accepted: int
    compared: int

    @property
    def mean(self) -> float:
        """The mean over all measurements."""
        return fmean(self.means)

    @property
    def smallest_gain(self) -> float:
        """What a single measurement each of two skills has to differ by for 4 in 5 to see it.

        Source: the normal approximation; a gain that is accepted whenever it is above 0.
        """
        return 0.84 * math.sqrt(2) * self.error


def noise_of(skill: Skill, rounds: Sequence[Measurements], gate: GateConfig) -> Noise | None:
    """The noise in some measurements of one skill; `None` when there is nothing to compare.

    Shape: `rounds` are two or more measurements on the same tasks.
    """
    keys = scored_on_all(*rounds) if len(rounds) > 1 else []
    if not keys:
        return None
    table = {key: [_number(measured.scores[key], gate) for measured in rounds] for key in keys}
    means = tuple(fmean(column) for column in zip(*table.values(), strict=True))
    wavering = sum(stdev(scores) ** 2 for scores in table.values())
    flipping = {k: fmean(s) for k, s in table.items() if max(s) - min(s) > TIE}
    steady = [scores[0] for key, scores in table.items() if key not in flipping]
    pairs = list(permutations(rounds, 2))
    return Noise(
        tasks=len(keys),
        means=means,
        spread=stdev(means),
        error=math.sqrt(wavering) / len(keys),
        always_full=sum(is_perfect(score) for score in steady),
        always_nothing=sum(score <= TIE for score in steady),
        flipping=tuple(sorted(flipping.items(), key=lambda item: (abs(item[1] - 0.5), item[0]))),
        accepted=sum(_is_accepted(skill, one, other, gate) for one, other in pairs),
        compared=len(pairs),
    )


def _number(score: Score | None, gate: GateConfig) -> float:
    if score is None:
        return 0.0
    return select_gate_score(score.hard, score.soft, gate.metric, gate.mixed_weight)


def _is_accepted(
    skill: Skill, candidate: Measurements, current: Measurements, gate: GateConfig
) -> bool:
    trial = Trial(
        candidate=skill,
        current=skill,
        best=skill,
        candidate_scores=candidate,
        current_scores=current,
        best_scores=current,
        best_step=0,
        global_step=1,
        metric=gate.metric,
        mixed_weight=gate.mixed_weight,
        min_delta=gate.min_delta,
        no_regression=gate.tolerance,
        alpha=gate.alpha,
    )
    return gate_rule(gate.rule).decide(trial).result.action.accepted
