from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config import PairPolicy
from skillgit.history.notes import PairKind
from skillgit.records import JudgeSpec, Split, Task
from skillgit.stages.comparison import (
    build_comparison_pairs,
    pair_scores,
    pairs_by_policy,
    sample_tasks,
    shown_pairs,
)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (0.0, 1.0, PairKind.IMPROVED),
        (1.0, 0.0, PairKind.REGRESSED),
        (0.348, 0.9, PairKind.PERSISTENT_FAIL),
        (1.0, 0.999, PairKind.REGRESSED),
        (1.0, 1.0, PairKind.STABLE_SUCCESS),
    ],
)
def test_passing_is_a_full_score(graded, before: float, after: float, kind: PairKind) -> None:
    (pair,) = build_comparison_pairs([graded("a", before)], [graded("a", after)])
    assert pair.kind is kind
    (scores,) = pair_scores([pair])
    assert (scores.before.hard, scores.after.hard) == (before, after)


def test_regressions_stand_first_and_the_rest_by_weight(graded) -> None:
    before = [graded(i, hard) for i, hard in zip("abcde", (1, 0, 0, 1, 1), strict=True)]
    after = [graded(i, hard) for i, hard in zip("abcde", (1, 1, 0, 0, 0), strict=True)]
    pairs = build_comparison_pairs(before, after)
    assert [pair.task_id for pair in pairs] == ["d", "e", "c", "b", "a"]


def test_a_pair_with_an_unscored_side_is_left_out(graded) -> None:
    before = [graded("a", None), graded("b", 1.0), graded("c", 1.0)]
    after = [graded("a", 1.0), graded("b", None), graded("c", 1.0), graded("d", 1.0)]
    assert [pair.task_id for pair in build_comparison_pairs(before, after)] == ["c"]


def test_each_policy_looks_at_its_pairs(graded) -> None:
    before = [graded(i, hard) for i, hard in zip("abcd", (0, 0, 1, 1), strict=True)]
    after = [graded(i, hard) for i, hard in zip("abcd", (0, 1, 0, 1), strict=True)]
    pairs = build_comparison_pairs(before, after)
    found = {p: {pair.task_id for pair in pairs_by_policy(pairs, p)} for p in PairPolicy}
    assert found == {
        PairPolicy.MIXED: set("abcd"),
        PairPolicy.CHANGED: set("bc"),
        PairPolicy.UNCHANGED: set("ad"),
    }


def test_both_attempts_are_shown_cut_to_size_without_the_reference(graded) -> None:
    pairs = build_comparison_pairs(
        [graded("a", 1.0, answer="Before." + "x" * 900)], [graded("a", 0.0, answer="Now.")]
    )
    text = shown_pairs(pairs, 200)
    assert "1 passed before, fails now" in text
    assert text.index("#### Before") < text.index("Passed (") < text.index("#### Now")
    assert "characters cut here" in text
    assert "the secret reference" not in text


def tasks(count: int) -> list[Task]:
    spec = JudgeSpec(kind="exact")
    return [
        Task(id=f"t{i}", prompt="p", judge=spec, split=Split.TRAIN, reference="r")
        for i in range(count)
    ]


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**31), st.randoms())
def test_the_seed_picks_the_tasks_whatever_their_order(count, samples, seed, luck) -> None:
    given_tasks = tasks(count)
    picked = sample_tasks(given_tasks, samples, seed)
    luck.shuffle(given_tasks)
    assert sample_tasks(given_tasks, samples, seed) == picked
    assert len({task.id for task in picked}) == min(count, samples)


def test_another_seed_picks_others() -> None:
    assert sample_tasks(tasks(40), 20, 1) != sample_tasks(tasks(40), 20, 2)
