"""Edits as the optimizer is asked to write them, and as they are read: schema, shapes and names.

Pure. What it lets through is only readable; whether it fits a document is for `editing` to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, JsonValue, model_validator
from pydantic.json_schema import SkipJsonSchema

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
from skillgit.records import MAIN_ALIAS, Edit, EditOp, Skill

MAX_MESSAGE = 200

_OPERATIONS = {
    "add": "add",
    "append": "add",
    "insert_after": "add",
    "delete": "delete",
    "remove": "delete",
    "replace": "replace",
}


def targets_of(skill: Skill) -> tuple[str, ...]:
    """The names an edit may give a document: the alias of the main one, then every path."""
    return (MAIN_ALIAS, *(document.path for document in skill.documents))


def _operation(value: JsonValue) -> str:
    name = value.strip().lower() if isinstance(value, str) else ""
    if name not in _OPERATIONS:
        shown = repr(value)[:MAX_MESSAGE] if isinstance(value, str) else kind_of(value)
        raise ReplyError(f"op is {shown}, not add, replace or delete")
    return _OPERATIONS[name]


class EditAnswer(Answer):
    """One edit; which fields say where it comes from depends on who is asked."""

    op: Annotated[Literal["add", "replace", "delete"], BeforeValidator(_operation), MISSING_IS_NULL]
    target: TextOrNull = Field(description="The path of the document to edit.")
    anchor: TextOrNull = Field(
        description="Text copied exactly from that document, occurring once in it; empty only for an add at the document's end."
    )
    content: TextOrNull = Field(description="The new text; empty for a delete.")
    rationale: Text = Field(description="One sentence: which evidence asks for this edit.")
    task_ids: Annotated[Texts, SkipJsonSchema()] = Field(default_factory=list, exclude=True)
    support_count: Annotated[Count, SkipJsonSchema()] = Field(default=1, exclude=True)

    def as_edit(self, targets: Sequence[str]) -> Edit:
        """The edit. A `target` that names no document is the anchor, if there is no other.

        `support_count` and `task_ids` are the model's claims; whoever knows the trajectories
        checks them.
        """
        target, anchor = _place(self.target.strip(), self.anchor, targets)
        return Edit(
            op=EditOp(self.op),
            target=target,
            anchor=anchor,
            content=self.content,
            rationale=self.rationale,
            support_count=self.support_count,
            task_ids=tuple(self.task_ids),
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
