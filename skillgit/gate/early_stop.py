"""Early stopping: when a candidate can no longer be accepted, the rest of val need not be run.

Every rule is monotone: with a higher score on a task, a candidate is never accepted less. So a
candidate that a rule rejects even if all that is left went well is rejected however it goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.gate.scores import pool, select_gate_score
from skillgit.ports import Rule, Ruling, Trial
from skillgit.records import Measurements, Score

ALL = Score(hard=1.0, soft=1.0)
NOTHING = Score(hard=0.0, soft=0.0)


class EarlyStopper:
    """Says when a candidate is sure to be rejected before every task has been sent.

    `trial` has everything but the candidate's scores; `repeats` is how often each task is
    attempted, `may_be_unscored` how many tasks may come back without a score.
    """

    def __init__(self, rule: Rule, trial: Trial, *, repeats: int, may_be_unscored: int) -> None:
        self._rule = rule
        self._trial = trial
        self._repeats = repeats
        self._may_be_unscored = may_be_unscored

    def safe_batch(self, rounds: Sequence[Measurements], waiting: Sequence[str]) -> int:
        """How many of the waiting tasks have to fail before the candidate is surely rejected.

        So many can be sent together without one too many. 0 when it is rejected already; all of
        them when no failures would do it.
        Shape: `waiting` in the order in which tasks are sent.
        """
        if not self._rejects(rounds, waiting, failures=len(waiting)):
            return len(waiting)
        low, high = 0, len(waiting)
        while low < high:
            middle = (low + high) // 2
            if self._rejects(rounds, waiting, failures=middle):
                high = middle
            else:
                low = middle + 1
        return low

    def at_best(self, rounds: Sequence[Measurements], waiting: Sequence[str]) -> Ruling:
        """The ruling if all that is waiting went as well as it can."""
        return self._ruling(rounds, waiting, failures=0)

    def _rejects(
        self, rounds: Sequence[Measurements], waiting: Sequence[str], *, failures: int
    ) -> bool:
        return not self._ruling(rounds, waiting, failures=failures).result.action.accepted

    def _ruling(
        self, rounds: Sequence[Measurements], waiting: Sequence[str], *, failures: int
    ) -> Ruling:
        hopeful = waiting[failures:]
        unscored = set(self._better_unscored(hopeful))
        guesses = dict.fromkeys(waiting[:failures], NOTHING)
        guesses |= {key: ALL for key in hopeful if key not in unscored}
        filled = filled_up(rounds, guesses, self._repeats)
        scores = pool(self._trial.candidate_scores.object_id, filled)
        update = {"candidate_scores": scores, "candidate_rounds": filled}
        return self._rule(self._trial.model_copy(update=update))

    def _better_unscored(self, hopeful: Sequence[str]) -> Sequence[str]:
        """The tasks that help a candidate most by not being compared at all.

        Where current is so high that even a full score gains less than `min_delta`, a task
        lowers the mean gain.
        """
        if not self._trial.min_delta or not self._may_be_unscored:
            return ()
        trial, current = self._trial, self._trial.current_scores.scores
        room = {
            key: 1.0 - select_gate_score(s.hard, s.soft, trial.metric, trial.mixed_weight)
            for key in hopeful
            if (s := current.get(key)) is not None
        }
        tight = [key for key in room if room[key] < trial.min_delta]
        return sorted(tight, key=lambda key: room[key])[: self._may_be_unscored]


def filled_up(
    rounds: Sequence[Measurements], guesses: dict[str, Score], repeats: int
) -> tuple[Measurements, ...]:
    """The rounds with a guess wherever one of the first `repeats` measurements is missing."""
    object_id = rounds[0].object_id if rounds else ""
    padded = [*rounds, *[Measurements(object_id=object_id, scores={})] * (repeats - len(rounds))]
    return tuple(
        Measurements(object_id=r.object_id, scores=guesses | _scored(r)) if n < repeats else r
        for n, r in enumerate(padded)
    )


def _scored(measured: Measurements) -> dict[str, Score | None]:
    return {key: score for key, score in measured.scores.items() if score is not None}
