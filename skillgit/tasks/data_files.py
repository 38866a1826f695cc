"""Task files by their endings: what the readers of several files share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath

from skillgit.records import Split
from skillgit.tasks import json_array, jsonl, table
from skillgit.tasks.fields import parse_split
from skillgit.tasks.source import Row, TaskSource

FileRows = Callable[[TaskSource, str, str, Split | None], Iterator[Row]]

FORMATS: Mapping[tuple[str, ...], FileRows] = {
    jsonl.ENDINGS: jsonl.file_rows,
    json_array.ENDINGS: json_array.file_rows,
    table.ENDINGS: table.file_rows,
}
ALL_ENDINGS = tuple(ending for endings in FORMATS for ending in endings)


def rows_of(source: TaskSource, file: str, split: Split | None) -> Iterator[Row]:
    """The rows of one file, read by its ending; a JSON list is one even in a file of lines."""
    text = source.text(file)
    if text is None:
        return
    if text.lstrip().startswith("[") and file.lower().endswith(jsonl.ENDINGS):
        yield from json_array.file_rows(source, file, text, split)
        return
    for endings, file_rows in FORMATS.items():
        if file.lower().endswith(endings):
            yield from file_rows(source, file, text, split)


def has_files(endings: tuple[str, ...]) -> Callable[[TaskSource], bool]:
    """Whether a source is a file with such an ending, or a folder that directly holds one."""
    return lambda source: bool(source.at_the_top(endings))


def top_rows(endings: tuple[str, ...]) -> Callable[[TaskSource], Iterator[Row]]:
    """The rows of files with such endings; in a folder, a file named after a split gives its split."""
    return partial(_top_rows, endings=endings)


def _top_rows(source: TaskSource, *, endings: tuple[str, ...]) -> Iterator[Row]:
    for file in source.at_the_top(endings):
        split = parse_split(PurePosixPath(file).stem) if source.is_folder else None
        yield from rows_of(source, file, split)
