"""What a gate rule is: how it decides, its power, and what the documentation says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from skillgit.gate.statistics import binomial
from skillgit.ports import Rule
from skillgit.records import Record

UNLIKELY = 1e-7
"""Outcomes rarer than this are left out of a power's sum."""


class Sizes(Record):
    """What is measured of each candidate, and how it is judged."""

    rule: str
    tasks: int
    repeats: int = 1
    min_delta: float = 0.0
    alpha: float = 0.05
    look: int = 1


AcceptChance = Callable[[Sizes, float, float], float]
"""How likely a rule accepts, from the shares of attempts that current and the candidate pass."""


class GateRule(NamedTuple):
    """A rule: how it decides, how likely it accepts, and what the documentation says of it.

    `summary` stands in the reference of the configuration, `explanation` in
    docs/how-to/choose-a-gate.md.
    """

    decide: Rule
    accept_chance: AcceptChance
    summary: str
    explanation: str


def discordant(repeats: int, current: float, candidate: float) -> tuple[float, float]:
    """How likely a task is won, and lost, when each side is the mean of its attempts."""
    ours, theirs = binomial(repeats, candidate), binomial(repeats, current)
    win = sum(p * q for i, p in enumerate(ours) for j, q in enumerate(theirs) if i > j)
    lose = sum(p * q for i, p in enumerate(ours) for j, q in enumerate(theirs) if i < j)
    return win, lose
