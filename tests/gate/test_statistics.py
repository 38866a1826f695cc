"""Intervals against their definitions, against textbook values, and against all small worlds."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.gate.statistics import (
    Interval,
    at_most,
    clopper_pearson,
    compare,
    net_share_interval,
    two_sided_sign_test,
)

COUNTS = st.integers(0, 60)


def test_known_values_of_clopper_and_pearson() -> None:
    found = clopper_pearson(8, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4439, 0.9748)
    none = clopper_pearson(0, 20)
    assert none.low == 0.0
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 20), abs=1e-9)
    assert clopper_pearson(0, 0) == Interval(low=0.0, high=1.0)


@given(COUNTS, COUNTS)
def test_an_interval_on_a_probability_holds_what_was_seen(successes: int, failures: int) -> None:
    n = successes + failures
    found = clopper_pearson(successes, n)
    assert 0 <= found.low <= (successes / n if n else 0.5) <= found.high <= 1


@given(COUNTS, COUNTS)
def test_the_bounds_are_where_the_tails_have_the_error(successes: int, failures: int) -> None:
    n = successes + failures
    found = clopper_pearson(successes, n)
    if successes > 0:
        assert 1 - at_most(successes - 1, n, found.low) == pytest.approx(0.025, abs=1e-6)
    if failures > 0:
        assert at_most(successes, n, found.high) == pytest.approx(0.025, abs=1e-6)


@given(COUNTS, COUNTS, COUNTS)
def test_the_net_share_lies_in_its_interval_and_the_interval_in_its_range(
    better: int, worse: int, equal: int
) -> None:
    n = better + worse + equal
    if n == 0:
        return
    found = net_share_interval(better, worse, n)
    assert -1 <= found.low <= (better - worse) / n <= found.high <= 1


@given(COUNTS, COUNTS, COUNTS)
def test_swapping_the_sides_mirrors_the_interval(better: int, worse: int, equal: int) -> None:
    n = better + worse + equal
    if n == 0:
        return
    one, other = net_share_interval(better, worse, n), net_share_interval(worse, better, n)
    assert one.low == pytest.approx(-other.high, abs=1e-9)
    assert one.high == pytest.approx(-other.low, abs=1e-9)


@given(COUNTS, COUNTS, COUNTS)
def test_zero_is_left_out_exactly_when_the_sign_test_says_so(
    better: int, worse: int, equal: int
) -> None:
    n = better + worse + equal
    p = two_sided_sign_test(better, worse)
    if n == 0 or abs(p - 0.04) < 1e-6:
        return
    found = net_share_interval(better, worse, n)
    assert (found.low > 0 or found.high < 0) == (p < 0.04)


@given(COUNTS, COUNTS, COUNTS, st.floats(0.5, 0.98))
def test_more_confidence_is_never_a_narrower_interval(
    better: int, worse: int, equal: int, confidence: float
) -> None:
    n = better + worse + equal
    if n == 0:
        return
    wide = net_share_interval(better, worse, n, confidence=0.99)
    narrow = net_share_interval(better, worse, n, confidence=confidence)
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12


@pytest.mark.parametrize("n", [1, 4, 12])
def test_the_interval_holds_the_truth_as_often_as_it_says(n: int) -> None:
    """Coverage in every world of a grid, summed over all outcomes there can be."""
    found = {(b, w): net_share_interval(b, w, n) for b in range(n + 1) for w in range(n + 1 - b)}
    grid = [i / 8 for i in range(9)]
    for better, worse in product(grid, grid):
        if better + worse > 1:
            continue
        truth = better - worse
        covered = math.fsum(
            _chance(n, b, w, better, worse)
            for (b, w), interval in found.items()
            if interval.low - 1e-9 <= truth <= interval.high + 1e-9
        )
        assert covered >= 0.95


def _chance(n: int, b: int, w: int, better: float, worse: float) -> float:
    ways = math.comb(n, b) * math.comb(n - b, w)
    equal = max(0.0, 1 - better - worse)
    return float(ways * better**b * worse**w * equal ** (n - b - w))


def test_nothing_changed_says_little_when_there_was_little_to_see() -> None:
    few, many = net_share_interval(0, 0, 4), net_share_interval(0, 0, 400)
    assert few.high == -few.low > 0.7
    assert many.high == -many.low < 0.02


def test_known_values_of_the_sign_test() -> None:
    assert two_sided_sign_test(5, 0) == pytest.approx(0.0625)
    assert two_sided_sign_test(9, 1) == pytest.approx(22 / 1024)
    assert two_sided_sign_test(3, 3) == 1.0
    assert two_sided_sign_test(0, 0) == 1.0


def test_large_sets_neither_overflow_nor_take_long() -> None:
    found = net_share_interval(3000, 2000, 20_000)
    assert 0.04 < found.low < 0.05 < found.high < 0.06
    assert two_sided_sign_test(3000, 2000) < 1e-12


def test_pairs_are_sorted_into_better_worse_and_equal() -> None:
    found = compare([1.0, 0.5, -1.0, 0.0, 0.1 + 0.2 - 0.3])
    assert found is not None
    assert (found.better, found.worse, found.equal, found.n) == (2, 1, 2, 5)
    assert found.net_share == pytest.approx(0.2)
    assert found.interval.low < 0.2 < found.interval.high


def test_no_pairs_compare_to_nothing() -> None:
    assert compare([]) is None


def test_the_example_of_the_guide_is_what_comes_out() -> None:
    found = net_share_interval(4, 0, 4)
    guide = Path(__file__).parents[2] / "docs" / "how-to" / "compare-versions.md"
    assert f"interval {found.low:+.4f} to {found.high:+.4f}" in guide.read_text(encoding="utf-8")
