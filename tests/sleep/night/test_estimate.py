from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from night_projects import House, asks

from skillgit.models.paid import Meter
from skillgit.records import Role
from skillgit.sleep.night.cycle import run_sleep_cycle
from skillgit.sleep.night.plan import Night, most_calls


@pytest.mark.parametrize(
    "sleep", ["", "repeats = 3", "dream_rollouts = 3\ndream_factor = 2", "enabled = false"]
)
def test_a_night_never_makes_more_calls_than_it_said(house: House, sleep: str) -> None:
    config = house.config(f"[train]\nminibatch_size = 2\nmerge_batch_size = 2\n[sleep]\n{sleep}")
    said: list[dict[Role, int]] = []

    def watch(setup: Night, _meter: Meter) -> None:
        said.append(most_calls(setup))

    with house.parts(config) as parts:
        run_sleep_cycle(config, parts=replace(parts, watch=watch), seed_tasks=asks(6, 3))
        (head,) = parts.journal.runs()
        made = Counter({r: calls for r, (calls, _) in parts.journal.usage(head.run_id).items()})
    assert made
    for role, calls in made.items():
        assert calls <= said[-1][Role(role)]
