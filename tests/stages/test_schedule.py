from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.stages.schedule import (
    batches_at,
    build_scheduler,
    ends_epoch,
    epoch_of,
    steps_per_epoch,
)


@pytest.mark.parametrize("mode", ["linear", "cosine"])
def test_both_curves_go_from_four_to_two_over_eight_steps_alike(mode: str) -> None:
    rate = build_scheduler(mode, max_lr=4, min_lr=2, total_steps=8)
    assert [rate(step) for step in range(1, 9)] == [4, 4, 3, 3, 3, 2, 2, 2]


def test_constant_stays_at_the_maximum() -> None:
    rate = build_scheduler("constant", max_lr=4, min_lr=2, total_steps=8)
    assert {rate(step) for step in range(1, 9)} == {4}


@pytest.mark.parametrize("mode", ["constant", "linear", "cosine"])
def test_a_run_of_one_step_uses_the_maximum(mode: str) -> None:
    assert build_scheduler(mode, max_lr=4, min_lr=2, total_steps=1)(1) == 4


def test_an_unknown_curve_is_an_error() -> None:
    with pytest.raises(ValueError, match="exponential"):
        build_scheduler("exponential", total_steps=3)


@given(st.sampled_from(["linear", "cosine"]), st.integers(2, 200), st.integers(0, 9), st.data())
def test_a_schedule_never_rises_and_ends_at_the_minimum(
    mode: str, total: int, low: int, data: st.DataObject
) -> None:
    high = data.draw(st.integers(low, 20))
    rate = build_scheduler(mode, high, low, total)
    rates = [rate(step) for step in range(1, total + 1)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == low
    assert all(low <= r <= high for r in rates)


sizes = st.integers(1, 40)


@given(sizes, st.integers(1, 12), st.integers(1, 3), st.integers(0, 99), st.integers(0, 3))
def test_an_epoch_sees_every_train_task_exactly_once(
    train_size: int, batch_size: int, accumulation: int, seed: int, epoch: int
) -> None:
    ids = [f"t{i}" for i in range(train_size)]
    per_epoch = steps_per_epoch(train_size, batch_size, accumulation)
    steps = range(epoch * per_epoch + 1, (epoch + 1) * per_epoch + 1)
    seen = [
        task
        for step in steps
        for task in chain.from_iterable(
            batches_at(step, ids, batch_size=batch_size, accumulation=accumulation, seed=seed)
        )
    ]
    assert sorted(seen) == sorted(ids)
    assert {epoch_of(step, per_epoch) for step in steps} == {epoch + 1}
    assert [ends_epoch(step, per_epoch) for step in steps] == [False] * (per_epoch - 1) + [True]


@given(st.permutations([f"t{i}" for i in range(9)]), st.integers(1, 12))
def test_the_order_of_the_task_file_changes_no_batch(order: list[str], step: int) -> None:
    assert batches_at(step, order, batch_size=4) == batches_at(step, sorted(order), batch_size=4)


def test_epochs_are_shuffled_anew_and_seeds_differ() -> None:
    ids = [f"t{i}" for i in range(20)]
    first, second = (batches_at(step, ids, batch_size=20)[0] for step in (1, 2))
    assert first != second
    assert batches_at(1, ids, batch_size=20, seed=1)[0] != first


def test_step_zero_ends_no_epoch() -> None:
    assert not ends_epoch(0, 4)
    assert epoch_of(0, 4) == 0
