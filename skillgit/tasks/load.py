"""From the configured path to a task set that can be trained on, or to one error that says why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from skillgit.config import TasksConfig
from skillgit.errors import TaskError
from skillgit.records import Split, Task
from skillgit.tasks.fields import Defaults, Draft, draft_task
from skillgit.tasks.readers import reader_for
from skillgit.tasks.source import ListFiles, Problems, ReadFile, TaskSource, open_source
from skillgit.tasks.splits import assign_splits
from skillgit.tasks.task_set import TaskSet

MIN_TASKS = 3
SPLIT_HINT = 'name "split": "train", "val" or "test" in each task, or set [tasks] ratio'

CheckTask = Callable[[Task], object]


def load_tasks(
    config: TasksConfig,
    *,
    read: ReadFile,
    list_files: ListFiles,
    check: CheckTask | None = None,
    skill: str | None = None,
) -> TaskSet:
    """The task set at the configured path, every task valid and in a split.

    `read` gives a file's bytes and raises OSError; `list_files` the files at or under a path, none
    if nothing is there. `check` is asked about each task (its judge is built, say) and raises
    TaskError. With `skill`, tasks for other skills are left out.
    Raises: TaskError naming file, line, task and reason of everything that is wrong, up to ten.
    """
    problems = Problems()
    source = open_source(config.path, read, list_files, problems)
    drafts = read_drafts(config, source, check, skill=skill)
    problems.raise_any()
    note_repeated_ids(drafts, problems)
    problems.raise_any(hint="give every task an id of its own, in one split only")
    _refuse_few(config.path, drafts, skill)
    task_set = TaskSet(tasks=assign_splits(drafts, config.ratio))
    _refuse_empty(config.path, task_set)
    return task_set


def read_drafts(
    config: TasksConfig,
    source: TaskSource,
    check: CheckTask | None = None,
    *,
    skill: str | None = None,
) -> list[Draft]:
    """The tasks that could be read, in order; what could not is noted among the problems.

    With `skill`, those for other skills are left out.

    Raises: TaskError when the files are in no known shape.
    """
    defaults = Defaults(config.columns.model_dump(exclude_none=True), config.judge)
    _, reader = reader_for(source)
    drafts: list[Draft] = []
    for row in reader.rows(source):
        try:
            draft = draft_task(row, defaults)
        except ValueError as error:
            source.problems.add(row.place, str(error))
            continue
        try:
            if check is not None:
                check(draft.task)
        except TaskError as error:
            source.problems.add(row.place, error.message)
            continue
        if draft.task.is_for(skill):
            drafts.append(draft)
    return drafts


def note_repeated_ids(drafts: Sequence[Draft], problems: Problems) -> None:
    """Note every id that stands twice: two tasks of one name, or one task in two splits."""
    by_name: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_name[draft.task.id].append(draft)
    for name, same in by_name.items():
        if len(same) > 1:
            splits = sorted({draft.split.value for draft in same if draft.split is not None})
            where = ", ".join(draft.place for draft in same)
            shared = f", in {' and '.join(splits)} both" if len(splits) > 1 else ""
            problems.add(where, f"the id {name!r} stands {len(same)} times{shared}")


def _refuse_few(path: str, drafts: Sequence[Draft], skill: str | None) -> None:
    if not drafts:
        whose = "there are no tasks in it" if skill is None else f"no task in it is for {skill}"
        raise TaskError(f"{path}: {whose}")
    if len(drafts) < MIN_TASKS:
        count = "only one task" if len(drafts) == 1 else f"only {len(drafts)} tasks"
        raise TaskError(
            f"{path}: {count}: a skill cannot be trained and validated on so few",
            hint=f"write at least {MIN_TASKS}; a score means something from about 10 in val",
        )


def _refuse_empty(path: str, task_set: TaskSet) -> None:
    count = len(task_set.tasks)
    for split, purpose in ((Split.TRAIN, "to learn from"), (Split.VAL, "to measure on")):
        if not task_set.of(split):
            where = ", ".join(
                f"{len(task_set.of(other))} in {other.value}"
                for other in Split
                if task_set.of(other)
            )
            raise TaskError(
                f"{path}: no task is in {split.value}, so there is nothing {purpose} "
                f"(of {count} tasks, {where}; near-duplicates are kept together)",
                hint=SPLIT_HINT,
            )
