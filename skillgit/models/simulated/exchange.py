"""One question put to the simulated optimizer: which answer is wanted, in which shape."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from pydantic import JsonValue

from skillgit.models.simulated import chance
from skillgit.models.simulated.prompt_reading import View, json_values, read_view
from skillgit.models.simulated.schemas import Schema, fitted, properties
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
        return chance.luck(self.identity, *parts)

    @cached_property
    def fields(self) -> dict[str, Schema]:
        """The properties of the wanted answer."""
        return properties(self.schema, self.schema)

    @cached_property
    def view(self) -> View:
        """The skill and the failures shown; of successes, no failure is looked at."""
        view = read_view(self.text)
        return replace(view, failures=()) if "Success" in self.title else view

    def fitted(self, answer: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """The answer without what the schema has no property for, inside lists of objects too."""
        return cast("dict[str, JsonValue]", fitted(answer, self.schema, self.schema))


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
