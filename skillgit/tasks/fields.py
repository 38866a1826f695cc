"""A row's named fields ↔ a task: which names are known, and what each may hold."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from skillgit.records import JudgeSpec, Split, Task, TaskOrigin, ToolSpec
from skillgit.records.canonical import fingerprint
from skillgit.tasks.source import Row
from skillgit.tasks.strict_json import JsonValue, parse_json

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "task_id", "qid", "uid"),
    "prompt": ("prompt", "task", "question", "query", "instruction", "input"),
    "context": ("context", "passage", "document"),
    "system": ("system", "system_prompt"),
    "turns": ("turns",),
    "tools": ("tools",),
    "reference": (
        "reference", "references", "answer", "answers", "expected", "expected_output",
        "ground_truth", "target", "label", "output",
    ),
    "choices": ("choices", "options"),
    "judge": ("judge",),
    "split": ("split",),
    "tags": ("tags",),
}  # fmt: skip
"""Our name of each field, then the names other tools give it, the likeliest first."""

SKILL = ("skill", "skills")
"""The names of the field that says which of several skills a task is for."""

PROVENANCE = ("origin", "reviewed", "lineages", "evidence")
"""Fields that say where a task comes from and who has looked at it; training goes by none of them
but `origin`."""

SPLITS: Mapping[str, Split] = {
    "train": Split.TRAIN,
    "training": Split.TRAIN,
    "val": Split.VAL,
    "valid": Split.VAL,
    "validation": Split.VAL,
    "dev": Split.VAL,
    "test": Split.TEST,
    "testing": Split.TEST,
}

MAX_ID = 200


class FieldError(ValueError):
    """A field holds what it may not; the text is for a person."""


@dataclass(frozen=True)
class Draft:
    """A task whose split may not be known yet, and the place it was read from."""

    place: str
    task: Task
    split: Split | None


@dataclass(frozen=True)
class Defaults:
    """What the configuration says of rows: their columns' names, and the judge of those without."""

    columns: Mapping[str, str]
    judge: Mapping[str, JsonValue] | None


def parse_split(name: str) -> Split | None:
    """The split a word means, or `None`."""
    return SPLITS.get(name.strip().lower())


def draft_task(row: Row, defaults: Defaults) -> Draft:
    """The task a row describes.

    Raises: FieldError naming the task and what is wrong with it.
    """
    fields = _named(row, defaults.columns)
    name = _identity(fields, strict=row.strict)
    try:
        split = _split(fields.get("split"), row.split)
        task = Task(
            id=name,
            prompt=_prompt(fields, row),
            context=_text(fields, "context"),
            system=_text(fields, "system"),
            turns=_texts(fields, "turns"),
            tools=_tools(fields.get("tools")),
            reference=_reference(fields.get("reference")),
            judge=_judge(fields, defaults.judge),
            split=split or Split.TRAIN,
            tags=_tags(fields.get("tags")),
            skills=_skills(row),
            origin=_origin(row),
        )
    except ValueError as error:
        raise FieldError(f"task {name!r}: {error}") from error
    return Draft(row.place, task, split)


def _named(row: Row, columns: Mapping[str, str]) -> dict[str, JsonValue]:
    """The row's fields under our names; empty ones are left out."""
    known: dict[str, JsonValue] = {}
    for name, others in NAMES.items():
        wanted = (columns[name],) if name in columns else others
        for other in wanted:
            if row.fields.get(other) not in (None, ""):
                known[name] = row.fields[other]
                break
    if row.strict and not columns:
        _refuse_unknown(row.fields)
    return known


def _refuse_unknown(fields: Mapping[str, JsonValue]) -> None:
    known = [*(other for others in NAMES.values() for other in others), *SKILL, *PROVENANCE]
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            suggestion = f", did you mean {near[0]!r}?" if near else ""
            which = fields.get("id")
            owner = f"task {which!r}: " if isinstance(which, str) else ""
            raise FieldError(f"{owner}unknown field {name!r}{suggestion}")


def _origin(row: Row) -> TaskOrigin:
    """Where the task comes from, by the field of our own format; elsewhere the name means other things."""
    value = row.fields.get("origin") if row.strict else None
    if value is None:
        return TaskOrigin.REAL
    if value not in [origin.value for origin in TaskOrigin]:
        raise FieldError(f"unknown origin {value!r} (real or dream)")
    return TaskOrigin(str(value))


