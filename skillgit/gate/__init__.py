"""The gate: whether a candidate is kept, decided on held-out scores. Pure functions.

A rule is a function from a trial to a ruling: one file here, and one line in `RULES`.
"""

from __future__ import annotations

from skillgit.gate.betting import pace
from skillgit.gate.comparison import evaluate_gate, strict
from skillgit.gate.paired import paired
from skillgit.gate.scores import (
    TIE,
    beats,
    mean_score,
    pool,
    scored_on_all,
    scores_of,
    select_gate_score,
)
from skillgit.ports import Rule

__all__ = [
    "RULES",
    "TIE",
    "beats",
    "evaluate_gate",
    "mean_score",
    "pace",
    "paired",
    "pool",
    "scored_on_all",
    "scores_of",
    "select_gate_score",
    "strict",
]

RULES: dict[str, Rule] = {
    "strict": strict,
    "paired": paired,
    "pace": pace,
}
