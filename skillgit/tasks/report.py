"""What a task set is made of, for a person to look at before anything is paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from skillgit.config import TasksConfig
from skillgit.errors import TaskError
from skillgit.records import Record, Task
from skillgit.tasks.load import CheckTask, load_tasks, note_repeated_ids, read_drafts
from skillgit.tasks.near_duplicates import clusters
from skillgit.tasks.readers import reader_for
from skillgit.tasks.source import ListFiles, Problems, ReadFile, open_source
from skillgit.tasks.splits import assign_splits, whole_text


class NearDuplicates(Record):
    """Tasks that are near-duplicates of one another, by id, and the splits they are in."""

    ids: tuple[str, ...]
    splits: tuple[str, ...]


class TasksReport(Record):
    """What was read.

    `broken` are the rows that cannot be used, each with its reason, and `refused` says why the
    set as a whole cannot be trained on; the other fields count what can be used. `named_splits`
    are those that tasks or their files name; the rest of `splits` was assigned.
    """

    path: str
    reader: str
    n_tasks: int
    splits: dict[str, int]
    named_splits: dict[str, int]
    judges: dict[str, int]
    origins: dict[str, int]
    near_duplicates: tuple[NearDuplicates, ...]
    shape_only: tuple[str, ...]
    broken: tuple[str, ...]
    refused: str | None


def report_tasks(
    config: TasksConfig,
    *,
    read: ReadFile,
    list_files: ListFiles,
    check: CheckTask | None = None,
    looks_at_shape_only: Callable[[Task], bool] | None = None,
    skill: str | None = None,
) -> TasksReport:
    """The report on the files at the configured path.

    Raises: TaskError when there is nothing at the path, or in no known shape.
    """
    problems = Problems()
    source = open_source(config.path, read, list_files, problems)
    drafts = read_drafts(config, source, check, skill=skill)
    note_repeated_ids(drafts, problems)
    tasks = assign_splits(drafts, config.ratio)
    refused = None
    if not problems.messages:
        refused = _refusal(
            lambda: load_tasks(config, read=read, list_files=list_files, check=check, skill=skill)
        )
    name, _ = reader_for(source)
    return TasksReport(
        path=config.path,
        reader=name,
        n_tasks=len(tasks),
        splits=_count([task.split.value for task in tasks]),
        named_splits=_count([draft.split.value for draft in drafts if draft.split is not None]),
        judges=_count([task.judge.kind for task in tasks]),
        origins=_count([task.origin.value for task in tasks]),
        near_duplicates=_near_duplicates(tasks),
        shape_only=tuple(t.id for t in tasks if looks_at_shape_only and looks_at_shape_only(t)),
        broken=tuple(problems.messages),
        refused=refused,
    )


def _count(values: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _refusal(load: Callable[[], object]) -> str | None:
    """Why a set whose rows are all in order is refused as a whole; `None` when it is not."""
    try:
        load()
    except TaskError as error:
        return error.message
    return None


def _near_duplicates(tasks: Sequence[Task]) -> tuple[NearDuplicates, ...]:
    groups = []
    for group in clusters([whole_text(task) for task in tasks]):
        if len(group) > 1:
            ids = tuple(tasks[i].id for i in group)
            where = tuple(sorted({tasks[i].split.value for i in group}))
            groups.append(NearDuplicates(ids=ids, splits=where))
    return tuple(groups)