def _identity(fields: Mapping[str, JsonValue], *, strict: bool) -> str:
    value = fields.get("id")
    if value is None:
        if strict:
            raise FieldError("a task needs an 'id'")
        return "t-" + fingerprint({k: v for k, v in fields.items() if k != "split"}, digits=10)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FieldError(f"'id' must be a text, not {_kind(value)}")
    name = str(value).strip()
    if not name:
        raise FieldError("a task needs an 'id' that is not blank")
    if len(name) > MAX_ID:
        raise FieldError(f"'id' is longer than {MAX_ID} characters: {name[:40]!r}…")
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise FieldError(f"'id' holds control characters: {name!r}")
    return name


def _split(value: JsonValue, of_file: Split | None) -> Split | None:
    if value is None:
        return of_file
    split = parse_split(value) if isinstance(value, str) else None
    if split is None:
        near = difflib.get_close_matches(str(value), [s.value for s in Split], n=1)
        suggestion = f", did you mean {near[0]!r}?" if near else ""
        raise FieldError(f"unknown split {value!r}{suggestion} (train, val or test)")
    if of_file is not None and split is not of_file:
        raise FieldError(f"split {split.value!r}, but its file says {of_file.value!r}")
    return split


def _prompt(fields: Mapping[str, JsonValue], row: Row) -> str:
    prompt = _text(fields, "prompt")
    if prompt.strip():
        return prompt
    problem = "a task needs a 'prompt' that is not blank"
    if row.strict or "prompt" in fields:
        raise FieldError(problem)
    names = ", ".join(row.fields)
    raise FieldError(f"{problem}; [tasks] columns says which of its fields that is: {names}")


def _text(fields: Mapping[str, JsonValue], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, list) and name == "context":
        return "\n\n".join(_texts(fields, name))
    if not isinstance(value, str):
        raise FieldError(f"{name!r} must be a text, not {_kind(value)}")
    return value


def _texts(fields: Mapping[str, JsonValue], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise FieldError(f"{name!r} must be a list of texts, not {_kind(value)}")
    texts = []
    for item in value:
        if not isinstance(item, str) or not item.strip():
            raise FieldError(f"{name!r} must be a list of texts that are not blank")
        texts.append(item)
    return tuple(texts)


def _tags(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(tag.strip() for tag in value.split(",") if tag.strip())
    return _texts({"tags": value}, "tags")


def _skills(row: Row) -> tuple[str, ...]:
    """The skills that a task is for, as a file of our own says it; one name, or a list."""
    values = (row.fields.get(name) for name in SKILL) if row.strict else ()
    value = next((value for value in values if value is not None), None)
    return _texts({"skill": [value] if isinstance(value, str) else value}, "skill")


def _tools(value: JsonValue) -> tuple[ToolSpec, ...]:
    """Tools as we write them, or as chat completions do with a `result` beside."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise FieldError(f"'tools' must be a list, not {_kind(value)}")
    tools = tuple(_tool(number, item) for number, item in enumerate(value, start=1))
    names = [tool.name for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FieldError(f"tool {twice[0]!r} is declared twice")
    return tools


def _tool(number: int, value: JsonValue) -> ToolSpec:
    if not isinstance(value, dict):
        raise FieldError(f"tool {number} must be an object, not {_kind(value)}")
    function = value.get("function")
    if isinstance(function, dict):
        outer = {k: v for k, v in value.items() if k == "result"}
        value = {**{k: v for k, v in function.items() if k != "strict"}, **outer}
    try:
        tool = ToolSpec.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FieldError(f"tool {number}: {where}: {first['msg']}") from error
    if not tool.name.strip():
        raise FieldError(f"tool {number} needs a 'name'")
    return tool


def _reference(value: JsonValue) -> JsonValue:
    """The reference; SQuAD's `{"text": [...]}` is its list of texts."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        return value["text"]
    return value


def _judge(fields: Mapping[str, JsonValue], default: Mapping[str, JsonValue] | None) -> JudgeSpec:
    value = fields.get("judge")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = parse_json(value)
    if value is None and default is not None:
        value = dict(default)
    if value is None:
        if "reference" not in fields:
            raise FieldError("it names neither a 'judge' nor a 'reference' to compare with")
        value = "exact"
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, dict):
        raise FieldError(f"'judge' must be an object, not {_kind(value)}")
    kind = value.get("kind", "rule" if "checks" in value else None)
    if not isinstance(kind, str) or not kind:
        raise FieldError("'judge' needs a 'kind'")
    settings = {name: setting for name, setting in value.items() if name != "kind"}
    if "choices" in fields and kind == "exact":
        settings.setdefault("choices", fields["choices"])
    return JudgeSpec(kind=kind, settings=settings)


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
