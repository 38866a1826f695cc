from __future__ import annotations

import pytest

from skillgit.errors import ConfigError
from skillgit.gate.power import accept_chance, power_of
from skillgit.gate.registry import RULES
from skillgit.gate.rule import Sizes


def test_the_plain_rule_takes_an_equal_candidate_in_45_percent_of_tries() -> None:
    assert accept_chance(Sizes(rule="strict", tasks=40), 0.5, 0.5) == pytest.approx(
        0.456, abs=0.001
    )
    assert accept_chance(Sizes(rule="strict", tasks=40), 0.7, 0.65) == pytest.approx(0.27, abs=0.01)


def test_a_significance_test_sees_little() -> None:
    sizes = Sizes(rule="paired", tasks=40)
    assert accept_chance(sizes, 0.5, 0.5) <= 0.05
    assert accept_chance(sizes, 0.5, 0.55) == pytest.approx(0.08, abs=0.01)


@pytest.mark.parametrize("rule", RULES)
def test_more_tasks_see_smaller_gains(rule: str) -> None:
    few, many = (power_of(Sizes(rule=rule, tasks=n)).smallest_gain for n in (24, 96))
    assert many is not None
    assert few is None or many < few


def test_repeats_see_smaller_gains() -> None:
    once, often = (power_of(Sizes(rule="strict", tasks=20, repeats=n)) for n in (1, 4))
    assert once.smallest_gain is not None
    assert often.smallest_gain is not None
    assert often.smallest_gain < once.smallest_gain


def test_min_delta_makes_false_accepts_rarer() -> None:
    plain, asking = (Sizes(rule="strict", tasks=40, min_delta=d) for d in (0.0, 0.1))
    assert power_of(asking).false_accept < power_of(plain).false_accept


def test_few_tasks_are_poor_and_many_are_not() -> None:
    assert power_of(Sizes(rule="strict", tasks=6)).is_poor
    assert not power_of(Sizes(rule="strict", tasks=60)).is_poor


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_the_ends_of_the_scale_are_no_trouble(score: float) -> None:
    assert 0.0 <= power_of(Sizes(rule="strict", tasks=10), score).false_accept < 0.5


@pytest.mark.parametrize("rule", RULES)
def test_one_task_sees_no_gain_for_sure_and_thousands_see_a_small_one(rule: str) -> None:
    one, thousands = (power_of(Sizes(rule=rule, tasks=n)) for n in (1, 1_500))
    assert one.smallest_gain is None
    assert one.false_accept <= 0.25
    assert thousands.smallest_gain is not None
    assert thousands.smallest_gain <= 0.4
    assert thousands.false_accept < 0.5


def test_a_rule_that_there_is_not_has_no_power() -> None:
    sizes = Sizes(rule="made-up", tasks=40)
    for ask in (lambda: power_of(sizes), lambda: accept_chance(sizes, 0.5, 0.6)):
        with pytest.raises(ConfigError, match="there is no rule 'made-up'"):
            ask()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_accepts_what_is_clearly_better_nearly_always(rule: str) -> None:
    sizes = Sizes(rule=rule, tasks=80)
    assert accept_chance(sizes, 0.1, 0.1) < 0.5 < 0.9 < accept_chance(sizes, 0.1, 0.9)
