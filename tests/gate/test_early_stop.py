from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import measured, trial

from skillgit.gate import RULES, pool
from skillgit.gate.early_stop import EarlyStopper
from skillgit.records import Measurements, Score

score = st.sampled_from([0.0, 0.0, 1.0, 1.0, 0.5])


def keys(n: int) -> list[str]:
    return [f"t{i:03d}" for i in range(n)]


def ahead(current: dict[str, float], rule: str = "strict", **options: object) -> EarlyStopper:
    made = trial(measured(), measured(**current), order=tuple(current), **options)
    return EarlyStopper(RULES[rule].decide, made, repeats=1, may_be_unscored=0)


def test_the_first_block_is_as_large_as_the_failures_needed() -> None:
    names = keys(10)
    current = dict(zip(names, [1.0] * 6 + [0.0] * 4, strict=True))
    # At most 6 of 10 are a rejection: 4 have to fail.
    assert ahead(current).safe_batch([], names) == 4


def test_what_failed_is_taken_off_the_next_block() -> None:
    names = keys(10)
    current = dict(zip(names, [1.0] * 6 + [0.0] * 4, strict=True))
    seen = [measured(t000=0.0, t001=1.0, t002=0.0, t003=0.0)]
    assert ahead(current).safe_batch(seen, names[4:]) == 1
    seen = [measured(t000=0.0, t001=1.0, t002=0.0, t003=0.0, t004=0.0)]
    assert ahead(current).safe_batch(seen, names[5:]) == 0


def test_with_current_at_nothing_the_whole_of_val_goes_out() -> None:
    names = keys(6)
    assert ahead(dict.fromkeys(names, 0.0)).safe_batch([], names) == 6


def test_with_current_at_its_best_nothing_goes_out() -> None:
    names = keys(6)
    assert ahead(dict.fromkeys(names, 1.0)).safe_batch([], names) == 0


def test_one_failure_is_enough_where_no_task_may_fall() -> None:
    names = keys(6)
    current = dict(zip(names, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], strict=True))
    assert ahead(current, no_regression=0.0).safe_batch([], names) == 3


def test_a_rule_that_too_few_tasks_can_never_satisfy_sends_none() -> None:
    names = keys(4)
    assert ahead(dict.fromkeys(names, 0.0), "paired").safe_batch([], names) == 0


@pytest.mark.parametrize("rule", RULES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_cutting_short_never_changes_a_verdict(rule: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 24))
    repeats = data.draw(st.integers(1, 2))
    names = keys(n)
    current = measured(**{k: data.draw(score) for k in names})
    truth = [{k: data.draw(st.one_of(score, st.none())) for k in names} for _ in range(repeats)]
    made = trial(
        measured(),
        current,
        order=tuple(names),
        current_rounds=(current,),
        min_delta=data.draw(st.sampled_from([0.0, 0.0, 0.1])),
        no_regression=data.draw(st.sampled_from([None, None, 0.0, 0.5])),
        alpha=data.draw(st.sampled_from([0.05, 0.3])),
    )

    def rounds(sent: int) -> list[Measurements]:
        return [
            Measurements(
                object_id="",
                scores={
                    k: None if (v := seen[k]) is None else Score(hard=v, soft=v)
                    for k in names[:sent]
                },
            )
            for seen in truth
        ]

    early_stopper = EarlyStopper(RULES[rule].decide, made, repeats=repeats, may_be_unscored=n)
    sent = 0
    while sent < n:
        block = early_stopper.safe_batch(rounds(sent), names[sent:])
        if block == 0:
            break
        sent += block
    whole = rounds(n)
    full = RULES[rule].decide(
        made.model_copy(
            update={"candidate_scores": pool("", whole), "candidate_rounds": tuple(whole)}
        )
    )
    if sent < n:
        assert not full.result.action.accepted
