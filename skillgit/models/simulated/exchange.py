"""One question put to the simulated optimizer: which answer is wanted, in which shape."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from pydantic import JsonValue

from skillgit.models.simulated.prompt_reading import json_values
from skillgit.records import ModelRequest, Speaker
from skillgit.records.canonical import fingerprint


@dataclass(frozen=True)
class Exchange:
    """The question as the optimizer sees it.

    `schema` comes with the request or, where an endpoint has refused that, from the prompt's own
    text. `identity` is what its luck depends on.
    """

    text: str
    schema: Schema
    identity: str

    @property
    def title(self) -> str:
        """The name of the wanted answer; empty when no schema says one."""
        title = self.schema.get("title")
        return title if isinstance(title, str) else ""

    def luck(self, *parts: str | int) -> float:
        """A number in [0, 1) for this question and the parts."""
        return luck(self.identity, *parts)

    def fitted(self, answer: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """The answer without what the schema has no property for, inside lists of objects too."""
        return cast("dict[str, JsonValue]", _fit(answer, self.schema, self.schema))


def exchange_of(request: ModelRequest) -> Exchange:
    """The question in a request."""
    said = [m.content for m in request.messages if m.role is not Speaker.ASSISTANT]
    text = "\n\n".join(said)
    shown = [(message.role.value, message.content) for message in request.messages]
    return Exchange(
        text=text,
        schema=request.answer_schema or schema_in(text) or {},
        identity=fingerprint([shown, request.seed]),
    )


def schema_in(text: str) -> Schema | None:
    """The last JSON schema with a title that stands in a text."""
    found = None
    if '"properties"' in text:
        for value in json_values(text):
            if isinstance(value, dict) and {"title", "properties"} <= value.keys():
                found = value
    return found


def _fit(value: JsonValue, schema: Schema, root: Schema) -> JsonValue:
    known = properties(schema, root)
    if isinstance(value, dict):
        if not known:
            return value
        return {
            name: _fit(part, known[name], root) for name, part in value.items() if name in known
        }
    if isinstance(value, list):
        items = schema.get("items")
        inner = items if isinstance(items, dict) else {}
        return [_fit(part, inner, root) for part in value]
    return value


# ── Chance by hash: what looks random here depends on its parts alone, on every machine.

T = TypeVar("T")


def luck(*parts: str | int | None) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53


def pick(options: Sequence[T], *parts: str | int | None) -> T:
    """One of the options, by luck."""
    return options[int(luck(*parts) * len(options))]


def shuffled(options: Sequence[T], *parts: str | int | None) -> list[T]:
    """The options in an order that depends on the parts alone."""
    places = sorted(range(len(options)), key=lambda place: (luck(*parts, place), place))
    return [options[place] for place in places]


# ── JSON schemas walked: the smallest instance of one, and what its properties are.

Schema = dict[str, JsonValue]

_DEEPEST = 12


def instance(
    schema: Schema, *, text: str = "simulated", root: Schema | None = None, depth: int = 0
) -> JsonValue:
    """A small value that fits the schema; strings in it are `text`, lists are as short as allowed.

    It follows local references and takes the first branch of a choice.
    """
    root = schema if root is None else root
    if depth > _DEEPEST:
        return None
    schema = resolve(schema, root)
    for fixed in ("const", "default"):
        if fixed in schema:
            return schema[fixed]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    for combined in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(combined)
        if isinstance(branches, list) and branches and isinstance(branches[0], dict):
            return instance(branches[0], text=text, root=root, depth=depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return {
            name: instance(part, text=text, root=root, depth=depth + 1)
            for name, part in properties(schema, root).items()
        }
    if kind == "array":
        items = schema.get("items")
        least = _whole(schema.get("minItems"))
        part = items if isinstance(items, dict) else {}
        return [instance(part, text=text, root=root, depth=depth + 1) for _ in range(least)]
    plain: dict[object, JsonValue] = {
        "string": text,
        "integer": _whole(schema.get("minimum")),
        "number": float(_whole(schema.get("minimum"))),
        "boolean": False,
    }
    return plain.get(kind)


def properties(schema: Schema, root: Schema) -> dict[str, Schema]:
    """An object schema's properties, with local references followed."""
    named = resolve(schema, root).get("properties")
    if not isinstance(named, dict):
        return {}
    return {name: resolve(part, root) for name, part in named.items() if isinstance(part, dict)}


def resolve(schema: Schema, root: Schema) -> Schema:
    """The schema that a local reference (`#/$defs/Name`) stands for; others are as they are."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        found: JsonValue = root
        for step in reference[2:].split("/"):
            found = found.get(step) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            return {}
        schema = found
    return {}


def _whole(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) else 0
