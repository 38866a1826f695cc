"""The cut of a ranked row of groups at a ratio."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillgit.records import Split
from skillgit.tasks.splits import cut, share_out

HALF = (0.5, 0.25, 0.25)


def test_the_largest_remainders_get_what_is_left() -> None:
    assert share_out(15, HALF) == [7, 4, 4]
    assert share_out(3, HALF) == [1, 1, 1]
    assert share_out(10, (0.7, 0.3, 0.0)) == [7, 3, 0]
    assert share_out(0, HALF) == [0, 0, 0]


def test_single_tasks_are_cut_at_the_ratio() -> None:
    assert cut([1] * 8, HALF) == [Split.TRAIN] * 4 + [Split.VAL] * 2 + [Split.TEST] * 2


def test_one_big_group_does_not_leave_val_empty() -> None:
    assert cut([10, 1], HALF) == [Split.TRAIN, Split.VAL]
    assert cut([1, 10, 1], HALF) == [Split.TRAIN, Split.VAL, Split.TEST]


def test_a_split_without_a_share_gets_nothing() -> None:
    assert set(cut([1] * 9, (0.5, 0.5, 0.0))) == {Split.TRAIN, Split.VAL}


@given(st.lists(st.integers(1, 20), max_size=30))
def test_every_split_has_a_group_while_there_are_groups_enough(sizes: list[int]) -> None:
    splits = cut(sizes, HALF)
    assert len(splits) == len(sizes)
    wanted = list(Split)[: len(sizes)]
    assert all(split in splits for split in wanted)
