"""Tasks in one JSON value: a list of objects, or an object that holds one."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.records import Split
from skillgit.tasks import jsonl
from skillgit.tasks.source import Row, TaskSource, lines
from skillgit.tasks.strict_json import JsonValue, parse_json

ENDINGS = (".json",)
LISTS = ("tasks", "items", "data", "examples", "questions")
"""Names under which files keep their list of tasks."""


def file_rows(source: TaskSource, file: str, text: str, split: Split | None) -> Iterator[Row]:
    """The rows of one JSON file; one that holds JSON Lines is read as those."""
    try:
        value = parse_json(text)
    except ValueError as error:
        if _is_lines(text):
            yield from jsonl.file_rows(source, file, text, split)
        else:
            source.problems.add(file, str(error))
        return
    items = _items(value)
    if items is None:
        source.problems.add(file, "holds no list of tasks")
        return
    for number, item in enumerate(items, start=1):
        place = f"{file}: item {number}"
        if isinstance(item, dict):
            yield Row(place, item, split)
        else:
            source.problems.add(place, "a task is a JSON object")


def _items(value: JsonValue) -> list[JsonValue] | None:
    """The list of tasks in a value; objects by name have their name as id."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    for name in LISTS:
        held = value.get(name)
        if isinstance(held, list):
            return held
    named = [{"id": name, **item} for name, item in value.items() if isinstance(item, dict)]
    return [*named] if named and len(named) == len(value) else None


def _is_lines(text: str) -> bool:
    first = next((line for _, line in lines(text)), "")
    try:
        return isinstance(parse_json(first), dict)
    except ValueError:
        return False
