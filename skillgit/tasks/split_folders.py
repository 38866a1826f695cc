"""Tasks in SkillOpt's split folders: `train/`, `val/` and `test/`, each with its `items.json`.

Source: the layout that SkillOpt's data loaders read with `split_dir`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from skillgit.records import Split
from skillgit.tasks.data_files import ALL_ENDINGS, rows_of
from skillgit.tasks.fields import parse_split
from skillgit.tasks.source import TaskRow, TaskSource

ITEMS = "items"


def recognises(source: TaskSource) -> bool:
    """A folder with folders named after splits that hold files of data."""
    return source.is_folder and any(_split_of(source, file) for file in source.files)


def rows(source: TaskSource) -> Iterator[TaskRow]:
    """The rows of every split's files: of those called `items`, if there are any, else of all."""
    files = [file for file in source.files if _split_of(source, file)]
    for split in Split:
        own = [file for file in files if _split_of(source, file) is split]
        items = [file for file in own if PurePosixPath(file).stem == ITEMS]
        for file in items or own:
            yield from rows_of(source, file, split)


def _split_of(source: TaskSource, file: str) -> Split | None:
    parts = PurePosixPath(source.inside(file)).parts
    if len(parts) != 2 or not file.lower().endswith(ALL_ENDINGS):
        return None
    return parse_split(parts[0])
