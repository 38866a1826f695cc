"""JSON as a task file may hold it: no NaN, no infinities, no name twice, no lone surrogates."""

from __future__ import annotations

import json
import math
import re
from typing import TypeAlias, cast

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(text: str) -> JsonValue:
    """The value of a JSON text; lone surrogates are replaced by U+FFFD.

    Raises: ValueError, in words for a person.
    """
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique_names,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("not usable JSON: nested too deeply") from error
    return cast("JsonValue", whole_characters(value))


def whole_characters(value: object) -> object:
    """The value with every lone surrogate, in names too, replaced by U+FFFD."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("�", value)
    if isinstance(value, list):
        return [whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {str(whole_characters(k)): whole_characters(v) for k, v in value.items()}
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"not valid JSON: {name} is not a number JSON knows")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:20]} is out of range")
    return number


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the name {name!r} stands twice in one object")
        fields[name] = value
    return fields
