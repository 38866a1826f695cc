"""The tasks of all nights so far: rows as the harvest writes them, of which a night takes the newest.

A split once given stays; what a person has reviewed goes before what was mined. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from pydantic import JsonValue

from skillgit.errors import TaskError
from skillgit.records import Task
from skillgit.sleep.mine import MinedTask, update
from skillgit.tasks.fields import Defaults, draft_task
from skillgit.tasks.source import Row

MOST_ARCHIVED = 300
NO_LIMIT = 10**9

Fields = dict[str, JsonValue]


class ArchivedTask(NamedTuple):
    """A row of the archive that is a task, with the texts of sessions that it was made from."""

    task: Task
    session_texts: tuple[str, ...]


def with_mined(text: str, mined: Sequence[MinedTask], ratio: tuple[float, float, float]) -> str:
    """The archive with what was mined at its end, each task in a split that it keeps."""
    return _trimmed(update(text, mined, ratio=ratio, max_tasks=NO_LIMIT).text)


def with_reviewed(text: str, reviewed: str) -> str:
    """The archive with the tasks that a person has looked through, in the person's own wording.

    A task that stands in the archive keeps its split, whatever became of it elsewhere.
    """
    rows = {str(row.get("id")): row for row in _rows(text)}
    for row in _rows(reviewed):
        if row.get("reviewed") is not True:
            continue
        known = rows.get(str(row.get("id")), {})
        split = known.get("split", row.get("split"))
        rows[str(row.get("id"))] = {**row, "split": split}
    return _written(list(rows.values()))


def with_tasks(text: str, tasks: Sequence[Task]) -> str:
    """The archive with tasks that were given, at its end."""
    given = {task.id for task in tasks}
    rows = [row for row in _rows(text) if row.get("id") not in given]
    return _trimmed(_written([*rows, *map(_as_row, tasks)]))


def united(text: str, newer: str) -> str:
    """The archive with a newer one at its end; of a task in both, the newer wording."""
    known = {row.get("id") for row in _rows(newer)}
    return _trimmed(
        _written([*(r for r in _rows(text) if r.get("id") not in known), *_rows(newer)])
    )


def read_archive(text: str) -> list[ArchivedTask]:
    """The tasks of the archive, oldest first; a row that is not a task is left out."""
    tasks: list[ArchivedTask] = []
    for number, row in enumerate(_rows(text), start=1):
        try:
            draft = draft_task(Row(place=f"line {number}", fields=row), Defaults({}, None))
        except (ValueError, TaskError):
            continue
        if draft.split is not None:
            tasks.append(
                ArchivedTask(
                    draft.task.model_copy(update={"split": draft.split}), _session_texts(row)
                )
            )
    return tasks


def newest(text: str, most: int) -> list[ArchivedTask]:
    """The tasks that a night uses: the last of the archive."""
    return read_archive(text)[-most:]


def _session_texts(row: Fields) -> tuple[str, ...]:
    """What a person said in the sessions that a task was made from."""
    evidence = row.get("evidence")
    texts = (
        [item.get("text") for item in evidence if isinstance(item, dict)]
        if isinstance(evidence, list)
        else []
    )
    return tuple(text for text in (row.get("prompt"), *texts) if isinstance(text, str))


def _as_row(task: Task) -> Fields:
    fields = cast("Fields", task.model_dump(mode="json", exclude_defaults=True))
    judge: JsonValue = {"kind": task.judge.kind, **task.judge.settings}
    return {**fields, "judge": judge, "split": task.split.value, "origin": task.origin.value}


def _trimmed(text: str) -> str:
    """The newest of the archive, as many as are kept."""
    return _written(_rows(text)[-MOST_ARCHIVED:])


def _rows(text: str) -> list[Fields]:
    rows: list[Fields] = []
    for line in text.split("\n"):
        try:
            value = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            rows.append(cast("Fields", value))
    return rows


def _written(rows: Sequence[Fields]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
