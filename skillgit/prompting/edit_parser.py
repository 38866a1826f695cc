"""Edits as a model sends them → `Edit`: the shapes and names that are accepted, and no others.

Pure. What it lets through is only readable; whether it fits a document is for `edits` to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, JsonValue

from skillgit.errors import ReplyError
from skillgit.prompting.prompts import Answer
from skillgit.records import Edit, EditOp, Record
from skillgit.records.edits import OPERATIONS
from skillgit.records.skills import MAIN_ALIAS

MAX_MESSAGE = 200

_BY_NAME = {alias: op for op, known in OPERATIONS.items() for alias in known.aliases}


class ReadEdits(Record):
    """The edits that could be read, and why each of the others could not.

    Shape: `positions` has, for each edit, its place in the list as it was sent.
    """

    edits: tuple[Edit, ...] = ()
    positions: tuple[int, ...] = ()
    dropped: tuple[str, ...] = ()


def read_edits(value: JsonValue, *, targets: Sequence[str]) -> ReadEdits:
    """The edits in an answer: `{"edits": […]}`, `{"patch": {"edits": […]}}`, or a bare list.

    An item that is no edit is dropped and the reason kept. `support_count` and `task_ids` are
    the model's claims; whoever knows the trajectories checks them.
    Raises: ReplyError when the value has none of these shapes, or not one item can be read.
    """
    items = edit_items(value)
    read: list[tuple[int, Edit]] = []
    dropped: list[str] = []
    for position, item in enumerate(items):
        try:
            read.append((position, read_edit(item, targets=targets)))
        except ReplyError as error:
            dropped.append(f"edit {position}: {error}")
    if dropped and not read:
        raise ReplyError(dropped[0])
    return ReadEdits(
        edits=tuple(edit for _, edit in read),
        positions=tuple(position for position, _ in read),
        dropped=tuple(dropped),
    )


def edit_items(value: JsonValue) -> list[JsonValue]:
    """The list in which an answer's edits stand, unread.

    Raises: ReplyError.
    """
    if isinstance(value, dict):
        if "edits" not in value and isinstance(value.get("patch"), dict):
            value = value["patch"]
        if not isinstance(value, dict) or "edits" not in value:
            raise ReplyError("it has no list of edits")
        value = value["edits"]
    if not isinstance(value, list):
        raise ReplyError(f"edits is {_kind(value)}, not a list")
    return value


def read_edit(item: JsonValue, *, targets: Sequence[str]) -> Edit:
    """One edit. A `target` that names no document is the anchor, if there is no other.

    Raises: ReplyError saying what about it cannot be read.
    """
    if not isinstance(item, dict):
        raise ReplyError(f"{_kind(item)} is not an edit")
    target, anchor = _place(_text(item, "target").strip(), _text(item, "anchor"), targets)
    return Edit(
        op=_operation(item.get("op")),
        target=target,
        anchor=anchor,
        content=_text(item, "content"),
        rationale=text_or_nothing(item.get("rationale")),
        support_count=_count(item.get("support_count")),
        task_ids=strings(item.get("task_ids")),
    )


def strings(value: JsonValue) -> tuple[str, ...]:
    """The texts in a list, each once, in order; of anything else, nothing."""
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(item for item in value if isinstance(item, str)))


def text_or_nothing(value: JsonValue) -> str:
    """The value if it is a text, else an empty one: for what is only there to be read."""
    return value if isinstance(value, str) else ""


def whole_number(value: JsonValue) -> int | None:
    """The value if it is a whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _operation(value: JsonValue) -> EditOp:
    name = value.strip().lower() if isinstance(value, str) else ""
    if name not in _BY_NAME:
        raise ReplyError(f"op is {_shown(value)}, not add, replace or delete")
    return _BY_NAME[name]


def _text(item: dict[str, JsonValue], key: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ReplyError(f"{key} is {_kind(value)}, not a text")
    return value


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


def _count(value: JsonValue) -> int:
    return max(1, whole_number(value) or 1)


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def _shown(value: JsonValue) -> str:
    return repr(value)[:MAX_MESSAGE] if isinstance(value, str) else _kind(value)


# ── An edit as the optimizer is asked to write it: what its schema says, whoever is asked.


class AskedEdit(Answer):
    """One edit; what stands behind it is named by whoever is asked."""

    op: Literal["add", "replace", "delete"]
    target: str = Field(description="The path of the document to edit.")
    anchor: str = Field(
        description="Text copied exactly from that document, occurring once in it; empty only for an add at the document's end."
    )
    content: str = Field(description="The new text; empty for a delete.")
    rationale: str = Field(description="One sentence: which evidence asks for this edit.")
