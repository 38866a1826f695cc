"""Which shapes of task files are known, the most particular first.

A new one is a module, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from skillgit.errors import TaskError
from skillgit.tasks import agentskills, json_array, jsonl, split_folders, table
from skillgit.tasks.data_files import has_files, top_rows
from skillgit.tasks.source import TaskRow, TaskSource


class TaskReader(NamedTuple):
    """How one shape of task files is told from others, and read.

    `recognises` looks at names and, where it must, at the text; `rows` notes what it cannot read
    among the source's problems and goes on.
    """

    recognises: Callable[[TaskSource], bool]
    rows: Callable[[TaskSource], Iterator[TaskRow]]
    about: str


READERS: Mapping[str, TaskReader] = {
    "agentskills": TaskReader(
        agentskills.recognises, agentskills.rows, "a skill's evals/evals.json"
    ),
    "split folders": TaskReader(
        split_folders.recognises, split_folders.rows, "folders train/, val/ and test/ of items"
    ),
    "jsonl": TaskReader(
        has_files(jsonl.ENDINGS), top_rows(jsonl.ENDINGS), "JSON Lines, a task a line (.jsonl)"
    ),
    "json": TaskReader(
        has_files(json_array.ENDINGS), top_rows(json_array.ENDINGS), "a JSON list of tasks (.json)"
    ),
    "table": TaskReader(
        has_files(table.ENDINGS), top_rows(table.ENDINGS), "a table of named columns (.csv, .tsv)"
    ),
}


def reader_for(source: TaskSource) -> tuple[str, TaskReader]:
    """The first reader that recognises the source, with its name.

    Raises: TaskError naming the shapes there are.
    """
    for name, reader in READERS.items():
        if reader.recognises(source):
            return name, reader
    shapes = "; ".join(reader.about for reader in READERS.values())
    raise TaskError(
        f"{source.path}: these are no task files that a reader knows", hint=f"known are: {shapes}"
    )
