"""The seam between `skillgit eval` and the measuring: which versions, on which tasks, in which store."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.sessions.training import runtime_of
from skillgit.cli.show.progress import paying
from skillgit.cli.show.scores import Measured, Report
from skillgit.errors import UsageError, UserError
from skillgit.evaluation.standalone import SCOPE, Measuring
from skillgit.records import Metric, Record, Skill, Split, Task
from skillgit.store.git.obstacles import refuse_taken_names
from skillgit.store.git.repository import Repository
from skillgit.store.skills.working_skill import working_skill
from skillgit.tasks import TaskSet

WORK_TREE = ("WORKTREE", ".")


class EvalOptions(Record):
    """What was asked for on the command line."""

    versions: tuple[str, ...]
    split: Split | None
    tasks: tuple[str, ...]
    again: bool
    min_score: float | None
    no_worse_than: str | None
    metric: Metric | None

    @property
    def words(self) -> list[str]:
        """What has to be typed to ask for the same once more."""
        given = {
            "--split": self.split,
            "--metric": self.metric,
            "--min-score": self.min_score,
            "--no-worse-than": self.no_worse_than,
        }
        words = [SCOPE, *self.versions, *(["--again"] if self.again else [])]
        for ids in self.tasks:
            words += ["--tasks", ids]
        for option, value in given.items():
            words += [] if value is None else [option, str(value)]
        return words


def evaluate_versions(project: Project, options: EvalOptions) -> Report:
    """The versions with their scores, the base first.

    Raises: every SkillgitError that a config, a repository or a key can be the reason for.
    """
    config = project.config
    tasks, where = chosen_tasks(project.tasks(), options)
    compared = () if options.no_worse_than is None else (options.no_worse_than,)
    names = [*compared, *options.versions]
    command = project.typed(SCOPE, *dict.fromkeys(names))
    with open_measuring(project, tasks, names, command=command, again=options.again) as opened:
        measuring, skills = opened
        wanted = [*skills.values()]
        with paying(
            project.invocation,
            measuring.store,
            measuring.evaluator.progress,
            measuring.meter,
            scope=SCOPE,
            most=measuring.most_calls(wanted),
            again=project.invocation.typed(*options.words),
        ):
            scores = measuring.measure(wanted)
    store, keys = measuring.store, measuring.evaluator.keys
    versions = [Measured(name, scores[store.object_id(skill)]) for name, skill in skills.items()]
    return Report(
        versions=versions,
        keys={task.id: keys[task.id] for task in tasks},
        where=where,
        metric=options.metric or config.gate.metric,
        mixed_weight=config.gate.mixed_weight,
    )


@contextmanager
def open_measuring(
    project: Project,
    tasks: Sequence[Task],
    versions: Sequence[str],
    *,
    command: str,
    again: bool = False,
) -> Iterator[tuple[Measuring, dict[str, Skill]]]:
    """What measures on tasks, and the skills of versions by their names.

    `command` is what a person typed, `again` measures what is known once more.
    Raises: every SkillgitError that a config, a repository or a key can be the reason for.
    """
    meant = TaskSet(tasks=tuple(tasks))
    project.require_trust(meant)
    repository = project.open_repository()
    skills = {name: skill_of(name, project, repository) for name in versions}
    name = next(iter(skills.values())).name
    refuse_taken_names(repository, skill=name)
    repository.identity()
    store = project.open_store(repository, name, command=command)
    runtime = runtime_of(project, meant)
    with project.open_journal() as journal:
        measuring = Measuring.of(project.config, tasks, runtime, store, journal, again=again)
        yield measuring, skills


def chosen_tasks(task_set: TaskSet, options: EvalOptions) -> tuple[list[Task], str]:
    """The tasks that are meant, and the word for where they are from.

    Raises: UserError when there are none; UsageError for an id that no task has.
    """
    ids = {task.id: task for task in task_set.tasks}
    split = options.split or (None if options.tasks else Split.VAL)
    tasks = list(task_set.tasks if split is None else task_set.of(split))
    where = split.value if split else "chosen"
    if not tasks:
        raise UserError(
            f"no task is in {where}",
            hint=f"{len(task_set.train)} are in train, {len(task_set.val)} in val",
        )
    wanted = [name for given in options.tasks for name in _ids_in(given, ids)]
    for name in wanted:
        if name not in {task.id for task in tasks}:
            near = difflib.get_close_matches(name, ids, n=1)
            hint = f"Did you mean {near[0]!r}?" if near and name not in ids else ""
            elsewhere = f"in {where}" if name in ids else "at all"
            raise UsageError(f"there is no task {name!r} {elsewhere}", hint=hint)
    return [task for task in tasks if not wanted or task.id in wanted], where


def _ids_in(given: str, ids: dict[str, Task]) -> list[str]:
    if given in ids:
        return [given]
    return [part.strip() for part in given.split(",") if part.strip()]


def skill_of(name: str, project: Project, repository: Repository) -> Skill:
    """The skill of a version as it was named.

    Raises: UserError when there is no such version; RepositoryError when it has no skill.
    """
    config = project.config.skill
    if name in WORK_TREE:
        return working_skill(repository, config)
    commit = Runs(repository, project.invocation, skill=project.skill).commit_of(name)
    reader = project.open_store(repository, "")
    return reader.skill_at(commit)
