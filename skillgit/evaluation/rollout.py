"""Rollout: the target's attempts at tasks, graded.

The same luck for every skill: a rollout's seed depends on the run's seed, the task and the
repeat, never on the step or the skill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillgit.errors import BlockedError
from skillgit.ports import Environment, Judge, Paid
from skillgit.records import Grade, GradedRollout, Role, Skill, Task
from skillgit.records.canonical import slot_seed
from skillgit.runtime.pool import ordered_map
from skillgit.runtime.progress import Progress


@dataclass(frozen=True)
class Evaluator:
    """Where skills are tried: an environment, and a judge and a content key for every task.

    All three are looked up by a task's id; `pays_judge` are the tasks whose grades are paid calls.
    """

    environment: Environment
    judges: Mapping[str, Judge]
    pays_judge: frozenset[str]
    keys: Mapping[str, str]
    workers: int
    seed: int
    progress: Progress


def most_calls(evaluator: Evaluator, tasks: Iterable[Task], times: int = 1) -> Counter[Role]:
    """The calls that attempting tasks so often can take, those of their judges included."""
    calls: Counter[Role] = Counter()
    for task in tasks:
        calls[Role.TARGET] += times * evaluator.environment.max_calls(task)
        if task.id in evaluator.pays_judge:
            calls[Role.JUDGE] += times
    return calls


def roll_out(
    evaluator: Evaluator,
    tasks: Sequence[Task],
    skill: Skill,
    paid: Paid,
    *,
    purpose: str,
    repeat: str,
) -> tuple[GradedRollout, ...]:
    """The target's graded attempts at some tasks; `repeat` tells attempts at one task apart.

    Shape: one for each task, in the tasks' order.
    Raises: BlockedError when nothing can come back; BudgetError.
    """
    evaluator.progress.begin(purpose, len(tasks))
    return attempt_all(evaluator, [(task, repeat) for task in tasks], skill, paid, purpose=purpose)


def attempt_all(
    evaluator: Evaluator,
    attempts: Sequence[tuple[Task, str]],
    skill: Skill,
    paid: Paid,
    *,
    purpose: str,
) -> tuple[GradedRollout, ...]:
    """The target's graded attempts, as a part of a phase that has begun.

    Shape: `attempts` are tasks with their repeat; one result for each, in their order.
    Raises: BlockedError when nothing can come back; BudgetError.
    """

    def attempt(which: tuple[Task, str]) -> GradedRollout:
        task, repeat = which
        slot = f"{task.id}/{repeat}"
        rollout = evaluator.environment.rollout(
            task,
            skill,
            paid,
            purpose=purpose,
            slot=slot,
            seed=slot_seed(evaluator.seed, evaluator.keys[task.id], repeat),
        )
        if rollout.failure is None:
            grade = evaluator.judges[task.id].grade(rollout, paid, slot)
        else:
            grade = Grade(score=None, reason=rollout.failure)
        evaluator.progress.advance()
        return GradedRollout(task=task, rollout=rollout, grade=grade)

    return tuple(ordered_map(attempt, attempts, evaluator.workers))


def refuse_if_nothing_came_back(graded: Sequence[GradedRollout]) -> None:
    """Nothing, as long as one of the rollouts could be scored.

    Raises: BlockedError with the first reason.
    """
    if any(g.grade.score is not None for g in graded):
        return
    first = graded[0]
    raise BlockedError(
        f"none of {len(graded)} rollouts could be scored; "
        f"the first: {first.task.id}: {first.grade.reason}",
        hint="Put right what the reason says and run the same command again.",
    )
