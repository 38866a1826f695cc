"""What the rest of a run takes: one walk over the schedule, at most and as is likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from projects import CONFIG

from skillgit.records import Role, Task, Usage
from skillgit.training.cost_estimate import (
    Price,
    calls_to_come,
    estimate,
    likely_calls,
    merge_calls,
    most_calls,
)
from skillgit.training.run_ends import baseline
from skillgit.training.state import Training

Open = Callable[..., Training]

PLAIN = CONFIG + "[slow_update]\nenabled = false\n[meta_skill]\nenabled = false\n"
"""Two epochs of two steps on four of eight train tasks; eight val and four test tasks."""


def one_each(tasks: Sequence[Task], times: float) -> Counter[Role]:
    return Counter({Role.TARGET: int(len(tasks) * times)})


PRICE = Price(attempts=one_each, minibatches=lambda _: [0, 0], compared=(), confirmed=0, tested=0)


@pytest.mark.parametrize(
    ("patches", "size", "calls"),
    [(0, 4, 0), (1, 4, 0), (2, 4, 1), (4, 4, 1), (5, 4, 2), (9, 4, 3), (3, 2, 2), (8, 2, 7)],
)
def test_merging_takes_a_call_for_every_group_of_several(
    patches: int, size: int, calls: int
) -> None:
    assert merge_calls(patches, size) == calls


def test_the_walk_is_the_baseline_and_each_steps_batch_and_validation(open_training: Open) -> None:
    setup = open_training(PLAIN)
    assert calls_to_come(setup, None, PRICE)[Role.TARGET] == 8 + 4 * (4 + 8)
    dreaming = replace(PRICE, rollouts=2, tested=3)
    assert calls_to_come(setup, None, dreaming)[Role.TARGET] == 8 + 4 * (2 * 4 + 8) + 3 * 4
    cut_short = replace(PRICE, validated=0.5)
    assert calls_to_come(setup, None, cut_short)[Role.TARGET] == 8 + 4 * (4 + 4)


def test_what_is_done_is_not_counted(open_training: Open) -> None:
    setup = open_training(PLAIN)
    state = baseline(setup).state
    assert calls_to_come(setup, state, PRICE)[Role.TARGET] == 4 * (4 + 8)
    later = replace(state, step=3)
    assert calls_to_come(setup, later, PRICE)[Role.TARGET] == 4 + 8
    ended = replace(state, step=4, ended=True)
    assert not calls_to_come(setup, ended, replace(PRICE, tested=3)).total()


def test_a_text_without_a_score_is_measured_before_the_next_gate(open_training: Open) -> None:
    setup = open_training(PLAIN)
    state = baseline(setup).state
    unmeasured = state.current.model_copy(update={"score": None})
    found = calls_to_come(setup, replace(state, current=unmeasured), PRICE)
    assert found[Role.TARGET] == 8 + 4 * (4 + 8)


def test_an_epochs_end_compares_two_sides_from_the_second_on(open_training: Open) -> None:
    setup = open_training(CONFIG)
    price = replace(PRICE, compared=setup.tasks.train[:5])
    found = calls_to_come(setup, None, price)
    assert found[Role.TARGET] == 8 + 4 * (4 + 8) + 2 * 5 + 8


@pytest.mark.parametrize("more", ["", "[gate]\nrefresh_every = 2\nrepeats = 3\n"])
def test_what_is_likely_is_never_above_the_most(open_training: Open, more: str) -> None:
    setup = open_training(CONFIG + more)
    most, likely = most_calls(setup, None), likely_calls(setup, None)
    assert set(likely) == set(most)
    assert all(0 <= likely[role] <= most[role] for role in most)
    assert sum(likely.values()) < sum(most.values())


def test_calls_that_were_seen_say_how_long_the_next_are(open_training: Open) -> None:
    setup = open_training(PLAIN)
    assert estimate(setup, None, {}).is_guess
    usage = Usage(prompt_tokens=100, completion_tokens=20)
    seen = {role.value: (2, usage) for role in (Role.TARGET, Role.OPTIMIZER)}
    found = estimate(setup, None, seen)
    assert not found.is_guess
    assert found.likely.tokens[Role.TARGET] == found.likely.calls[Role.TARGET] * 60
