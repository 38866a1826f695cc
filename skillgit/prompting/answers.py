"""What a prompt's answer is: one record that has the shape, the schema and the reader of it.

A field's type says what it holds, what the model is told of it, and how much is forgiven when it
is read. Plain types are strict: true is no number, "3" neither, and a missing field is an error;
a list is `list`, not `tuple`.
The types below forgive. What they forgive is not in the schema. Pure.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from skillgit.errors import ReplyError
from skillgit.redaction import redact

ItemT = TypeVar("ItemT")

MAX_MEMORY = 6_000
"""The longest memory there is. Unit: characters."""

MISSING_IS_NULL = "a missing field is read as null"
"""Stands in a field's annotation beside its reader."""


class Answer(BaseModel):
    """The root of what answers are read into: frozen, and what was not asked for is ignored.

    The descriptions of a subclass's fields are shown to the model, its docstring is not.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )

    bare_list: ClassVar[str] = ""
    """The field that is meant when the answer is only a list."""

    _left_out: dict[str, list[str]] = PrivateAttr(default_factory=dict)

    @classmethod
    def read(cls, value: JsonValue) -> Self:
        """The answer in a JSON value.

        Raises: ReplyError saying what about it cannot be read.
        """
        left_out: dict[str, list[str]] = {}
        try:
            answer = cls.model_validate(value, strict=True, context=left_out)
        except ValidationError as error:
            raise ReplyError(_reason(error)) from error
        answer._left_out.update(left_out)  # noqa: SLF001 - it is one of its own class
        return answer

    @classmethod
    def schema_text(cls) -> str:
        """The JSON schema that the model is shown, titled with the record's name."""
        return _schema_text(cls)

    def left_out(self, field: str) -> tuple[str, ...]:
        """Why items of a list could not be read, one reason for each that is left out."""
        return tuple(self._left_out.get(field, ()))

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        """The value as an object that has the fields which may be missing."""
        if isinstance(value, list) and cls.bare_list:
            value = {cls.bare_list: value}
        if not isinstance(value, dict):
            return value
        forgiven = (
            name
            for name, field in cls.model_fields.items()
            if field.is_required() and MISSING_IS_NULL in field.metadata
        )
        return {**dict.fromkeys(forgiven), **value}


@cache
def _schema_text(answer: type[Answer]) -> str:
    schema = answer.model_json_schema(schema_generator=_AnswerSchema)
    return json.dumps(schema, ensure_ascii=False, indent=1)


class _AnswerSchema(GenerateJsonSchema):
    """Schemas in which records have a title alone, and their fields, which have a name, none."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("description", None)
        return made

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002
        return False


def _reason(error: ValidationError | ReplyError, *, below: int = 0) -> str:
    """What was wrong, and where: the path from so many levels below the value's root on."""
    if isinstance(error, ReplyError):
        return str(error)
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"][below:])
    if first["type"] == "missing":
        return f"it has no {where}"
    return f"{where}: {first['msg']}" if where else first["msg"]


# ── how a value is read ──────────────────────────────────────────────────────────────────────


def kind_of(value: JsonValue) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def a_list(value: JsonValue, info: ValidationInfo) -> JsonValue:
    """The value, which has to be a list."""
    if not isinstance(value, list):
        raise ReplyError(f"{info.field_name} is {kind_of(value)}, not a list")
    return value


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _text_or_null(value: JsonValue, info: ValidationInfo) -> str:
    if value is not None and not isinstance(value, str):
        raise ReplyError(f"{info.field_name} is {kind_of(value)}, not a text")
    return value or ""


def _whole_number(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _memory(value: JsonValue) -> str:
    text = redact(_text(value)).strip()
    if not text:
        raise ReplyError("it has no memory")
    if len(text) > MAX_MEMORY:
        raise ReplyError(f"the memory is {len(text)} characters long, over {MAX_MEMORY}")
    return text


def _count(value: JsonValue) -> int:
    return max(1, _whole_number(value) or 1)


def _texts(value: JsonValue) -> list[str]:
    items = value if isinstance(value, list) else []
    return list(dict.fromkeys(item for item in items if isinstance(item, str)))


def _whole_numbers(value: JsonValue) -> list[int]:
    items = map(_whole_number, value if isinstance(value, list) else [])
    return list(dict.fromkeys(item for item in items if item is not None))


def _each(value: JsonValue, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    a_list(value, info)
    readable = _each_if_any(value, read, info)
    if value and not readable:
        raise ReplyError(
            info.context[info.field_name][0] if info.context else "nothing is readable"
        )
    return readable


def _each_if_any(value: JsonValue, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    readable: list[Any] = []
    for position, item in enumerate(value if isinstance(value, list) else []):
        try:
            readable += read([item])
        except (ValidationError, ReplyError) as error:
            if info.context is not None:
                reason = f"{info.field_name}[{position}]: {_reason(error, below=1)}"
                info.context.setdefault(info.field_name, []).append(reason)
    return readable


Text = Annotated[str, BeforeValidator(_text), MISSING_IS_NULL]
"""A text that is only there to be read: anything else is an empty one."""

TextOrNull = Annotated[str, BeforeValidator(_text_or_null), MISSING_IS_NULL]
"""A text; null or nothing is an empty one, anything else an error."""

Memory = Annotated[str, BeforeValidator(_memory), MISSING_IS_NULL]
"""A text that is kept between calls: without secrets, not empty, not too long."""

Count = Annotated[int, BeforeValidator(_count), MISSING_IS_NULL]
"""A number from 1 on; whatever is none is 1."""

Texts = Annotated[list[str], BeforeValidator(_texts), MISSING_IS_NULL]
"""The texts in a list, each once, in order; of anything else, nothing."""

WholeNumbers = Annotated[list[int], BeforeValidator(_whole_numbers), MISSING_IS_NULL]
"""The whole numbers in a list, each once, in order; of anything else, nothing."""

Items = Annotated[list[ItemT], WrapValidator(_each)]
"""A list whose items are read one by one: what cannot be read is left out.

Anything but a list is an error, and so is a list of which nothing can be read.
"""

ItemsIfAny = Annotated[list[ItemT], WrapValidator(_each_if_any), MISSING_IS_NULL]
"""A list whose items are read one by one; what is no list is an empty one."""


def known_or_null(*known: str) -> BeforeValidator:
    """Reads what is none of the known words as null."""
    return BeforeValidator(lambda value: value if value in known else None)
