from __future__ import annotations

import json

import pytest

from skillgit.judges.rubric import RUBRIC, RubricFields
from skillgit.models.simulated import SimulatedModel
from skillgit.prompting.prompts import load_prompts
from skillgit.records import Message, ModelRequest, Speaker

CRITERIA = '- It has a section headed "Key Risks".\n- It says "Confidence: high".'


def verdict(clock, criteria: str, answer: str) -> dict:
    from skillgit.config import SimulationConfig

    fields = RubricFields(task="Write.", reference="None.", criteria=criteria, answer=answer)
    text = RUBRIC.render(load_prompts()[RUBRIC.name], fields)
    request = ModelRequest(
        model="sim-optimizer",
        messages=(Message(role=Speaker.USER, content=text),),
        answer_schema=RUBRIC.schema(),
    )
    return json.loads(SimulatedModel(SimulationConfig(), clock).complete(request).text)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("# Brief", 0.0),
        ("## Key risks\n\nNone.", 0.5),
        ("## Key risks\n\nNone.\n\nConfidence: HIGH", 1.0),
    ],
)
def test_what_a_criterion_quotes_has_to_be_in_the_answer(clock, answer, score) -> None:
    assert verdict(clock, CRITERIA, answer)["score"] == score


def test_the_reason_names_the_criteria_that_are_missed(clock) -> None:
    reason = verdict(clock, CRITERIA, "## Key Risks")["reason"]
    assert reason == 'not met: It says "Confidence: high".'


def test_criteria_that_quote_nothing_are_met(clock) -> None:
    assert verdict(clock, "- It is kind.", "# Brief") == {"score": 1.0, "reason": ""}
