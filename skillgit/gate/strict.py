"""The rule `strict`: a higher mean, by `evaluate_gate` alone."""

from __future__ import annotations

from skillgit.gate.comparison import Comparison
from skillgit.ports import Ruling, Trial


def strict(trial: Trial) -> Ruling:
    """The plain rule: `evaluate_gate` on the means over the tasks scored on every side."""
    return Comparison(trial).rule()
