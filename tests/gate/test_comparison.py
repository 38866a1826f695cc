from __future__ import annotations

import pytest
from trials import measured, tally, trial

from skillgit.gate import RULES, strict
from skillgit.ports import Rule, Verdict
from skillgit.records import Action

FALLEN = trial(measured(a=1.0, b=0.82), measured(a=0.55, b=0.91), names={"b": "task-b"})


def test_a_task_that_falls_rejects_and_is_named() -> None:
    ruling = strict(FALLEN.model_copy(update={"no_regression": 0.0}))
    assert ruling.result.action is Action.REJECT
    assert "task-b" in ruling.reason
    assert "0.09" in ruling.reason


def test_within_the_tolerance_it_may_fall() -> None:
    assert strict(FALLEN).result.action is Action.ACCEPT_NEW_BEST
    assert strict(FALLEN.model_copy(update={"no_regression": 0.09})).verdict is Verdict.ACCEPT
    assert strict(FALLEN.model_copy(update={"no_regression": 0.08})).verdict is Verdict.REJECT


def test_the_task_that_falls_furthest_is_the_one_named() -> None:
    made = trial(measured(a=1, b=0.5, c=0.2), measured(a=0, b=0.6, c=0.5), no_regression=0.05)
    assert "task c falls by 0.3" in strict(made).reason


def test_float_noise_is_no_fall() -> None:
    made = trial(measured(a=1, b=0.3), measured(a=0, b=0.1 + 0.2), no_regression=0.0)
    assert strict(made).verdict is Verdict.ACCEPT


def test_a_gain_has_to_be_above_min_delta() -> None:
    assert strict(tally(1, 0, 9, min_delta=0.1)).verdict is Verdict.REJECT
    assert strict(tally(1, 0, 9, min_delta=0.09)).verdict is Verdict.ACCEPT
    assert "above 0.1" in strict(tally(1, 0, 9, min_delta=0.1)).reason


@pytest.mark.parametrize("rule", [r.decide for r in RULES.values()], ids=RULES)
def test_no_rule_accepts_a_tie(rule: Rule) -> None:
    assert rule(tally(0, 0, 40)).result.action is Action.REJECT
    assert rule(tally(20, 20)).result.action is Action.REJECT


@pytest.mark.parametrize("rule", [r.decide for r in RULES.values()], ids=RULES)
@pytest.mark.parametrize("option", [{"min_delta": 0.95}, {"no_regression": 0.5}])
def test_the_options_work_with_every_rule(rule: Rule, option: dict[str, float]) -> None:
    assert rule(tally(30, 1)).result.action is Action.ACCEPT_NEW_BEST
    assert rule(tally(30, 1, **option)).result.action is Action.REJECT


@pytest.mark.parametrize("rule", [r.decide for r in RULES.values()], ids=RULES)
def test_a_rejection_leaves_current_and_best_as_they_were(rule: Rule) -> None:
    result = rule(tally(0, 3, 3)).result
    assert result.current_skill.main.data == b"old"
    assert (result.current_score, result.best_score, result.best_step) == (1.0, 1.0, 0)


def test_accepted_but_not_best_leaves_best_alone() -> None:
    made = trial(measured(a=1, b=0), measured(a=0, b=0), measured(a=1, b=1))
    assert strict(made).result.action is Action.ACCEPT
