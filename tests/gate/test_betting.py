from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from trials import tally

from skillgit.gate import betting
from skillgit.gate.betting import highest_e_value, threshold
from skillgit.ports import Verdict
from skillgit.records import Action


def test_a_long_row_of_wins_pays_off() -> None:
    ruling = betting(tally(16, 0))
    assert ruling.verdict is Verdict.ACCEPT
    assert ruling.result.action is Action.ACCEPT_NEW_BEST


def test_a_few_wins_are_not_enough_and_the_number_missing_is_enough() -> None:
    ruling = betting(tally(5, 1))
    assert ruling.verdict is Verdict.NOT_ENOUGH
    assert ruling.needed is not None
    differences = [1.0] * 5 + [-1.0] + [1.0] * ruling.needed
    assert highest_e_value(differences) >= threshold(0.05, 1)
    assert highest_e_value(differences[:-1]) < threshold(0.05, 1)


def test_every_later_look_asks_for_more() -> None:
    asked = [threshold(0.05, look) for look in range(1, 200)]
    assert asked == sorted(asked)
    assert betting(tally(9, 0)).verdict is Verdict.ACCEPT
    assert betting(tally(9, 0, look=40)).verdict is Verdict.NOT_ENOUGH


def test_the_shares_of_all_looks_stay_below_alpha() -> None:
    assert sum(1 / threshold(0.05, look) for look in range(1, 100_000)) < 0.05


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60), st.integers(0, 59))
def test_a_better_score_never_pays_less(differences: list[float], at: int) -> None:
    if at < len(differences):
        better = [*differences]
        better[at] = min(1.0, better[at] + 1.0)
        assert highest_e_value(better) >= highest_e_value(differences)


def test_whole_runs_without_a_gain_are_seldom_fooled() -> None:
    fooled = 0
    for seed in range(400):
        rng = random.Random(seed)
        current = [rng.random() < 0.5 for _ in range(30)]
        fooled += any(
            highest_e_value([float((rng.random() < 0.5) - c) for c in current])
            >= threshold(0.05, look)
            for look in range(1, 21)
        )
    assert fooled <= 20  # 5 % of 400
