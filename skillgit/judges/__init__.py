"""Judges: each grades the rollouts of one task. They pay only through the `Paid` handed in."""

from skillgit.judges.registry import (
    JUDGES,
    Asks,
    build_judge,
    judge_asks,
    judge_commands,
    judge_identity,
    judge_programs,
    looks_at_shape_only,
)
from skillgit.judges.settings import JudgeResources

__all__ = [
    "JUDGES",
    "Asks",
    "JudgeResources",
    "build_judge",
    "judge_asks",
    "judge_commands",
    "judge_identity",
    "judge_programs",
    "looks_at_shape_only",
]
