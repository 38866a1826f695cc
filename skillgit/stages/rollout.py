"""Rollout and evaluate: the target's attempts at tasks, graded, and what the ledger knows of them.

The same luck for every skill: a rollout's seed depends on the run's seed, the task and the
repeat, never on the step or the skill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgit.canonical import slot_seed
from skillgit.errors import BlockedError
from skillgit.gate import mean_score
from skillgit.history import Position, ScoresLine
from skillgit.pool import ordered_map
from skillgit.ports import Environment, Judge, Paid, Store
from skillgit.progress import Progress
from skillgit.records import Grade, GradedRollout, Measurements, Record, Score, Skill, Task


@dataclass(frozen=True)
class Bench:
    """Where skills are tried: an environment, and a judge and a content key for every task."""

    environment: Environment
    judges: Mapping[str, Judge]
    keys: Mapping[str, str]
    workers: int
    seed: int
    progress: Progress


def roll_out(
    bench: Bench, tasks: Sequence[Task], skill: Skill, paid: Paid, *, purpose: str, repeat: str
) -> tuple[GradedRollout, ...]:
    """The target's graded attempts at some tasks; `repeat` tells attempts at one task apart.

    Shape: one for each task, in the tasks' order.
    Raises: BlockedError when nothing can come back; BudgetError.
    """

    def attempt(task: Task) -> GradedRollout:
        slot = f"{task.id}/{repeat}"
        rollout = bench.environment.rollout(
            task,
            skill,
            paid,
            purpose=purpose,
            slot=slot,
            seed=slot_seed(bench.seed, bench.keys[task.id], repeat),
        )
        if rollout.failure is None:
            grade = bench.judges[task.id].grade(rollout, paid, slot)
        else:
            grade = Grade(score=None, reason=rollout.failure)
        bench.progress.advance()
        return GradedRollout(task=task, rollout=rollout, grade=grade)

    bench.progress.begin(purpose, len(tasks))
    return tuple(ordered_map(attempt, tasks, bench.workers))


class Evaluation(Record):
    """A skill's measurements on some tasks, with how they were come by.

    `line` holds what was measured anew, for the ledger; `None` when everything was known.
    """

    measurements: Measurements
    line: ScoresLine | None
    from_ledger: int
    measured: int
    unscored: int

    @property
    def score(self) -> Score | None:
        """The mean over the tasks that have a score."""
        return mean_score(s for s in self.measurements.scores.values() if s is not None)


def evaluate(
    bench: Bench,
    store: Store,
    tasks: Sequence[Task],
    skill: Skill,
    paid: Paid,
    *,
    target: str,
    position: Position,
    max_unscored: float,
    repeat: int = 0,
) -> Evaluation:
    """Score a skill on some tasks: looked up first, and only the rest is rolled out.

    Raises: BlockedError when more than `max_unscored` of the tasks came back without a score.
    """
    object_id = store.object_id(skill)
    known = store.measurements(object_id, target, repeats=repeat + 1, before=position)[
        repeat
    ].scores
    found = {key: s for t in tasks if (s := known.get(key := bench.keys[t.id])) is not None}
    missing = {key: t for t in tasks if (key := bench.keys[t.id]) not in found}
    graded = roll_out(
        bench, [*missing.values()], skill, paid, purpose="evaluate", repeat=str(repeat)
    )
    fresh = {bench.keys[g.task.id]: g.grade.score for g in graded}
    unscored = [g for g in graded if g.grade.score is None]
    if len(unscored) > max_unscored * len(tasks):
        raise BlockedError(
            f"{len(unscored)} of {len(tasks)} tasks came back without a score; "
            f"the first: {unscored[0].task.id}: {unscored[0].grade.reason}",
            hint="Put right what the reason says and run the same command again: what was "
            "answered is kept and not paid for twice.",
        )
    return Evaluation(
        measurements=Measurements(object_id=object_id, scores=found | fresh),
        line=_scores_line(fresh, target, position, repeat) if fresh else None,
        from_ledger=len(found),
        measured=len(fresh) - len(unscored),
        unscored=len(unscored),
    )


def _scores_line(
    fresh: Mapping[str, Score | None], target: str, position: Position, repeat: int
) -> ScoresLine:
    return ScoresLine(
        repeat=repeat,
        run=position.run_id,
        step=position.step,
        phase=position.phase,
        target=target,
        tasks={k: None if s is None else (s.hard, s.soft) for k, s in fresh.items()},
    )
