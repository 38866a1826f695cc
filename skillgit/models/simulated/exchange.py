"""One question put to the simulated optimizer: which answer is wanted, in which shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from skillgit.models.simulated.luck import luck
from skillgit.models.simulated.prompt_reading import json_values
from skillgit.models.simulated.schemas import Schema, properties
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
