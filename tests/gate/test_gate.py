from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import measured, trial

from skillgit.gate import select_gate_score, strict
from skillgit.gate.comparison import evaluate_gate
from skillgit.records import Action, Metric

unit = st.floats(0, 1)


def decide(candidate: float, current: float, best: float, **kwargs: object) -> Action:
    return evaluate_gate("cand", candidate, "cur", current, "best", best, 7, 12, **kwargs).action  # type: ignore[arg-type]


def test_a_candidate_above_current_and_best_is_the_new_best() -> None:
    result = evaluate_gate("cand", 0.6250, "cur", 0.5625, "best", 0.6000, 7, 12)
    assert result.action is Action.ACCEPT_NEW_BEST
    assert (result.best_step, result.best_skill, result.best_score) == (12, "cand", 0.6250)
    assert (result.current_skill, result.current_score) == ("cand", 0.6250)


def test_a_candidate_above_current_alone_leaves_best_alone() -> None:
    result = evaluate_gate("cand", 0.58, "cur", 0.5625, "best", 0.6, 7, 12)
    assert result.action is Action.ACCEPT
    assert (result.best_skill, result.best_score, result.best_step) == ("best", 0.6, 7)
    assert result.current_skill == "cand"


def test_a_tie_is_a_rejection_and_leaves_everything_as_it_was() -> None:
    result = evaluate_gate("cand", 0.5625, "cur", 0.5625, "best", 0.6, 7, 12)
    assert result.action is Action.REJECT
    assert (result.current_skill, result.current_score) == ("cur", 0.5625)
    assert (result.best_skill, result.best_score, result.best_step) == ("best", 0.6, 7)


def test_float_noise_is_a_tie() -> None:
    assert decide(0.1 + 0.2, 0.3, 0.3) is Action.REJECT
    assert decide(sum([0.1] * 10), 1.0, 1.0) is Action.REJECT


def test_a_current_score_of_zero_is_a_score() -> None:
    assert decide(0.0, 0.0, 0.0) is Action.REJECT
    assert decide(0.01, 0.0, 0.0) is Action.ACCEPT_NEW_BEST


def test_the_metric_chooses_what_is_compared() -> None:
    assert decide(0.5, 0.5, 0.5, cand_soft=0.9, metric="soft") is Action.ACCEPT_NEW_BEST
    assert decide(0.5, 0.5, 0.5, cand_soft=0.9, metric="hard") is Action.REJECT
    assert decide(0.5, 0.6, 0.6, cand_soft=0.9, metric="mixed") is Action.ACCEPT_NEW_BEST
    assert decide(0.5, 0.6, 0.6, cand_soft=0.9, metric="mixed", mixed_weight=0.1) is Action.REJECT


def test_mixed_weighs_soft_by_w() -> None:
    assert select_gate_score(0.4, 0.8, Metric.MIXED, 0.25) == pytest.approx(0.5)
    assert select_gate_score(0.4, 0.8, "hard") == 0.4
    assert select_gate_score(0.4, 0.8, "soft") == 0.8


def test_an_unknown_metric_is_an_error() -> None:
    with pytest.raises(ValueError, match="medium"):
        select_gate_score(0.4, 0.8, "medium")


@given(unit, unit, unit)
def test_best_never_falls_and_current_never_falls(cand: float, current: float, best: float) -> None:
    result = evaluate_gate("cand", cand, "cur", current, "best", best, 7, 12)
    assert result.best_score >= best
    assert result.current_score >= current
    assert (result.action is Action.REJECT) == (cand - current <= 1e-9)


def test_a_candidate_that_lets_the_hardest_tasks_time_out_gains_nothing_by_it() -> None:
    ruling = strict(trial(measured(a=1, b=1, c=None), measured(a=1, b=1, c=0)))
    assert ruling.result.action is Action.REJECT
    assert "2 tasks scored on every side" in ruling.reason


def test_what_current_could_not_score_does_not_count_for_the_candidate() -> None:
    ruling = strict(trial(measured(a=1, b=1), measured(a=1, b=None)))
    assert ruling.result.action is Action.REJECT


def test_nothing_in_common_is_a_rejection() -> None:
    ruling = strict(trial(measured(a=None), measured(a=1)))
    assert ruling.result.action is Action.REJECT
    assert "no task" in ruling.reason


def test_one_more_task_passed_is_enough() -> None:
    ruling = strict(trial(measured(a=1, b=1, c=0), measured(a=1, b=0, c=0)))
    assert ruling.result.action is Action.ACCEPT_NEW_BEST
    assert ruling.result.best_step == 3
