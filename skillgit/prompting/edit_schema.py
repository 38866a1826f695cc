"""Edits as the optimizer is asked to write them, and as they are read: schema, shapes and names.

Pure. What it lets through is only readable; whether it fits a document is for `editing` to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, JsonValue, model_validator
from pydantic.json_schema import SkipJsonSchema

from skillgit.editing.numbered_lines import NumberedSkill, unwrapped
from skillgit.errors import ReplyError
from skillgit.prompting.answers import (
    MISSING_IS_NULL,
    Answer,
    Count,
    Text,
    TextOrNull,
    Texts,
    kind_of,
)
from skillgit.records import MAIN_ALIAS, Edit, EditOp
from skillgit.records.edits import OPERATIONS

MAX_MESSAGE = 200

_DIGITS = re.compile(r"\d{1,6}")
_BY_NAME = {alias: op.value for op, known in OPERATIONS.items() for alias in known.aliases}


def operation_named(value: JsonValue) -> str:
    """The operation that a word stands for.

    Raises: ReplyError.
    """
    name = value.strip().lower() if isinstance(value, str) else ""
    if name not in _BY_NAME:
        shown = repr(value)[:MAX_MESSAGE] if isinstance(value, str) else kind_of(value)
        raise ReplyError(f"op is {shown}, not add, replace or delete")
    return _BY_NAME[name]


def number_in(value: JsonValue) -> int:
    """A number that was asked for, also as `"12"` or `"line 12"`; 0 for what is none."""
    found = _DIGITS.search(value) if isinstance(value, str) else None
    if found:
        return int(found[0])
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


Number = Annotated[int, BeforeValidator(number_in), MISSING_IS_NULL]
"""A number that was asked for; 0 is none of them."""


class EditAnswer(Answer):
    """One edit; which fields say where it comes from depends on who is asked.

    Asked for are a line's number and a text. Read as well is the older form, an anchor copied
    from the document.
    """

    op: Annotated[
        Literal["add", "replace", "delete"], BeforeValidator(operation_named), MISSING_IS_NULL
    ]
    line: Number = Field(description="The number of the line; 0 for an add where it fits best.")
    text: TextOrNull = Field(description="The new text; empty for a delete.")
    target: Annotated[TextOrNull, SkipJsonSchema()] = Field(default="", exclude=True)
    anchor: Annotated[TextOrNull, SkipJsonSchema()] = Field(default="", exclude=True)
    content: Annotated[TextOrNull, SkipJsonSchema()] = Field(default="", exclude=True)
    rationale: Annotated[Text, SkipJsonSchema()] = Field(default="", exclude=True)
    task_ids: Annotated[Texts, SkipJsonSchema()] = Field(default_factory=list, exclude=True)
    support_count: Annotated[Count, SkipJsonSchema()] = Field(default=1, exclude=True)

    @property
    def is_by_line(self) -> bool:
        """Whether the edit names a line, as it was asked to."""
        return not (self.target.strip() or self.anchor or self.content)

    def as_edit(self, numbered: NumberedSkill) -> Edit:
        """The edit, with the anchor that finds its line again.

        In the older form a `target` that names no document is the anchor, if there is no other.
        `support_count` and `task_ids` are the model's claims; whoever knows the trajectories
        checks them.
        """
        op = EditOp(self.op)
        if self.is_by_line:
            edit = numbered.edit(op, self.line, self.text)
        else:
            target, anchor = _place(self.target.strip(), self.anchor, numbered.skill.targets)
            content = unwrapped(self.content or self.text)
            edit = Edit(op=op, target=target, anchor=anchor, content=content)
        return edit.model_copy(
            update={
                "rationale": self.rationale,
                "support_count": self.support_count,
                "task_ids": tuple(self.task_ids),
            }
        )


class EditsAnswer(Answer):
    """An answer with `edits`, also as `{"patch": {"edits": […]}}` or as a bare list."""

    bare_list: ClassVar[str] = "edits"

    @model_validator(mode="before")
    @classmethod
    def _without_patch_around(cls, value: Any) -> Any:
        patch = value.get("patch") if isinstance(value, dict) else None
        if not isinstance(patch, dict) or "edits" not in patch:
            return value
        return {"edits": patch["edits"], **value}


def _place(target: str, anchor: str, targets: Sequence[str]) -> tuple[str, str]:
    if not target:
        return MAIN_ALIAS, anchor
    name = target.removeprefix("./")
    if name in targets:
        return name, anchor
    ends = [path for path in targets if path.endswith(f"/{name}")]
    if len(ends) == 1:
        return ends[0], anchor
    if not anchor.strip():
        return MAIN_ALIAS, target
    return target, anchor
