from __future__ import annotations

import pytest
from projects import CONFIG

from skillgit.config import parse_config
from skillgit.training.identity import Identity, differences, identity_fingerprint, run_identity


def identity(config: str) -> Identity:
    return run_identity(
        parse_config(config), target={"model": "m"}, start_object="0" * 40, task_set_id="t"
    )


@pytest.mark.parametrize(
    ("added", "key"),
    [
        ("accumulation = 2\n", "train.accumulation"),
        ('update_mode = "full_rewrite_minibatch"\n', "train.update_mode"),
        ("[reflect]\nskill_aware = true\n", "reflect.skill_aware"),
        ('[reflect]\nappendix_source = "failure_only"\n', "reflect.appendix_source"),
        ("[reflect]\nappendix_max = 3\n", "reflect.appendix_max"),
        ('[lr]\nmode = "none"\n', "lr.mode"),
        ("[slow_update]\nenabled = false\n", "slow_update.enabled"),
        ("[slow_update]\nsamples = 4\n", "slow_update.samples"),
        ("[slow_update]\ngate = true\n", "slow_update.gate"),
        ('[slow_update]\npair_policy = "changed"\n', "slow_update.pair_policy"),
        ("[slow_update]\nmax_chars = 900\n", "slow_update.max_chars"),
        ("[meta_skill]\nenabled = false\n", "meta_skill.enabled"),
    ],
)
def test_what_changes_a_run_is_part_of_what_it_is(added: str, key: str) -> None:
    before, now = identity(CONFIG), identity(CONFIG + added)
    assert identity_fingerprint(before) != identity_fingerprint(now)
    (difference,) = differences(before, now)
    assert difference.startswith(f"{key}: ")


def with_style(style: str) -> str:
    return CONFIG.replace('model = "sim-optimizer"', f'model = "sim-optimizer"\nstyle = "{style}"')


def test_the_plain_style_makes_another_run_and_the_full_one_the_same() -> None:
    plain, full = identity(with_style("plain")), identity(with_style("full"))
    assert full == identity(CONFIG)
    assert "style" not in full["optimizer"]  # type: ignore[operator]
    (difference,) = differences(full, plain)
    assert difference.startswith("optimizer.style: ")


def test_epochs_and_workers_do_not_make_another_run() -> None:
    other = CONFIG.replace("epochs = 2", "epochs = 9").replace("workers = 4", "workers = 2")
    assert identity(other) == identity(CONFIG)


def test_a_run_begun_with_a_rule_that_had_another_name_is_the_same_run() -> None:
    before, now = (identity(f'{CONFIG}[gate]\nrule = "{name}"\n') for name in ("pace", "betting"))
    assert before == now
    assert before["gate"] == {**identity(CONFIG)["gate"], "rule": "pace"}  # type: ignore[dict-item]
