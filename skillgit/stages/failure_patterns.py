"""Which kinds of failure a step saw, from the analysts' summaries or the grades' reasons. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from skillgit.records import FailurePattern, GradedRollout, RawPatch
from skillgit.redaction import redact
from skillgit.stages.rendering import on_one_line

MOST_PATTERNS = 20
REASON_CHARS = 200
NO_REASON = "failed without a reason"

_CLAUSE_END = re.compile(r"[;\n]|[.!?](?=\s|$)")


def failure_patterns(
    raw_patches: Sequence[RawPatch], graded: Sequence[GradedRollout]
) -> tuple[FailurePattern, ...]:
    """The step's failure patterns, the most frequent first; equal ones are counted together.

    Failures that no analyst summed up are grouped by the first clause of their reason.
    Shape: at most 20.
    """
    summed_up = [patch for patch in raw_patches if patch.failure_summary]
    covered = {task_id for patch in summed_up for task_id in patch.task_ids}
    found = [pattern for patch in summed_up for pattern in patch.failure_summary]
    found += _from_reasons(item for item in graded if item.task.id not in covered)
    merged: dict[tuple[str, str], FailurePattern] = {}
    for pattern in found:
        key = (_folded(pattern.failure_type), _folded(pattern.description))
        merged[key] = _together(merged[key], pattern) if key in merged else pattern
    ranked = sorted(merged.values(), key=lambda pattern: -pattern.count)
    return tuple(ranked[:MOST_PATTERNS])


def _from_reasons(graded: Iterable[GradedRollout]) -> Iterator[FailurePattern]:
    for item in graded:
        if item.grade.score is not None and not item.grade.passed:
            yield FailurePattern(
                failure_type=_first_clause(item.grade.reason), task_ids=(item.task.id,)
            )


def _first_clause(reason: str) -> str:
    clauses = (on_one_line(clause, REASON_CHARS) for clause in _CLAUSE_END.split(redact(reason)))
    return next((clause for clause in clauses if clause), NO_REASON)


def _together(one: FailurePattern, other: FailurePattern) -> FailurePattern:
    return one.model_copy(
        update={
            "count": one.count + other.count,
            "task_ids": tuple(dict.fromkeys(one.task_ids + other.task_ids)),
        }
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
