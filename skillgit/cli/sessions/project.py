"""A repository with its skillgit.toml and its tasks, opened for a command."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from skillgit.cli.app.invocation import Invocation
from skillgit.cli.app.worktree import Worktree, worktree_at
from skillgit.config import CONFIG_FILE, Config, parse_configs
from skillgit.config.trust import Demand, TrustFile, untrusted
from skillgit.errors import ConfigError, TaskError, UsageError, UserError
from skillgit.judges import JudgeResources, build_judge, judge_programs
from skillgit.records import Task
from skillgit.runtime.processes import command_digest
from skillgit.store.git.git_cli import GitCli
from skillgit.store.git.repository import Repository, open_repository
from skillgit.store.git.signing import signer_of
from skillgit.store.git_store import GitStore
from skillgit.store.skills.skills import skill_names
from skillgit.tasks import TaskSet, load_tasks


@dataclass(frozen=True)
class Project:
    """What a command works on: one skill, whose configuration `config` is.

    `skills` has the configuration of each by name, the default one's first, and `skill` is the
    name of this one, where there are several; else they are empty.
    """

    invocation: Invocation
    tree: Worktree
    config: Config
    config_text: str
    skills: Mapping[str, Config] = field(default_factory=dict)
    skill: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether the skill is the one that is meant when none is named."""
        return self.skill == next(iter(self.skills), None)

    @property
    def is_for_nights(self) -> bool:
        """Whether the config speaks of nights, and there is nothing to train on."""
        speaks = "sleep" in self.config.model_fields_set
        return speaks and not self.tree.list_files(self.config.tasks.path)

    def typed(self, command: str, *words: str) -> str:
        """A command about this skill as a person would type it."""
        which = () if self.skill is None or self.is_default else ("--skill", self.skill)
        return self.invocation.typed(command, *words, *which)

    def each(self) -> Iterator[Project]:
        """The project for each of its skills, the default one first."""
        if not self.skills:
            yield self
        for name in self.skills:
            yield self.of_skill(name)

    def of_skill(self, name: str) -> Project:
        """The project for another of its skills; for the same where there is no such skill."""
        if name not in self.skills:
            return self
        return replace(self, config=self.skills[name], skill=name)

    @property
    def root(self) -> str | None:
        """The work tree that programs are run for; `None` in a bare repository."""
        return None if self.tree.bare else str(self.tree.root)

    def open_repository(self, *, durable: bool = True) -> Repository:
        """The git repository around the folder that the command runs in."""
        return open_repository(self.invocation.directory, durable=durable)

    def open_store(
        self,
        repository: Repository,
        skill_name: str,
        *,
        command: str = "skillgit",
        private: bool = False,
        memory: bool = False,
        sign: bool = False,
    ) -> GitStore:
        """The store of this project's skill; `sign` has it sign proposals as git is set up to."""
        return GitStore(
            repository,
            self.config.skill,
            skill_name=skill_name,
            clock=self.invocation.clock,
            command=command,
            private=private,
            memory=memory,
            sign=signer_of(repository.git, self.git_in(repository)) if sign else None,
            several=self.skill is not None,
            is_default=self.is_default,
        )

    def git_in(self, repository: Repository) -> GitCli:
        """The git command line in a repository that was opened."""
        return GitCli(repository.workdir or repository.git_dir, self.invocation.environ)

    def require_trust(self, tasks: TaskSet) -> None:
        """Nothing, when all that the config and the tasks ask trust for has been agreed to.

        Raises: UserError naming what has not.
        """
        missing = self.untrusted(tasks)
        if missing:
            asked = "; ".join(demand.line for demand in missing)
            raise UserError(
                f"{CONFIG_FILE} asks for something that you have not allowed yet: {asked}",
                hint=f"{self.invocation.typed('trust')} shows it and asks.",
            )

    def untrusted(self, tasks: TaskSet) -> list[Demand]:
        """What has to be agreed to before a key is sent or a program run."""
        return untrusted(
            self.config,
            TrustFile(self.tree.private.trust).read(),
            judge_programs(tasks.tasks),
            digest_of=lambda command: command_digest(command, self.root),
        )

    def tasks(self) -> TaskSet:
        """The tasks that the config names, each with a judge that could be built.

        Raises: TaskError.
        """
        return load_tasks(
            self.config.tasks,
            read=self.tree.read,
            list_files=self.tree.list_files,
            check=self.check_task,
            skill=self.skill,
        )

    def check_task(self, task: Task) -> None:
        """Nothing, when the task's judge can be built and the skills that it names are there.

        Raises: TaskError.
        """
        check_task(task)
        for name in task.skills if self.skills else ():
            if name not in self.skills:
                near = difflib.get_close_matches(name, self.skills, n=1)
                suggestion = f", did you mean {near[0]!r}?" if near else ""
                raise TaskError(f"task {task.id!r}: there is no skill {name!r}{suggestion}")


def open_project(invocation: Invocation, skill: str | None = None) -> Project:
    """The project around the folder that the command runs in, for the skill of that name.

    Raises: RepositoryError, ConfigError; UsageError when there is no such skill.
    """
    tree = worktree_at(invocation.directory, invocation.environ)
    try:
        text = tree.read(CONFIG_FILE).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(
            f"there is no {CONFIG_FILE} in {tree.root}",
            hint=f"{invocation.typed('init', 'SKILL', '--tasks', 'FILE')} writes one.",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{CONFIG_FILE} cannot be read: {error}") from error
    configs = parse_configs(text)
    project = Project(invocation, tree, configs[0], text)
    if len(configs) == 1 and skill is None:
        return project
    names = skill_names(
        open_repository(tree.root), [config.skill for config in configs], configs[0].repo.onto
    )
    if skill is not None and skill not in names:
        raise _no_such_skill(skill, names)
    if len(configs) == 1:
        return project
    skills = dict(zip(names, configs, strict=True))
    return replace(project, skills=skills).of_skill(skill or names[0])


def _no_such_skill(skill: str, names: tuple[str, ...]) -> UsageError:
    near = difflib.get_close_matches(skill, names, n=1)
    known = f"{CONFIG_FILE} has {', '.join(names)}."
    return UsageError(
        f"there is no skill {skill!r}", hint=f"Did you mean {near[0]!r}?" if near else known
    )


def read_tasks(tree: Worktree, config: Config) -> TaskSet:
    """The tasks that a config names.

    Raises: TaskError naming file, line, task and reason of everything that is wrong.
    """
    return load_tasks(config.tasks, read=tree.read, list_files=tree.list_files, check=check_task)


def check_task(task: Task) -> None:
    """Nothing, when the task's judge can be built.

    Raises: TaskError.
    """
    build_judge(task, JudgeResources())
