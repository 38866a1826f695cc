"""The target answers from its canned words, uses tools when told to, and is deterministic."""

from __future__ import annotations

import json

from skillgit.config import SimulationConfig
from skillgit.models.simulated.target import answer
from skillgit.records import Message, ModelReply, ModelRequest, Speaker, ToolSpec

WHOLLY = SimulationConfig(obedience=1.0)
TASK = "Write a brief on cargo bikes for parcel delivery."
WEATHER = ToolSpec(
    name="look_up",
    description="Looks a place up.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 3}},
    },
    result="Bikes carry 80 kg.",
)


def asked(
    skill: str,
    *more: Message,
    tools: tuple[ToolSpec, ...] = (),
    seed: int | None = 1,
    config: SimulationConfig = WHOLLY,
) -> ModelReply:
    messages = (
        Message(role=Speaker.SYSTEM, content=skill),
        Message(role=Speaker.USER, content=TASK),
        *more,
    )
    request = ModelRequest(model="sim-target", messages=messages, tools=tools, seed=seed)
    return answer(request, config)


def test_equal_requests_get_equal_answers() -> None:
    assert asked("- No commas.") == asked("- No commas.")


def test_an_answer_is_about_its_task_and_breaks_house_rules_by_nature() -> None:
    text = asked("").text
    assert "cargo bikes for parcel delivery" in text
    for broken in (",", "/20", "!", "miles", "utilized"):
        assert broken in text
    assert "##" not in text


def test_a_tool_that_the_skill_names_is_called_first_and_its_result_used_then() -> None:
    skill = "- Use the `look_up` tool before answering."
    first = asked(skill, tools=(WEATHER,))
    assert first.finish_reason == "tool_calls"
    (call,) = first.tool_calls
    assert call.name == "look_up"
    assert json.loads(call.arguments) == {"query": "cargo bikes for parcel delivery", "limit": 3}
    second = asked(
        skill,
        Message(role=Speaker.ASSISTANT, tool_calls=first.tool_calls),
        Message(role=Speaker.TOOL, content=WEATHER.result, tool_call_id=call.id),
        tools=(WEATHER,),
    )
    assert second.tool_calls == ()
    assert "Bikes carry 80 kg." in second.text


def test_a_tool_that_the_skill_does_not_name_or_forbids_is_not_called() -> None:
    for skill in ("- Be brief.", "- Never use the look_up tool.", "- Use the look_up_all tool."):
        assert asked(skill, tools=(WEATHER,)).tool_calls == ()


def test_noise_differs_between_skills_and_goes_without_a_seed() -> None:
    noisy = SimulationConfig(obedience=1.0, noise=0.5)
    texts = {asked(f"- No commas.\n- Style {n}.", config=noisy).text for n in range(12)}
    assert len(texts) == 2
    assert asked("- No commas.", seed=None).text == asked("- No commas.", seed=None).text


def test_a_later_turn_is_answered_as_it_is_asked() -> None:
    text = asked("", Message(role=Speaker.USER, content="Now write about rain tanks.")).text
    assert "rain tanks" in text
