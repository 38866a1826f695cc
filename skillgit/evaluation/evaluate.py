"""Evaluate: a skill's scores on some tasks, what the ledger knows of them first.

Tasks go out in an order of the seed, and only so many at a time as are needed to tell that a
candidate is rejected; so which tasks stay unsent depends neither on timing nor on workers.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from skillgit.errors import BlockedError
from skillgit.evaluation.rollout import Evaluator, attempt_all
from skillgit.gate import mean_score, pool, scores_of
from skillgit.gate.early_stop import ALL, EarlyStopper, filled_up
from skillgit.history import RunPosition, ScoresLine
from skillgit.ports import Paid, Store
from skillgit.records import GradedRollout, Measurements, Record, Score, Skill, Task
from skillgit.records.canonical import slot_seed

PURPOSE = "evaluate"


class Evaluation(Record):
    """A skill's measurements on some tasks, with how they were come by.

    `measurements` are the means over `rounds`, which are the measurements one by one. `lines`
    hold what was measured anew, for the ledger. `not_sent` tasks were left out because the
    verdict was certain; `at_most` is then the mean if each of them were passed.
    """

    measurements: Measurements
    rounds: tuple[Measurements, ...]
    lines: tuple[ScoresLine, ...] = ()
    from_ledger: int = 0
    measured: int = 0
    unscored: int = 0
    not_sent: tuple[str, ...] = ()
    at_most: Score | None = None

    @property
    def score(self) -> Score | None:
        """The mean over the tasks that have a score."""
        return mean_score(s for s in self.measurements.scores.values() if s is not None)


def evaluate(
    evaluator: Evaluator,
    store: Store,
    tasks: Sequence[Task],
    skill: Skill,
    paid: Paid,
    *,
    target: str,
    position: RunPosition,
    max_unscored: float,
    repeats: int = 1,
    again: bool = False,
    early_stopper: EarlyStopper | None = None,
) -> Evaluation:
    """Score a skill on some tasks, each `repeats` times: looked up first, the rest rolled out.

    With `again`, so many times more than are known. With `early_stopper`, no further than needed to
    tell that it is rejected.
    Raises: BlockedError when more than `max_unscored` of the tasks came back without a score.
    """
    known = known_rounds(evaluator, store, tasks, skill, target=target, position=position)
    wanted = repeats + len(known) if again else repeats
    ledger = _Rounds(store.object_id(skill), known, wanted)
    by_key = {evaluator.keys[task.id]: task for task in tasks}
    order = sending_order(by_key, evaluator.seed)
    waiting = [key for key in order if ledger.missing(key)]
    from_ledger = len(by_key) - len(waiting)
    graded: list[GradedRollout] = []
    evaluator.progress.begin(PURPOSE, sum(len(ledger.missing(key)) for key in waiting))
    while waiting:
        n = early_stopper.safe_batch(ledger.rounds(), waiting) if early_stopper else len(waiting)
        if not n:
            break
        block, waiting = waiting[:n], waiting[n:]
        attempts = [(key, repeat) for repeat in range(wanted) for key in block
                    if repeat in ledger.missing(key)]  # fmt: skip
        sent = [(by_key[key], str(repeat)) for key, repeat in attempts]
        came = attempt_all(evaluator, sent, skill, paid, purpose=PURPOSE)
        ledger.add({at: g.grade.score for at, g in zip(attempts, came, strict=True)})
        graded += came
        _refuse_unscored(ledger, evaluator, graded, max_unscored * len(tasks), len(tasks))
    return ledger.evaluation(position, target, from_ledger=from_ledger, not_sent=waiting)


def known_rounds(
    evaluator: Evaluator,
    store: Store,
    tasks: Iterable[Task],
    skill: Skill,
    *,
    target: str,
    position: RunPosition,
) -> tuple[Measurements, ...]:
    """What the ledger has of a skill on some tasks, as it was before a moment of a run.

    Shape: the k-th item has each task's k-th measurement.
    """
    object_id = store.object_id(skill)
    keys = {evaluator.keys[task.id] for task in tasks}
    found = store.measurements(object_id, target, repeats=None, before=position)
    own = ({k: s for k, s in measured.scores.items() if k in keys} for measured in found)
    return tuple(Measurements(object_id=object_id, scores=scores) for scores in own if scores)


def sending_order(keys: Iterable[str], seed: int) -> tuple[str, ...]:
    """The order in which val tasks go out: a shuffle that depends on the tasks and the seed."""
    order = sorted(keys)
    random.Random(slot_seed(seed, "val")).shuffle(order)  # noqa: S311 - a reproducible shuffle
    return tuple(order)


class _Rounds:
    """The measurements of one skill object, those known and those made now."""

    def __init__(self, object_id: str, known: Sequence[Measurements], wanted: int) -> None:
        self._object_id = object_id
        self._wanted = wanted
        self._known = [dict(measured.scores) for measured in known]
        self._known += [{} for _ in range(wanted - len(known))]
        self._fresh: list[dict[str, Score | None]] = [{} for _ in self._known]
        self.tried: set[str] = set()

    def missing(self, key: str) -> list[int]:
        """Which of the wanted measurements of a task nobody has made."""
        return [n for n in range(self._wanted) if self._known[n].get(key) is None]

    def add(self, scores: Mapping[tuple[str, int], Score | None]) -> None:
        """Take in what came of some attempts."""
        for (key, n), score in scores.items():
            self._fresh[n][key] = score
            self.tried.add(key)

    def rounds(self) -> tuple[Measurements, ...]:
        """All measurements one by one."""
        return tuple(
            Measurements(object_id=self._object_id, scores=known | fresh)
            for known, fresh in zip(self._known, self._fresh, strict=True)
        )

    def unscored(self) -> list[str]:
        """The tasks that were tried and have no score at all."""
        rounds = self.rounds()
        return [key for key in sorted(self.tried) if not scores_of(key, rounds)]

    def evaluation(
        self, position: RunPosition, target: str, *, from_ledger: int, not_sent: Sequence[str]
    ) -> Evaluation:
        """What it all came to."""
        rounds = self.rounds()
        at_most = None
        if not_sent:
            filled = filled_up(rounds, dict.fromkeys(not_sent, ALL), self._wanted)
            hopeful = pool(self._object_id, filled).scores.values()
            at_most = mean_score(s for s in hopeful if s is not None)
        return Evaluation(
            measurements=pool(self._object_id, rounds),
            rounds=rounds,
            lines=tuple(
                _scores_line(fresh, target, position, n)
                for n, fresh in enumerate(self._fresh)
                if fresh
            ),
            from_ledger=from_ledger,
            measured=sum(s is not None for fresh in self._fresh for s in fresh.values()),
            unscored=len(self.unscored()),
            not_sent=tuple(not_sent),
            at_most=at_most,
        )


def _refuse_unscored(
    ledger: _Rounds, evaluator: Evaluator, graded: Sequence[GradedRollout], most: float, total: int
) -> None:
    """Raises: BlockedError when there is too little to go by."""
    unscored = set(ledger.unscored())
    if len(unscored) <= most:
        return
    first = next(g for g in graded if evaluator.keys[g.task.id] in unscored)
    raise BlockedError(
        f"{len(unscored)} of {total} tasks came back without a score; "
        f"the first: {first.task.id}: {first.grade.reason}",
        hint="Put right what the reason says and run the same command again: what was "
        "answered is kept and not paid for twice.",
    )


def _scores_line(
    fresh: Mapping[str, Score | None], target: str, position: RunPosition, repeat: int
) -> ScoresLine:
    return ScoresLine(
        repeat=repeat,
        run=position.run_id,
        step=position.step,
        phase=position.phase,
        target=target,
        tasks={k: None if s is None else (s.hard, s.soft) for k, s in fresh.items()},
    )
