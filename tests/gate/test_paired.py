from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import measured, tally, trial

from skillgit.gate import paired
from skillgit.gate.paired import wins_needed
from skillgit.gate.statistics import sign_test
from skillgit.ports import Verdict
from skillgit.records import Action


def test_five_wins_without_a_loss_are_enough() -> None:
    ruling = paired(tally(5, 0, 20))
    assert ruling.verdict is Verdict.ACCEPT
    assert ruling.result.action is Action.ACCEPT_NEW_BEST


def test_four_are_not_enough_and_one_more_is_needed() -> None:
    ruling = paired(tally(4, 0, 20))
    assert ruling.verdict is Verdict.NOT_ENOUGH
    assert ruling.needed == 1
    assert ruling.result.action is Action.REJECT
    assert "not enough tasks" in ruling.reason


def test_what_wins_no_more_than_it_loses_is_rejected_outright() -> None:
    ruling = paired(tally(3, 3))
    assert (ruling.verdict, ruling.needed) == (Verdict.REJECT, None)


def test_a_larger_alpha_asks_for_less() -> None:
    assert paired(tally(3, 0, 5, alpha=0.15)).verdict is Verdict.ACCEPT
    assert paired(tally(3, 0, 5, alpha=0.05)).verdict is Verdict.NOT_ENOUGH


def test_many_small_wins_do_not_pass_with_a_lower_mean() -> None:
    ours = {f"t{i}": 0.6 for i in range(9)} | {"u": 0.0}
    theirs = {f"t{i}": 0.5 for i in range(9)} | {"u": 1.0}
    assert sign_test(9, 1) < 0.05
    assert paired(trial(measured(**ours), measured(**theirs))).verdict is Verdict.REJECT


def test_the_sign_test_is_exact() -> None:
    assert float(sign_test(5, 0)) == 1 / 32
    assert float(sign_test(0, 0)) == 1.0
    assert float(sign_test(8, 2)) == pytest.approx(56 / 1024)


@given(st.integers(0, 30), st.integers(0, 30))
def test_so_many_more_wins_pass_and_one_fewer_does_not(wins: int, losses: int) -> None:
    more = wins_needed(wins, losses, 0.05)
    assert sign_test(wins + more, losses) <= 0.05
    assert more == 0 or sign_test(wins + more - 1, losses) > 0.05


def test_only_equally_many_measurements_are_held_against_each_other() -> None:
    """Current has been measured again: pooled, it is 0.5 where once it passed and once failed."""
    keys = [f"t{i}" for i in range(8)]
    once = measured(**dict.fromkeys(keys, 1.0))
    older, newest = measured(**dict.fromkeys(keys, 0.0)), measured(**dict.fromkeys(keys, 1.0))
    pooled = measured(**dict.fromkeys(keys, 0.5))
    made = trial(once, pooled, candidate_rounds=(once,), current_rounds=(older, newest))
    assert paired(made).verdict is Verdict.REJECT
    assert paired(trial(once, pooled)).verdict is Verdict.ACCEPT
