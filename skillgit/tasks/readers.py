"""Which shapes of task files are known. A new one is a module, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from skillgit.errors import TaskError
from skillgit.tasks import jsonl
from skillgit.tasks.source import Row, TaskSource


class Reader(NamedTuple):
    """How one shape of task files is told from others, and read.

    `recognises` looks at names and, where it must, at the text; `rows` notes what it cannot read
    among the source's problems and goes on.
    """

    recognises: Callable[[TaskSource], bool]
    rows: Callable[[TaskSource], Iterator[Row]]
    about: str


READERS: Mapping[str, Reader] = {
    "jsonl": Reader(jsonl.recognises, jsonl.rows, "JSON Lines, a task a line (.jsonl)"),
}


def reader_for(source: TaskSource) -> Reader:
    """The first reader that recognises the source.

    Raises: TaskError naming the shapes there are.
    """
    for reader in READERS.values():
        if reader.recognises(source):
            return reader
    shapes = "; ".join(reader.about for reader in READERS.values())
    raise TaskError(
        f"{source.path}: these are no task files that a reader knows", hint=f"known are: {shapes}"
    )
