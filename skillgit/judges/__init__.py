"""Judges: each grades the rollouts of one task. They pay only through the `Paid` handed in."""

from skillgit.judges.registry import (
    JUDGES,
    Asks,
    ReadJudge,
    check_judge,
    judge_commands,
    judge_programs,
    looks_at_shape_only,
    read_judge,
    soft_parts,
)
from skillgit.judges.settings import JudgeResources

__all__ = [
    "JUDGES",
    "Asks",
    "JudgeResources",
    "ReadJudge",
    "check_judge",
    "judge_commands",
    "judge_programs",
    "looks_at_shape_only",
    "read_judge",
    "soft_parts",
]
