"""The seam between `skillgit eval` and the measuring: which versions, on which tasks, in which store."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.sessions.paying import paying
from skillgit.cli.sessions.project import Project
from skillgit.cli.sessions.runs import Runs
from skillgit.cli.sessions.training import runtime_of
from skillgit.cli.show.scores import Measured, Report
from skillgit.errors import UsageError, UserError
from skillgit.evaluation.standalone import SCOPE, Measuring, Scores
from skillgit.evaluation.wiring import open_bench
from skillgit.models.journal import Journal
from skillgit.models.paid import Meter
from skillgit.records import Metric, Skill, Split, Task
from skillgit.store.git.obstacles import refuse_taken_names
from skillgit.store.git.repository import Repository
from skillgit.store.git_store import GitStore
from skillgit.store.skills.working_skill import working_skill
from skillgit.tasks import TaskSet
from skillgit.training.wiring import is_simulated

WORK_TREE = ("WORKTREE", ".")


@dataclass(frozen=True)
class EvalOptions:
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
    invocation, config = project.invocation, project.config
    task_set = project.tasks()
    tasks, where = chosen_tasks(task_set, options)
    meant = TaskSet(tasks=tuple(tasks))
    project.require_trust(meant)
    durable = not is_simulated(config)
    repository = project.open_repository(durable=durable)
    names = list(dict.fromkeys([*_first(options.no_worse_than), *options.versions]))
    skills = {name: skill_of(name, project, repository) for name in names}
    store = _store(project, repository, next(iter(skills.values())), names)
    runtime = runtime_of(project, meant)
    evaluator = open_bench(config, tasks, runtime)
    with Journal(repository.private.journal, durable=durable) as journal:
        measuring = Measuring(
            evaluator=evaluator,
            store=store,
            journal=journal,
            clock=runtime.clock,
            tasks=tasks,
            val=frozenset(evaluator.keys[t.id] for t in tasks if t.split is Split.VAL),
            max_unscored=config.gate.max_unscored,
            meter=Meter.within(config.budget, clock=runtime.clock),
            again=options.again,
        )
        scores = _measured(measuring, [*skills.values()], invocation, options)
    versions = [Measured(name, scores[store.object_id(skill)]) for name, skill in skills.items()]
    return Report(
        versions=versions,
        keys={task.id: evaluator.keys[task.id] for task in tasks},
        where=where,
        metric=options.metric or config.gate.metric,
        mixed_weight=config.gate.mixed_weight,
    )


def _first(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _store(
    project: Project, repository: Repository, skill: Skill, names: Sequence[str]
) -> GitStore:
    """The store, once it is sure that it can be written to."""
    refuse_taken_names(repository, skill=skill.name)
    repository.identity()
    return project.open_store(repository, skill.name, command=project.typed(SCOPE, *names))


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


def _measured(
    measuring: Measuring, skills: Sequence[Skill], invocation: Invocation, options: EvalOptions
) -> dict[str, Scores]:
    with paying(
        invocation,
        measuring.store,
        measuring.evaluator.progress,
        measuring.meter,
        scope=SCOPE,
        most=measuring.most_calls(skills),
        again=invocation.typed(*options.words),
    ):
        return measuring.measure(skills)
