"""A trial's sides held against each other, and how a rule's objections become a ruling.

Only tasks scored on every side are compared. No rule accepts what `evaluate_gate` rejects; a
rule may only object to more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from skillgit.gate.rule import GateRule, Sizes
from skillgit.gate.scores import TIE, beats, mean_score, scored_on_all, scores_of, select_gate_score
from skillgit.gate.statistics import at_least, binomial
from skillgit.ports import Ruling, Trial, Verdict
from skillgit.records import Action, GateResult, Measurements, Metric, Record, Score, Skill, SkillT


class Objection(Record):
    """Why a candidate with a higher score is not accepted all the same.

    `needed` is how many tasks more would do, all of them won, when tasks are what is missing.
    """

    reason: str
    needed: int | None = None


class Comparison:
    """A trial, its tasks scored on every side, and the means there."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        sides = (trial.candidate_scores, trial.current_scores, trial.best_scores)
        self.keys = scored_on_all(*sides)
        self.candidate, self.current = self._mean(sides[0]), self._mean(sides[1])
        self.best = self.current if sides[2] is sides[1] else self._mean(sides[2])

    def number(self, score: Score) -> float:
        """The number that this trial's metric compares."""
        return select_gate_score(score.hard, score.soft, self.trial.metric, self.trial.mixed_weight)

    def differences(self) -> list[float]:
        """What the candidate has above current, in the order in which tasks are sent.

        Shape: one number for each task scored on every side.
        """
        place = {key: i for i, key in enumerate(self.trial.order)}
        keys = sorted(self.keys, key=lambda key: (place.get(key, len(place)), key))
        ours, theirs = self.trial.candidate_scores.scores, self.trial.current_scores.scores
        return [self._between(ours[key], theirs[key]) for key in keys]

    def matched_differences(self) -> list[float]:
        """The same, but from equally many measurements of both sides, the newest of each.

        A mean of more measurements takes other values than one of fewer, so the sign of their
        difference is no fair coin even between equals.
        Shape: one number for each task scored on every side.
        """
        ours, theirs = self.trial.candidate_rounds, self.trial.current_rounds
        if not ours or not theirs:
            return self.differences()
        return [self._newest(key, ours, theirs) for key in self.keys]

    def worst_regression(self) -> tuple[str, float] | None:
        """The task that fell furthest below current, beyond what the trial tolerates."""
        tolerance = self.trial.no_regression
        if tolerance is None:
            return None
        ours, theirs = self.trial.candidate_scores.scores, self.trial.current_scores.scores
        falls = {key: -self._between(ours[key], theirs[key]) for key in self.keys}
        key = max(falls, key=lambda k: falls[k], default=None)
        return (key, falls[key]) if key is not None and falls[key] > tolerance + TIE else None

    def rule(self, objection: Objection | None = None) -> Ruling:
        """The ruling of `evaluate_gate`, unless the trial's options or a rule object."""
        result = self._decided()
        reason = self._reason()
        if result.action is Action.REJECT:
            return Ruling(result=result, reason=reason, verdict=Verdict.REJECT)
        refused = self._refused()
        if refused is not None:
            return self._overruled(f"{reason}; {refused}", Verdict.REJECT)
        if objection is None:
            return Ruling(result=result, reason=reason, verdict=Verdict.ACCEPT)
        verdict = Verdict.REJECT if objection.needed is None else Verdict.NOT_ENOUGH
        return self._overruled(f"{reason}; {objection.reason}", verdict, objection.needed)

    def _refused(self) -> str | None:
        """What the options `min_delta` and `no_regression` have against the candidate."""
        delta, fallen = self.trial.min_delta, self.worst_regression()
        if not beats(self.number(self.candidate), self.number(self.current) + delta):
            return f"a gain has to be above {delta:g}"
        if fallen is not None:
            name = self.trial.names.get(fallen[0], fallen[0])
            return f"task {name} falls by {fallen[1]:.4f}"
        return None

    def _decided(self) -> GateResult[Skill]:
        trial = self.trial
        return evaluate_gate(
            trial.candidate,
            self.candidate.hard,
            trial.current,
            self.number(self.current),
            trial.best,
            self.number(self.best),
            trial.best_step,
            trial.global_step,
            cand_soft=self.candidate.soft,
            metric=trial.metric,
            mixed_weight=trial.mixed_weight,
        )

    def _overruled(self, reason: str, verdict: Verdict, needed: int | None = None) -> Ruling:
        trial = self.trial
        result: GateResult[Skill] = GateResult(
            action=Action.REJECT,
            current_skill=trial.current,
            current_score=self.number(self.current),
            best_skill=trial.best,
            best_score=self.number(self.best),
            best_step=trial.best_step,
        )
        return Ruling(result=result, reason=reason, verdict=verdict, needed=needed)

    def _reason(self) -> str:
        if not self.keys:
            return "no task is scored on every side"
        return (
            f"{self.number(self.candidate):.4f} against {self.number(self.current):.4f} "
            f"on {len(self.keys)} tasks scored on every side"
        )

    def _mean(self, side: Measurements) -> Score:
        found = mean_score([s for key in self.keys if (s := side.scores[key]) is not None])
        return found or Score(hard=0.0, soft=0.0)

    def _between(self, ours: Score | None, theirs: Score | None) -> float:
        if ours is None or theirs is None:
            return 0.0
        return self.number(ours) - self.number(theirs)

    def _newest(
        self, key: str, ours: Sequence[Measurements], theirs: Sequence[Measurements]
    ) -> float:
        mine, other = scores_of(key, ours), scores_of(key, theirs)
        n = min(len(mine), len(other))
        return self._between(mean_score(mine[-n:]), mean_score(other[-n:])) if n else 0.0


def wins_and_losses(differences: Sequence[float]) -> tuple[int, int]:
    """How many tasks the candidate does better, and how many worse, beyond float noise."""
    return sum(d > TIE for d in differences), sum(d < -TIE for d in differences)


def names_of(keys: Mapping[str, str]) -> dict[str, str]:
    """Task ids by key, from keys by id."""
    return {key: task_id for task_id, key in keys.items()}


# ── The decision that every rule ends in: strictly greater is kept, and a tie is a rejection.


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


# ── The rule `strict`: a higher mean, by `evaluate_gate` alone.


def strict(trial: Trial) -> Ruling:
    """The plain rule: `evaluate_gate` on the means over the tasks scored on every side."""
    return Comparison(trial).rule()


def accept_chance(sizes: Sizes, current: float, candidate: float) -> float:
    """The chance that the candidate passes more attempts than current, by more than `min_delta`."""
    n = sizes.tasks * sizes.repeats
    theirs = binomial(n, current)
    above = at_least(binomial(n, candidate))
    margin = sizes.min_delta * n
    # Current passed k: the candidate has to pass more than k + margin.
    return sum(p * above[min(n, math.floor(k + margin + TIE)) + 1] for k, p in enumerate(theirs))


STRICT = GateRule(
    decide=strict,
    accept_chance=accept_chance,
    summary="`strict` asks for a higher mean, and a tie is a rejection",
    explanation="`strict` keeps what has a higher mean; a tie is a rejection.",
)
