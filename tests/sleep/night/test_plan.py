from __future__ import annotations

import pytest
from night_projects import CONFIG, ask, asks

from skillgit.config import GateConfig, LeakAction, parse_config
from skillgit.errors import ConfigError
from skillgit.records import Metric
from skillgit.sleep.night.plan import night_config, why_unverified

TURNED = {
    "enabled": ("false", False),
    "metric": ('"soft"', Metric.SOFT),
    "mixed_weight": ("0.25", 0.25),
    "rule": ('"paired"', "paired"),
    "alpha": ("0.1", 0.1),
    "min_delta": ("0.1", 0.1),
    "no_regression": ("true", True),
    "repeats": ("3", 3),
    "curtail": ("false", False),
    "refresh_every": ("1", 1),
    "max_unscored": ("0.5", 0.5),
    "leak": ('"reject"', LeakAction.REJECT),
}


def test_every_key_of_the_gate_stands_under_sleep_too() -> None:
    assert set(TURNED) == set(GateConfig.model_fields)


@pytest.mark.parametrize("key", sorted(TURNED))
def test_a_gate_key_under_sleep_is_a_nights_and_not_a_trainings(key: str) -> None:
    text, value = TURNED[key]
    config = parse_config(f"{CONFIG}\n[sleep]\n{key} = {text}\n")
    assert getattr(night_config(config, 5).gate, key) == value
    assert getattr(config.gate, key) == getattr(GateConfig(), key)


def test_a_night_mixes_scores_by_default_whatever_a_training_does() -> None:
    config = parse_config(f'{CONFIG}\n[gate]\nmetric = "hard"\nrepeats = 3\n')
    gate = night_config(config, 5).gate
    assert (gate.metric, gate.repeats) == (Metric.MIXED, 1)


def test_a_night_is_one_epoch_over_all_of_train() -> None:
    config = night_config(parse_config(CONFIG), 7)
    assert (config.train.epochs, config.train.batch_size) == (1, 7)
    assert not config.slow_update.enabled
    assert not config.meta_skill.enabled


def test_val_of_its_own_is_held_out() -> None:
    tasks = asks()
    assert why_unverified(tasks[:4], tasks[4:]) == ("", None)


def test_no_val_at_all_needs_one() -> None:
    reason, needed = why_unverified(asks(3, 0), [])
    assert "no task is held out" in reason
    assert needed == 1


def test_a_near_duplicate_in_train_is_named() -> None:
    train = [ask("a", "Write a note about the parser, and do it well", "train")]
    val = [ask("b", "write a note about the parser and do it WELL!", "val")]
    reason, needed = why_unverified(train, val)
    assert "b" in reason
    assert needed == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("alpha = 2", "sleep.alpha: Input should be less than 1"),
        ("repeets = 3", "unknown key 'sleep.repeets', did you mean 'repeats'?"),
        ("max_task = 3", "unknown key 'sleep.max_task', did you mean 'max_tasks'?"),
        ("gate = { alpha = 0.1 }", "unknown key 'sleep.gate'"),
        ("gate.alpha = 0.1", "unknown key 'sleep.gate'"),
    ],
)
def test_a_wrong_gate_key_under_sleep_is_named_as_it_is_written(line: str, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        parse_config(f"{CONFIG}\n[sleep]\n{line}\n")
    assert said in str(wrong.value)
    assert "sleep.gate." not in str(wrong.value)
