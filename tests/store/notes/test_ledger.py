from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from skillgit.history import Phase, RejectedLine, RunPosition, ScoresLine
from skillgit.records import Score
from skillgit.store.notes.ledger import pooled, rejected

A, B = "a" * 16, "b" * 16
TARGET = "f" * 16


def line(tasks, repeat=0, run="r" * 12, step=0, target=TARGET, phase=Phase.STEP) -> ScoresLine:
    return ScoresLine(repeat=repeat, run=run, step=step, phase=phase, target=target, tasks=tasks)


def known(lines, repeats=1, before=None) -> list[dict[str, float]]:
    found = pooled("0" * 40, lines, TARGET, repeats=repeats, before=before)
    return [{task: score.hard for task, score in one.scores.items()} for one in found]


def test_lines_are_pooled_per_task():
    assert known([line({A: (1.0, 1.0)}), line({B: (0.0, 0.5)}, step=3)]) == [{A: 1.0, B: 0.0}]


def test_null_is_no_measurement():
    lines = [line({A: None}), line({A: (1.0, 1.0)}, step=1)]
    assert known(lines, repeats=2) == [{A: 1.0}, {}]


def test_the_kth_repeat_is_answered_by_the_kth_measurement():
    lines = [line({A: (n / 4, 0.0)}, repeat=n) for n in range(3)]
    assert known(lines, repeats=4) == [{A: 0.0}, {A: 0.25}, {A: 0.5}, {}]


def test_another_target_is_another_measurement():
    assert known([line({A: (1.0, 1.0)}, target="0" * 16)]) == [{}]


def test_a_run_does_not_see_its_own_lines_from_its_position_on():
    lines = [
        line({A: (0.0, 0.0)}, step=2),
        line({B: (1.0, 1.0)}, step=3),
        line({"c" * 16: (1.0, 1.0)}, step=3, run="other"),
        line({"d" * 16: (1.0, 1.0)}, step=2, phase=Phase.EPOCH),
    ]
    here = RunPosition(run_id="r" * 12, step=3)
    assert set(known(lines, before=here)[0]) == {A, "c" * 16, "d" * 16}
    earlier = RunPosition(run_id="r" * 12, step=2, phase=Phase.EPOCH)
    assert set(known(lines, before=earlier)[0]) == {A, "c" * 16}


def test_scores_that_cannot_be_are_skipped():
    assert known([line({A: (85.0, 1.0), B: (1.0, -0.5)})]) == [{}]


def test_an_exact_zero_is_a_measurement():
    (one,) = pooled("0" * 40, [line({A: (0.0, 0.0)})], TARGET, repeats=1, before=None)
    assert one.scores == {A: Score(hard=0.0, soft=0.0)}


scores = st.floats(0, 1)
lines_of = st.lists(
    st.builds(
        line,
        st.dictionaries(st.sampled_from([A, B]), st.none() | st.tuples(scores, scores)),
        repeat=st.integers(0, 2),
        run=st.sampled_from(["x", "y"]),
        step=st.integers(0, 3),
    ),
    max_size=8,
)


@given(lines_of, st.randoms(use_true_random=False))
def test_the_order_of_lines_changes_nothing(lines, shuffle: random.Random):
    shuffled = list(lines)
    shuffle.shuffle(shuffled)
    assert known(lines, repeats=3) == known(shuffled, repeats=3)


def test_rejections_are_those_under_the_target_and_of_earlier_moments():
    def of(step: int, target: str = TARGET, run: str = "r") -> RejectedLine:
        return RejectedLine(
            run=run,
            step=step,
            target=target,
            tried_on="o",
            object="p",
            edits=(),
            before=0.5,
            after=0.5,
        )

    lines = [of(3), of(1), of(2, run="s"), of(1, target="0" * 16)]
    before = RunPosition(run_id="r", step=3)
    assert [n.step for n in rejected(lines, TARGET, before=before)] == [1, 2]
    assert [n.step for n in rejected(lines, TARGET, before=None)] == [1, 2, 3]
