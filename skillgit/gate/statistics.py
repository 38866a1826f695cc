"""Exact intervals on how two versions compare, from tasks scored on both sides. Pure arithmetic.

A task is a pair: better, worse or equal with the second version. No normal approximation is made
anywhere, so the intervals hold for eight tasks as well as for eight hundred; they are wide where
there is little to know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from skillgit.gate.scores import TIE
from skillgit.records import Record

CONFIDENCE = 0.95
_SHARE_FOR_RATE = 0.2
_HALVINGS = 60


class Interval(Record):
    """A range that holds the true value with at least the given confidence."""

    low: float
    high: float


class Comparison(Record):
    """Tasks scored on both sides, by what became of each, and what that says of all such tasks.

    `interval` is on the net share: the share of tasks that get better less the share that get
    worse. Where every score is 0 or 1 this is the difference of the means. `p` is the two-sided
    sign test's: how often chance alone would part the changed tasks at least so unevenly.
    """

    better: int
    worse: int
    equal: int
    net_share: float
    interval: Interval
    p: float

    @property
    def n(self) -> int:
        """How many tasks were compared."""
        return self.better + self.worse + self.equal


def compare(differences: Iterable[float], *, confidence: float = CONFIDENCE) -> Comparison | None:
    """What the differences of paired scores say; `None` when there are none.

    Float noise is a tie.
    """
    found = list(differences)
    if not found:
        return None
    better = sum(difference > TIE for difference in found)
    worse = sum(difference < -TIE for difference in found)
    return Comparison(
        better=better,
        worse=worse,
        equal=len(found) - better - worse,
        net_share=(better - worse) / len(found),
        interval=net_share_interval(better, worse, len(found), confidence=confidence),
        p=two_sided_sign_test(better, worse),
    )


def net_share_interval(
    better: int, worse: int, n: int, *, confidence: float = CONFIDENCE
) -> Interval:
    """An interval on the share of tasks that get better less the share that get worse.

    The net share is r(2b - 1): r, how many tasks change, and b, how many of those get better.
    Both are binomial, so both get their Clopper-Pearson interval, with a fifth of the error for r
    and the rest for b; the result holds whatever r and b are (Bonferroni), given that the tasks
    are independent draws. It leaves out 0 exactly when the sign test is below four fifths of the
    error.
    """
    error = 1 - confidence
    rate = clopper_pearson(better + worse, n, confidence=1 - _SHARE_FOR_RATE * error)
    lean = clopper_pearson(better, better + worse, confidence=1 - (1 - _SHARE_FOR_RATE) * error)
    low, high = 2 * lean.low - 1, 2 * lean.high - 1
    return Interval(
        low=low * (rate.high if low < 0 else rate.low),
        high=high * (rate.low if high < 0 else rate.high),
    )


@lru_cache(maxsize=4096)
def sign_test(wins: int, losses: int) -> Fraction:
    """The one-sided exact sign test's p: how likely a fair coin wins at least so often."""
    n = wins + losses
    return Fraction(sum(math.comb(n, k) for k in range(wins, n + 1)), 2**n)


def two_sided_sign_test(better: int, worse: int) -> float:
    """The two-sided exact sign test's p: 1 when nothing changed."""
    return min(1.0, 2 * float(sign_test(max(better, worse), min(better, worse))))


def clopper_pearson(successes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval on a probability; all of [0, 1] when nothing was seen.

    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    tail = (1 - confidence) / 2
    low, high = 0.0, 1.0
    if successes > 0:
        low = _root(lambda p: at_most(n - successes, n, 1 - p) - tail)
    if successes < n:
        high = 1 - _root(lambda q: at_most(successes, n, 1 - q) - tail)
    return Interval(low=low, high=high)


def at_most(k: int, n: int, p: float) -> float:
    """The chance of at most k successes in n tries."""
    if k >= n:
        return 1.0
    return min(1.0, math.fsum(_chance(i, n, p) for i in range(k + 1)))


@lru_cache(maxsize=512)
def binomial(n: int, p: float) -> tuple[float, ...]:
    """The chance of each number of successes in n tries. Shape: n + 1 numbers."""
    return tuple(_chance(k, n, p) for k in range(n + 1))


def at_least(chances: Sequence[float]) -> list[float]:
    """The chance of so many or more. Shape: one number more than `chances`, the last 0."""
    tails = [0.0] * (len(chances) + 1)
    for k in range(len(chances) - 1, -1, -1):
        tails[k] = tails[k + 1] + chances[k]
    return tails


def _chance(k: int, n: int, p: float) -> float:
    """The chance of exactly k successes in n tries; a p outside [0, 1] is its nearer end."""
    if p <= 0.0 or p >= 1.0:
        return float(k == (0 if p <= 0.0 else n))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function on [0, 1] crosses zero, from below, so that bounds err outwards."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return low
