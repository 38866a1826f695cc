"""What a rule can tell apart: how often it takes an equal candidate, and which gain it sees.

Holds for a target that passes every val task with the same chance each time it is asked, which is
the most luck there can be at that score: where some tasks always pass or always fail there is
less. Sizes are those of the first look, before anything was measured again.
"""

from __future__ import annotations

from skillgit.gate.registry import gate_rule
from skillgit.gate.rule import Sizes
from skillgit.records import Record

POOR_FALSE_ACCEPT = 0.2
POOR_GAIN = 0.2
SEEN = 0.8
"""A gain is seen when a candidate that has it is accepted so often."""
_STEPS = 100


class Power(Record):
    """What a rule can tell apart at a score.

    `smallest_gain` is `None` where no gain that there is room for is seen.
    """

    false_accept: float
    smallest_gain: float | None

    @property
    def is_poor(self) -> bool:
        """Whether it both takes too much that is not better and sees too little that is."""
        unseen = self.smallest_gain is None or self.smallest_gain > POOR_GAIN
        return self.false_accept > POOR_FALSE_ACCEPT and unseen


def power_of(sizes: Sizes, score: float = 0.5) -> Power:
    """What a rule can tell apart when current passes this share of its attempts.

    Raises: ConfigError for a rule that there is not: it has no power.
    """
    base = min(max(score, 0.02), 0.98)
    accepts = gate_rule(sizes.rule).accept_chance
    gains = [step / _STEPS for step in range(1, _STEPS + 1) if base + step / _STEPS <= 1.0]
    # The chance rises with the gain, so the first gain that is seen can be halved in on.
    low, high = 0, len(gains)
    while low < high:
        middle = (low + high) // 2
        if accepts(sizes, base, base + gains[middle]) >= SEEN:
            high = middle
        else:
            low = middle + 1
    return Power(
        false_accept=accepts(sizes, base, base),
        smallest_gain=gains[low] if low < len(gains) else None,
    )


def accept_chance(sizes: Sizes, current: float, candidate: float) -> float:
    """How likely a rule accepts a candidate that passes this share of its attempts.

    Raises: ConfigError for a rule that there is not.
    """
    return gate_rule(sizes.rule).accept_chance(sizes, current, candidate)
