"""The comparison: the same tasks attempted with two skills, and what became of each. Pure.

It knows nothing of epochs: whoever has two skills and a reason to compare them can.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillgit.config import PairPolicy
from skillgit.history.notes import PairKind, PairScores
from skillgit.records import GradedRollout, Score, Task
from skillgit.stages.rendering import ID_CHARS, on_one_line, render_attempt

_HEADLINES = {
    PairKind.REGRESSED: "passed before, fails now",
    PairKind.PERSISTENT_FAIL: "failed before, fails still",
    PairKind.IMPROVED: "failed before, passes now",
    PairKind.STABLE_SUCCESS: "passed before, passes still",
}
_POLICIES = {
    PairPolicy.MIXED: frozenset(PairKind),
    PairPolicy.CHANGED: frozenset((PairKind.REGRESSED, PairKind.IMPROVED)),
    PairPolicy.UNCHANGED: frozenset((PairKind.PERSISTENT_FAIL, PairKind.STABLE_SUCCESS)),
}


@dataclass(frozen=True)
class ComparisonPair:
    """One task's attempts with two skills, both of them scored."""

    kind: PairKind
    before: GradedRollout
    after: GradedRollout

    @property
    def task_id(self) -> str:
        """The task both attempts are at."""
        return self.after.task.id


def sample_tasks(tasks: Sequence[Task], samples: int, seed: int) -> list[Task]:
    """Some of the tasks, picked by the seed, whatever the order they come in.

    Shape: at most `samples`.
    """
    ordered = sorted(tasks, key=lambda task: task.id)
    if len(ordered) <= samples:
        return ordered
    return random.Random(seed).sample(ordered, samples)  # noqa: S311 - reproducible, no secret


def build_comparison_pairs(
    before: Sequence[GradedRollout], after: Sequence[GradedRollout]
) -> tuple[ComparisonPair, ...]:
    """Each task's two attempts with what became of it; a pair with an unscored side is left out.

    Shape: regressions first, then failures that stay, improvements, and what always passed;
    among themselves in the order of `after`.
    """
    earlier = {item.task.id: item for item in before}
    pairs = [
        ComparisonPair(_kind(earlier[item.task.id], item), earlier[item.task.id], item)
        for item in after
        if item.task.id in earlier and item.grade.score and earlier[item.task.id].grade.score
    ]
    order = list(PairKind)
    return tuple(sorted(pairs, key=lambda pair: order.index(pair.kind)))


def pairs_by_policy(
    pairs: Sequence[ComparisonPair], policy: PairPolicy
) -> tuple[ComparisonPair, ...]:
    """The pairs that a policy looks at, in their order."""
    return tuple(pair for pair in pairs if pair.kind in _POLICIES[policy])


def pair_scores(pairs: Sequence[ComparisonPair]) -> tuple[PairScores, ...]:
    """What of the pairs is written down."""
    return tuple(
        PairScores(
            task_id=pair.task_id,
            kind=pair.kind,
            before=_score(pair.before),
            after=_score(pair.after),
        )
        for pair in pairs
    )


def shown_pairs(pairs: Sequence[ComparisonPair], max_chars: int) -> str:
    """The pairs as an optimizer reads them: how many of each kind, then both attempts of each.

    Unit: `max_chars` in characters of one attempt.
    """
    counts = ", ".join(
        f"{sum(pair.kind is kind for pair in pairs)} {_HEADLINES[kind]}" for kind in PairKind
    )
    return "\n\n".join([f"{len(pairs)} tasks: {counts}.", *_each(pairs, max_chars)])


def _each(pairs: Sequence[ComparisonPair], max_chars: int) -> Iterator[str]:
    for pair in pairs:
        yield f"### Task `{on_one_line(pair.task_id, ID_CHARS)}`: {_HEADLINES[pair.kind]}"
        yield f"#### Before\n\n{render_attempt(pair.before, max_chars)}"
        yield f"#### Now\n\n{render_attempt(pair.after, max_chars)}"


def _kind(before: GradedRollout, after: GradedRollout) -> PairKind:
    match before.grade.passed, after.grade.passed:
        case False, True:
            return PairKind.IMPROVED
        case True, False:
            return PairKind.REGRESSED
        case False, False:
            return PairKind.PERSISTENT_FAIL
        case _:
            return PairKind.STABLE_SUCCESS


def _score(graded: GradedRollout) -> Score:
    if graded.grade.score is None:
        raise ValueError("a pair has a score on both sides")
    return graded.grade.score
