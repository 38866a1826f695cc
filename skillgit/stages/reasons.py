"""Why attempts fell short: the grades' reasons, counted and numbered as analysts see them. Pure.

What a program can count is not asked of a model: an edit names the numbers of the reasons that it
answers, and these say how many attempts stand behind it, and of which tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillgit.records import FailurePattern, Grade, GradedRollout, RawPatch
from skillgit.redaction import redact
from skillgit.stages.rendering import NO_REASON, NOTHING_YET, on_one_line

_QUOTED = re.compile(r'["`“]([^"`“”]+)["`”]')

MOST_REASONS = 12
"""More of them are not numbered; the attempts still show theirs."""
REASON_CHARS = 300


def reasons_of(grade: Grade) -> tuple[str, ...]:
    """The single reasons of a failure, each once, on one line and without secrets."""
    told = grade.reasons or (grade.reason,)
    lines = (on_one_line(redact(reason), REASON_CHARS) for reason in told)
    return tuple(dict.fromkeys(line or NO_REASON for line in lines))


@dataclass(frozen=True)
class Reason:
    """One reason, and the attempts that fell short for it, by their place in the minibatch."""

    text: str
    attempts: tuple[int, ...]


@dataclass(frozen=True)
class Reasons:
    """The reasons of a minibatch's failures, the most frequent first; the first has number 1."""

    graded: tuple[GradedRollout, ...]
    items: tuple[Reason, ...]

    @classmethod
    def of(cls, graded: Sequence[GradedRollout]) -> Reasons:
        """The reasons for which these attempts fell short."""
        attempts: dict[str, list[int]] = {}
        for place, item in enumerate(graded):
            if not item.grade.passed:
                for text in reasons_of(item.grade):
                    attempts.setdefault(text, []).append(place)
        found = [Reason(text, tuple(places)) for text, places in attempts.items()]
        found.sort(key=lambda reason: -len(reason.attempts))
        return cls(tuple(graded), tuple(found[:MOST_REASONS]))

    def shown(self) -> str:
        """The numbered list, with how many of the answers each stands for."""
        n = len(self.graded)
        lines = (
            f"{number}. ({len(reason.attempts)} of {n} answers) {reason.text}"
            for number, reason in enumerate(self.items, 1)
        )
        return "\n".join(lines) or NOTHING_YET

    def numbers_at(self, place: int) -> tuple[int, ...]:
        """The numbers of the reasons for which the attempt at this place fell short."""
        return tuple(n for n, reason in enumerate(self.items, 1) if place in reason.attempts)

    def meant(self, numbers: Iterable[int]) -> tuple[Reason, ...]:
        """The reasons that are meant; numbers that none of them has were never shown."""
        known = dict.fromkeys(n for n in numbers if 1 <= n <= len(self.items))
        return tuple(self.items[n - 1] for n in known)

    def named_in(self, text: str) -> tuple[Reason, ...]:
        """The reasons whose quoted words all stand in a text; where there is one reason, that one."""
        if len(self.items) == 1:
            return self.items
        shown = text.casefold()
        return tuple(
            reason
            for reason in self.items
            if (quoted := _QUOTED.findall(reason.text.casefold()))
            and all(words.strip() in shown for words in quoted)
        )

    def tasks(self, reasons: Iterable[Reason]) -> tuple[str, ...]:
        """The tasks of the attempts that fell short for any of the reasons, each once."""
        return self.tasks_at(sorted({place for reason in reasons for place in reason.attempts}))

    def tasks_at(self, places: Iterable[int]) -> tuple[str, ...]:
        """The tasks of the attempts at these places, each once; other places are passed over."""
        known = (self.graded[place].task.id for place in places if 0 <= place < len(self.graded))
        return tuple(dict.fromkeys(known))


# ── the failure patterns of a step ───────────────────────────────────────────────────────────

MOST_PATTERNS = 20


def failure_patterns(
    raw_patches: Sequence[RawPatch], graded: Sequence[GradedRollout]
) -> tuple[FailurePattern, ...]:
    """The step's failure patterns, the most frequent first; equal ones are counted together.

    Failures that no analyst summed up are grouped by their reasons.
    Shape: at most 20.
    """
    summed_up = [patch for patch in raw_patches if patch.failure_summary]
    covered = {task_id for patch in summed_up for task_id in patch.task_ids}
    patterns = [pattern for patch in summed_up for pattern in patch.failure_summary]
    patterns += _from_reasons(item for item in graded if item.task.id not in covered)
    merged: dict[tuple[str, str], FailurePattern] = {}
    for pattern in patterns:
        key = (_folded(pattern.failure_type), _folded(pattern.description))
        merged[key] = _together(merged[key], pattern) if key in merged else pattern
    ranked = sorted(merged.values(), key=lambda pattern: -pattern.count)
    return tuple(ranked[:MOST_PATTERNS])


def _from_reasons(graded: Iterable[GradedRollout]) -> Iterator[FailurePattern]:
    for item in graded:
        if item.grade.score is not None and not item.grade.passed:
            for reason in reasons_of(item.grade):
                yield FailurePattern(failure_type=reason, task_ids=(item.task.id,))


def _together(one: FailurePattern, other: FailurePattern) -> FailurePattern:
    return one.model_copy(
        update={
            "count": one.count + other.count,
            "task_ids": tuple(dict.fromkeys(one.task_ids + other.task_ids)),
        }
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
