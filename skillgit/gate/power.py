"""What a rule can tell apart: how often it takes an equal candidate, and which gain it sees.

Holds for a target that passes every val task with the same chance each time it is asked, which is
the most luck there can be at that score: where some tasks always pass or always fail there is
less. Sizes are those of the first look, before anything was measured again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

from skillgit.gate.betting import STAKES, payoff_asked
from skillgit.gate.scores import TIE
from skillgit.records import Record

POOR_FALSE_ACCEPT = 0.2
POOR_GAIN = 0.2
SEEN = 0.8
"""A gain is seen when a candidate that has it is accepted so often."""
UNLIKELY = 1e-7
MOST_BETS = 80
"""Up to how many tasks `pace` is reckoned with; with more it sees more than is said."""
_STEPS = 100


class Sizes(Record):
    """What is measured of each candidate, and how it is judged."""

    rule: str
    tasks: int
    repeats: int = 1
    min_delta: float = 0.0
    alpha: float = 0.05
    look: int = 1


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
    """What a rule can tell apart when current passes this share of its attempts."""
    base = min(max(score, 0.02), 0.98)
    accepts = _RULES.get(sizes.rule, _strict)
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
    """How likely a rule accepts a candidate that passes this share of its attempts."""
    return _RULES.get(sizes.rule, _strict)(sizes, current, candidate)


def _strict(sizes: Sizes, current: float, candidate: float) -> float:
    n = sizes.tasks * sizes.repeats
    theirs = _binomial(n, current)
    above = _tails(_binomial(n, candidate))
    margin = sizes.min_delta * n
    # Current passed k: the candidate has to pass more than k + margin.
    return sum(p * above[min(n, math.floor(k + margin + TIE)) + 1] for k, p in enumerate(theirs))


def _paired(sizes: Sizes, current: float, candidate: float) -> float:
    win, lose = _discordant(sizes.repeats, current, candidate)
    total = 0.0
    for n, p in enumerate(_binomial(sizes.tasks, win + lose)):
        if n == 0 or p < UNLIKELY:
            continue
        won = _tails(_binomial(n, win / (win + lose)))
        total += p * won[_wins_that_pass(n, sizes.alpha)]
    return total


def _pace(sizes: Sizes, current: float, candidate: float) -> float:
    """The chance that the stake reaches what is asked before val is through."""
    win, lose = _discordant(sizes.repeats, current, candidate)
    asked = payoff_asked(sizes.alpha, sizes.look)
    alive = {(0, 0): 1.0}
    reached = 0.0
    for _ in range(min(sizes.tasks, MOST_BETS)):
        after: dict[tuple[int, int], float] = {}
        for (won, lost), p in alive.items():
            for state, chance in (((won, lost), 1 - win - lose), ((won, lost + 1), lose)):
                after[state] = after.get(state, 0.0) + p * chance
            if _wealth(won + 1, lost) >= asked:
                reached += p * win
            else:
                after[won + 1, lost] = after.get((won + 1, lost), 0.0) + p * win
        alive = {state: p for state, p in after.items() if p > UNLIKELY / 100}
    return reached


Chance = Callable[[Sizes, float, float], float]
_RULES: Mapping[str, Chance] = {"strict": _strict, "paired": _paired, "pace": _pace}


def _discordant(repeats: int, current: float, candidate: float) -> tuple[float, float]:
    """How likely a task is won, and lost, when each side is the mean of its attempts."""
    ours, theirs = _binomial(repeats, candidate), _binomial(repeats, current)
    win = sum(p * q for i, p in enumerate(ours) for j, q in enumerate(theirs) if i > j)
    lose = sum(p * q for i, p in enumerate(ours) for j, q in enumerate(theirs) if i < j)
    return win, lose


@lru_cache(maxsize=512)
def _binomial(n: int, p: float) -> tuple[float, ...]:
    """The chance of each number of successes. Shape: n + 1 numbers."""
    if p <= 0.0 or p >= 1.0:
        sure = 0 if p <= 0.0 else n
        return tuple(float(k == sure) for k in range(n + 1))
    log_p, log_q, all_ways = math.log(p), math.log1p(-p), math.lgamma(n + 1)
    return tuple(
        math.exp(
            all_ways - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_p + (n - k) * log_q
        )
        for k in range(n + 1)
    )


def _tails(chances: tuple[float, ...]) -> list[float]:
    """The chance of so many or more. Shape: one number more than `chances`, the last 0."""
    tails = [0.0] * (len(chances) + 1)
    for k in range(len(chances) - 1, -1, -1):
        tails[k] = tails[k + 1] + chances[k]
    return tails


@lru_cache(maxsize=4096)
def _wins_that_pass(n: int, alpha: float) -> int:
    """How many of n discordant tasks have to be won; n + 1 when not even all would do."""
    by_luck = _tails(_binomial(n, 0.5))
    return next(wins for wins, chance in enumerate(by_luck) if chance <= alpha + TIE)


@lru_cache(maxsize=8192)
def _wealth(wins: int, losses: int) -> float:
    games = [(1 + stake) ** wins * (1 - stake) ** losses for stake in STAKES]
    return sum(games) / len(games)
