from __future__ import annotations

import pytest
from pydantic import JsonValue

from skillgit.prompting.lenient_json import (
    MAX_DEPTH,
    BrokenJsonError,
    JsonPart,
    JsonReader,
    without_surrogates,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("{ }", {}),
        ("[1, -2.5, 1e3, true, false, null]", [1, -2.5, 1000.0, True, False, None]),
        ('{"a": {"b": [{}]}}', {"a": {"b": [{}]}}),
        ("[1,]", [1]),
        ('{"a": 1,\n}', {"a": 1}),
        ("[1, // one\n 2 /* two */ ]", [1, 2]),
        ('["// no comment", "/* nor this */"]', ["// no comment", "/* nor this */"]),
        ('["a\nb"]', ["a\nb"]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
    ],
)
def test_a_value_is_read_to_its_end(text: str, value: JsonValue) -> None:
    found = JsonReader(text + " tail").container(0)
    assert (found.start, found.end) == (0, len(text))
    assert value is None or found.value == value


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("[1 2]", 3),
        ("[,]", 1),
        ("[1,,2]", 3),
        ("{'a': 1}", 1),
        ("{a: 1}", 1),
        ('{"a" 1}', 5),
        ('{"a": }', 6),
        ("[NaN]", 1),
        ("[Infinity]", 1),
        ("[-Infinity]", 1),
        ("[1e999]", 6),
        ("[" + "1" * 301 + "]", 302),
        ("[01]", 2),
        ("[+1]", 1),
        ("[.5]", 1),
        ("[truely]", 1),
        ("[True]", 1),
        ("[“x”]", 1),
        ("[١]", 1),
        ('["open', 6),
        ("[1", 2),
        ("[1 /* open", 3),
        ("[" * (MAX_DEPTH + 1), MAX_DEPTH),
    ],
)
def test_what_is_no_json_breaks_where_it_stops_being_json(text: str, at: int) -> None:
    with pytest.raises(BrokenJsonError) as caught:
        JsonReader(text).container(0)
    assert caught.value.at == at


def test_the_largest_complete_parts_of_a_broken_value_are_kept() -> None:
    reader = JsonReader('{"a": [1, [2]], "b": {"c": {}}, "d": oops')
    with pytest.raises(BrokenJsonError):
        reader.container(0)
    assert reader.finished == [JsonPart(6, 14, [1, [2]]), JsonPart(21, 30, {"c": {}})]


def test_a_string_without_an_end_is_looked_for_once() -> None:
    reader = JsonReader('["one [" and ["two')
    for start, at in ((0, 9), (13, 18), (13, 14)):
        with pytest.raises(BrokenJsonError) as caught:
            reader.container(start)
        assert caught.value.at == at


@pytest.mark.parametrize(
    ("text", "clean"),
    [("plain ü 😀", "plain ü 😀"), ("\ud83d\ude00", "😀"), ("\ud83d!", "\ufffd!"), ("", "")],
)
def test_every_text_has_bytes_afterwards(text: str, clean: str) -> None:
    assert without_surrogates(text) == clean
    without_surrogates(text).encode("utf-8")
