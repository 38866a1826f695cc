"""What an endpoint takes: asked for at its best once, and what was refused is remembered.

Pure, but for the memory, which several threads share. Nothing is guessed from a name or an
address: an endpoint is known by what it refused and by what it then accepted.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from pydantic import JsonValue

from skillgit.records import ModelRequest

MAX_TRIALS = 12


class Feature(StrEnum):
    """A part of a request that some endpoints refuse, in the order they are suspected."""

    ANSWER = "answer"
    LIMIT = "limit"
    TEMPERATURE = "temperature"
    SEED = "seed"


class AnswerForm(IntEnum):
    """How an answer's schema is asked for, the best first."""

    STRICT_SCHEMA = 0
    SCHEMA = 1
    OBJECT_WITH_SCHEMA = 2
    OBJECT = 3
    FREE = 4


class LimitForm(IntEnum):
    """What the limit of tokens is called.

    The old name comes first: whoever wants the new one refuses it aloud, while a server that
    only knows the old one ignores the new one and writes on to the end of its context.
    """

    MAX_TOKENS = 0
    MAX_COMPLETION_TOKENS = 1
    UNSENT = 2


class Sending(IntEnum):
    """Whether a plain parameter is sent."""

    SENT = 0
    UNSENT = 1


class RequestForm(NamedTuple):
    """The form in which each feature is sent."""

    answer: AnswerForm = AnswerForm.STRICT_SCHEMA
    limit: LimitForm = LimitForm.MAX_TOKENS
    temperature: Sending = Sending.SENT
    seed: Sending = Sending.SENT

    def form(self, feature: Feature) -> IntEnum:
        """The form of one feature."""
        form: IntEnum = getattr(self, feature.value)
        return form

    def with_form(self, feature: Feature, form: IntEnum) -> RequestForm:
        """This form with one feature in another form."""
        change: dict[str, Any] = {feature.value: form}
        return self._replace(**change)

    def lower_forms(self, feature: Feature) -> list[IntEnum]:
        """The forms below the present one, the next first."""
        present = self.form(feature)
        return [form for form in type(present) if form > present]


NAMES: dict[Feature, re.Pattern[str]] = {
    Feature.ANSWER: re.compile(
        r"response_?format|json[_ ]schema|json[_ ]object|structured[_ ]output|grammar|guided",
        re.IGNORECASE,
    ),
    Feature.LIMIT: re.compile(r"max_(?:completion_)?tokens", re.IGNORECASE),
    Feature.TEMPERATURE: re.compile(r"temperature", re.IGNORECASE),
    Feature.SEED: re.compile(r"\bseed\b", re.IGNORECASE),
}


def carried(request: ModelRequest, request_form: RequestForm) -> list[Feature]:
    """The features that a request has in it under a form, and that could be sent otherwise."""
    asked = {
        Feature.ANSWER: request.answer_schema is not None,
        Feature.LIMIT: request.max_tokens is not None,
        Feature.TEMPERATURE: request.temperature is not None,
        Feature.SEED: request.seed is not None,
    }
    return [feature for feature in Feature if asked[feature] and request_form.lower_forms(feature)]


def named_feature(complaint: str, features: list[Feature]) -> Feature | None:
    """The feature that a complaint names first, of those the request carried."""
    found = [(match.start(), f) for f in features if (match := NAMES[f].search(complaint))]
    return min(found, key=lambda pair: pair[0])[1] if found else None


class Endpoint:
    """What is known of one model behind one address. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._form = RequestForm()
        self._proven: set[tuple[Feature, IntEnum]] = set()

    def form_for(self, request: ModelRequest) -> RequestForm:
        """The best form of this request that has not been refused."""
        request_form = self._form
        if request_form.answer is AnswerForm.STRICT_SCHEMA and not allows_strict(
            request.answer_schema
        ):
            return request_form.with_form(Feature.ANSWER, AnswerForm.SCHEMA)
        return request_form

    def is_proven(self, feature: Feature, form: IntEnum) -> bool:
        """Whether a request with this form was answered before."""
        return (feature, form) in self._proven

    def remember(self, request: ModelRequest, start: RequestForm, taken: RequestForm) -> None:
        """Remember that a request was answered under `taken` after it was refused under `start`."""
        with self._lock:
            for feature in Feature:
                form = taken.form(feature)
                if form != start.form(feature):
                    self._lower(feature, form)
            self._proven.update((f, taken.form(f)) for f in carried(request, taken))

    def _lower(self, feature: Feature, form: IntEnum) -> None:
        if form > self._form.form(feature):
            self._form = self._form.with_form(feature, form)


class Endpoints:
    """The memory of a process, by address and model. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], Endpoint] = {}

    def at(self, base_url: str, model: str) -> Endpoint:
        """What is known of this model at this address."""
        with self._lock:
            return self._known.setdefault((base_url, model), Endpoint())


