from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue

from skillgit.models.endpoint import (
    AnswerForm,
    Endpoint,
    Endpoints,
    FallbackPlan,
    Feature,
    RequestForm,
    Sending,
    allows_strict,
    carried,
    named_feature,
)
from skillgit.records import Message, ModelRequest, Speaker

OPEN: dict[str, JsonValue] = {"type": "object"}
FULL = ModelRequest(
    model="m",
    messages=(Message(role=Speaker.USER, content="hi"),),
    answer_schema=OPEN,
    temperature=0.0,
    max_tokens=5,
    seed=1,
)
BARE = ModelRequest(model="m", messages=())


def test_only_what_a_request_holds_can_be_refused() -> None:
    assert carried(FULL, RequestForm()) == list(Feature)
    assert carried(BARE, RequestForm()) == []
    assert carried(FULL, RequestForm(seed=Sending.UNSENT)) == list(Feature)[:3]


def test_the_feature_a_complaint_names_first_is_meant() -> None:
    every = list(Feature)
    assert named_feature("'max_tokens' no; see temperature", every) is Feature.LIMIT
    assert named_feature("Use max_completion_tokens", every) is Feature.LIMIT
    assert named_feature("seeding failed", every) is None
    assert named_feature("JSON_SCHEMA", every) is Feature.ANSWER
    assert named_feature("temperature", [Feature.SEED]) is None


def test_what_was_refused_is_remembered_by_address_and_model() -> None:
    endpoints = Endpoints()
    endpoints.at("u", "m").remember(FULL, RequestForm(), RequestForm(seed=Sending.UNSENT))
    assert endpoints.at("u", "m").form_for(FULL).seed is Sending.UNSENT
    assert endpoints.at("u", "n").form_for(FULL).seed is Sending.SENT
    assert endpoints.at("v", "m").form_for(FULL).seed is Sending.SENT


def test_a_memory_never_goes_up_again() -> None:
    endpoint = Endpoint()
    start = endpoint.form_for(FULL)
    endpoint.remember(FULL, start, start._replace(answer=AnswerForm.FREE))
    endpoint.remember(FULL, start, start._replace(answer=AnswerForm.OBJECT))
    assert endpoint.form_for(FULL).answer is AnswerForm.FREE


def test_a_schema_that_cannot_be_strict_leaves_the_others_strict() -> None:
    endpoint = Endpoint()
    start = endpoint.form_for(FULL)
    assert start.answer is AnswerForm.SCHEMA
    endpoint.remember(FULL, start, start)
    closed = FULL.model_copy(
        update={"answer_schema": {"type": "object", "additionalProperties": False}}
    )
    assert endpoint.form_for(closed).answer is AnswerForm.STRICT_SCHEMA


def test_without_a_reason_each_suspect_is_tried_alone_and_then_all() -> None:
    plan = FallbackPlan(Endpoint(), FULL, patience=0)
    tried = []
    while plan.step(400, "bad request"):
        changed = [f for f in Feature if plan.request_form.form(f) != plan.start.form(f)]
        tried.append([f.value for f in changed])
    assert tried == [
        *[["answer"]] * 3, *[["limit"]] * 2, ["temperature"], ["seed"],
        ["answer", "limit", "temperature", "seed"],
    ]  # fmt: skip
    assert plan.request_form == plan.start


def test_what_was_taken_before_is_no_suspect() -> None:
    endpoint = Endpoint()
    start = endpoint.form_for(FULL)
    endpoint.remember(FULL, start, start)
    assert not FallbackPlan(endpoint, FULL, patience=0).step(400, "bad request")
    assert FallbackPlan(endpoint, FULL, patience=0).step(400, "bad seed")


def test_what_another_call_learned_meanwhile_is_used() -> None:
    endpoint = Endpoint()
    plan = FallbackPlan(endpoint, FULL, patience=0)
    endpoint.remember(FULL, plan.start, plan.start._replace(answer=AnswerForm.FREE))
    assert plan.step(400, "response_format")
    assert plan.request_form.answer is AnswerForm.FREE


@pytest.mark.parametrize("status", [401, 403, 408, 413, 429, 502, 503, 504])
def test_other_troubles_are_no_refusals(status: int) -> None:
    assert not FallbackPlan(Endpoint(), FULL, patience=0).step(status, "response_format")


def test_every_way_down_ends() -> None:
    for complaint in ("no", "response_format", "temperature seed", "max_tokens"):
        plan = FallbackPlan(Endpoint(), FULL, patience=1)
        steps = sum(plan.step(status, complaint) for status in [500, 400, 422] * 20)
        assert steps <= 12


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Item(Closed):
    op: str
    anchor: str | None


class Answer(Closed):
    edits: list[Item]


class Loose(Closed):
    edits: list[Item] = []


class Open(BaseModel):
    edits: list[str]


@pytest.mark.parametrize(
    ("model", "strict"), [(Answer, True), (Loose, False), (Open, False), (Item, True)]
)
def test_strict_is_for_schemas_that_are_closed_all_through(
    model: type[BaseModel], strict: bool
) -> None:
    assert allows_strict(model.model_json_schema()) is strict


def test_a_free_mapping_is_not_strict() -> None:
    assert not allows_strict({"type": "object", "additionalProperties": {"type": "string"}})
    assert not allows_strict({"oneOf": [{"type": "string"}]})
