from __future__ import annotations

import pytest
from trials import measured, skill

from skillgit.config import GateConfig
from skillgit.evaluation.noise import noise_of

GATE = GateConfig()


def test_what_always_comes_out_the_same_has_no_noise() -> None:
    rounds = [measured(a=1, b=0, c=1)] * 3
    noise = noise_of(skill("x"), rounds, GATE)
    assert noise is not None
    assert (noise.spread, noise.error, noise.accepted) == (0.0, 0.0, 0)
    assert (noise.always_full, noise.always_nothing, noise.flipping) == (2, 1, ())


def test_what_flips_is_named_and_counted() -> None:
    rounds = [measured(a=1, b=0, c=1), measured(a=1, b=1, c=1)]
    noise = noise_of(skill("x"), rounds, GATE)
    assert noise is not None
    assert noise.means == pytest.approx((2 / 3, 1.0))
    assert noise.flipping == (("b", 0.5),)
    assert (noise.accepted, noise.compared) == (1, 2)
    assert noise.error == pytest.approx((0.5**0.5) / 3)


def test_a_rule_that_reckons_with_luck_is_not_fooled_by_it() -> None:
    rounds = [measured(a=1, b=0, c=1), measured(a=1, b=1, c=1)]
    noise = noise_of(skill("x"), rounds, GateConfig(rule="paired"))
    assert noise is not None
    assert noise.accepted == 0


def test_a_task_without_a_score_in_every_measurement_is_left_out() -> None:
    noise = noise_of(skill("x"), [measured(a=1, b=None), measured(a=1, b=1)], GATE)
    assert noise is not None
    assert noise.tasks == 1


def test_one_measurement_says_nothing() -> None:
    assert noise_of(skill("x"), [measured(a=1)], GATE) is None
    assert noise_of(skill("x"), [measured(a=None), measured(a=1)], GATE) is None
