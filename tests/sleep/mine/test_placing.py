"""Placing: relatives together, and a split once given is kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillgit.records import JudgeSpec, Split
from skillgit.sleep.mine import MinedTask, PlacedTask, place

RATIO = (0.5, 0.25, 0.25)


def task(prompt: str, *lineages: str) -> MinedTask:
    judge = JudgeSpec(kind="rule", settings={"checks": [{"op": "contains", "arg": "x"}]})
    return MinedTask(
        id=f"m-{prompt}", prompt=prompt, judge=judge, tags=(), evidence=(),
        lineages=lineages or (prompt,), weight=1,
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=25, unique_by=lambda p: p[0]
    )
)
def test_a_lineage_stays_in_one_split_whatever_the_order(pairs: list[tuple[int, int]]) -> None:
    tasks = [task(f"request number {a} about {a * a}", f"l{b}") for a, b in pairs]
    found = {t.id: split for t, split in place(tasks, (), RATIO).tasks}
    assert len(found) == len(tasks)
    assert found == {t.id: split for t, split in place(tasks[::-1], (), RATIO).tasks}
    for lineage in {t.lineages for t in tasks}:
        assert len({found[t.id] for t in tasks if t.lineages == lineage}) == 1


def test_enough_unrelated_tasks_fill_every_split() -> None:
    placed = place([task(f"request {n} of {n * 7}") for n in range(12)], (), RATIO)
    assert {split for _, split in placed.tasks} == set(Split)


def test_a_newcomer_goes_where_its_relative_is() -> None:
    placed_before = [PlacedTask("Write the release notes", ("a",), Split.VAL)]
    near, kin, free = task("write the release notes!"), task("Another one", "a"), task("Else")
    found = {t.id: s for t, s in place([near, kin, free], placed_before, (1, 0, 0)).tasks}
    assert found == {near.id: Split.VAL, kin.id: Split.VAL, free.id: Split.TRAIN}


def test_one_that_would_join_two_splits_is_dropped() -> None:
    placed_before = [PlacedTask("One", ("a",), Split.VAL), PlacedTask("Two", ("b",), Split.TRAIN)]
    both, only = task("Three", "a", "b"), task("Four", "a")
    placed = place([both, only], placed_before, RATIO)
    assert [t.id for t in placed.dropped] == [both.id]
    assert [(t.id, s) for t, s in placed.tasks] == [(only.id, Split.VAL)]
