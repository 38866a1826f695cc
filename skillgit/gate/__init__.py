"""The gate: whether a candidate is kept, decided on held-out scores. Pure functions.

A rule is a function from a trial to a ruling, with its power: one file here, and one line in
`registry.RULES`.
"""

from __future__ import annotations

from skillgit.gate.betting import betting
from skillgit.gate.comparison import evaluate_gate, strict
from skillgit.gate.paired import paired
from skillgit.gate.registry import RULES, gate_rule
from skillgit.gate.rule import GateRule
from skillgit.gate.scores import (
    TIE,
    beats,
    is_perfect,
    mean_score,
    pool,
    scored_on_all,
    scores_of,
    select_gate_score,
)

__all__ = [
    "RULES",
    "TIE",
    "GateRule",
    "beats",
    "betting",
    "evaluate_gate",
    "gate_rule",
    "is_perfect",
    "mean_score",
    "paired",
    "pool",
    "scored_on_all",
    "scores_of",
    "select_gate_score",
    "strict",
]
