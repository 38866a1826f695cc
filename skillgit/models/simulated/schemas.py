"""JSON schemas walked: the smallest instance of one, what its properties are, and what it allows."""

from __future__ import annotations

from pydantic import JsonValue

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


def fitted(value: JsonValue, schema: Schema, root: Schema) -> JsonValue:
    """The value without what the schema has no property for, inside lists of objects too."""
    known = properties(schema, root)
    if isinstance(value, dict):
        if not known:
            return value
        return {
            name: fitted(part, known[name], root) for name, part in value.items() if name in known
        }
    if isinstance(value, list):
        items = schema.get("items")
        inner = items if isinstance(items, dict) else {}
        return [fitted(part, inner, root) for part in value]
    return value
