from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from skillgit.cli.init.config_text import ModelChoice, batch_size_for, config_text
from skillgit.config import parse_config

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30)


@given(onto=TEXT, path=TEXT, url=TEXT | st.none(), variable=TEXT | st.none())
def test_any_names_come_back_from_the_file(
    onto: str, path: str, url: str | None, variable: str | None
) -> None:
    choice = ModelChoice("openai", path, base_url=url, api_key_env=variable)
    text = config_text(
        onto=onto, skill=path, tasks=path, target=choice, optimizer=choice, batch_size=3
    )
    config = parse_config(text)
    assert (config.repo.onto, config.skill.path, config.tasks.path) == (onto, path, path)
    assert (config.target.base_url, config.target.model) == (url, path)
    if variable is not None:
        assert config.target.api_key_env == variable


@given(st.integers(min_value=1, max_value=5000))
def test_an_epoch_has_at_least_four_steps_or_one_a_task(n: int) -> None:
    size = batch_size_for(n)
    assert 1 <= size <= 40
    assert math.ceil(n / size) >= min(n, 4)


def test_batches_are_as_large_as_four_steps_allow() -> None:
    assert [batch_size_for(n) for n in (1, 4, 8, 40, 121, 1000)] == [1, 1, 2, 13, 40, 40]
