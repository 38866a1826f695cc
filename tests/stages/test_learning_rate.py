from __future__ import annotations

import pytest

from skillgit.config import LrConfig
from skillgit.errors import CallError
from skillgit.records import LearningRate, Score
from skillgit.stages.learning_rate import (
    decide_autonomous_learning_rate,
    scheduled_learning_rate,
)


def decided(script, skill, add, answer: object, n: int) -> LearningRate:
    optimizer, _ = script(lambda _request, _call: answer)
    return decide_autonomous_learning_rate(
        [add(f"- Rule {i}.") for i in range(n)],
        skill,
        optimizer,
        rollout_score=Score(hard=0.25, soft=0.5),
        n_rollouts=8,
        step_buffer="",
        meta_skill="",
    )


@pytest.mark.parametrize(
    ("answer", "rate", "fallback", "clamped"),
    [
        ({"learning_rate": 0}, 0, False, False),
        ({"learning_rate": 3}, 3, False, False),
        ({"learning_rate": 9}, 9, False, False),
        ({"learning_rate": 99}, 9, False, True),
        ({"learning_rate": "about 3"}, 0, True, False),
        ({"learning_rate": -2}, 0, True, False),
        ({"learning_rate": True}, 0, True, False),
        ({"learning_rate": 2.5}, 0, True, False),
        ({"learning_rate": None}, 0, True, False),
        ({"rate": 3}, 0, True, False),
        ("three, I think", 0, True, False),
        ([3], 0, True, False),
        ("", 0, True, False),
    ],
)
def test_a_decision_is_clamped_and_an_unusable_one_makes_no_edit(
    script,
    skill,
    add,
    answer: object,
    rate: int,
    fallback: bool,
    clamped: bool,
) -> None:
    found = decided(script, skill, add, answer, 9)
    assert (found.learning_rate, found.fallback, found.clamped) == (rate, fallback, clamped)
    assert found.available_update_items == 9
    assert found.reasoning or not fallback


def test_the_record_keeps_everything_that_was_said(script, skill, add) -> None:
    answer = {
        "learning_rate": 12,
        "reasoning": "Two causes explain it all.",
        "confidence": "high",
        "risk_notes": ["they touch", 3],
    }
    found = decided(script, skill, add, answer, 4)
    assert found.raw_learning_rate == 12
    assert found.learning_rate == 4
    assert found.confidence == "high"
    assert found.reasoning == "Two causes explain it all."
    assert found.risk_notes == ("they touch",)
    assert '"learning_rate": 12' in found.raw_response


def test_an_unusable_answer_stands_in_the_record_as_it_came(script, skill, add) -> None:
    assert decided(script, skill, add, "about three", 4).raw_response == "about three"
    assert (
        decided(script, skill, add, {"learning_rate": 1, "confidence": "sure"}, 4).confidence
        is None
    )


def test_a_call_that_fails_makes_no_edit(script, skill, add) -> None:
    found = decided(script, skill, add, CallError("timed out"), 4)
    assert found.fallback
    assert found.learning_rate == 0
    assert "timed out" in found.reasoning


def test_of_no_edits_nothing_is_asked(script, skill, add) -> None:
    found = decided(script, skill, add, AssertionError("asked"), 0)
    assert found.learning_rate == 0
    assert not found.fallback


def test_it_is_told_no_usual_number(script, skill, add) -> None:
    optimizer, model = script(lambda _request, _call: {"learning_rate": 1})
    decide_autonomous_learning_rate(
        [add("- A."), add("- B.")],
        skill,
        optimizer,
        rollout_score=Score(hard=0.25, soft=0.5),
        n_rollouts=8,
        step_buffer="### Step 1 — REJECT (5/16 failed)",
        meta_skill="Short edits work.",
    )
    prompt = model.prompt("decision")
    for told in ("hard 0.25, soft 0.5", "8 attempts", "### Step 1", "Short edits work.", "- B."):
        assert told in prompt
    assert "at most" not in prompt


def test_mode_none_sets_no_limit() -> None:
    found = scheduled_learning_rate(LrConfig(mode="none"), 1, 8, 30)
    assert found.learning_rate is None
    assert found.available_update_items == 30
