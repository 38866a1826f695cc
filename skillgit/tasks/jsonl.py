"""Tasks in JSON Lines: one file, or one file a split (`train.jsonl`, `val.jsonl`, `test.jsonl`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from skillgit.records import Split
from skillgit.tasks.fields import parse_split
from skillgit.tasks.source import Row, TaskSource, lines
from skillgit.tasks.strict_json import parse_json

ENDINGS = (".jsonl", ".ndjson")


def recognises(source: TaskSource) -> bool:
    """A file whose name says JSON Lines, or a folder that holds such files at its top."""
    return any(_is_lines(source, file) for file in source.files)


def rows(source: TaskSource) -> Iterator[Row]:
    """The rows of all JSON Lines files; in a folder, a file named after a split names it."""
    for file in source.files:
        if _is_lines(source, file):
            split = _named_split(file) if source.is_folder else None
            yield from file_rows(source, file, split)


def file_rows(source: TaskSource, file: str, split: Split | None) -> Iterator[Row]:
    """The rows of one JSON Lines file."""
    for number, line in lines(source.text(file) or ""):
        place = f"{file}:{number}"
        try:
            value = parse_json(line)
        except ValueError as error:
            source.problems.add(place, str(error))
            continue
        if isinstance(value, dict):
            yield Row(place, value, split, strict=not {"task", "task_id"} & value.keys())
        else:
            source.problems.add(place, "a task is a JSON object")


def _is_lines(source: TaskSource, file: str) -> bool:
    at_the_top = not source.is_folder or "/" not in source.inside(file)
    return at_the_top and file.lower().endswith(ENDINGS)


def _named_split(file: str) -> Split | None:
    return parse_split(PurePosixPath(file).stem)
