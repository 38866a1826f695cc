"""How a night asks for edits: the analysts' prompts for bullets in a learned region."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from skillgit.prompting.prompts import Prompt
from skillgit.records import GradedRollout, Skill
from skillgit.stages.comparison import build_comparison_pairs, shown_pairs
from skillgit.stages.reflect import (
    EDITORS,
    Analysts,
    FailureAnalysis,
    ReflectFields,
    SuccessAnalysis,
)

NIGHT_FAILURES = Prompt("night_failures", ReflectFields, FailureAnalysis)
NIGHT_SUCCESSES = Prompt("night_successes", ReflectFields, SuccessAnalysis)

NIGHT_ANALYSTS = Analysts(NIGHT_FAILURES, NIGHT_SUCCESSES, EDITORS.read)

CONTRAST_CHARS = 2_000
"""How much of each attempt of a contrast is shown. Unit: characters."""

MOST_CONTRASTS = 6


def shown_to_edit(skill: Skill, path: str) -> Skill:
    """The skill with the document that is edited first, which is how an analyst knows it."""
    own = [document for document in skill.documents if document.path == path]
    others = [document for document in skill.documents if document.path != path]
    return Skill(name=skill.name, documents=(*own, *others))


def contrasts(graded: Sequence[GradedRollout]) -> str:
    """Tasks of which one attempt passed and another did not, side by side; empty without any."""
    by_task = sorted(graded, key=lambda g: g.task.id)
    worse: list[GradedRollout] = []
    better: list[GradedRollout] = []
    for _, attempts in groupby(by_task, key=lambda g: g.task.id):
        scored = [g for g in attempts if g.grade.score is not None]
        passed = [g for g in scored if g.grade.passed]
        failed = [g for g in scored if not g.grade.passed]
        if passed and failed and len(worse) < MOST_CONTRASTS:
            worse.append(failed[0])
            better.append(passed[0])
    if not worse:
        return ""
    pairs = shown_pairs(build_comparison_pairs(worse, better), CONTRAST_CHARS)
    return (
        "The same skill did these tasks badly once (before) and well once (now). What made the "
        f"difference is worth a rule.\n\n{pairs}\n"
    )
