"""Tasks in JSON Lines: one file, or one file a split (`train.jsonl`, `val.jsonl`, `test.jsonl`)."""

from __future__ import annotations

from collections.abc import Iterator

from skillgit.records import Split
from skillgit.tasks.source import TaskRow, TaskSource, lines
from skillgit.tasks.strict_json import parse_json

ENDINGS = (".jsonl", ".ndjson")


def file_rows(source: TaskSource, file: str, text: str, split: Split | None) -> Iterator[TaskRow]:
    """The rows of one JSON Lines file.

    A line in the shape of rule-judged benchmarks may have more fields than we know.
    """
    for number, line in lines(text):
        place = f"{file}:{number}"
        try:
            value = parse_json(line)
        except ValueError as error:
            source.problems.add(place, str(error))
            continue
        if isinstance(value, dict):
            yield TaskRow(place, value, split, strict=not {"task", "task_id"} & value.keys())
        else:
            source.problems.add(place, "a task is a JSON object")
