from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.models.endpoint import AnswerForm, LimitForm, RequestForm, Sending
from skillgit.models.wire import BodyError, clean_text, error_text, read_reply, to_payload
from skillgit.records import Message, ModelRequest, Speaker

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "text", "tool_calls", "function", "name",
                 "arguments", "usage", "prompt_tokens", "finish_reason", "error", "code", "id"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_body_breaks_the_reader(body: bytes) -> None:
    try:
        reply = read_reply(body, milliseconds=1)
    except BodyError:
        return
    reply.model_dump_json().encode("utf-8")


@given(JSON)
def test_no_message_breaks_the_reader(message: object) -> None:
    body = json.dumps({"choices": [{"message": message, "finish_reason": message}]})
    try:
        read_reply(body.encode(), milliseconds=1)
    except BodyError:
        return


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_error_body_breaks_the_reader(body: bytes) -> None:
    for text in error_text(body):
        text.encode("utf-8")


@pytest.mark.parametrize(
    ("body", "text", "code"),
    [
        (b'{"error":{"message":"no","code":"c","type":"t"}}', "no", "c"),
        (b'{"error":{"message":"no","type":"t","code":null}}', "no", "t"),
        (b'{"error":{"message":"no","param":"seed"}}', "no (seed)", ""),
        (b'{"error":"no"}', "no", ""),
        (b'{"object":"error","message":"no","code":400}', "no", "400"),
        (b'{"detail":[{"loc":["body","seed"]}]}', '[{"loc": ["body", "seed"]}]', ""),
        (b"<h1>no</h1>", "<h1>no</h1>", ""),
        (b"[1]", "[1]", ""),
        (b"", "", ""),
        (b"\xff", "\ufffd", ""),
    ],
)
def test_what_a_server_says_is_found_in_every_common_shape(
    body: bytes, text: str, code: str
) -> None:
    assert error_text(body) == (text, code)


@given(st.text(st.characters(codec="utf-8")))
def test_text_that_can_be_stored_is_not_changed(text: str) -> None:
    assert clean_text(text) == text


@pytest.mark.parametrize("form", list(AnswerForm))
def test_a_schema_is_asked_for_in_every_form(form: AnswerForm) -> None:
    schema = {"title": "A patch, of edits", "type": "object"}
    request = ModelRequest(
        model="m", messages=(Message(role=Speaker.USER, content="x"),), answer_schema=schema
    )
    sent = to_payload(request, RequestForm(answer=form)).get("response_format")
    assert (
        sent
        == {
            AnswerForm.STRICT_SCHEMA: {
                "type": "json_schema",
                "json_schema": {"name": "A_patch_of_edits", "schema": schema, "strict": True},
            },
            AnswerForm.SCHEMA: {
                "type": "json_schema",
                "json_schema": {"name": "A_patch_of_edits", "schema": schema, "strict": False},
            },
            AnswerForm.OBJECT_WITH_SCHEMA: {"type": "json_object", "schema": schema},
            AnswerForm.OBJECT: {"type": "json_object"},
            AnswerForm.FREE: None,
        }[form]
    )


CARRYING = [AnswerForm.STRICT_SCHEMA, AnswerForm.SCHEMA, AnswerForm.OBJECT_WITH_SCHEMA]
SCHEMA = {"title": "Patch", "type": "object", "properties": {"größe": {"type": "integer"}}}


def asking(*texts: str, schema: dict[str, object] | None) -> ModelRequest:
    messages = tuple(Message(role=Speaker.USER, content=text) for text in texts)
    return ModelRequest.model_validate(
        {"model": "m", "messages": messages, "answer_schema": schema}
    )


def sent_texts(request: ModelRequest, form: AnswerForm) -> list[str]:
    messages = to_payload(request, RequestForm(answer=form))["messages"]
    return [message["content"] for message in messages]  # type: ignore[union-attr, index, misc, call-overload]


@pytest.mark.parametrize("form", list(AnswerForm))
def test_a_schema_stands_in_the_text_only_where_the_request_does_not_carry_it(
    form: AnswerForm,
) -> None:
    first, last = sent_texts(asking("Before.", "What now?\n", schema=SCHEMA), form)
    assert first == "Before."
    if form in CARRYING:
        assert last == "What now?\n"
    else:
        assert last.startswith("What now?\n\nAnswer with one JSON object and nothing else.")
        assert json.loads(last.split("```json\n")[1].removesuffix("\n```\n")) == SCHEMA


@pytest.mark.parametrize("form", [AnswerForm.OBJECT, AnswerForm.FREE])
def test_a_schema_that_a_projects_prompt_shows_already_is_not_said_again(form: AnswerForm) -> None:
    text = f"Fit this:\n{json.dumps(SCHEMA, indent=1)}\nWhat now?"
    assert sent_texts(asking(text, schema=SCHEMA), form) == [text]


@pytest.mark.parametrize("form", list(AnswerForm))
def test_without_a_schema_the_text_is_as_it_was(form: AnswerForm) -> None:
    assert sent_texts(asking("What now?\n", schema=None), form) == ["What now?\n"]
    assert sent_texts(asking(schema=SCHEMA), form) == []


def test_a_schema_without_a_title_has_a_name() -> None:
    sent = to_payload(ModelRequest(model="m", messages=(), answer_schema={}), RequestForm())
    assert sent["response_format"]["json_schema"]["name"] == "answer"  # type: ignore[index, call-overload]


def test_what_is_unsent_is_not_there() -> None:
    request = ModelRequest(model="m", messages=(), temperature=0.0, max_tokens=1, seed=0)
    lowest = RequestForm(limit=LimitForm.UNSENT, temperature=Sending.UNSENT, seed=Sending.UNSENT)
    assert to_payload(request, lowest).keys() == {"model", "messages"}
    assert to_payload(request, RequestForm())["seed"] == 0