class FallbackPlan:
    """The way down of one call: which form to try after each refusal.

    A complaint that names a feature lowers that feature. One that names none makes every feature
    that is not yet proven a suspect: each is lowered alone, then all at once. A server error
    (500) that names none may be a passing weakness, so `patience` of them are sat out, and then
    only the answer's form is suspected.
    """

    def __init__(self, endpoint: Endpoint, request: ModelRequest, *, patience: int) -> None:
        self._endpoint = endpoint
        self._request = request
        self._patience = patience
        self._plan: Iterator[RequestForm] | None = None
        self._trials = 0
        self.start = endpoint.form_for(request)
        self.request_form = self.start
        self._firm = self.start

    def step(self, status: int | None, complaint: str) -> bool:
        """Whether there is another form to try after a refusal; `request_form` then is that form."""
        if status not in (400, 404, 422, 500, 501) or self._trials >= MAX_TRIALS:
            return False
        lower = self._named(complaint)
        if lower is None and status != 404:
            lower = self._unnamed(server_error=status >= 500)
        if lower is None:
            self.request_form = self._firm
            return False
        self._trials += 1
        self.request_form = lower
        return True

    def _named(self, complaint: str) -> RequestForm | None:
        feature = named_feature(complaint, carried(self._request, self.request_form))
        if feature is None:
            return None
        known = self._endpoint.form_for(self._request).form(feature)
        form = max(known, self.request_form.lower_forms(feature)[0])
        self._firm = self.request_form.with_form(feature, form)
        self._plan = None
        return self._firm

    def _unnamed(self, *, server_error: bool) -> RequestForm | None:
        if server_error and self._plan is None and self._patience > 0:
            self._patience -= 1
            return None
        if self._plan is None:
            self._plan = self._alone_then_together(answer_only=server_error)
        return next(self._plan, None)

    def _alone_then_together(self, *, answer_only: bool) -> Iterator[RequestForm]:
        firm = self._firm
        suspects = [
            feature
            for feature in carried(self._request, firm)
            if not self._endpoint.is_proven(feature, firm.form(feature))
            and (feature is Feature.ANSWER or not answer_only)
        ]
        for feature in suspects:
            for form in firm.lower_forms(feature):
                yield firm.with_form(feature, form)
        if len(suspects) > 1:
            lowest = firm
            for feature in suspects:
                lowest = lowest.with_form(feature, firm.lower_forms(feature)[-1])
            yield lowest


STRICT_KEYWORDS = frozenset(
    [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "$ref",
        "$defs",
        "title",
        "description",
        "minimum",
        "maximum",
        "pattern",
        "format",
        "minItems",
        "maxItems",
    ]
)


def allows_strict(schema: dict[str, JsonValue] | None) -> bool:
    """Whether a schema keeps to what strict structured output takes.

    Every object closed, every property required, and no keyword beyond the common ones.
    """
    if schema is None:
        return True
    if not schema.keys() <= STRICT_KEYWORDS:
        return False
    if schema.get("type") == "object" or "properties" in schema:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            return False
        if schema.get("additionalProperties") is not False or {*properties} != {*required}:
            return False
    return all(allows_strict(inner) for inner in _inner_schemas(schema))


def _inner_schemas(schema: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    for keyword in ("properties", "$defs"):
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (inner for inner in named.values() if isinstance(inner, dict))
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        yield from (inner for inner in choices if isinstance(inner, dict))
    items = schema.get("items")
    if isinstance(items, dict):
        yield items
