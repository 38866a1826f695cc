from __future__ import annotations

from typing import ClassVar

import pytest
from pydantic import Field, JsonValue

from skillgit.errors import ReplyError
from skillgit.prompting.answers import (
    MAX_MEMORY,
    Answer,
    Count,
    Items,
    ItemsIfAny,
    Memory,
    Text,
    TextOrNull,
    Texts,
    WholeNumbers,
)


class Item(Answer):
    """One item."""

    name: str
    size: int = Field(ge=0)


class Strict(Answer):
    bare_list: ClassVar[str] = "items"

    items: Items[Item]


class Forgiving(Answer):
    """What forgives everything."""

    text: Text
    count: Count
    texts: Texts
    numbers: WholeNumbers
    items: ItemsIfAny[Item]


class WithText(Answer):
    text: TextOrNull


class WithMemory(Answer):
    memory: Memory


def names(answer: Strict | Forgiving) -> list[str]:
    return [item.name for item in answer.items]


GOOD: dict[str, JsonValue] = {"name": "good", "size": 1}


@pytest.mark.parametrize(
    "value",
    [
        {},
        dict.fromkeys(Forgiving.model_fields),
        {"text": 3, "count": "many", "texts": "a", "numbers": {"1": 1}, "items": [7, {}]},
        {"text": ["a"], "count": -1, "texts": [1, None], "numbers": [True, "1", 1.0], "items": {}},
    ],
)
def test_what_is_only_there_to_be_read_is_never_a_reason_to_refuse(
    value: dict[str, JsonValue],
) -> None:
    answer = Forgiving.read(value)
    assert (answer.text, answer.count) == ("", 1)
    assert (answer.texts, answer.numbers, answer.items) == ([], [], [])


def test_lists_keep_each_value_once_in_order() -> None:
    answer = Forgiving.read({"texts": ["b", 1, "a", "b"], "numbers": [2, 1, 2, "3"]})
    assert (answer.texts, answer.numbers) == (["b", "a"], [2, 1])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({}, "it has no items"),
        ({"items": None}, "items is null, not a list"),
        ({"items": "none"}, "items is a text, not a list"),
        ({"items": [{"name": "x"}]}, r"items\[0\]: it has no size"),
        ({"items": [{"name": "x", "size": True}]}, r"items\[0\]: size: "),
        ({"items": [{"name": "x", "size": "1"}]}, r"items\[0\]: size: "),
        ("none", "valid dictionary"),
    ],
)
def test_the_reason_of_a_refusal_names_the_field(value: JsonValue, reason: str) -> None:
    with pytest.raises(ReplyError, match=reason):
        Strict.read(value)


def test_items_that_cannot_be_read_are_left_out_with_the_reason() -> None:
    answer = Strict.read({"items": [GOOD, {"name": "bad", "size": -1}, 3]})
    assert names(answer) == ["good"]
    first, second = answer.left_out("items")
    assert first.startswith("items[1]: size: ")
    assert second.startswith("items[2]: ")
    assert Strict.read({"items": [GOOD]}).left_out("items") == ()


def test_a_bare_list_is_the_field_that_the_record_names() -> None:
    assert names(Strict.read([GOOD])) == ["good"]
    assert Strict.read([]).items == []
    with pytest.raises(ReplyError):
        Forgiving.read([GOOD])


def test_a_text_may_be_null_but_nothing_else() -> None:
    assert WithText.read({"text": None}).text == WithText.read({}).text == ""
    assert WithText.read({"text": " a "}).text == " a "
    with pytest.raises(ReplyError, match="text is a number, not a text"):
        WithText.read({"text": 5})


@pytest.mark.parametrize(
    ("memory", "reason"),
    [(None, "no memory"), (" \n", "no memory"), ("x" * (MAX_MEMORY + 1), "6001 characters long")],
)
def test_a_memory_is_neither_empty_nor_too_long(memory: str | None, reason: str) -> None:
    assert WithMemory.read({"memory": " kept \n"}).memory == "kept"
    with pytest.raises(ReplyError, match=reason):
        WithMemory.read({"memory": memory})


def test_the_schema_asks_for_every_field_and_tells_nothing_of_what_is_forgiven() -> None:
    plain = {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "texts": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
    }
    schema = Forgiving.model_json_schema()
    for field in schema["properties"].values():
        field.pop("title")
    assert schema["properties"] == plain
    assert schema["required"] == list(plain)
    assert "Item" in Forgiving.schema_text()
